"""How fast `graphward review` answers a key press on a list of thousands of findings."""
