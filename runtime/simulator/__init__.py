"""The simulator: runs `gpu.func`s on NumPy arrays and catches races, the second and independent witness."""

from __future__ import annotations

from .kernel import SimKernel
from .report import Access, Fault, LaunchReport, Race, Statistics

__all__ = ["Access", "Fault", "LaunchReport", "Race", "SimKernel", "Statistics"]
