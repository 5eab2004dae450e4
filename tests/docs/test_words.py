"""Words that a reader of compiler papers stumbles over, counted in docstrings, comments and prose: they only become fewer.

`pytest --update tests/docs/test_words.py` writes `TABLE` anew. Not counted: messages and other strings, code in backticks,
and what a pattern cannot decide (*one* without a noun, *there* without a place, *what … is* as a noun).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from pinned import pinned
from places import ROOT

WORDS = {
    "alike": ("alike", "the same, equal, both"),
    "anybody": ("anybody|anyone|somebody|someone|nobody|no-one", "any op, an op, no op; the thread, warp or block"),
    "asks": ("asks|asked", "queries, requests, checks"),
    "behind": ("behind", "after, following; the cause itself"),
    "by itself": ("by itself|by themselves", "alone, independently"),
    "called": ("called", "named; for a function: invoked"),
    "goes on": ("goes on|go on|going on|went on", "continues, proceeds"),
    "in front of": ("in front of", "before, preceding"),
    "its like": ("its like|their like", "a value of the same type, an op of the same kind"),
    "knows": ("knows", "records, holds, computes"),
    "likewise": ("likewise", "also, the same way"),
    "looks at": ("looks? at|looked at|looking at", "reads, inspects, uses"),
    "meets": ("meets", "conflicts with, reaches; intersects"),
    "said": ("said|says?|saying", "states, gives, specifies, reports; the text"),
    "so many": ("so many", "this many, n"),
    "spelled": ("spelled|spells?|spelling|spelt", "written, named; the text, the syntax"),
    "stands": ("stands?|stood|standing", "is, is at, represents"),
    "tells": ("tells|told", "reports, states, shows"),
    "turn": ("turns?", "iteration, round; converts, becomes"),
    "who": ("who|whom", "which, that; the thread, warp, block or op"),
    "whose": ("whose", "with …, its …, the … of which"),
}
"""Name → what is matched, in any case, and what to write instead."""

TABLE: dict[str, int] = {
    "alike": 0,
    "anybody": 1,
    "asks": 5,
    "behind": 1,
    "by itself": 0,
    "called": 48,
    "goes on": 0,
    "in front of": 0,
    "its like": 0,
    "knows": 6,
    "likewise": 4,
    "looks at": 0,
    "meets": 1,
    "said": 8,
    "so many": 0,
    "spelled": 0,
    "stands": 2,
    "tells": 3,
    "turn": 38,
    "who": 3,
    "whose": 38,
}
"""How often each occurs at most."""

SLACK = 25
"""By how much a count may be below the table."""

GROUPS = [rf"(?P<w{i}>\b(?:{words})\b)".replace(" ", r"\s+") for i, (words, _) in enumerate(WORDS.values())]
PATTERN = re.compile("|".join(GROUPS), re.IGNORECASE)
LITERALS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*', re.DOTALL
)
"""Strings and comments of Python, each at its beginning."""
CODE = re.compile(r"``[^`]+``|`[^`]+`")
FENCED = re.compile(r"^[ ]*(```+|~~~+)[^\n]*\n.*?^[ ]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
PLACES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "weft/explain/*.md", "weft/**/*.py")


def blank(match: re.Match[str]) -> str:
    """The line breaks alone, so that lines keep their numbers."""
    return "\n" * match[0].count("\n")


def prose_of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """The whole text without its code, from its first line."""
    yield 1, CODE.sub(blank, FENCED.sub(blank, text))


def prose_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Each docstring (of a variable too) and each comment without code in backticks: the line of its beginning, and its text."""
    line, last = 1, 0
    for found in LITERALS.finditer(text):
        comment = found[0].startswith("#")
        begin = text.rfind("\n", 0, found.start()) + 1
        if comment or (found[0].startswith('"""') and text[begin : found.start()].strip() in {"", "r"}):
            line, last = line + text.count("\n", last, found.start()), found.start()
            yield line, CODE.sub(blank, found[0])


def counted(root: Path = ROOT) -> dict[str, list[str]]:
    """Each word's places, `file:line`."""
    names, found = list(WORDS), defaultdict[str, list[str]](list)
    for path in sorted({path for place in PLACES for path in root.glob(place)}):
        prose = prose_of_python if path.suffix == ".py" else prose_of_markdown
        for line, text in prose(path.read_text()):
            for match in PATTERN.finditer(text):
                at = line + text.count("\n", 0, match.start())
                found[names[int((match.lastgroup or "")[1:])]].append(f"{path.relative_to(root)}:{at}")
    return found


def table(counts: dict[str, int]) -> str:
    """The text of `TABLE`."""
    rows = "".join(f'    "{name}": {counts[name]},\n' for name in WORDS)
    return f"TABLE: dict[str, int] = {{\n{rows}}}\n"


def faults(found: dict[str, list[str]], limits: dict[str, int]) -> list[str]:
    """What is wrong with the counts, a message for each word."""
    wrong = []
    for name, (_, instead) in WORDS.items():
        places, most = found.get(name, []), limits.get(name, 0)
        if len(places) > most:
            first = ", ".join(places[:3])
            wrong.append(
                f"*{name}* occurs {len(places)} times; the table allows {most} ({first}, …). Write instead: {instead}."
            )
        elif len(places) < most - SLACK:
            wrong.append(
                f"*{name}* occurs only {len(places)} times; the table has {most}: `pytest --update tests/docs/test_words.py`."
            )
    return wrong


def test_the_words_become_fewer(update: bool) -> None:
    found, counts = counted(), TABLE
    if update:
        file = Path(__file__)
        counts = {name: min(len(found.get(name, [])), TABLE.get(name, 0)) for name in WORDS}  # fewer, never more
        text = re.sub(
            r"^TABLE: dict\[str, int\] = \{.*?\}\n", table(counts), file.read_text(), flags=re.MULTILINE | re.DOTALL
        )
        pinned(file, text, update)
    wrong = faults(found, counts)
    assert not wrong, "\n".join(wrong)


def test_prose_is_found(tmp_path: Path) -> None:
    """In docstrings and comments, not in code, messages or strings that look like either."""
    (tmp_path / "weft").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "weft" / "a.py").write_text(PYTHON)
    (tmp_path / "docs" / "a.md").write_text(
        "The op behind\nit.\n\n```python\nwho = 1  # behind\n```\n\nLike `who`, whose.\n"
    )
    found = counted(tmp_path)
    assert dict(found) == {
        "behind": ["docs/a.md:1", "weft/a.py:3"],
        "whose": ["docs/a.md:8", "weft/a.py:10"],
        "who": ["weft/a.py:5"],
        "so many": ["weft/a.py:12"],
    }


PYTHON = '''"""A module.

What is Behind it.
"""
X = "a # who" + f"{'who'}"  # who
Y = """
whose
"""
def f(said):
    r"""An "op" whose `who`."""
    """"""
    return "whose"  # so  many
'''


@pytest.mark.parametrize(
    ("count", "most", "message"), [(3, 2, "3 times; the table allows 2 (a:1, a:1, a:1, …). Write"), (2, 28, "only 2")]
)
def test_messages(count: int, most: int, message: str) -> None:
    limits = Counter({"alike": most})
    (only,) = faults({"alike": ["a:1"] * count}, limits)
    assert message in only and faults({"alike": ["a:1"] * most}, limits) == []
