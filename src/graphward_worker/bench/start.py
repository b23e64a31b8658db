"""Starts one measurement of compile units: `python graphward_worker/bench/start.py ENTRY --request FILE --out FILE`.

ENTRY is what MindSpore takes for the user's script: its compile cache looks at the files that this one imports.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    here = os.path.dirname(os.path.abspath(__file__))
    sys.argv = sys.argv[1:]
    runpy.run_path(os.path.join(here, "__main__.py"))["main"]("units")
