"""Which function writes which op: importing `dialects` fills it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...interpreter.ir.mlir import ir
from ..kernel_form import registrar

Writer = Callable[[Any, ir.Operation], None]
WRITERS: dict[str, Writer] = {}


writes = registrar(WRITERS)
"""Register a function of a `Kernel` and an op as the writer of the ops with these names."""
