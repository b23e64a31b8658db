"""The command line: one Typer application, one file for each command."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from .. import __version__
from ..errors import GraphwardError

# In the order of `--help`; each is a function in the module of its name.
COMMANDS = (
    "check", "fix", "migrate", "verify", "bench", "layout", "record", "review", "undo", "rules", "explain", "lsp",
)  # fmt: skip


def application(commands: Sequence[str]) -> typer.Typer:
    """The Typer application of some of the commands."""
    app = typer.Typer(
        name="graphward", no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]}, pretty_exceptions_enable=False,
    )  # fmt: skip
    app.callback()(graphward)
    for name in commands:
        app.command()(getattr(import_module(f".{name}", __package__), name))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"graphward {__version__}\n")
        raise typer.Exit


def graphward(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Take MindSpore code graph-ward: find what keeps PyNative-style code from compiling whole in Graph Mode,
    rewrite it, and prove the rewrite by compiling and running both versions.

    Start with [bold]graphward check PATH[/] (runs nothing), then [bold]graphward migrate PATH[/] (proves each rewrite).
    """


def main() -> None:
    """Run the command line; a GraphwardError is printed with its way out and exits with status 2, and so does a
    defect."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character is no reason to stop
            stream.reconfigure(errors="backslashreplace")
    # The others would take longer to load than a small check takes.
    asked = sys.argv[1:2]
    try:
        application(asked if asked and asked[0] in COMMANDS else COMMANDS)()
    except GraphwardError as error:
        sys.stderr.write(f"graphward: {error}\n")
        sys.exit(2)
    except PermissionError as error:  # of a folder on the way, where nobody could name it better
        sys.stderr.write(f"graphward: {error.filename}: {error.strerror}\n  change its permissions, or exclude it\n")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe left (`| head`): nothing is wrong, and nothing more can be said.
        sys.stderr.close()
        sys.exit(1)
    except Exception:  # status 1 would say that findings are left
        traceback.print_exc()
        sys.stderr.write("graphward: this is a defect of Graphward; --ignore goes around a rule that fails\n")
        sys.exit(2)
