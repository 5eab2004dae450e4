"""Kernels as CUDA C++ text.

    text = emit(module)                  # all kernels of all gpu.modules, one text

How they are called is said in `abi`. That and `nvrtc` need no MLIR; what does is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...interpreter.ir.mlir import ir


def emit(module: ir.Module) -> str:
    """All kernels of the module as one CUDA C++ text."""
    from .module import emit

    return emit(module)
