"""The names of values and the places of ops in a module's text. The parser drops SSA names but
keeps locations."""

from __future__ import annotations

import re

from ..dsl.diagnostics import Source, Span
from ..interpreter.ir.functions import given_name
from ..interpreter.ir.mlir import ir

_RESULT = re.compile(r"%([\w$.-]++)(?::\d+)?+\s*+(?:,\s*+)?")
_PLACE = re.compile(r":(\d+):(\d+)\)*$")
_NAMED = re.compile(r'loc\("([^"]*)"\(')
_HEADER = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|->|(?P<open>\battributes\s*+\{|[(\[{<])|(?P<close>[)\]}>])|%(?P<name>[\w$.-]+)\s*+:'
)
_LAUNCH_IDS = 12


def span_of(location: ir.Location, source: Source, width: int = 1) -> Span | None:
    """The span in `source` of a location, `width` columns wide; None if the location is not in
    `source`."""
    found = _PLACE.search(str(location))
    return Span(source, int(found[1]), int(found[2]), int(found[1]), int(found[2]) + width) if found else None


def argument_names(text: str, start: int = 0) -> list[str]:
    """The names of the typed arguments before an op's body: `@f(%a: f32) … workgroup(%b :
    memref<4xf32>) … {`."""
    found: list[str] = []
    around = ""
    for token in _HEADER.finditer(text, start):
        if token["name"] is not None and around == "(":
            found.append(token["name"])
        elif token["open"] is not None:
            if token["open"] == "{" and not around:
                break
            around += token["open"][-1]
        elif token["close"] is not None:
            around = around[:-1]
    return found


class WrittenNames:
    """A function from a value to its name in `source`; None if the text does not show it."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __call__(self, value: ir.Value) -> str | None:
        if isinstance(value.owner, ir.Block):
            op, number = value.owner.owner.operation, ir.BlockArgument(value).arg_number
            if (given := given_name(op, number)) is not None:
                return given
            names = self.arguments(op) if op.name in ("func.func", "gpu.func", "gpu.launch") else []
            number -= _LAUNCH_IDS if op.name == "gpu.launch" else 0
        else:
            at = self._offset(value.owner.operation.location)
            names = results(self.source.text[self.source.text.rfind("\n", 0, at) + 1 : at]) if at is not None else []
            number = ir.OpResult(value).result_number
        return names[number] if 0 <= number < len(names) else None

    def at(self, place: ir.Location) -> list[str]:
        """The names of the results of the op at `place`, from the text or from the location; none
        if they are numbers."""
        at, named = self._offset(place), _NAMED.match(str(place))
        if named is not None:  # the location of a statement of a schedule
            names = [named[1]]
        else:
            names = results(self.source.text[self.source.text.rfind("\n", 0, at) + 1 : at]) if at is not None else []
        return [re.sub(r"\W", "_", name, flags=re.ASCII) for name in names if not name[0].isdigit()]

    def arguments(self, op: ir.Operation) -> list[str]:
        """The names of a function's arguments, or of the buffers that a `gpu.launch` allocates."""
        at = self._offset(op.location)
        return argument_names(self.source.text, at) if at is not None else []

    def _offset(self, place: ir.Location) -> int | None:
        span = span_of(place, self.source) if self.source.name in str(place) else None
        there = span is not None and 1 <= span.line <= len(self.source.starts)
        return self.source.offset(span.line, span.column) if span is not None and there else None


def results(before: str) -> list[str]:
    """The names before the `=` at the end of `before`: `… %a:2, %b =` → `a`, `b`."""
    text = before.rstrip()
    end = len(text) - 1
    names: list[str] = []
    while text.endswith("=") and (found := _RESULT.fullmatch(text, max(text.rfind("%", 0, end), 0), end)):
        names.append(found[1])
        end = found.start()
    return names[::-1]
