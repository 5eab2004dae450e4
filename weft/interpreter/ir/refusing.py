"""Diagnostics about ops: their names and places, refusals, upstream's messages, and remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.records import record
from .mlir import TransformError, ir

WAS = "weft.was"
"""On a generic that replaces an op of the payload: that op's name."""


WAYS_OUT = {
    "linalg.softmax": "decompose it first, and `match` what it becomes: `transform { %d ="
    " transform.structured.decompose_interface %op : (!transform.any_op) -> !transform.any_op }`, where `%op` is the"
    " handle",
    "tensor.insert_slice": "make a copy of it: `let copy = transform { %c ="
    " transform.structured.insert_slice_to_copy %op : (!transform.any_op) -> !transform.any_op"
    " transform.yield %c }`, where `%op` is the handle",
    "memref.copy": "write it as `linalg.copy ins(…) outs(…)` in the payload; or leave it to the host,"
    " which copies between launches",
}
"""Ops outside linalg, and statements that convert some of them."""


def describe(op: ir.Operation | ir.OpView) -> str:
    """`linalg.matmul at payload.mlir:4:8`, for diagnostics."""
    text = location_text(op.operation.location)
    return named(op.operation) if text == "unknown" else f"{named(op.operation)} at {text}"


def named(op: ir.Operation) -> str:
    """An op's name, or that of the payload's op that it replaces."""
    was = op.attributes.get(WAS)
    return op.name if was is None else ir.StringAttr(was).value


def refuse(code: str, message: str, op: ir.Operation | None, hint: str | None = None, *notes: str) -> WeftError:
    """An error about an op that no statement supports, to be raised."""
    return WeftError(Diagnostic(code, message, notes=notes, hint=hint, payload=None if op is None else describe(op)))


def location_text(place: ir.Location) -> str:
    """`payload.mlir:4:8`, or `unknown`."""
    return str(place).removeprefix("loc(").removesuffix(")").replace('"', "")


_TAG = re.compile(r" ?\{weft\.h\d+\}")
"""A handle's tag, as upstream prints it in its messages."""


def upstream_messages(error: ir.MLIRError | TransformError) -> tuple[str, ...]:
    """MLIR's own messages, most specific first, without the bindings' preamble."""
    if isinstance(error, TransformError):
        return tuple(_TAG.sub("", message) for message in error.messages)
    lines: list[str] = []

    def collect(diagnostics: Iterable[ir.DiagnosticInfo]) -> None:
        for diagnostic in diagnostics:
            lines.append(f"{diagnostic.message}")
            collect(diagnostic.notes)

    collect(error.error_diagnostics)
    return tuple(lines) or (str(error),)


# ---- remarks -------------------------------------------------------------------------------------


class Name(str):
    """A buffer's name, in a remark."""


Hole = Union[str, Name, "ir.Location", "Remark"]


@record(eq=False)
class Remark:
    """A remark as data: text with a `{}` for each hole. A hole holds text or another remark, or a
    part specific to one kernel, which is filled again for an equal kernel: a buffer's name, an op's
    place."""

    template: str
    holes: tuple[Hole, ...] = ()

    @classmethod
    def of(cls, template: str, *values: object) -> Remark:
        """Ops become their name and place; parts that are neither op, name nor remark become text."""
        return cls(template, tuple(map(_hole, values)))

    def filled(self, names: Mapping[str, str], place: Callable[[ir.Location], ir.Location]) -> Remark:
        """The same remark about another kernel, with its buffer names and places."""

        def fill(hole: Hole) -> Hole:
            if isinstance(hole, Remark):
                return hole.filled(names, place)
            if isinstance(hole, Name):
                return Name(names.get(hole, hole))
            return place(hole) if isinstance(hole, ir.Location) else hole

        return Remark(self.template, tuple(map(fill, self.holes)))

    def __str__(self) -> str:
        return self.template.format(
            *(location_text(one) if isinstance(one, ir.Location) else one for one in self.holes)
        )


def _hole(value: Any) -> Hole:
    if isinstance(value, ir.Operation):
        where = value.location
        return named(value) if location_text(where) == "unknown" else Remark("{} at {}", (named(value), where))
    return value if isinstance(value, Remark | Name) else str(value)
