"""A copy that is installed elsewhere and must not be taken."""

ORIGIN = "installed"
