"""The syntax of statements from the grammar's text: `"unroll" target [factor]` → `unroll TARGET [by
n]`."""

from __future__ import annotations

import os
import re
from functools import cache

from .. import grammar

_PLAIN = {"_expr": "n", "_atom": "n", "_sign": "n", "list": "[n, …]", "names": "A, …", "string": '"…"', "OP": "op"}
_PLAIN |= {"RAW": "{ … }", "FUNCTION": "@function", "SIZE": "A.1", "EQUALS": "==", "AT_MOST": "<=", "INT": "0"}
_PLAIN |= {"kind": 'op|KIND|"…"', "requirement": "CONDITION"}
_PLAIN |= {"consumer_of": "consumer of OP", "produced": "producer of OPERAND", "of": "of OPERAND"}
_PLAIN |= {"NAME": "NAME", "space_value": "SPACE", "distribution_value": "block|cyclic|block-cyclic(n)"}
"""The text for a value, by its rule or its terminal; a handle is its field in capitals."""


@cache
def _rules() -> dict[str, str]:
    with open(os.path.join(grammar.__path__[0], "weft.lark"), encoding="utf-8") as file:
        text = re.sub(r"\s*(?<!\")//.*| +-> \w+$", "", file.read(), flags=re.MULTILINE)
    return dict(re.findall(r"^!?(\w+): (.*(?:\n +\|.*)*)", text, re.MULTILINE))


def written(keyword: str) -> str:
    """The syntax of a statement; several lines if there are several forms."""
    ways = re.split(r"\n +\| ", _rules()["statement"])
    return "\n".join(_shown(way, "") for way in ways if way.startswith(f'"{keyword}"'))


def _shown(definition: str, field: str) -> str:
    """The words of a definition, with the texts of its rules."""
    definition = re.sub(r"\((\([^()]*\))\)|\[\(([^()]*)\)\]", _alone, definition.replace(" [only_if]", ""))
    optional = re.sub(
        r"\(([^()]*)\)\*", lambda found: " ".join(f"[{one.strip()}]" for one in found[1].split("|")), definition
    )
    parts = re.findall(r'"[^"]*"|\w+|[\[\]()|]', optional)
    text = " ".join(part.strip('"') if part[0] == '"' else _value(part, field) for part in parts)
    return re.sub(r"(?<=[\[(#]) | (?=[\])])| (?=\|)|(?<=\|) |(?<=grouped) |(?<=panels) |(?<=cluster) ", "", text)


def _alone(found: re.Match[str]) -> str:
    """The inner brackets alone, where a pair around them only held their condition."""
    return found[1] or f"[{found[2]}]"


def _value(part: str, field: str) -> str:
    if part in ("handle", "_several"):
        return (field or part).upper()
    if part in _PLAIN or part not in _rules():
        return _PLAIN.get(part, part)
    return _shown(_rules()[part], part)
