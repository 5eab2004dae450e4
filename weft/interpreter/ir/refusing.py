"""Errors about ops of the payload: their names and places, refusals, and what upstream says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...dsl.diagnostics import Diagnostic, WeftError
from .mlir import TransformError, ir

WAS = "weft.was"
"""On a generic that stands for an op of the payload: that op's name."""


def describe(op: ir.Operation | ir.OpView) -> str:
    """`linalg.matmul at payload.mlir:4:8`, for diagnostics."""
    text = spelled(op.operation.location)
    was = op.operation.attributes.get(WAS)
    name = op.operation.name if was is None else ir.StringAttr(was).value
    return name if text == "unknown" else f"{name} at {text}"


def refuse(code: str, message: str, op: ir.Operation | None, hint: str | None = None, *notes: str) -> WeftError:
    """An error about an op that no statement stands for, to be raised."""
    return WeftError(Diagnostic(code, message, notes=notes, hint=hint, payload=None if op is None else describe(op)))


def spelled(place: ir.Location) -> str:
    """`payload.mlir:4:8`, or `unknown`."""
    return str(place).removeprefix("loc(").removesuffix(")").replace('"', "")


_TAG = re.compile(r" ?\{weft\.h\d+\}")
"""A handle's tag, as upstream prints it on an op that it speaks of."""


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
