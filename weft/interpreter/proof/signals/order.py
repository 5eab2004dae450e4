"""The happens-before order: paths of program order, arrivals observed by waits, barriers, and
cluster barriers.

A path leads from an op to a later op of its thread that another thread observes (an arrival, a
barrier, a product of a warp group), from there to the observer (a wait for that phase, the barrier
in each thread of the block), and so on to the other op. ISL composes the relations exactly. Paths
of more than `HOPS` hops are not searched: an order may be missed, but none is invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

import islpy as isl

from ....dsl.records import record
from ...indices.linear import Formula, Linear, equal
from ..kernels.clusters import Gathering
from ..kernels.model import ALL_SPACES, Barrier
from ..kernels.places import Landing, Loop
from ..kernels.signals import Fence, Signal
from ..solver import Naming
from .instances import Instances, Point
from .phase_numbers import of_one_barrier, point_of

HOPS = 4
Kind = Literal["workgroup", "global", "any", "time"]
"""The kind of order: of accesses to one of the memories, or to any; or of completion in time alone,
which is all that relaxed arrivals publish."""


@record(compared=True)
class OrderNode:
    """An op that other threads observe, or an op that observes others."""

    point: Point
    thing: Signal | Barrier | Gathering
    product: bool = False

    @property
    def waits(self) -> bool:
        """Whether threads wait at this op for others."""
        if isinstance(self.thing, Gathering):
            return self.point.place is self.thing.wait
        return not self.product and (isinstance(self.thing, Barrier) or self.thing.kind == "wait")

    @property
    def sends(self) -> bool:
        """Whether other threads observe that this op is complete."""
        if isinstance(self.thing, Gathering):
            return self.point.place is self.thing.arrival
        return isinstance(self.thing, Barrier) or self.thing.kind != "wait"


class Order:
    """The order of a kernel's ops.

    Args:
        instances: those of its ops.
        phases: of each signal.
        barriers: those present.
    """

    def __init__(self, instances: Instances, phases: Mapping[Signal, Linear], barriers: tuple[Barrier, ...]) -> None:
        self.instances, self.phases = instances, phases
        signals = [
            OrderNode(point_of(s), s) for s in phases if s.kind in ("arrive", "wait") or self._is_told_by_bytes(s)
        ]
        blocks = [OrderNode(Point(b.place, b.op), b) for b in barriers]
        products = [OrderNode(Point(b.place, b.op), b, product=True) for b in instances.model.products]
        meetings = [
            OrderNode(Point(place, op), meeting)
            for meeting in instances.model.gatherings
            for place, op in ((meeting.arrival, meeting.op), (meeting.wait, meeting.waiting_op))
        ]
        self.nodes = [*signals, *blocks, *products, *meetings]
        self._waiting = {node.point.place for node in self.nodes if node.waits}
        self._reached: dict[tuple[OrderNode, Kind], dict[OrderNode, isl.Map]] = {}

    def _is_told_by_bytes(self, signal: Signal) -> bool:
        """Whether other threads observe only the bytes of a load: it is for another block, and its
        own thread does not arrive at the barrier there."""
        return signal.kind == "load" and signal.block != self.instances.model.values.rank

    # ---- hops --------------------------------------------------------------------------------------------------------

    def seen(self, node: OrderNode, kind: Kind) -> Iterator[tuple[OrderNode, isl.Map]]:
        """The observers of the completion of an op, each with the pairs of instances."""
        if node in self._ends:
            yield from self._ends[node]
            return
        if isinstance(node.thing, Barrier | Gathering):
            spaces = node.thing.spaces
            if (
                node.product
                or kind in spaces
                or (kind == "time" and spaces)
                or (kind == "any" and spaces >= ALL_SPACES)
            ):
                yield from self.met(node)
        elif (kind == "time" and node.sends) or (node.thing.kind == "arrive" and not node.thing.relaxed):
            for wait in self._waits(node.thing):
                yield wait, self._edge(node, wait)

    def met(self, node: OrderNode) -> Iterator[tuple[OrderNode, isl.Map]]:
        """The ops at which threads wait for an arrival at a barrier of the block, or of the
        cluster."""
        if isinstance(node.thing, Barrier):
            yield node, self._edge(node, node)
        elif node.sends:
            yield from (
                (other, self._edge(node, other)) for other in self.nodes if other.thing is node.thing and other.waits
            )

    def _waits(self, signal: Signal) -> list[OrderNode]:
        return [
            n
            for n in self.nodes
            if isinstance(n.thing, Signal) and n.thing.kind == "wait" and n.thing.ring is signal.ring
        ]

    def landing(self, load: Signal) -> Iterator[tuple[OrderNode, isl.Map]]:
        """The waits for the phase of a load: after such a wait a thread observes that the load is
        complete."""
        for wait in self._waits(load):
            assert isinstance(wait.thing, Signal)
            yield wait, self.same_phase(load, wait.thing)

    def same_phase(self, a: Signal, b: Signal, later: int = 0) -> isl.Map:
        """Pairs of instances on one barrier in which the phase of `b` is `later` phases after that
        of `a`."""
        mine, its = self.phases[a], self.phases[b]

        def formulas(x: Naming, y: Naming) -> list[Formula]:
            return [*of_one_barrier(a, b, x, y), equal(x.form(mine) + later, y.form(its))]

        return self.instances.once(
            ("phase", a, b, later), lambda: self.instances.relation(point_of(a), point_of(b), formulas)
        )

    def _edge(self, a: OrderNode, b: OrderNode) -> isl.Map:
        if isinstance(a.thing, Signal) and isinstance(b.thing, Signal):
            return self.same_phase(a.thing, b.thing)
        barrier, here = a.thing, self.instances
        assert not isinstance(barrier, Signal)

        def formulas(x: Naming, y: Naming) -> list[Formula]:
            group = [] if isinstance(barrier, Gathering) else here.same_block(x, y)
            if isinstance(barrier, Barrier) and barrier.narrow:
                group = here.same_group(x, y, barrier.threads)
            return [*here.same_iterations(a.point.place, x, y), *group]

        return here.once(("meets", a, b), lambda: here.relation(a.point, b.point, formulas))

    @cached_property
    def _ends(self) -> dict[OrderNode, list[tuple[OrderNode, isl.Map]]]:
        """For each product that continues after its op, the points at which the threads of its
        group observe its completion."""
        found: dict[OrderNode, list[tuple[OrderNode, isl.Map]]] = {}
        for node in self.nodes:
            product = node.thing
            if isinstance(product, Barrier) and product.landings is not None:
                ends = [
                    OrderNode(Point(landing.place, product.op), product, product=True) for landing in product.landings
                ]
                ways = [self.landed(node.point, landing, product.threads) for landing in product.landings]
                found[node] = list(zip(ends, ways, strict=True))
        return found

    def landed(self, start: Point, landing: Landing, threads: int = 0) -> isl.Map:
        """Asynchronous operations that begin at `start` → the wait at which they are complete: a
        wait of their thread or, with `threads`, of any thread of a group of that size."""
        here = self.instances
        around = {*landing.place.loops} - {loop for loop, _ in landing.at}

        def formulas(x: Naming, y: Naming) -> Iterator[Formula]:
            yield from here.same_group(x, y, threads) if threads else here.same_thread(x, y)
            yield from (equal(_of(x, loop), _of(y, loop)) for loop in start.place.loops if loop in around)
            yield from (equal(_of(y, loop), x.form(counter)) for loop, counter in landing.at)

        end = Point(landing.place, start.op)
        return here.once(("landed", start, landing, threads), lambda: here.relation(start, end, formulas))

    @cached_property
    def _senders(self) -> list[OrderNode]:
        return [n for n in self.nodes if n.sends]

    def _hop(self, start: Point, kind: Kind) -> dict[OrderNode, isl.Map]:
        """The observers of ops that come after `start` in its thread."""
        out: dict[OrderNode, isl.Map] = {}
        for sender in self._senders:
            if sender.product and kind != "time":
                continue
            by_bytes = isinstance(sender.thing, Signal) and sender.thing.kind == "load"
            if by_bytes and not (kind == "time" and start.place in self._waiting):
                continue  # earlier operations of its thread may complete after its bytes have arrived, except a wait
            there = self.instances.before(start, sender.point)
            if there.plain_is_empty():
                continue
            for node, edge in self.seen(sender, kind):
                self._add(out, node, self.instances.then(there, edge))
        return out

    def _add(self, to: dict[OrderNode, isl.Map], node: OrderNode, found: isl.Map) -> bool:
        """Adds pairs to those of a node; returns whether any is new."""
        if self.instances.is_empty(found):
            return False
        if node in to and self.instances.is_within(found, to[node]):
            return False
        to[node] = self.instances.union(to.get(node), found)
        return True

    def reached(self, node: OrderNode, kind: Kind) -> dict[OrderNode, isl.Map]:
        """The nodes that observe, over several hops, that the node has been reached. The node
        itself is not included unless it is one of them."""
        if (node, kind) not in self._reached:
            out = dict(self._hop(node.point, kind))
            newest = dict(out)
            for _ in range(HOPS - 2):
                fresh: dict[OrderNode, isl.Map] = {}
                for middle, way in newest.items():
                    for end, step in self._hops(middle, kind).items():
                        found = self.instances.then(way, step)
                        if self._add(out, end, found):
                            fresh[end] = self.instances.union(fresh.get(end), found)
                newest = fresh
            self._reached[node, kind] = out
        return self._reached[node, kind]

    def _hops(self, node: OrderNode, kind: Kind) -> dict[OrderNode, isl.Map]:
        key = node, kind
        if key not in self._once:
            self._once[key] = self._hop(node.point, kind)
        return self._once[key]

    @cached_property
    def _once(self) -> dict[tuple[OrderNode, Kind], dict[OrderNode, isl.Map]]:
        return {}

    # ---- paths -------------------------------------------------------------------------------------------------------

    def told(self, node: OrderNode) -> Iterator[tuple[OrderNode, isl.Map]]:
        """The ops at which some thread has observed, at least in time, that an op is complete; each
        with the pairs of instances."""
        seen = dict(self._hop(node.point, "time"))
        for end, way in self.seen(node, "time"):
            self._add(seen, end, way)
        for middle, way in seen.items():
            yield middle, way
            for further, more in self.reached(middle, "time").items():
                yield further, self.instances.then(way, more)

    def paths(self, start: Point, end: Point, kind: Kind) -> Iterator[isl.Map]:
        """Pairs of instances in which the first comes before the second: first those of one thread,
        then those over more and more hops."""
        yield self.instances.before(start, end)
        yield from self.onward(self._hop(start, kind), end, kind)

    def onward(self, seen: Mapping[OrderNode, isl.Map], end: Point, kind: Kind) -> Iterator[isl.Map]:
        """The paths that continue from observers to an op after them."""
        for node, way in seen.items():
            yield self.instances.then(way, self.instances.before(node.point, end))
        for node, way in seen.items():
            for further, more in self.reached(node, kind).items():
                behind = self.instances.before(further.point, end)
                if not behind.plain_is_empty():
                    yield self.instances.then(self.instances.then(way, more), behind)

    def observers(self, ways: Iterable[tuple[Point, isl.Map]], kind: Kind) -> dict[OrderNode, isl.Map]:
        """The nodes that observe that a thread has reached one of the given points. `ways`: the
        points, each with the relation that leads to it."""
        out: dict[OrderNode, isl.Map] = {}
        for point, way in ways:
            for node, edge in self._hop(point, kind).items():
                self._add(out, node, self.instances.then(way, edge))
        return out

    def together(self, node: OrderNode) -> isl.Map:
        """The pairs of instances of a barrier, or of a product, that threads must reach together to
        continue."""
        return self._edge(node, node)

    def product_ends(self, product: OrderNode, kind: Kind) -> dict[OrderNode, isl.Map]:
        """The completion of a product for all threads of its group."""
        return dict(self.seen(product, kind))

    def fenced(self, start: Point, fences: list[Fence], end: Point, kind: Kind) -> Iterator[isl.Map]:
        """The paths on which the thread of the first instance executes a fence."""
        for fence in fences:
            at = Point(fence.place, fence.op)
            to = self.instances.before(start, at)
            if not to.plain_is_empty():
                for way in self.paths(at, end, kind):
                    yield self.instances.then(to, way)


def _of(naming: Naming, loop: Loop) -> Linear:
    return Linear.of(naming(loop.counter))
