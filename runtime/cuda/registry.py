"""Which function writes which op: importing `dialects` fills it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...interpreter.ir.mlir import ir

Writer = Callable[[Any, ir.Operation], None]
WRITERS: dict[str, Writer] = {}


def writes(*names: str) -> Callable[[Writer], Writer]:
    """Register a function of a `Kernel` and an op as the writer of the ops with these names."""

    def register(function: Writer) -> Writer:
        WRITERS.update(dict.fromkeys(names, function))
        return function

    return register
