"""What a rule's page says of the error that the rule prevents."""

from __future__ import annotations

import re
import textwrap
from functools import cache

from ..errors import GraphwardError
from ..rules.registry import rule

# An error that is quoted within a sentence.
_INLINE = re.compile(r"`(\w*(?:Error|Exception): [^`]*)`")


@cache
def prevented(code: str) -> str:
    """MindSpore's messages as the page quotes them under `Why`, else the first paragraph there; empty for neither."""
    try:
        page = rule(code).page()
    except GraphwardError:
        return ""
    _, _, rest = page.partition("## Why\n")
    why = rest.partition("\n## ")[0].strip("\n")
    quoted = [part for part in why.split("\n\n") if part.startswith("    ")]
    if quoted:
        return "\n".join(textwrap.dedent(part) for part in quoted)
    inline = _INLINE.findall(" ".join(why.split()))
    if inline:
        return "\n".join(dict.fromkeys(inline))
    return " ".join(why.split("\n\n", 1)[0].split())
