"""Names mean what the imports say, not what they look like."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphward.analysis.module import Module
from graphward.source.text import SourceText


def resolved(text: str, expression: str, function: str = "") -> str | None:
    module = Module.parse(SourceText.from_str(Path("net.py"), text), "net")
    names = next(f.names for f in module.functions if f.qualname == function) if function else module.names
    return names.resolve(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "expression", "meaning"),
    [
        ("import numpy as np", "np.exp", "numpy.exp"),
        ("import mindspore.numpy as np", "np.exp", "mindspore.numpy.exp"),
        ("from mindspore import numpy as np", "np.exp", "mindspore.numpy.exp"),
        ("import mindspore.ops.operations as P", "P.Exp", "mindspore.ops.Exp"),
        ("from mindspore import ops as P", "P.Exp", "mindspore.ops.Exp"),
        ("from mindspore.ops import operations as P", "P.Exp", "mindspore.ops.Exp"),
        ("from mindspore.ops import functional as F", "F.exp", "mindspore.ops.exp"),
        ("from mindspore.ops import composite as C", "C.GradOperation", "mindspore.ops.GradOperation"),
        ("import mindspore", "mindspore.ops.exp", "mindspore.ops.exp"),
        ("import mindspore.nn as nn", "nn.Dense", "mindspore.nn.Dense"),
        ("from mindspore.common.tensor import Tensor", "Tensor", "mindspore.Tensor"),
        ("from mindspore.common import dtype as mstype", "mstype.float32", "mindspore.float32"),
        ("import numpy as np\nexp = np.exp", "exp", "numpy.exp"),
        ("try:\n    import numpy as np\nexcept ImportError:\n    pass", "np.exp", "numpy.exp"),
        ("np = 3", "np.exp", None),
    ],
)
def test_aliases(text, expression, meaning):
    assert resolved(text, expression) == meaning


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        ("def f(np): pass", None),
        ("def f(x):\n    np = x", None),
        ("def f(x):\n    for np in x: pass", None),
        ("def f(x):\n    import mindspore.numpy as np", "mindspore.numpy.exp"),
        ("def f(x):\n    g = [np for np in x]", "numpy.exp"),
        ("def f(x):\n    global np", "numpy.exp"),
        ("def f(x):\n    try: pass\n    except E as np: pass", None),
    ],
)
def test_a_local_name_hides_an_import(body, meaning):
    assert resolved(f"import numpy as np\n{body}", "np.exp", "f") == meaning


def test_relative_imports_count_from_the_package(tmp_path):
    (tmp_path / "pkg").mkdir()
    path = tmp_path / "pkg/net.py"
    module = Module.parse(SourceText.from_str(path, "from .utils import f\nfrom .. import g\n"), "pkg.sub.net")
    assert module.names.lookup("f") == "pkg.sub.utils.f"
    assert module.names.lookup("g") == "pkg.g"
