"""Starts the measurement of operators: `python graphward_worker/bench/__main__.py --out FILE`.

The package is loaded by its path, for the reason that `graphward_worker/__main__.py` gives.
"""

import importlib
import importlib.util
import os
import sys


def main(what: str = "ops") -> None:
    """Run the `main` of one module of this folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    start = os.path.join(os.path.dirname(here), "__main__.py")
    spec = importlib.util.spec_from_file_location("graphward_worker_start", start)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load_package()
    importlib.import_module(f"{module.NAME}.bench.{what}").main(sys.argv[1:])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
