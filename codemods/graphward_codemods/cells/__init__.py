"""Codemods for what a Cell is made of: layers, Parameters and Primitives, and the containers that hold them."""
