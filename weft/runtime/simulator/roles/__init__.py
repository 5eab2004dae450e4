"""Kernels whose warp groups go each their own way: memory barriers, asynchronous operations, clocks for both."""

from . import boxes, meeting, phases, products, registers
from .clocks import MOST_OPERATIONS, Ranking
from .cluster import GroupLaunch

CALLED = {"G": meeting, "P": phases, "X": boxes, "Q": products, "R": registers}
"""What generated code calls, by its names for it."""

__all__ = ["CALLED", "MOST_OPERATIONS", "GroupLaunch", "Ranking"]
