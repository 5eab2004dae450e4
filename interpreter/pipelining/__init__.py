"""Loops whose tiles are on their way while the ones before are computed: the copies of a sequential loop, one iteration ahead."""

from .found import Pipelined, StagedCopy, find_copies
from .rotation import rotate

__all__ = ["Pipelined", "StagedCopy", "find_copies", "rotate"]
