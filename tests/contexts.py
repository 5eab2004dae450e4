"""One MLIR context for small modules that nothing else shares: making one takes longer than most tests do with it."""

from __future__ import annotations

from functools import cache

from weft.interpreter.ir import mlir


@cache
def one_context() -> mlir.ir.Context:
    return mlir.context()
