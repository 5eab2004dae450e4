"""Kernels with roles: warp groups that diverge, memory barriers, asynchronous operations, vector
clocks."""

from . import boxes, phases, products, registers, synchronization
from .clocks import MOST_OPERATIONS, Ranking
from .cluster import GroupLaunch

CALLED = {"G": synchronization, "P": phases, "X": boxes, "Q": products, "R": registers}
"""Modules that generated code calls, by their names there."""

__all__ = ["CALLED", "MOST_OPERATIONS", "GroupLaunch", "Ranking"]
