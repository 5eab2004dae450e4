"""Adjacent index values as forms: those that are equal for a group of neighbours, and those that
increase by one."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import ir, maker, producer
from ..ir.structured import body_of
from ..memory.views import terminator
from .linear import Linear, Symbol
from .values import KnownIndices


class Neighbours:
    """Forms of index values for `lanes` neighbours, which begin at a multiple of `lanes`: for
    neighbour e, an index in `last` is that multiple plus e, and an index in `places` is e."""

    def __init__(self, last: Sequence[ir.Value], lanes: int, places: Sequence[ir.Value] = ()) -> None:
        self.last, self.lanes, self.places = last, lanes, places
        self._varying = dict.fromkeys((*last, *places), True)
        group = Linear.of(Symbol("u", "lane")) * lanes
        self._first = _Neighbour(self, None, group, 0)
        self._all = [self._first, *(_Neighbour(self, self._first, group + e, e) for e in range(1, lanes))]

    def varies(self, value: ir.Value) -> bool:
        """Whether the value depends on the last dimension's index."""
        if value not in self._varying:
            seen, left, found = {value}, [value], False
            while (
                left and not found
            ):  # values carried by loops are cyclic: nothing is known of one before all are visited
                for other in _made_of(left.pop()):
                    found = found or self._varying.get(other, False)
                    if other not in seen and other not in self._varying:
                        seen.add(other)
                        left.append(other)
            self._varying.update(dict.fromkeys([value] if found else seen, found))
        return self._varying[value]

    def counts_alike(self, value: ir.Value) -> bool:
        """Whether the value is the variable of a loop with the same bounds for all neighbours."""
        if producer(value) is not None or maker(value).name != "scf.for" or ir.BlockArgument(value).arg_number:
            return False
        return all(map(self.steady, _made_of(value)))

    def steady(self, value: ir.Value) -> bool:
        """Whether the value is the same for all neighbours."""
        return len({each.linear(value) for each in self._all}) == 1

    def advances(self, value: ir.Value) -> bool:
        """Whether the value increases by one from each neighbour to the next."""
        first = self._first.linear(value)
        return all(each.linear(value) == first + e for e, each in enumerate(self._all))

    def form(self, value: ir.Value) -> Linear:
        """The value for the first neighbour."""
        return self._first.linear(value)

    def same(self, one: ir.Value, other: ir.Value) -> bool:
        """Whether two values are equal."""
        return self._first.linear(one) == self._first.linear(other)

    def steps(self, value: ir.Value) -> bool:
        """Whether the value increases by one from each neighbour to the next, and is a multiple of the
        number of neighbours for the first of them."""
        first = self._first.linear(value)
        return first.content % self.lanes == 0 and all(
            each.linear(value) == first + e for e, each in enumerate(self._all)
        )


class _Neighbour(KnownIndices):
    """The values for one neighbour; those that do not vary are the values for the first."""

    def __init__(self, neighbours: Neighbours, first: _Neighbour | None, index: Linear, place: int) -> None:
        super().__init__()
        self._neighbours, self._first = neighbours, first
        if first is not None:  # results of an operation that is not modelled are equal for equal operands
            self._unread, self._products = first._unread, first._products
        for value in neighbours.last:
            self.bind(value, index)
        for value in neighbours.places:
            self.bind(value, Linear.of(place))

    def _evaluate(self, value: ir.Value) -> Linear:
        if self._first is None or (self._neighbours.varies(value) and not self._neighbours.counts_alike(value)):
            return super()._evaluate(value)
        return self._first.linear(value)


def _made_of(value: ir.Value) -> list[ir.Value]:
    """The operands of a value; for a loop's variable and carried values, its bounds, initial values
    and yielded values."""
    op = producer(value)
    if op is not None:
        return list(op.operands)
    loop = maker(value)
    if loop.name != "scf.for":
        return []
    bounds, number = list(loop.operands)[:3], ir.BlockArgument(value).arg_number
    return [*bounds, loop.operands[2 + number], terminator(body_of(loop)).operands[number - 1]] if number else bounds
