"""The yardstick, run as a process of its own: reads every file named on stdin and parses it with `ast.parse`."""

from __future__ import annotations

import ast
import sys
import warnings


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        with open(line.rstrip("\n"), "rb") as file:
            text = file.read()
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue


if __name__ == "__main__":
    main()
