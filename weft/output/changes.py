"""The diff of a module before and after a step: the changed lines, a line of context, and the lines
that open the enclosing blocks.

MLIR numbers values in the order of the text, so that a new op renames all values after it, and a
diff of the texts would show all their lines. Here values correspond if corresponding ops define
them. Two lines are equal if they are the same up to value names, and if their values correspond.
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
    """A diff of two modules. `lines`: the lines shown; `None` represents omitted lines."""

    lines: tuple[Line | None, ...] = ()

    @property
    def summary(self) -> str:
        """The counts of added and removed lines: `+12 −4 lines`."""
        kinds = [line.kind for line in self.lines if line is not None]
        came, went = kinds.count("+"), kinds.count("-")
        if not came and not went:
            return "the IR is the same"
        parts = [f"+{came}"] * bool(came) + [f"−{went}"] * bool(went)
        return f"{' '.join(parts)} line{'s' * (max(came, went) != 1)}"


def change(before: ir.Module, after: ir.Module) -> Change:
    """The diff of two modules, with a line of context and the line that opens the block of each
    change. Both texts are printed without handle tags and with affine maps inline instead of
    numbered at the top."""
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
    """The rows of each line of a diff on a terminal `width` columns wide. `brief`: a line of
    context takes one row only."""
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
    """The numbers of the lines in `above` (numbered lines before `text`, upwards) that open the
    blocks around it."""
    depth = indent(text)
    for number, line in above:
        if line.strip() and indent(line) < depth:
            depth = indent(line)
            yield number


def _opener(lines: list[Line], index: int) -> int | None:
    """The line that opens the block of `lines[index]`, or the block that a `}` there closes; None
    for functions and modules."""
    line = lines[index]
    above = ((n, lines[n].text) for n in range(index - 1, -1, -1) if lines[n].kind in (" ", line.kind))
    outer = around(line.text, above)
    if line.text.lstrip().startswith("}"):
        same = ((n, text.lstrip()) for n, text in above if indent(text) == indent(line.text))
        outer = (n for n, text in same if text and text[0] not in "}^")
    at = next(outer, None)
    return None if at is None or lines[at].text.lstrip().startswith(("func.func", "module")) else at


# ---- equal lines --------------------------------------------------------------------------------


def compared(before: str, after: str) -> list[Line]:
    """All lines of both texts in order: kept lines in their new form, removed lines, added lines."""
    old, new = before.splitlines(), after.splitlines()
    keys = ([_NAME.sub("%", line) for line in text] for text in (old, new))
    names: dict[str, str] = {}
    out: list[Line] = []
    went: list[str] = []
    came: list[str] = []

    def flush() -> None:
        """Appends a run of changes: the removed lines before the added ones."""
        out.extend([*(Line("-", text) for text in went), *(Line("+", text) for text in came)])
        went.clear()
        came.clear()

    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag != "equal":
            went += old[i1:i2]
            came += new[j1:j2]
            continue
        for one, other in zip(old[i1:i2], new[j1:j2], strict=True):
            if _correspond(one, other, names):
                flush()
                out.append(Line(" ", other))
            else:
                went.append(one)
                came.append(other)
    flush()
    return out


def _correspond(old: str, new: str, names: dict[str, str]) -> bool:
    """Whether two lines, equal up to value names, use corresponding values. If so, the values that
    they define correspond from now on."""
    made = _made(new)
    for position, (a, b) in enumerate(zip(_NAME.findall(old), _NAME.findall(new), strict=True)):
        a, b = a.partition(":")[0], b.partition(":")[0]
        if position in made:
            names[a] = b
        elif names.get(a.partition("#")[0], a.partition("#")[0]) != b.partition("#")[0]:
            return False
    return True


def _made(line: str) -> set[int]:
    """The positions, among the names on a line, of the values that it defines: results and block
    arguments."""
    text = line.lstrip()
    head, equals, rest = text.partition(" = ")
    results = len(_NAME.findall(head)) if equals and text.startswith("%") else 0
    body = rest if results else text
    made = set(range(results))
    if body.startswith(_WITH_ARGUMENTS):
        places = [end for sign in (" in ", " = (") if (end := body.find(sign)) >= 0]
        listed = min(places, default=0)  # `(%i, %j) in …`: all names up to there are new
        for number, found in enumerate(_NAME.finditer(body), results):
            following = body[found.end() :].lstrip()
            leads = number == results or body[: found.start()].rstrip().endswith(("(", ","))
            if leads and following.startswith((":", "=", *((",", ")") if found.end() <= listed else ()))):
                made.add(number)
    return made
