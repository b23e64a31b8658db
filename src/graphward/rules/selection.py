"""Which rules run: `select` and `ignore` by code, prefix or name, and the versions that a rule speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import GraphwardError
from .registry import all_rules
from .rule import Rule


def selected_rules(select: Sequence[str], ignore: Sequence[str], target_version: str) -> tuple[Rule, ...]:
    """The rules that `select` names and `ignore` does not, as far as they speak of `target_version`.

    An item is `ALL`, a code, the beginning of one (`GW1`) or a rule's name; the longest match wins, as in a
    `select = ["GW1"]`, `ignore = ["GW101"]`. A rule that is opt-in wants its whole code or its name. Raises
    GraphwardError for an item that matches no rule.
    """
    for item in (*select, *ignore):
        require(item)
    chosen = []
    for rule in all_rules():
        wanted = max((_weight(i, rule) for i in select if not rule.opt_in or i in (rule.code, rule.name)), default=0)
        refused = max((_weight(item, rule) for item in ignore), default=0)
        if wanted > refused and covers(rule.targets, target_version):
            chosen.append(rule)
    return tuple(chosen)


def matches(item: str, rule: Rule) -> bool:
    """Whether a selector names the rule."""
    return _weight(item, rule) > 0


def covers(targets: str, version: str) -> bool:
    """Whether `>=2.7,<2.9` holds for `version`."""
    mine = _version(version)
    for clause in targets.split(","):
        found = re.fullmatch(r"\s*(>=|<=|==|<|>)\s*([\d.]+)\s*", clause)
        if not found:
            raise ValueError(f"{clause!r} is no version clause")
        other = _version(found[2])
        holds = {">=": mine >= other, "<=": mine <= other, "==": mine == other, "<": mine < other, ">": mine > other}
        if not holds[found[1]]:
            return False
    return True


def require(item: str) -> None:
    """Raises GraphwardError when a selector matches no rule."""
    if not any(_weight(item, rule) for rule in all_rules()):
        raise GraphwardError(f"no rule matches {item!r}", hint="`graphward rules` lists the codes and names")


def _weight(item: str, rule: Rule) -> int:
    if item.upper() == "ALL":
        return 1
    if item == rule.name:
        return 10
    return len(item) if item.upper().startswith("GW") and rule.code.startswith(item.upper()) else 0


def _version(text: str) -> tuple[int, ...]:
    parts = [int(p) for p in text.strip(".").split(".")[:3]]
    return tuple(parts + [0] * (3 - len(parts)))
