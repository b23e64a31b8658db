"""`graphward explain --project`: the fix of a diagnosed error as a diff, and what is said where there is none."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path

import pytest

from .test_explain_command import GRAPHWARD, explain

IMPORTS = "import math\n\nimport mindspore as ms\nimport numpy as np\nfrom mindspore import Tensor, nn, ops\n\n\n"


def error(message: str, place: str, code: str = "", kind: str = "RuntimeError") -> str:
    below = f"        {code}\n            ^~~~\n" if code else ""
    stack = f"- The Traceback of Net Construct Code:\n{'-' * 52}\n# 0 In file {place}, 8~20\n{below}"
    return f"{kind}: {message}\n\n{'-' * 52}\n{stack}"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(IMPORTS + textwrap.dedent(text), encoding="utf-8")
    return path


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


TRY = """
class Inner(nn.Cell):
    def construct(self, x):
        try:
            y = ops.log(x)
        finally:
            pass
        return y


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        y = self.inner(x)
        return y * 2
"""


def test_the_fix_is_a_patch(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    before = net.read_text(encoding="utf-8")
    line = line_of(net, "try:")
    status, out, err = explain("-", "--project", ".", stdin=error("Unsupported statement 'Try'.", f"{net}:{line}"),
                               cwd=tmp_path)  # fmt: skip
    assert (status, err) == (0, "")
    assert f"net.py:{line}:9 GW301" in out and "nothing at the line" not in out
    assert net.read_text(encoding="utf-8") == before, "nothing is written"
    patch = out[out.index("--- a/") :]
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert "try:" not in net.read_text(encoding="utf-8")


def test_the_compiler_names_the_call_and_the_fix_is_in_what_is_called(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    call = line_of(net, "y = self.inner(x)")
    text = error("Unsupported statement 'Try'.", f"{net}:{call}", "y = self.inner(x)")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "in code that it runs through" in out and f"net.py:{line_of(net, 'try:')}:9 GW301" in out
    assert "\n-        try:\n" in out


def test_a_log_of_another_machine_finds_the_file_by_the_end_of_its_path(tmp_path: Path):
    net = write(tmp_path, "src/models/net.py", TRY)
    write(tmp_path, "other/net.py", "x = 1\n")
    text = error("Unsupported statement 'Try'.", f"/cluster/job7/code/src/models/net.py:{line_of(net, 'try:')}")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "src/models/net.py:" in out and "+++ b/src/models/net.py" in out and "more than one" not in out


def test_two_files_that_the_log_may_mean(tmp_path: Path):
    first = write(tmp_path, "a/net.py", TRY)
    write(tmp_path, "b/net.py", TRY)
    text = error("Unsupported statement 'Try'.", f"net.py:{line_of(first, 'try:')}")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "more than one file" in out and "+++ b/a/net.py" in out


def test_a_line_that_moved_is_found_by_its_text(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    text = error("Unsupported statement 'Try'.", "net.py:3", "try:")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "was changed since" in out and f"net.py:{line_of(net, 'try:')}:9 GW301" in out


def test_what_the_compiler_says_counts_where_the_analysis_is_not_sure(tmp_path: Path):
    """`n` is an argument without a default: only the error tells that it was a Tensor."""
    net = write(tmp_path, "net.py", """
        class Net(nn.Cell):
            def construct(self, x, n=3):
                for i in range(n):
                    x = x + i
                return x
        """)  # fmt: skip
    message = "For 'make_range', the 0th input should be a int scalar but got AbstractTensor(shape: ())"
    text = error(message, f"net.py:{line_of(net, 'range(n)')}", "for i in range(n):", "TypeError")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "GW313" in out and "+++ b/net.py" in out
    checked = subprocess.run([GRAPHWARD, "check", "net.py"], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert "GW313" not in checked.stdout, "findings alone do not see it"


def test_only_the_place_of_the_error_is_fixed(tmp_path: Path):
    net = write(tmp_path, "net.py", """
        class Net(nn.Cell):
            def construct(self, x):
                return Tensor(np.exp(x.asnumpy()))


        class Other(nn.Cell):
            def construct(self, x):
                return Tensor(np.log(x.asnumpy()))
        """)  # fmt: skip
    message = "In JIT strict mode, cannot get attributes asnumpy or the Tensor[Float32] object has no attribute"
    text = error(message, f"net.py:{line_of(net, 'np.exp')}", kind="AttributeError")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "\n-        return Tensor(np.exp(x.asnumpy()))\n+        return ops.exp(x)\n" in out
    assert "-        return Tensor(np.log" not in out and "ops.log" not in out


def test_an_error_that_names_the_call_of_the_network_alone(tmp_path: Path):
    net = write(tmp_path, "net.py", """
        class Net(nn.Cell):
            def construct(self, x):
                for i in range(1500):
                    x = x + i
                return x


        Net()(ops.ones(3))
        """)  # fmt: skip
    line = line_of(net, "Net()(")
    text = (
        f'Traceback (most recent call last):\n  File "{net}", line {line}, in <module>\n    Net()(ops.ones(3))\n'
        "RuntimeError: Exceed function call depth limit 1000, (function call depth: 1001, simulate call depth: 1000).\n"
    )
    _, out, _ = explain("-", "--project", str(tmp_path), stdin=text)
    assert "GW316" in out


def test_errors_that_no_codemod_mends(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    text = error("For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got 3 and 2.", f"{net}:12")
    status, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert status == 0 and "no codemod mends this error" in out and "---" not in out


def test_a_file_that_is_not_in_the_project(tmp_path: Path):
    write(tmp_path, "net.py", TRY)
    text = error("Unsupported expression 'Set'.", "/elsewhere/model.py:12")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "/elsewhere/model.py is not in ." in out


def test_a_folder_without_python(tmp_path: Path):
    status, out, err = explain("-", "--project", ".", stdin=error("Unsupported statement 'Try'.", "net.py:1"),
                               cwd=tmp_path)  # fmt: skip
    assert (status, out) == (2, "") and "no Python" in err


def test_json_with_a_project(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    line = line_of(net, "try:")
    text = error("Unsupported statement 'Try'.", f"net.py:{line}") + "ValueError: something else\n"
    status, out, _ = explain("-", "--project", ".", "--output-format", "json", stdin=text, cwd=tmp_path)
    data = json.loads(out)
    known, unknown = data["diagnoses"]
    assert status == 1 and unknown["project"] is None
    assert (known["project"]["path"], known["project"]["line"]) == ("net.py", line)
    assert [f["code"] for f in known["project"]["findings"]] == ["GW301"] and "-        try:" in data["diff"]


def test_settings_of_the_project_hold(tmp_path: Path):
    net = write(tmp_path, "net.py", TRY)
    (tmp_path / "pyproject.toml").write_text('[tool.graphward]\nignore = ["GW301"]\n', encoding="utf-8")
    text = error("Unsupported statement 'Try'.", f"net.py:{line_of(net, 'try:')}")
    _, out, _ = explain("-", "--project", ".", stdin=text, cwd=tmp_path)
    assert "+++" not in out


@pytest.mark.parametrize("line", [0, 100000])
def test_a_line_that_is_not_there(tmp_path: Path, line: int):
    write(tmp_path, "net.py", TRY)
    status, out, err = explain("-", "--project", ".", stdin=error("Unsupported statement 'Try'.", f"net.py:{line}"),
                               cwd=tmp_path)  # fmt: skip
    assert (status, err) == (0, "") and "In the project" in out


def test_a_file_that_does_not_parse(tmp_path: Path):
    write(tmp_path, "net.py", "class Net(nn.Cell:\n    pass\n")
    status, out, err = explain("-", "--project", ".", stdin=error("Unsupported statement 'Try'.", "net.py:9"),
                               cwd=tmp_path)  # fmt: skip
    assert (status, err) == (0, "") and "no codemod changes anything there" in out
