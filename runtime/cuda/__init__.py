"""Kernels as CUDA C++ text.

    text = emit(module)                  # all kernels of all gpu.modules, one text
    made = emit_module(module)           # the text, and the signatures of its kernels by symbol ("module::function")
    kernel_signature(gpu_func)           # the argument list of one kernel, see abi.py

`abi` and `nvrtc` need no MLIR; what does is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .module import Emitted, emit, emit_module, kernel_names, kernel_signature

__all__ = ["Emitted", "emit", "emit_module", "kernel_names", "kernel_signature"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import module

    return getattr(module, name)
