"""Records what a real run of the user's script hands to its Cells and jit functions, and makes it again from the data.

Recording runs inside the user's own process (`bootstrap/sitecustomize.py` gets it there); making it again runs in a
worker's child. What lies between is plain data: JSON, and arrays that NumPy loads with `allow_pickle=False`.
"""

FORMAT = 1
"""Version of the files; a reader ignores, and names, files of another one."""
PROCESS = "process.json"
"""File in the folder of each process: how it was started."""
VARIABLE = "GRAPHWARD_RECORD"
"""Environment variable with the request, as JSON: `root` (the project), `folder` (where to write)."""
