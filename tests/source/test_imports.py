"""The import editor: one place, no duplicates, no comment lost, nothing removed that is used."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphward.source.edits import apply_edits
from graphward.source.fixes import ImportRequest
from graphward.source.imports import additions, removals
from graphward.source.text import SourceText

OPS = ImportRequest("mindspore", "ops", "ops")
MS = ImportRequest("mindspore", "", "ms")


def source_of(text: str) -> SourceText:
    return SourceText.from_str(Path("net.py"), text)


def added(text: str, *requests: ImportRequest) -> str:
    source = source_of(text)
    return apply_edits(source.utf8, additions(source, ast.parse(text), requests)).decode()


def removed(text: str, *names: str) -> str:
    source = source_of(text)
    return apply_edits(source.utf8, removals(source, ast.parse(text), names)).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from mindspore import nn\nx = 1\n", "from mindspore import nn, ops\nx = 1\n"),
        ("from mindspore import nn  # layers\n", "from mindspore import nn, ops  # layers\n"),
        ("from mindspore import (\n    nn,\n)\n", "from mindspore import (\n    nn, ops,\n)\n"),
        ("import numpy as np\nx = 1\n", "import numpy as np\nfrom mindspore import ops\nx = 1\n"),
        ("import mindspore\nimport numpy as np\n", "import mindspore\nfrom mindspore import ops\nimport numpy as np\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\nfrom mindspore import ops\nx = 1\n'),
        ("#!/usr/bin/env python\n# coding: utf-8\nx = 1\n",
         "#!/usr/bin/env python\n# coding: utf-8\nfrom mindspore import ops\nx = 1\n"),
        ("from __future__ import annotations\nx = 1\n",
         "from __future__ import annotations\nfrom mindspore import ops\nx = 1\n"),
        ("import numpy as np", "import numpy as np\nfrom mindspore import ops"),
        ("from mindspore import ops\n", "from mindspore import ops\n"),
        ("try:\n    import a\nexcept ImportError:\n    a = None\nimport b\n",
         "try:\n    import a\nexcept ImportError:\n    a = None\nimport b\nfrom mindspore import ops\n"),
        ("import a\r\nx = 1\r\n", "import a\r\nfrom mindspore import ops\r\nx = 1\r\n"),
    ],
)  # fmt: skip
def test_an_import_is_added_at_the_top(text, expected):
    assert added(text, OPS) == expected
    assert added(expected, OPS) == expected


def test_two_imports_at_one_place_both_come():
    assert added("import numpy\n", OPS, MS) == "import numpy\nimport mindspore as ms\nfrom mindspore import ops\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy as np\nx = 1\n", "x = 1\n"),
        ("import numpy as np, os\n", "import os\n"),
        ("from a import b, np, c\n", "from a import b, c\n"),
        ("from a import b, np\n", "from a import b\n"),
        ("from a import (\n    b,\n    np,\n)\n", "from a import (\n    b,\n)\n"),
        ("import numpy as np  # kept for its side effect\n", "import numpy as np  # kept for its side effect\n"),
        ("import numpy as np; x = 1\n", "import numpy as np; x = 1\n"),
        ("if True:\n    import numpy as np\n", "if True:\n    import numpy as np\n"),
    ],
)
def test_an_unused_import_goes_and_nothing_else(text, expected):
    assert removed(text, "np") == expected
    ast.parse(expected)
