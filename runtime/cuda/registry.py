"""Which function writes which op."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ...interpreter.ir.mlir import ir

if TYPE_CHECKING:
    from .kernel import Kernel

Writer = Callable[["Kernel", ir.Operation], None]
_WRITERS: dict[str, Writer] = {}


def writes(*names: str) -> Callable[[Writer], Writer]:
    """Register a function as the writer of the ops with these names."""

    def register(function: Writer) -> Writer:
        for name in names:
            _WRITERS[name] = function
        return function

    return register


@cache
def writers() -> dict[str, Writer]:
    """All writers by op name."""
    from .dialects import affine, arith, conversions, gpu, math, memref, memref_views, scf, vector  # noqa: F401

    return _WRITERS
