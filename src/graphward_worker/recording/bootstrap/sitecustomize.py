"""Python imports this when it starts with this folder on PYTHONPATH: `graphward record` puts it there.

Costs nothing until MindSpore is imported. Then chains to the `sitecustomize` that this one hides.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _watch() -> None:
    import importlib.util

    home = os.path.dirname(os.path.dirname(_HERE))
    spec = importlib.util.spec_from_file_location(
        "graphward_worker", os.path.join(home, "__init__.py"), submodule_search_locations=[home]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["graphward_worker"] = package
    spec.loader.exec_module(package)
    from graphward_worker.recording import importing

    importing.watch()


def _chain() -> None:
    """Run the `sitecustomize` that would have been found without this folder."""
    from importlib.machinery import PathFinder

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        import importlib.util

        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("GRAPHWARD_RECORD") and sys.version_info >= (3, 9):
    try:
        _watch()
    except Exception as error:  # the user's script must run whatever happens here
        sys.stderr.write(f"graphward: nothing is recorded in this process: {error!r}\n")
_chain()
