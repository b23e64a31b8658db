"""Graphward: from PyNative MindSpore code to code that compiles whole in Graph Mode, with the proof."""

__version__ = "0.1.0"
