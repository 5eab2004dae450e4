"""How many iterations a mapped loop or op has along each axis of its map: what is known of it before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ir.mlir import ir
from .mapping import Mapping
from .space import loop_dimensions, most_extents, static_extents


@dataclass(frozen=True)
class Mapped:
    """One mapped loop or op of the launch, and the maps around it, outermost first."""

    op: ir.Operation
    mapping: Mapping
    around: tuple[Mapped, ...] = ()


def trip_counts(one: Mapped) -> list[int | None]:
    """The number of iterations per dimension, where it is known."""
    if one.op.name == "scf.forall":
        return _in_row(one, [d.static_trips for d in loop_dimensions(one.op)])
    return _in_row(one, _units(one, static_extents(one.op)))


def most_trips(one: Mapped) -> list[int | None]:
    """The number of iterations per dimension, or a number that it never exceeds: `min(8, n - i)` is at most 8."""
    if one.op.name == "scf.forall":
        return _in_row(one, [d.most_trips for d in loop_dimensions(one.op)])
    return _in_row(one, _units(one, most_extents(one.op)))


def _units(one: Mapped, extents: list[int | None]) -> list[int | None]:
    """Of an op with `vector n`, n elements of a row are one iteration."""
    if extents and extents[-1] is not None:
        extents[-1] = extents[-1] // one.mapping.vector
    return extents


def _in_row(one: Mapped, extents: list[int | None]) -> list[int | None]:
    """A map with one axis for all dimensions counts the iterations row by row."""
    if len(one.mapping.axes) != len(extents) and (len(one.mapping.axes) == 1 or one.mapping.every):
        return [None if any(e is None for e in extents) else math.prod(e for e in extents if e is not None)]
    return extents
