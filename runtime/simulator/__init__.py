"""The simulator: runs `gpu.func`s on NumPy arrays and catches races, the second and independent witness.

Its names are imported when they are first used: `report` alone, which a runner without MLIR needs, costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .device import SimDevice
    from .kernel import SimKernel
    from .report import Fault, LaunchReport, Race, Statistics, ThreadOp

__all__ = ["Fault", "LaunchReport", "Race", "SimDevice", "SimKernel", "Statistics", "ThreadOp"]

_HOMES = {"SimDevice": "device", "SimKernel": "kernel"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'report')}"), name)
