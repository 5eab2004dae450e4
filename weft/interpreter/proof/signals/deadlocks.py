"""Deadlocks: cycles of waits that need each other.

A wait needs the operations that complete its phase, and so all waits before these, including those
of other lanes of the warp; a barrier needs all of its threads. If iterations, or rounds of the
rings, order the waits so that each needs only earlier ones, then no wait can be the first to be
stuck, and so none is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from ...indices.linear import Linear, at_least, equal, less
from ..kernels.clusters import Gathering
from ..kernels.model import Barrier
from ..kernels.signals import Signal
from .counts import SignalFault, of
from .instances import Instances, Point, VagueError
from .order import Order, OrderNode
from .phase_numbers import point_of
from .steps import Steps

NOT_KNOWN = (
    "assumed, not proven: numbers of barriers that are `i mod n`, parities of `i div n`, loops of known trip counts"
    " around"
    " them, and conditions of affine indices make it exact"
)


class WaitCycles:
    """The waits of a kernel, and the operations that each needs. `steps`: nests of loops that are
    analysed as two loops with no order between them.

    That hides no cycle. In these loops, a wait for a step needs the same step or an earlier one,
    and all threads reach a barrier in the same iteration. The earlier operations of a thread belong
    to an earlier tile, or to the same tile: before its steps, in a step, or after its steps. This
    order is the same for all threads, since no thread executes two such nests. So a cycle within
    the loops consists of waits with a known order. No cycle leads out of the loops and back,
    because waits before them need nothing in them.
    """

    def __init__(self, instances: Instances, order: Order, phases: Mapping[Signal, Linear], steps: Steps) -> None:
        self.instances, self.order, self.phases, self.steps = instances, order, phases, steps

    def faults(self) -> Iterator[SignalFault]:
        """The possible cycles of waits; none if there is an order in which each wait needs only
        earlier ones."""
        waiting = [n for n in self.order.nodes if n.waits or n.product]
        needs: dict[OrderNode, dict[OrderNode, isl.Map]] = {node: {} for node in waiting}
        for node in waiting:
            for needed, edge in self._needed(node):
                self._expect_earlier(needed, node, edge)
                for other in waiting:
                    first = self.instances.held_up(other.point, needed)
                    way = self.instances.then(first, edge)
                    if not self.instances.is_empty(way):
                        needs[node][other] = self.instances.union(needs[node].get(other), way)
        self._expect_outside(needs)
        for circle in _circles(needs):
            if self._ranked(circle, needs):
                continue
            behind = ((n.point.op, [o.point.op for o in needs[n] if o in circle]) for n in circle)
            told = tuple(f"{op} waits for operations after {', '.join(others)}" for op, others in behind)
            hint = (
                "move the op that ends a wait, such as `nvgpu.mbarrier.arrive`, before the waits that depend on it; do not"
                " wait before the first fill of a stage"
            )
            if (stuck := self._stuck(circle, needs)) is not None:
                yield SignalFault(
                    "W0665", f"threads wait for each other forever: {stuck[0]}", stuck[0], (stuck[1], *told), hint
                )
            else:
                op = circle[0].point.op
                message = f"threads may wait for each other forever (assumed): {op}"
                yield SignalFault("W0665", message, op, (*told, NOT_KNOWN), hint, assumed=True)

    def _expect_earlier(self, needed: Point, node: OrderNode, edge: isl.Map) -> None:
        """Raises VagueError if a wait in a loop over all steps needs an operation of a later step,
        or one outside of the loop."""
        its, mine = self.steps.scale(needed.place), self.steps.scale(node.point.place)
        if its is None and mine is None:
            return
        if its is None or mine is None or its[1:] != mine[1:]:
            raise VagueError(node.point.op, "it waits for an operation outside of the steps of its tile")
        later = self.instances.relation(
            needed,
            node.point,
            lambda x, y: [less(y.form(Linear.of(mine[0].counter)), x.form(Linear.of(its[0].counter)))],
        )
        if not self.instances.is_empty(self.instances.solver.ask(lambda: edge.intersect(later))):
            raise VagueError(node.point.op, "it waits for an operation of a later step")

    def _expect_outside(self, needs: dict[OrderNode, dict[OrderNode, isl.Map]]) -> None:
        """Raises VagueError if a wait before a loop over tiles needs a wait inside such a loop,
        directly or transitively."""
        late = {node for node in needs if self.steps.is_inside(node.point.place)} if self.steps.nests else set()
        while more := [node for node in needs if node not in late and not late.isdisjoint(needs[node])]:
            for node in more:
                for nest in self.steps.nests.values():
                    if not self.instances.is_empty(self.instances.before(node.point, nest.begin)):
                        raise VagueError(
                            node.point.op, "before a loop over tiles, it waits for an operation after such a loop"
                        )
            late.update(more)

    def _stuck(
        self, circle: list[OrderNode], needs: dict[OrderNode, dict[OrderNode, isl.Map]]
    ) -> tuple[str, str] | None:
        """A wait in a cycle that no order rules out, and its description."""
        start = circle[0]
        ways = {other: way for other, way in needs[start].items() if other in circle}
        for _ in circle:
            if start in ways:
                itself = self.instances.relation(start.point, start.point, lambda x, y: [
                    *self.instances.same_thread(x, y), *self.instances.same_iterations(start.point.place, x, y)
                ])  # fmt: skip
                found = self.instances.solver.ask(lambda w=ways[start], i=itself: w.intersect(i).domain())
                if not self.instances.is_empty(found):
                    values = self.instances.sample(found, start.point.place) or {}
                    return start.point.op, self.instances.told(start.point, values)
            further: dict[OrderNode, isl.Map] = {}
            for middle, way in ways.items():
                for other, step in needs[middle].items():
                    if other in circle:
                        further[other] = self.instances.union(further.get(other), self.instances.then(step, way))
            ways = further
        return None

    def _needed(self, node: OrderNode) -> Iterator[tuple[Point, isl.Map]]:
        """The operations that must be complete for a wait to end, each with the relation from its
        instances to those of the wait."""
        if isinstance(node.thing, Barrier):
            if node.product or node.thing.spaces:
                yield node.point, self.order.together(node)
            return
        if isinstance(node.thing, Gathering):
            arrivals = (n for n in self.order.nodes if n.thing is node.thing and n.sends)
            yield from ((n.point, edge) for n in arrivals for _, edge in self.order.met(n))
            return
        for signal in of(self.instances.model, node.thing.ring, "arrive", "load"):
            yield point_of(signal), self.order.same_phase(signal, node.thing)

    def _ranked(self, circle: list[OrderNode], needs: dict[OrderNode, dict[OrderNode, isl.Map]]) -> bool:
        """Whether iterations, or rounds of the rings, give an order: each wait needs only
        operations of earlier iterations, or operations of the same iteration that never need the
        wait. If not, the outermost loops may give an order, and recursively the loops inside each
        of them."""
        for rank in (_iteration, self._turn, _outermost):
            ranks = {node: rank(node) for node in circle}
            if None in ranks.values():
                continue
            level: dict[OrderNode, dict[OrderNode, isl.Map]] = {node: {} for node in circle}
            try:
                for node in circle:
                    for other in (o for o in needs[node] if o in circle):
                        above = self._compared(other, node, ranks, needs[node][other], 1)
                        if above is not None:
                            raise VagueError(other.point.op)
                        alike = self._compared(other, node, ranks, needs[node][other], 0)
                        if alike is not None:
                            level[node][other] = alike
            except VagueError:
                continue
            circles = _circles(level)
            if not circles or (
                rank is _outermost and all(self._ranked(c, level) for c in circles if len(c) < len(circle))
            ):
                return not any(len(c) == len(circle) for c in circles)
        return False

    def _compared(
        self, a: OrderNode, b: OrderNode, ranks: dict[OrderNode, Linear | None], way: isl.Map, least: int
    ) -> isl.Map | None:
        """The pairs in which the rank of `a` exceeds that of `b` by at least `least`; if `least` is
        0, those of equal ranks. None if there are none."""
        mine, its = ranks[a], ranks[b]
        assert mine is not None and its is not None
        pairs = self.instances.relation(
            a.point,
            b.point,
            lambda x, y: [at_least(x.form(mine), y.form(its) + least) if least else equal(x.form(mine), y.form(its))],
        )
        found = self.instances.solver.ask(lambda: way.intersect(pairs))
        return None if self.instances.is_empty(found) else found

    def _turn(self, node: OrderNode) -> Linear | None:
        if not isinstance(node.thing, Signal):
            return _iteration(node)
        return self.phases[node.thing] * node.thing.ring.size + node.thing.index


def _outermost(node: OrderNode) -> Linear | None:
    """The iteration number of the outermost loop."""
    loops = node.point.place.loops
    return Linear.of(loops[0].counter) if loops else Linear.of(0)


def _iteration(node: OrderNode) -> Linear | None:
    """The iteration number of an op."""
    out = Linear.of(0)
    for loop in node.point.place.loops:
        if loop.trips is None and out.terms:
            return None
        out = out * (loop.trips or 1) + Linear.of(loop.counter)
    return out


def _circles(needs: dict[OrderNode, dict[OrderNode, isl.Map]]) -> list[list[OrderNode]]:
    """Cycles of ops that need each other, or themselves."""
    return [c for c in _components(needs) if len(c) > 1 or c[0] in needs[c[0]]]


def _components(
    needs: dict[OrderNode, dict[OrderNode, isl.Map]] | dict[OrderNode, set[OrderNode]],
) -> list[list[OrderNode]]:
    """Strongly connected components."""
    reach: dict[OrderNode, set[OrderNode]] = {node: set(others) for node, others in needs.items()}
    for middle in reach:
        for node in reach:
            if middle in reach[node]:
                reach[node] |= reach[middle]
    out: list[list[OrderNode]] = []
    for node in reach:
        if not any(node in c for c in out):
            out.append([node, *(o for o in reach if o is not node and o in reach[node] and node in reach[o])])
    return out
