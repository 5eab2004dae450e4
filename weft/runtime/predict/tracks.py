"""The instructions that warps executed, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dsl.records import record
from .operands import Value


@dataclass
class Track:
    """The instructions that warps executed, in order.

    Args:
        code: indices of the instructions.
        places: each thread's address, for a memory access; what an instruction does, for a barrier.
        active: mask of the participating threads; None: unknown, or all of them.
    """

    code: list[int] = field(default_factory=list)
    places: list[Value] = field(default_factory=list)
    active: list[Value] = field(default_factory=list)


@record
class Trace:
    """The tracks of all warps: one for each; warps that executed the same instructions share one."""

    tracks: list[Track]
    unknown: frozenset[int]
    """Indices of instructions with addresses that depend on loaded data."""


def joined(tracks: Sequence[Track]) -> Track:
    """Concatenates tracks."""
    whole = Track()
    for one in tracks:
        whole.code += one.code
        whole.places += one.places
        whole.active += one.active
    return whole
