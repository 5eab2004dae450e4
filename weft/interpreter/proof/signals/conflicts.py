"""Conflicts of a kernel with asynchronous accesses: two accesses of one element, at least one of
them a write, that no path orders.

Operations of the tensor memory accelerator and of tensor cores have a duration, and may conflict
with accesses of their own thread. A load is complete for every thread that has waited for its
phase. A product begins separately in each thread, and is complete for all threads of the group at
once. A copy is complete when its thread has waited for its commit group. Between an ordinary store,
or a copy, and an asynchronous access to the same element, the writing thread must execute a fence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Literal

import islpy as isl

from ...indices.linear import THREAD, TRUE, Formula, Linear, Symbol, both, either, equal, less
from ..kernels.model import ALL_SPACES, Access, space_of_both
from ..kernels.places import Landing
from ..races.conflicts import LIMIT, UNCOUNTED, Conflict, Instance, as_conflict, not_affine
from ..races.in_flight import pairs_of
from ..races.phases import meeting
from ..races.relations import PairClass
from ..races.uninitialized_reads import UnwrittenRead
from ..solver import Naming, Unknown
from .counts import SignalFault
from .faults import SignalJudge
from .groups import CopyGroups
from .instances import PARAM, SET, Instances, Point, VagueError, same_for_all
from .order import Kind, OrderNode


@dataclass(eq=False)
class Unordered(PairClass):
    """All pairs of instances of two accesses to one element, in either order."""

    instances: Instances = field(kw_only=True)

    def _shares(self, symbol: Symbol) -> bool:
        return super()._shares(symbol) and not symbol.depends.rank

    def _different_threads(self) -> Formula:
        for naming, access in ((self.x, self.first), (self.y, self.second)):
            for symbol in self.instances.dimensions(access.place):
                naming(symbol)  # all dimensions that distinguish instances
        if not (self.first.late or self.second.late):
            rank, alike = self.model.values.rank, super()._different_threads()
            x, y = self.x.form(rank), self.y.form(rank)
            if self.model.shape.blocks == 1:
                return alike
            return either(less(x, y), both(equal(x, y), alike), *([] if self.first is self.second else [less(y, x)]))
        if self.first is not self.second:
            return TRUE
        told = self.instances.dimensions(self.first.place)
        return either(
            *(less(*pair) for s in told for pair in ((of(self.x, s), of(self.y, s)), (of(self.y, s), of(self.x, s))))
        )

    @cached_property
    def pairs(self) -> isl.Map:
        """The pairs, as a relation. Raises Unknown."""
        sides = [(self.x, self.first), (self.y, self.second)]
        parts = list(self._described[1])
        first, second = ([naming(s) for s in self.instances.dimensions(access.place)] for naming, access in sides)
        return self.instances.as_map((self.shared_names, self.x, self.y), parts, (first, second))

    def some(self, left: isl.Map) -> isl.Set | None:
        """The collisions of one of these pairs."""
        flat = left.wrap().flatten()
        count = flat.dim(PARAM)
        names = [flat.get_dim_name(PARAM, n) for n in range(count)]
        values = self.solver.sample(flat.move_dims(SET, 0, PARAM, 0, count))
        if values is None:
            return None
        sides = ((self.x, self.first), (self.y, self.second))
        told = [naming(s) for naming, access in sides for s in self.instances.dimensions(access.place)]
        known = {name.name: name for name in self.shared_names.names.values()}
        fixed = [(known[name], value) for name, value in zip(names, values, strict=False) if name in known]
        fixed += list(zip(told, values[count:], strict=True))
        parts = [equal(Linear.of(name), Linear.of(value)) for name, value in fixed]
        return self.solver.set(self.names, [*self._described[1], *parts], self.names)


def _in_turn(conflict: Conflict) -> Conflict:
    """The conflict, with the instance of the earlier iteration as `first`. The loops of the two
    instances may be different ones, of two roles."""
    first, second = conflict.first, conflict.second
    if first is None or second is None or [n for _, n in first.iterations] <= [n for _, n in second.iterations]:
        return conflict
    return _turned(conflict)


def _turned(conflict: Conflict) -> Conflict:
    kinds: dict[str, Literal["RAW", "WAR", "WAW"]] = {"RAW": "WAR", "WAR": "RAW", "WAW": "WAW"}
    ops = {"first_op": conflict.second_op, "second_op": conflict.first_op}
    return replace(conflict, kind=kinds[conflict.kind], first=conflict.second, second=conflict.first, **ops)


def of(naming: Naming, symbol: Symbol) -> Linear:
    """The symbol under the instance's naming."""
    return Linear.of(naming(symbol))


