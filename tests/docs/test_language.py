"""What `docs/language.md` lists, against the language as it is: statements, types, functions, distributions."""

from __future__ import annotations

import re
from typing import get_args

from places import ROOT

from weft.dsl.expressions import ELEMENT_TYPES, FUNCTIONS
from weft.dsl.tree import KINDS, PROPERTIES, Dimension, Distribution, ParameterType, Space
from weft.interpreter.session.statement import registry

PAGE = (ROOT / "docs" / "language.md").read_text()


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def grammar_keywords() -> set[str]:
    """The keywords that the rule `statement` of the grammar begins its alternatives with."""
    rule = (ROOT / "weft" / "grammar" / "weft.lark").read_text().split("\n!statement:")[1].split("\n\n")[0]
    return set(re.findall(r'^\s*\|?\s*"([a-z*?-]+)"', rule, re.MULTILINE))


def test_what_this_version_lacks() -> None:
    """A statement that arrives leaves the list: the last section of the page."""
    listed = re.findall(r"`([a-z-]+)`", section("Not in this version")) if "Not in this version" in PAGE else []
    assert set(listed) == grammar_keywords() - set(registry())


def test_every_statement_has_its_place() -> None:
    for keyword in registry():
        shown = re.search(rf"^ +(let .* = )?{re.escape(keyword)} ", PAGE, re.MULTILINE)
        assert f"`{keyword}" in PAGE or shown is not None, f"docs/language.md does not name `{keyword}`: it wants a sentence there"


def test_types_and_functions() -> None:
    text = section("Parameters and values")
    for kind in get_args(ParameterType):
        assert f"| `{kind}` |" in text
    row = next(line for line in text.splitlines() if line.startswith("| `type` |"))
    assert tuple(re.findall(r"`(\w+)`", row)[1:]) == ELEMENT_TYPES
    for function in FUNCTIONS:
        assert f"`{function}(" in text


def test_kinds_and_properties() -> None:
    text = section("Ops by what they are")
    first = "".join(re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE))
    assert set(re.findall(r"`([\w ]+)`", first)) == {*KINDS, *PROPERTIES}


def test_spaces_and_distributions() -> None:
    text = section("Spaces and distributions")
    kinds = Space.__dataclass_fields__["kind"].type
    for space in re.findall(r'"(\w+)"', str(kinds)):
        assert f"`{space}" in text
    for distribution in re.findall(r'"([\w-]+)"', str(Distribution.__dataclass_fields__["kind"].type)):
        assert f"| `{distribution}" in text
    assert "`?`" in text and Dimension.__dataclass_fields__["count"].default is None


def iterations(distribution: str, p: int, n: int = 10, processors: int = 2, b: int = 3) -> list[int]:
    """The formulas of the table."""
    if distribution == "block":
        c = -(-n // processors)
        return list(range(p * c, min((p + 1) * c, n)))
    size = b if distribution == "block-cyclic" else 1
    chunks = range(p * size, n, processors * size)
    return [i for start in chunks for i in range(start, min(start + size, n))]


def test_the_worked_example_of_the_distributions() -> None:
    rows = re.findall(r"^\| `([\w-]+)(?:\(b\))?`.*\| ([\d ]+) \| ([\d ]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for distribution, first, second in rows:
        assert [int(i) for i in first.split()] == iterations(distribution, 0)
        assert [int(i) for i in second.split()] == iterations(distribution, 1)
