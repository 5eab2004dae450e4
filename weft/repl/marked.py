"""One op inside the IR around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

AROUND = 2


@dataclass(frozen=True)
class Row:
    """A line of the module's text. `own`: it belongs to the op. A row without text stands for lines left out."""

    text: str | None
    own: bool = False


def marked(module: ir.Module, tag: str, most: int | None) -> list[Row]:
    """The op that bears `tag`, the blocks it stands in, and a few lines around. `most`: lines of the op at most."""
    from ..interpreter.ir.clone import without_tags

    lines = module.operation.get_asm(use_local_scope=True).splitlines()
    first, last = _extent(lines, tag)
    shown = {*range(first, last + 1)}
    hidden: set[int] = set()
    if most is not None and last - first + 1 > most:
        hidden = {*range(first + most * 2 // 3, last - most // 3)}
    around = {
        *_enclosing(lines, first),
        *range(max(0, first - AROUND), first),
        *range(last + 1, min(len(lines), last + 1 + AROUND)),
    }
    out: list[Row] = []
    for number, line in enumerate(lines):
        if (number in shown or number in around) and number not in hidden:
            out.append(Row(without_tags(line), number in shown))
        elif not out or out[-1].text is not None:
            out.append(Row(None, number in shown))
    return out


def _extent(lines: list[str], tag: str) -> tuple[int, int]:
    """The first and the last line of the op: its attributes stand on the first line of most ops, and behind the `}` of loops."""
    at = next(n for n, line in enumerate(lines) if f"{tag}," in line or f"{tag}}}" in line)
    indent = _indent(lines[at])
    if lines[at].lstrip().startswith("}"):
        first = next(
            n
            for n in range(at - 1, -1, -1)
            if _indent(lines[n]) == indent and not lines[n].lstrip().startswith(("}", "^"))
        )
        return first, at
    if not lines[at].rstrip().endswith("{"):
        return at, at
    last = next(
        n for n in range(at + 1, len(lines)) if _indent(lines[n]) == indent and lines[n].lstrip().startswith("}")
    )
    return at, last


def _enclosing(lines: list[str], at: int) -> set[int]:
    """The lines that open the blocks around line `at`, and those that close them."""
    out: set[int] = set()
    indent = _indent(lines[at])
    for number in range(at - 1, -1, -1):
        if lines[number].strip() and _indent(lines[number]) < indent:
            indent = _indent(lines[number])
            out.add(number)
    return out


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
