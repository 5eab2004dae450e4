"""Lines of two modules that say the same although their values are numbered anew.

MLIR numbers values in the order of the text, so that one new op renames all that come after it. A diff of the texts would
show them all. Here a value is known by the op that makes it: two lines are alike if they are the same up to names, and the
names they use belong together.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_NAME = re.compile(r"%[\w$.#-]+(?::\d+)?")
_LOOP = (
    "scf.for",
    "scf.forall",
    "scf.parallel",
    "affine.for",
    "affine.parallel",
    "func.func",
    "gpu.func",
    "^bb",
    "gpu.launch ",
)


@dataclass(frozen=True)
class Line:
    """A line of a diff. `old`, `new`: the 1-based number of the line in either text, 0 where it is not in it."""

    kind: Literal[" ", "-", "+"]
    text: str
    old: int = 0
    new: int = 0


def compared(before: str, after: str) -> list[Line]:
    """All lines of both texts in order: kept ones (as they are now), those that went, those that came."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, [_key(line) for line in old], [_key(line) for line in new], autojunk=False)
    names: dict[str, str] = {}
    out: list[Line] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            out += [Line("-", old[i], i + 1, 0) for i in range(i1, i2)]
            out += [Line("+", new[j], 0, j + 1) for j in range(j1, j2)]
            continue
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            if _alike(old[i], new[j], names):
                out.append(Line(" ", new[j], i + 1, j + 1))
            else:
                out += [Line("-", old[i], i + 1, 0), Line("+", new[j], 0, j + 1)]
    return list(_sorted(out))


def _sorted(lines: list[Line]) -> Iterator[Line]:
    """In a run of changes, what went before what came."""
    went: list[Line] = []
    came: list[Line] = []
    for line in lines:
        if line.kind == " ":
            yield from (*went, *came, line)
            went, came = [], []
        else:
            (went if line.kind == "-" else came).append(line)
    yield from (*went, *came)


def _key(line: str) -> str:
    return _NAME.sub("%", line)


def _alike(old: str, new: str, names: dict[str, str]) -> bool:
    """Whether two lines that are the same up to names use values that belong together; those they make then do, too."""
    mine, theirs = _NAME.findall(old), _NAME.findall(new)
    made = _made(new)
    for position, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        a, b = a.partition(":")[0], b.partition(":")[0]
        if position in made:
            names[a] = b
        elif names.get(a.partition("#")[0], a.partition("#")[0]) != b.partition("#")[0]:
            return False
    return True


def _made(line: str) -> set[int]:
    """Which of the names on a line are of values that it makes: results, and arguments of its block."""
    text = line.lstrip()
    head, equals, rest = text.partition(" = ")
    results = len(_NAME.findall(head)) if equals and text.startswith("%") else 0
    body = rest if results else text
    made = set(range(results))
    if body.startswith(_LOOP):
        places = [end for sign in (" in ", " = (") if (end := body.find(sign)) >= 0]
        listed = min(places, default=0)  # `(%i, %j) in …`: up to there, every name is new
        for number, found in enumerate(_NAME.finditer(body), results):
            following = body[found.end() :].lstrip()
            leads = number == results or body[: found.start()].rstrip().endswith(("(", ","))
            if leads and (
                following.startswith((":", "=")) or (found.end() <= listed and following.startswith((",", ")")))
            ):
                made.add(number)
    return made
