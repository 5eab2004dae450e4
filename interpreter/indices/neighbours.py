"""Index values that stand side by side, as forms: which are the same for a group of neighbours, and which go up by one."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import ir, producer
from .linear import Linear, Symbol
from .values import KnownIndices


class Neighbours:
    """Forms of index values, where an index in `last` is the e-th of `lanes` neighbours from a multiple of `lanes` on."""

    def __init__(self, last: Sequence[ir.Value], lanes: int) -> None:
        self.last, self.lanes = last, lanes
        self._varying = dict.fromkeys(last, True)
        group = Linear.of(Symbol("u", "lane")) * lanes
        self._first = _Neighbour(self, None, group)
        self._all = [self._first, *(_Neighbour(self, self._first, group + e) for e in range(1, lanes))]

    def varies(self, value: ir.Value) -> bool:
        """Whether the value depends on the last dimension's index."""
        if value not in self._varying:
            op = producer(value)
            self._varying[value] = op is not None and any(map(self.varies, op.operands))
        return self._varying[value]

    def steady(self, value: ir.Value) -> bool:
        """Whether the value is the same for all neighbours."""
        return len({each.linear(value) for each in self._all}) == 1

    def advances(self, value: ir.Value) -> bool:
        """Whether the value goes up by one from each neighbour to the next."""
        first = self._first.linear(value)
        return all(each.linear(value) == first + e for e, each in enumerate(self._all))

    def same(self, one: ir.Value, other: ir.Value) -> bool:
        """Whether two values are the same."""
        return self._first.linear(one) == self._first.linear(other)

    def steps(self, value: ir.Value) -> bool:
        """Whether the value goes up by one from each neighbour to the next, from a multiple of their number on."""
        first = self._first.linear(value)
        return first.content % self.lanes == 0 and all(each.linear(value) == first + e for e, each in enumerate(self._all))


class _Neighbour(KnownIndices):
    """The values of one of them; those that do not vary are what they are of the first."""

    def __init__(self, neighbours: Neighbours, first: _Neighbour | None, index: Linear) -> None:
        super().__init__()
        self._neighbours, self._first = neighbours, first
        if first is not None:  # what is not understood of the same operands is the same
            self._unread, self._products = first._unread, first._products
        for value in neighbours.last:
            self.bind(value, index)

    def _evaluate(self, value: ir.Value) -> Linear:
        other = None if self._neighbours.varies(value) else self._first
        return super()._evaluate(value) if other is None else other.linear(value)
