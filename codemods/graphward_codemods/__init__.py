"""The codemods that Graphward ships: one file each, in folders by family."""
