"""Containers and types (GW4)."""
