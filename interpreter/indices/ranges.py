"""What is known of an index without running anything: its bounds, what divides it, how those of neighbours differ."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..ir.functions import sizes_of
from ..ir.mlir import ancestors, ir, maker, producer
from .algebra import LaunchShape
from .arithmetic import Bound, known
from .linear import NOTHING, Linear, Range, Symbol
from .values import Values


class KnownIndices(Values):
    """Indices as forms whose symbols have ranges: ids are below the sizes that the kernel around `op` is known to be launched with,
    counters between the bounds of their loops, and as many times what divides those."""

    def __init__(self, op: ir.Operation | None = None) -> None:
        kernel = None if op is None else next((around for around in ancestors(op) if around.name == "gpu.func"), None)
        unknown = (None, None, None)
        stated = [kernel and sizes_of(kernel, f"known_{what}_size") for what in ("block", "grid")]
        super().__init__(LaunchShape(*(sizes or unknown for sizes in stated)), lambda _: NOTHING)

    def _evaluate(self, value: ir.Value) -> Linear:
        loop = maker(value)
        if producer(value) is not None or loop.name != "scf.for" or ir.BlockArgument(value).arg_number != 0:
            return super()._evaluate(value)
        low, high, step = map(self.linear, list(loop.operands)[:3])
        factor, first, end = gcd(low.content, step.content) or 1, low.bounds()[0], high.bounds()[1]
        first, last = None if first is None else first // factor, None if end is None else (end - 1) // factor
        return Linear.of(self.fresh("loop", NOTHING, first, last)) * factor


def range_of(bound: Bound) -> Range:
    """The smallest and the largest value that the index may take (intervals: sound, not tight)."""
    return _form(bound).bounds()


def largest(bound: Bound) -> int | None:
    """The largest value that the index may take; None where nothing is known."""
    return range_of(bound)[1]


def divisible(bound: Bound, divisor: int) -> bool:
    """Whether the index is proven to be a multiple of `divisor`."""
    return _form(bound).content % divisor == 0


def _form(bound: Bound) -> Linear:
    bound = known(bound)
    return Linear.of(bound) if isinstance(bound, int) else KnownIndices(maker(bound)).linear(bound)


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

    def steps(self, value: ir.Value) -> bool:
        """Whether the value goes up by one from each neighbour to the next, from a multiple of their number on."""
        first = self._first.linear(value)
        return first.content % self.lanes == 0 and all(each.linear(value) == first + e for e, each in enumerate(self._all))


class _Neighbour(KnownIndices):
    """The values of one of them; those that do not vary are what they are of the first."""

    def __init__(self, neighbours: Neighbours, first: _Neighbour | None, index: Linear) -> None:
        super().__init__()
        self._neighbours, self._first = neighbours, first
        for value in neighbours.last:
            self.bind(value, index)

    def _evaluate(self, value: ir.Value) -> Linear:
        other = None if self._neighbours.varies(value) else self._first
        return super()._evaluate(value) if other is None else other.linear(value)
