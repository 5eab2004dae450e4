"""What a module's text calls its values. The parser drops SSA names, but keeps the place of every op."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Source

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

_RESULT = re.compile(r"%([\w$.-]++)(?::\d+)?+\s*+(?:,\s*+)?")
_NAME = re.compile(r"%([\w$.-]+)")
_ARGUMENT = re.compile(r"%([\w$.-]+)\s*:")
_PLACE = re.compile(r":(\d+):(\d+)\)?$")
_LAUNCH_IDS = 12


def written_names(source: Source) -> Callable[[ir.Value], str | None]:
    """A function that gives a value's name in `source`, or None where the text does not show it."""
    lines = source.text.split("\n")

    def name(value: ir.Value) -> str | None:
        from ..interpreter.ir.mlir import ir

        if isinstance(value.owner, ir.Block):
            op, number = value.owner.owner.operation, ir.BlockArgument(value).arg_number
            given = _given_name(op, number)
            if given is not None:
                return given
            place = _place(op)
            if place is None or op.name not in ("func.func", "gpu.func", "gpu.launch"):
                return None
            number -= _LAUNCH_IDS if op.name == "gpu.launch" else 0
            found = _ARGUMENT.findall(_header(lines, *place))
            return found[number] if 0 <= number < len(found) else None
        place = _place(value.owner.operation)
        if place is None:
            return None
        names = results(lines[place[0] - 1][: place[1] - 1])
        number = ir.OpResult(value).result_number
        return names[number] if number < len(names) else None

    def _place(op: ir.Operation) -> tuple[int, int] | None:
        found = _PLACE.search(str(op.location))
        line = int(found[1]) if found else 0
        return (line, int(found[2])) if found and source.name in str(op.location) and 1 <= line <= len(lines) else None

    return name


def results(before: str) -> list[str]:
    """The names in front of the `=` that `before` ends with: `… %a:2, %b =` → `a`, `b`."""
    text = before.rstrip()
    end = len(text) - 1
    names: list[str] = []
    while text.endswith("=") and (start := text.rfind("%", 0, end)) >= 0 and (found := _RESULT.fullmatch(text, start, end)):
        names.append(found[1])
        end = start
    return names[::-1]


def _given_name(op: ir.Operation, number: int) -> str | None:
    """The `weft.name` of a function's argument: what Weft calls it when it writes a module."""
    from ..interpreter.ir.mlir import ir

    if "arg_attrs" not in op.attributes:
        return None
    attributes = list(ir.ArrayAttr(op.attributes["arg_attrs"]))
    entry = ir.DictAttr(attributes[number]) if number < len(attributes) else None
    return ir.StringAttr(entry["weft.name"]).value if entry is not None and "weft.name" in entry else None


def _header(lines: list[str], line: int, column: int) -> str:
    """The text of an op from its place on, as far as its arguments may stand: to the end of the line that opens its body."""
    out = [lines[line - 1][column - 1 :]]
    for text in lines[line:]:
        if out[-1].rstrip().endswith("{"):
            break
        out.append(text)
    return "\n".join(out)
