"""`python -m benchmarks.rewrite`: migrates what the compiler does not take, prints the outcome entry by entry, and
fails when too little is healed, when nothing is said of an entry, or when what the compiler takes is changed by
`fix` or comes to harm by `fix --unsafe-fixes`.

healed: rewritten and verified, with inputs that `fixtures/agreement/inputs.toml` declares, else inferred ones. by hand:
a fix that a person has to make. refused: there is a rewrite, and the proof turned it away. silent: no finding at all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from .material import Entry, copy, declare_inputs, entries

HEALED = 0.85
GRAPHWARD = Path(sys.executable).with_name("graphward")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rewrite", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has MindSpore")
    parser.add_argument("--only", default="", help="entries whose module has this in its name")
    return parser.parse_args()


def graphward(*words: str, folder: Path) -> Any:
    """The JSON that a command of Graphward prints in `folder`."""
    done = subprocess.run([str(GRAPHWARD), *words], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        sys.exit(f"graphward {words[0]} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def verdicts(folder: Path, python: str) -> dict[str, dict[str, Any]]:
    found = graphward("migrate", ".", "--write", "--output-format", "json", "--python", python, folder=folder)
    return {verdict["target"].partition("(")[0]: verdict for verdict in found}


def left(folder: Path) -> dict[str, dict[str, bool]]:
    """By module the rules that still say something after the migration, and whether the fix is to be made by hand."""
    found: dict[str, dict[str, bool]] = {}
    for finding in graphward("check", ".", "--no-cache", "--output-format", "json", folder=folder):
        by_hand = any(fix["applicability"] == "manual" for fix in finding["fixes"]) or not finding["fixes"]
        rules = found.setdefault(finding["path"].removeprefix("./"), {})
        rules[finding["code"]] = rules.get(finding["code"], False) or by_hand
    return found


def edited(healthy: list[Entry], folder: Path, *options: str) -> list[Entry]:
    """The entries that `fix` with these options would change."""
    command = [str(GRAPHWARD), "fix", *options, "."]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
    return [e for e in healthy if f"+++ b/{e.module}" in shown]


def harmed(healthy: list[Entry], folder: Path, python: str) -> tuple[list[str], list[str]]:
    """The modules that the compiler takes as they are and that `fix --unsafe-fixes` changes, and those among them that
    do not verify afterwards."""
    changed = edited(healthy, folder, "--unsafe-fixes")
    for entry in healthy:
        if entry not in changed:
            (folder / entry.module).unlink()
    proven = verdicts(folder, python) if changed else {}
    bad = [e.module for e in changed if proven.get(e.target, {}).get("verdict") != "verified"]
    return [e.module for e in changed], bad


def outcome(verdict: str, rules: dict[str, bool]) -> str:
    if verdict == "verified":
        return "healed"
    return "silent" if not rules else "by hand" if any(rules.values()) else "refused"


def main() -> None:
    args = arguments()
    chosen = [e for e in entries() if args.only in e.module]
    ill = [e for e in chosen if e.verdict != "accepts"]
    with tempfile.TemporaryDirectory(prefix="graphward-rewrite-") as name:
        folder, other = Path(name) / "ill", Path(name) / "healthy"
        for place in (folder, other):
            place.mkdir()
        copy({e.module for e in ill}, folder)
        declare_inputs(folder)
        # A report's module holds its cure beside the original: only constructs are accepted as a whole.
        healthy = [e for e in chosen if e.verdict == "accepts" and e.module.startswith("constructs/")]
        copy({e.module for e in healthy}, other)
        proven = verdicts(folder, args.python)
        rules = left(folder)
        unasked = [e.module for e in edited(healthy, other)]
        changed, bad = harmed(healthy, other, args.python)
    outcomes: Counter[str] = Counter()
    for entry in ill:
        verdict = proven.get(entry.target, {}).get("verdict", "not run")
        found = outcome(verdict, rules.get(entry.module, {}))
        outcomes[found] += 1
        codes = ", ".join(rules.get(entry.module, ())) if found != "healed" else ""
        print(f"{found:8} {entry.verdict:24} -> {verdict:16} {entry.target} {codes}".rstrip())
    for module in changed:
        what = "harmed" if module in bad else "changed"
        how = "by fix" if module in unasked else "by fix --unsafe-fixes"
        print(f"{what:8} {how}, accepted as it stands: {module}")
    share = outcomes["healed"] / max(1, len(ill))
    others = ", ".join(f"{name} {outcomes[name]}" for name in ("by hand", "refused", "silent"))
    print(f"\nhealed {outcomes['healed']}/{len(ill)} = {share:.0%} (target {HEALED:.0%}), {others}; "
          f"of {len(healthy)} accepted ones fix changes {len(unasked)}, fix --unsafe-fixes {len(changed)}, "
          f"{len(bad)} harmed")  # fmt: skip
    if share < HEALED or outcomes["silent"] or unasked or bad:
        sys.exit(1)


if __name__ == "__main__":
    main()
