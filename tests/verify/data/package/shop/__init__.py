"""The copy in the tree."""

ORIGIN = "tree"
