"""What a step changed in the module, as a person wants to see it: the lines that differ, a little around them, and what
they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from . import colors
from .names import Line, compared

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

CONTEXT = 1
_SIGNS = {"+": ("+ ", "green"), "-": ("- ", "red"), " ": ("  ", "dim")}


@dataclass(frozen=True)
class Change:
    """A diff of two modules.

    Args:
        lines: what is shown: `None` stands for lines that are left out.
        came, went: how many lines.
    """

    lines: tuple[Line | None, ...]
    came: int
    went: int

    @property
    def summary(self) -> str:
        """`+12 −4 lines`."""
        if not self.came and not self.went:
            return "the IR is the same"
        count = self.came or self.went
        parts = [f"+{self.came}"] * bool(self.came) + [f"−{self.went}"] * bool(self.went)
        return f"{' '.join(parts)} line{'s' * (max(count, self.went) != 1)}"


def text_of(module: ir.Module) -> str:
    """A module's text for diffs: without handle tags, with affine maps where they are used and not numbered in front."""
    from ..interpreter.ir.clone import strip_tags

    return strip_tags(module).operation.get_asm(use_local_scope=True)


def change(before: str, after: str) -> Change:
    """The difference of two texts, with a line of context and the line that opens the block each change stands in."""
    if before == after:
        return Change((), 0, 0)
    lines = compared(before, after)
    changed = [index for index, line in enumerate(lines) if line.kind != " "]
    shown = {j for i in changed for j in range(max(0, i - CONTEXT), min(len(lines), i + CONTEXT + 1))}
    shown |= {opener for i in changed if (opener := _opener(lines, i)) is not None}
    out: list[Line | None] = []
    for index, line in enumerate(lines):
        if index in shown:
            out.append(line)
        elif not out or out[-1] is not None:
            out.append(None)
    while out and out[-1] is None:
        out.pop()
    if out and out[0] is None:
        out.pop(0)
    return Change(tuple(out), sum(line.kind == "+" for line in lines), sum(line.kind == "-" for line in lines))


def _opener(lines: list[Line], index: int) -> int | None:
    """The line that opens the block of `lines[index]`, or the op that the `}` there ends."""
    line = lines[index]
    limit = _indent(line.text)
    closes = line.text.lstrip().startswith("}")
    for i in range(index - 1, -1, -1):
        text = lines[i].text
        if lines[i].kind not in (" ", line.kind) or not text.strip():
            continue
        indent = _indent(text)
        if (closes and indent == limit and not text.lstrip().startswith(("}", "^"))) or (not closes and indent < limit):
            return None if text.lstrip().startswith(("func.func", "module")) else i
    return None


def rows(changes: Change, width: int, brief: bool = False) -> list[list[Text]]:
    """The rows of each line of a diff on a terminal `width` columns wide. `brief`: context takes one row a line."""
    out: list[list[Text]] = []
    for line in changes.lines:
        if line is None:
            out.append([Text("  ⋯", "dim")])
            continue
        sign, style = _SIGNS[line.kind]
        whole = Text(sign, style) + Text(line.text, style)
        if brief and line.kind == " ":
            whole.truncate(width, overflow="ellipsis")
        out.append(list(colors.wrapped(whole, width, min(_indent(line.text) + 6, width // 2))))
    return out


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
