"""What warps executed, one instruction after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dsl.records import record
from .operands import Value


@dataclass
class Track:
    """What warps executed one after the other: indices of instructions; for those that access memory, each thread's
    address, and whether it takes part (None: it is not known, all do)."""

    code: list[int] = field(default_factory=list)
    places: list[Value] = field(default_factory=list)
    active: list[Value] = field(default_factory=list)


@record
class Trace:
    """What all warps executed: a track for each; warps that did the same share one."""

    tracks: list[Track]
    unknown: frozenset[int]
    """Instructions whose addresses depend on what was loaded."""


def joined(tracks: Sequence[Track]) -> Track:
    """One behind the other."""
    whole = Track()
    for one in tracks:
        whole.code += one.code
        whole.places += one.places
        whole.active += one.active
    return whole
