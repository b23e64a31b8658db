"""Plays a Cell or a jit function in PyNative and in Graph Mode and says whether both mean the same.

This package runs under the user's interpreter, whatever MindSpore is installed there. It needs MindSpore (2.7 or
later), a NumPy that MindSpore was built for and Python 3.9; it never imports Graphward, which may live elsewhere.
"""

PROTOCOL = 1
"""Version of the JSON lines that client and worker exchange; both sides refuse another one."""
