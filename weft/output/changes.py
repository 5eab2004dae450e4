"""What a step changed in a module: the lines that differ, a little around them, and what they stand in.

MLIR numbers values in the order of the text, so that one new op renames all that come after it. A diff of the texts
would show them all. Here a value is known by the op that makes it: two lines are alike if they are the same up to
names, and the names they use belong together.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from rich.text import Text

from ..dsl.records import record
from ..interpreter.ir.cloning import strip_tags
from ..interpreter.ir.mlir import ir
from . import colors

CONTEXT = 1
_SIGNS = {"+": ("+ ", "green"), "-": ("- ", "red"), " ": ("  ", "dim")}
_NAME = re.compile(r"%[\w$.#-]+(?::\d+)?")
_LOOPS = ("scf.for", "scf.parallel", "affine.for", "affine.parallel")
_WITH_ARGUMENTS = (*_LOOPS, "func.func", "gpu.func", "^bb", "gpu.launch ")


@record
class Line:
    """A line of a diff."""

    kind: Literal[" ", "-", "+"]
    text: str


@record
class Change:
    """A diff of two modules. `lines`: what is shown; `None` stands for lines that are left out."""

    lines: tuple[Line | None, ...] = ()

    @property
    def summary(self) -> str:
        """`+12 −4 lines`."""
        kinds = [line.kind for line in self.lines if line is not None]
        came, went = kinds.count("+"), kinds.count("-")
        if not came and not went:
            return "the IR is the same"
        parts = [f"+{came}"] * bool(came) + [f"−{went}"] * bool(went)
        return f"{' '.join(parts)} line{'s' * (max(came, went) != 1)}"


def change(before: ir.Module, after: ir.Module) -> Change:
    """The difference of two modules, with a line of context and the line that opens the block each change stands in: of
    their texts without handle tags, with affine maps where they are used and not numbered in front."""
    if before is after:
        return Change()
    lines = compared(*(strip_tags(module).operation.get_asm(use_local_scope=True) for module in (before, after)))
    changed = [index for index, line in enumerate(lines) if line.kind != " "]
    shown = {j for i in changed for j in range(max(0, i - CONTEXT), min(len(lines), i + CONTEXT + 1))}
    shown |= {opener for i in changed if (opener := _opener(lines, i)) is not None}
    out: list[Line | None] = []
    for index in sorted(shown):
        out += [None] * bool(out and index - 1 not in shown) + [lines[index]]
    return Change(tuple(out))


def rows(changes: Change, width: int, brief: bool = False) -> list[list[Text]]:
    """The rows of each line of a diff on a terminal `width` columns wide. `brief`: context takes one row a line."""
    out: list[list[Text]] = []
    for line in changes.lines:
        if line is None:
            out.append([Text("  ⋯", "dim")])
            continue
        sign, style = _SIGNS[line.kind]
        whole = Text(sign + line.text, style)
        if brief and line.kind == " ":
            whole.truncate(width, overflow="ellipsis")
        out.append(list(colors.wrapped(whole, width, min(indent(line.text) + 6, width // 2))))
    return out


def indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def around(text: str, above: Iterable[tuple[int, str]]) -> Iterator[int]:
    """Of the numbered lines above one, upwards, those that open the blocks around it."""
    depth = indent(text)
    for number, line in above:
        if line.strip() and indent(line) < depth:
            depth = indent(line)
            yield number


def _opener(lines: list[Line], index: int) -> int | None:
    """The line that opens the block of `lines[index]`, or of the `}` there; None for functions and modules."""
    line = lines[index]
    above = ((n, lines[n].text) for n in range(index - 1, -1, -1) if lines[n].kind in (" ", line.kind))
    outer = around(line.text, above)
    if line.text.lstrip().startswith("}"):
        same = ((n, text.lstrip()) for n, text in above if indent(text) == indent(line.text))
        outer = (n for n, text in same if text and text[0] not in "}^")
    at = next(outer, None)
    return None if at is None or lines[at].text.lstrip().startswith(("func.func", "module")) else at


# ---- lines that say the same ---------------------------------------------------------------------


def compared(before: str, after: str) -> list[Line]:
    """All lines of both texts in order: kept ones (as they are now), those that went, those that came."""
    old, new = before.splitlines(), after.splitlines()
    keys = ([_NAME.sub("%", line) for line in text] for text in (old, new))
    names: dict[str, str] = {}
    out: list[Line] = []
    went: list[str] = []
    came: list[str] = []

    def flush() -> None:
        """A run of changes: what went before what came."""
        out.extend([*(Line("-", text) for text in went), *(Line("+", text) for text in came)])
        went.clear()
        came.clear()

    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag != "equal":
            went += old[i1:i2]
            came += new[j1:j2]
            continue
        for one, other in zip(old[i1:i2], new[j1:j2], strict=True):
            if _alike(one, other, names):
                flush()
                out.append(Line(" ", other))
            else:
                went.append(one)
                came.append(other)
    flush()
    return out


def _alike(old: str, new: str, names: dict[str, str]) -> bool:
    """Whether two lines that are the same up to names use values that belong together; those they make then do, too."""
    made = _made(new)
    for position, (a, b) in enumerate(zip(_NAME.findall(old), _NAME.findall(new), strict=True)):
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
    if body.startswith(_WITH_ARGUMENTS):
        places = [end for sign in (" in ", " = (") if (end := body.find(sign)) >= 0]
        listed = min(places, default=0)  # `(%i, %j) in …`: up to there, every name is new
        for number, found in enumerate(_NAME.finditer(body), results):
            following = body[found.end() :].lstrip()
            leads = number == results or body[: found.start()].rstrip().endswith(("(", ","))
            if leads and following.startswith((":", "=", *((",", ")") if found.end() <= listed else ()))):
                made.add(number)
    return made
