"""The codemod that CONTRIBUTING.md adds in ten minutes works as it is printed there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_codemod_of_the_guide(tmp_path: Path):
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    net, rule = re.findall(r"^```python\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    place = re.search(r"`codemods/(graphward_codemods/\S+\.py)`", guide)
    assert place is not None
    codemods = tmp_path / "codemods"
    shutil.copytree(ROOT / "codemods", codemods, ignore=shutil.ignore_patterns("__pycache__"))
    (codemods / place[1]).write_text(rule, encoding="utf-8")
    (tmp_path / "net.py").write_text(net, encoding="utf-8")

    graphward = Path(sys.executable).with_name("graphward")
    command = [graphward, "check", "--no-cache", "--select", "GW190", "--output-format", "json", "net.py"]
    env = {**os.environ, "PYTHONPATH": str(codemods)}
    check = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert check.returncode == 1, check.stderr
    (finding,) = json.loads(check.stdout)
    line = net[: net.index("print(")].count("\n") + 1
    assert (finding["code"], finding["line"], finding["region"]) == ("GW190", line, "Net.construct")
    assert [fix["applicability"] for fix in finding["fixes"]] == ["unsafe"]
