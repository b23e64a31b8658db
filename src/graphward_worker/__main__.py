"""Starts the worker: `python graphward_worker/__main__.py --scratch DIR [-j N]`.

The package is loaded by its path, so that the directory it is installed in (Graphward's own site-packages) never
appears on the user's `sys.path`, where it could shadow what the user's code imports.
"""

import importlib
import importlib.util
import os
import sys

NAME = "graphward_worker"


def load_package() -> None:
    """Put the package in `sys.modules` without touching `sys.path`."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    if sys.version_info < (3, 9):
        sys.exit("the worker needs Python 3.9 or later, this is Python %d.%d" % sys.version_info[:2])
    sys.dont_write_bytecode = True
    load_package()
    importlib.import_module(NAME + ".server").main(sys.argv[1:])
