"""`graphward rules`: the catalogue."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ..rules.registry import all_rules
from ..rules.rule import Rule
from .console import out, print_machine
from .options import Format


def rules(
    output_format: Annotated[
        Format, typer.Option("--output-format", help="How the catalogue is printed.")
    ] = Format.text,
) -> None:
    """List every rule: code, name, what it is about. `graphward explain CODE` shows a rule's page."""
    if output_format is Format.json:
        print_machine(json.dumps([_object(rule) for rule in all_rules()], indent=2))
        return
    from rich.table import Table

    table = Table("code", "name", "consequence", "summary", box=None, pad_edge=False)
    for rule in all_rules():
        table.add_row(rule.code, rule.name, rule.consequence.value, rule.summary())
    out.print(table, soft_wrap=False)


def _object(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code, "name": rule.name, "family": rule.family(), "consequence": rule.consequence.value,
        "targets": rule.targets, "summary": rule.summary(), "page": rule.page(),
    }  # fmt: skip
