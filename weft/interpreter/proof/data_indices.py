"""Indices that depend on data: on values read from memory, or passed as arguments."""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence

from ..indices.values import KnownIndices
from ..ir.mlir import FUNCTIONS, ir, maker, ops_of
from ..mapping.bounds import loop_bounds
from ..memory.effects import accesses, is_memref
from ..memory.table import CALLS


class DataIndices:
    """The indices of a module of loops.

    Args:
        sizes: arguments of functions that count as sizes of a launch, not as data.
    """

    def __init__(self, sizes: Container[ir.Value] = ()) -> None:
        self.sizes, self.known = sizes, KnownIndices()

    def may_be_outside(self, index: int | ir.Value, count: int | None) -> bool:
        """Whether an index depends on data and is not proven to be in 0 … count-1. `count`: None if
        it is known only at run time."""
        if isinstance(index, int) or not self.depends_on_data(index):
            return False
        low, high = self.known.linear(index).bounds()
        return count is None or low is None or high is None or not 0 <= low <= high < count

    def depends_on_data(self, number: ir.Value) -> bool:
        """Whether a number is computed from data."""
        waiting = dict.fromkeys([number])
        done: set[ir.Value] = set()
        while waiting:
            each, _ = waiting.popitem()
            done.add(each)
            parts = () if each in self.sizes else _parts(each)
            if parts is None:
                return True
            waiting |= dict.fromkeys(part for part in parts if part not in done)
        return False


def _parts(value: ir.Value) -> Sequence[ir.Value] | None:
    """The values from which a number is computed, or a superset of them; None for a number that is
    read from memory or passed."""
    if (bounds := loop_bounds(value)) is not None:
        return [bound for bound in (bounds.lower, bounds.upper, bounds.step) if isinstance(bound, ir.Value)]
    op = maker(value)
    if op.name in FUNCTIONS | CALLS:
        return None
    given = list(op.operands)
    if any(map(is_memref, given)):
        return () if accesses(op) == () else None  # its sizes
    ends = (ops_of(block)[-1].operands for region in op.regions for block in region.blocks)
    return [*given, *itertools.chain(*ends)]
