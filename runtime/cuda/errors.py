"""How the emitter refuses: with the op and its location."""

from __future__ import annotations

from ...dsl.diagnostics import Diagnostic, WeftError
from ...interpreter.ir.mlir import ir


def place(op: ir.Operation | ir.OpView) -> str:
    """`scf.for at payload.mlir:4:8`, for diagnostics."""
    text = str(op.operation.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    return op.operation.name if text == "unknown" else f"{op.operation.name} at {text}"


def refuse(
    code: str,
    message: str,
    op: ir.Operation | ir.OpView | None,
    *,
    hint: str | None = None,
    notes: tuple[str, ...] = (),
) -> WeftError:
    """An error about `op`, to be raised."""
    return WeftError(Diagnostic(code, message, notes=notes, hint=hint, payload=place(op) if op is not None else None))