class Asynchronous:
    """The conflicts of a kernel's accesses. `judge`: the judge of its memory barriers."""

    def __init__(self, judge: SignalJudge) -> None:
        self.judge, self.model = judge, judge.model
        self.order, self.instances = judge.order, judge.instances
        self.groups = CopyGroups(judge.instances)
        self._seen: dict[tuple[int, Kind], dict[OrderNode, isl.Map]] = {}

    def conflicts(self) -> Iterator[Conflict]:
        """Conflicts within a block, or a cluster."""
        for pair, left in self.unordered():
            found, unfenced, flying = None, False, False
            try:
                if left is not None:
                    unfenced = self._left(pair, fences=False) is None
                    met = self._met(pair, left)
                    flying = met is not None
                    found = pair.some(left if met is None else met)
            except Unknown:
                pass
            late = next((x.agent for x in (pair.first, pair.second) if x.agent), "")
            made = as_conflict(pair, found)
            made = self._counted(pair, made) if pair.first.phase or pair.second.phase else _in_turn(made)
            yield replace(made, agent=late, unfenced_proxy=unfenced, in_flight=flying)

    def _met(self, pair: Unordered, left: isl.Map) -> isl.Map | None:
        """The part of the unordered pairs `left` that conflict while a copy is in flight: in
        program order, as if all threads were one, neither access comes after the end of the other.
        None if there are none. Raises Unknown."""
        if not (pair.first.phase or pair.second.phase):
            return None
        for way in self._over(pair.first, pair.second):
            left = self.instances.without(left, way)
        for way in self._over(pair.second, pair.first):
            left = self.instances.without(left, way.reverse())
        return None if self.instances.is_empty(left) else left

    def _over(self, first: Access, second: Access) -> Iterator[isl.Map]:
        """Pairs of instances in which the second comes after the end of the first, in program order
        as if all threads of a block were one."""
        here, end = self.instances, self._point(second)

        def earlier(start: Point) -> isl.Map:
            return here.relation(
                start, end, lambda x, y: [*here.same_block(x, y), here.earlier(start.place, end.place, x, y)]
            )

        return (
            self._arrived(first, lambda wait: iter((earlier(wait),)))
            if first.phase
            else iter((earlier(self._point(first)),))
        )

    def _counted(self, pair: Unordered, conflict: Conflict) -> Conflict:
        """The conflict, with the access that is earlier in program order as `first`. It becomes an
        assumption if the wait at which the copy has arrived is not known exactly."""
        first, second = conflict.first, conflict.second
        if first is not None and second is not None:
            loops, order = meeting(pair.first.place, pair.second.place)
            mine, its = ([n for _, n in each.iterations[: len(loops)]] for each in (first, second))
            if mine > its or (mine == its and order > 0):
                conflict = _turned(conflict)
        vague = {pair.first.flight, pair.second.flight} & self.groups.vague
        return replace(conflict, assumption=UNCOUNTED) if vague and not conflict.assumed else conflict

    def orders(self, pair: Unordered, some: isl.Map | None = None) -> bool:
        """Whether all instances of a pair, or `some` of them, are ordered. Raises Unknown."""
        return self._left(pair, fences=True, some=some) is None

    def unordered(self) -> Iterator[tuple[Unordered, isl.Map | None]]:
        """The unordered pairs, each with the relation of its unordered instances; None where that
        is unknown."""
        alone = self.model.shape.threads == 1 and self.model.shape.blocks == 1
        if alone and not any(access.late for access in self.model.accesses):
            return
        for a, b in pairs_of(self.model):
            pair = self._of_two(a, b)
            try:
                left = self._left(pair, fences=True)
                if left is not None:
                    yield pair, left
            except Unknown:
                yield pair, None

    def _of_two(self, a: Access, b: Access) -> Unordered:
        here = self.instances
        return here.once(("pair", a, b), lambda: Unordered(self.model, a, b, (), 0, False, here.solver, instances=here))

    def _left(self, pair: Unordered, *, fences: bool, some: isl.Map | None = None) -> isl.Map | None:
        """The unordered instances of the pair (or `some` of them); None if there are none."""
        left, kind = pair.pairs if some is None else some, space_of_both(pair.first, pair.second)
        if self.instances.is_empty(left):
            return None
        space: Kind = "global" if kind == "global" else "workgroup" if kind == "workgroup" else "any"
        for way in self.ways(pair.first, pair.second, space, fences=fences):
            left = self.instances.without(left, way)
            if self.instances.is_empty(left):
                return None
        for way in self.ways(pair.second, pair.first, space, fences=fences):
            left = self.instances.without(left, way.reverse())
            if self.instances.is_empty(left):
                return None
        return left

    def _point(self, access: Access) -> Point:
        return Point(access.place, access.op, sure=False)

    def ways(self, first: Access, second: Access, kind: Kind, *, fences: bool = True) -> Iterator[isl.Map]:
        """Pairs of instances in which the first is complete when the second begins. Completion in
        time suffices, without an order of memory accesses, in two cases: after a read by a product
        that threads have waited for, and between the arrivals of two boxes."""
        start, end = self._point(first), self._point(second)
        if first.agent == "load":
            loads = [s for s in self.model.signals if s.place is first.place and s.block == first.block]
            late: Kind = "time" if second.agent == "load" and kind == "workgroup" else kind
            return self.order.onward(dict(self.order.landing(loads[0])), end, late)
        if first.agent == "product":
            node = next(n for n in self.order.nodes if n.product and n.point.place is first.place)
            return self.order.onward(self.order.product_ends(node, "time"), end, "time")
        if first.agent == "store":
            return (w for landing in first.landings for w in self._after_wait(start, landing, end, kind))
        if fences and second.agent and first.kind == "write":
            spaces = ALL_SPACES if kind == "any" else {kind}
            some = [f for f in self.model.fences if f.spaces >= spaces]
            if first.phase:
                return self._arrived(first, lambda wait: self.order.fenced(wait, some, end, kind))
            return self.order.fenced(start, some, end, kind)
        if first.phase:
            if (first.flight, kind) not in self._seen:
                self._seen[first.flight, kind] = self.order.observers(self.groups.arrived(first), kind)
            own = self._arrived(first, lambda wait: iter((self.instances.before(wait, end),)))
            return chain(own, self.order.onward(self._seen[first.flight, kind], end, kind))
        return self.order.paths(start, end, kind)

    def _arrived(self, copy: Access, onward: Callable[[Point], Iterator[isl.Map]]) -> Iterator[isl.Map]:
        """The paths from a copy to the waits for it, and from there to later operations."""
        return (self.instances.then(to, way) for wait, to in self.groups.arrived(copy) for way in onward(wait))

    def _after_wait(self, start: Point, landing: Landing, end: Point, kind: Kind) -> Iterator[isl.Map]:
        """The paths from a store to the wait at which it is complete, and from there to later
        operations."""
        to = self.order.landed(start, landing)
        return (
            self.instances.then(to, way)
            for way in self.order.paths(Point(landing.place, start.op, sure=False), end, kind)
        )

    def faults(self) -> Iterator[SignalFault]:
        """Stores of boxes from tiles that may be overwritten before the store has read them."""
        for access in self.model.accesses:
            if access.agent != "store" or access.kind != "read":
                continue
            start = Point(access.place, access.op, access.when, sure=False)
            left = self.instances.of(start)
            for landing in access.landings:
                there = self.order.landed(start, landing)
                left = self.instances.solver.ask(lambda a=left, b=there: a.subtract(b.domain()))
            if not self.instances.is_empty(left):
                values = self.instances.sample(left, access.place) or {}
                yield SignalFault(
                    "W0665",
                    f"no thread waits until a store has read its tile: {access.op}",
                    access.op,
                    (self.instances.told(start, values),),
                    "commit the store in its thread, `nvvm.cp.async.bulk.commit.group`, and"
                    " `nvvm.cp.async.bulk.wait_group 0` before the block ends",
                )

    # ---- reads of what nobody wrote ----------------------------------------------------------------------------------

    def unwritten(self) -> Iterator[UnwrittenRead]:
        """Reads of shared memory that may read an element before any write of it. Only for kernels
        without conflicts."""
        for read in self.model.accesses:
            if (read.kind == "read" or read.atomic) and read.buffer.space == "workgroup" and read.phase != "ended":
                try:
                    found = self._unwritten(read)
                except Unknown:
                    found = UnwrittenRead(read.buffer.name, (), read.op, None, LIMIT)
                if found is not None:
                    yield found

    def _unwritten(self, read: Access) -> UnwrittenRead | None:
        if read.coordinates is None:
            return UnwrittenRead(read.buffer.name, (), read.op, None, not_affine(read))
        axes = [Symbol(f"axis{n}", "lane", THREAD) for n in range(len(read.coordinates))]
        left = self._touched(read, axes)
        writes = [
            a
            for a in self.model.accesses
            if a.kind == "write" and a.buffer is read.buffer and a.certain and not a.atomic
        ]
        writes = [a for a in writes if a.phase != "ended"]
        for write in writes:
            if write.coordinates is None:
                continue
            try:
                there = self._touched(write, axes, sure=True)
            except VagueError:
                continue
            for way in self.ways(write, read, "workgroup"):
                written = self.instances.solver.ask(lambda w=way, t=there: w.range_product(t).range().unwrap())
                left = self.instances.without(left, written)
                if self.instances.is_empty(left):
                    return None
        if self.instances.is_empty(left):
            return None
        return self._told(read, left)

    def _touched(self, access: Access, axes: list[Symbol], *, sure: bool = False) -> isl.Map:
        """Instances → the elements that they touch. `sure`: as in `Point`."""
        point = Point(access.place, access.op, access.when, sure=sure)
        return self.instances.relation(point, axes, lambda x, y: [
            equal(of(y, axis), x.form(form)) for axis, form in zip(axes, access.coordinates or (), strict=True)
        ])  # fmt: skip

    def _told(self, read: Access, left: isl.Map) -> UnwrittenRead:
        found = self.instances.sampled(left.wrap().flatten(), read.place)
        why = "" if read.settled else not_affine(read)
        if found is None:
            return UnwrittenRead(read.buffer.name, (), read.op, None, LIMIT)
        values, rest = found
        naming = Naming("", None, same_for_all)
        at = {naming(symbol): value for symbol, value in values.items()}
        block, element = (rest[0], rest[1:]) if read.buffer.of_each_block else (None, rest)
        return UnwrittenRead(
            read.buffer.name, tuple(element), read.op, Instance.of(self.model, read, naming, at), why, block
        )
