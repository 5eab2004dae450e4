"""Faults of a kernel's memory barriers: wrong counts, phases or order, and endless waits.

`phase_numbers.py` assumes a phase for each arrival and each wait. The proof is by induction over
the ops of a run. Consider the first op with another phase than assumed: all ops before it have
their assumed phases, so that the order derived for them is correct. From that order alone, each
property follows that is required of an op. For an arrival: the previous phase is complete. For a
wait: it observes the end of its phase before the next phase can complete. So the first op has its
assumed phase, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from itertools import chain

import islpy as isl

from ...indices.linear import Formula, Linear, Symbol, at_least, either, equal, less
from ..kernels.model import Barrier, KernelModel
from ..kernels.signals import Ring, Signal
from ..solver import Naming, Solver
from .counts import At, Counts, SignalFault, of
from .deadlocks import WaitCycles
from .instances import Instances, VagueError
from .order import Order, OrderNode
from .phase_numbers import mismatch, of_one_barrier, phases, phases_at, point_of
from .registers import register_faults
from .steps import Steps


class SignalJudge:
    """Judges the barriers of a kernel. Raises VagueError or Unknown if they cannot be analysed.

    Args:
        barriers: the barriers of the block, and of warps.
    """

    def __init__(self, model: KernelModel, barriers: tuple[Barrier, ...], solver: Solver) -> None:
        self.steps = Steps(Instances(model, solver))
        self.model = model = self.steps.model()
        self.instances = Instances(model, solver)
        self.ask = solver.ask
        self.phases = phases(model.signals, self.instances)
        self.order = Order(self.instances, self.phases, tuple(map(self.steps.barrier, barriers)))
        self.counts = Counts(model, self.instances, self.phases)

    def having(self, barriers: tuple[Barrier, ...]) -> SignalJudge:
        """A judge of the same kernel with other barriers."""
        out = copy(self)
        out.order = Order(self.instances, self.phases, tuple(map(self.steps.barrier, barriers)))
        return out

    def faults(self) -> Iterator[SignalFault]:
        """All faults, one of each kind per ring. If counts are wrong, nothing else is checked,
        because other faults would follow from these."""
        fundamental = (self._blocks, self.counts.faults, self._parities)
        for check in (*fundamental, self._begins, self._waits, self._arrivals, self._ends):
            seen: set[tuple[str, Ring | None]] = set()
            ring_of = {signal.op: signal.ring for signal in self.model.signals}
            for fault in check():
                key = fault.code, ring_of.get(fault.op)
                if key not in seen:
                    yield fault
                seen.add(key)
            if seen and check in fundamental:
                return

    def _blocks(self) -> Iterator[SignalFault]:
        """Signals to blocks that the cluster does not have."""
        blocks = self.model.shape.blocks
        for signal in self.phases:
            if (left := self._one(signal, lambda x, s=signal: [outside(x.form(s.block), blocks)])) is not None:
                where = f"of a cluster of {blocks}: {signal.op}"
                yield SignalFault(
                    "W0664",
                    f"a memory barrier of a block that does not exist, {where}",
                    signal.op,
                    (left[1],),
                    f"number the blocks from 0 to {blocks - 1}, in `nvvm.mapa` and in multicast masks",
                )

    # ---- which phase -------------------------------------------------------------------------------------------------

    def _parities(self) -> Iterator[SignalFault]:
        for signal in (s for s in self.phases if s.kind != "wait"):
            if self._one(signal, lambda x, s=signal: [less(x.form(self.phases[s]), Linear.of(0))]) is not None:
                raise VagueError(signal.op)
        for wait in (s for s in self.phases if s.kind == "wait"):
            phase = self.phases[wait]

            def wrong(x: Naming, wait: Signal = wait, phase: Linear = phase) -> list[Formula]:
                return list(mismatch(wait, phase, x))

            if (found := self._one(wait, wrong)) is not None:
                point, told = found
                yield SignalFault(
                    "W0662",
                    f"a wait has the parity of another phase than its own: {wait.op}",
                    wait.op,
                    (told, self._phase_of(wait, point)),
                    "in iteration i over a ring of n barriers, wait for the parity `(i div n) mod 2`; before a stage"
                    " is filled again, for the opposite parity",
                )
            elif (found := self._one(wait, lambda x, p=phase: [less(x.form(p), Linear.of(-1))])) is not None:
                yield SignalFault("W0662", f"a wait is for a phase before the first: {wait.op}", wait.op, (found[1],))

    def _one(self, signal: Signal, formulas: Callable[[Naming], list[Formula]]) -> tuple[dict[Symbol, int], str] | None:
        """An instance that satisfies the condition, and its description."""
        return self._sampled(self.instances.of(point_of(signal), formulas), signal)

    def _sampled(self, found: isl.Set, signal: Signal) -> tuple[dict[Symbol, int], str] | None:
        if self.instances.is_empty(found):
            return None
        values = self.instances.sample(found, signal.place) or {}
        return values, self.instances.told(point_of(signal), values)

    def _phase_of(self, signal: Signal, values: dict[Symbol, int]) -> str:
        at = self._at(signal, values)
        return f"it is taken to be of phase {at.phase} of {self.counts.name(signal.ring, at)}"

    def _at(self, signal: Signal, values: dict[Symbol, int]) -> At:
        return At(*(form.value(values) or 0 for form in (signal.block, signal.index, self.phases[signal])))

    # ---- before its time ---------------------------------------------------------------------------------------------

    def _begins(self) -> Iterator[SignalFault]:
        """Faults of initialization: barriers that are used before they are initialized, or that
        loads or other blocks use before a fence."""
        for init in (s for s in self.model.signals if s.kind == "init"):
            if (left := self._one(init, lambda x, s=init: [outside(x.form(s.index), s.ring.size)])) is not None:
                message = f"`{init.ring.name}` has {init.ring.size} barriers: {init.op}"
                yield SignalFault(
                    "W0664",
                    message,
                    init.op,
                    (left[1],),
                    f"`nvgpu.mbarrier.init` at an index from 0 to {init.ring.size - 1}",
                )
        for signal in self.phases:
            inits, use = of(self.model, signal.ring, "init"), point_of(signal)
            ways = (
                way
                for init in inits
                for way in self._same(init, signal, self.order.paths(point_of(init), use, "workgroup"))
            )
            if (left := self._uncovered(signal, ways)) is not None:
                yield SignalFault(
                    "W0664", f"a memory barrier may be used before it is initialized:"
                             f" {signal.op}", signal.op, (left[1],),
                    "let one thread initialize it, then execute `nvvm.fence.mbarrier.init`, and let all threads pass"
                    " a `gpu.barrier`" + ", and all blocks of the cluster an `nvvm.cluster.arrive` and"
                    " `nvvm.cluster.wait` where they use it" * (self.model.shape.blocks > 1),
                )  # fmt: skip
            elif signal.kind == "load" or self._is_remote(signal):
                fences = [fence for fence in self.model.fences if fence.inits]
                ways = (self.order.fenced(point_of(init), fences, use, "workgroup") for init in inits)
                fenced = (way for init, some in zip(inits, ways, strict=True) for way in self._same(init, signal, some))
                if (left := self._uncovered(signal, fenced)) is not None:
                    who = "the tensor memory accelerator" if signal.kind == "load" else "another block"
                    message = f"{who} may not see that a barrier was initialized: {signal.op}"
                    yield SignalFault(
                        "W0664",
                        message,
                        signal.op,
                        (left[1],),
                        "put `nvvm.fence.mbarrier.init` between the thread's inits and the barrier of the block or of"
                        " the cluster",
                    )

    def _same(self, a: Signal, b: Signal, ways: Iterator[isl.Map]) -> Iterator[isl.Map]:
        """The paths between signals of one barrier."""
        one = self.instances.relation(point_of(a), point_of(b), lambda x, y: of_one_barrier(a, b, x, y))
        return (self.ask(lambda w=way: w.intersect(one)) for way in ways)

    def _uncovered(
        self, signal: Signal, ways: Iterator[isl.Map], of: Callable[[Naming], list[Formula]] = lambda x: []
    ) -> tuple[dict[Symbol, int], str] | None:
        """An instance of the signal at which no path ends."""
        return self._left(signal, self.instances.of(point_of(signal), of), (self.ask(way.range) for way in ways))

    def _left(self, signal: Signal, left: isl.Set, covered: Iterator[isl.Set]) -> tuple[dict[Symbol, int], str] | None:
        for some in chain((None,), covered):
            left = left if some is None else self.ask(lambda a=left, b=some: a.subtract(b))
            if self.instances.is_empty(left):
                return None
        return self._sampled(left, signal)

    # ---- in time -----------------------------------------------------------------------------------------------------

    def _is_over(self, signal: Signal, before: int) -> Iterator[isl.Map]:
        """Paths to the signal from waits that have observed the end of a phase, at most `before`
        phases before the signal's own."""
        for wait in of(self.model, signal.ring, "wait"):
            mine, its = self.phases[signal], self.phases[wait]
            known = self.instances.relation(point_of(wait), point_of(signal), lambda x, y, w=wait, m=mine, i=its: [
                *of_one_barrier(w, signal, x, y), at_least(x.form(i) + before, y.form(m))
            ])  # fmt: skip
            for way in self.order.paths(point_of(wait), point_of(signal), "time"):
                yield self.ask(lambda w=way, k=known: w.intersect(k))

    def _arrivals(self) -> Iterator[SignalFault]:
        for signal in (s for s in self.phases if s.kind in ("arrive", "load")):
            later = self._uncovered(
                signal, self._is_over(signal, 1), lambda x, s=signal: [at_least(x.form(self.phases[s]), 1)]
            )
            if later is not None and not self._all_before(signal):
                what = "an arrival" if signal.kind == "arrive" else "a load"
                yield SignalFault(
                    "W0663", f"{what} may count in the phase before its own: {signal.op}", signal.op,
                    (later[1], self._phase_of(signal, later[0]), "nothing orders it after the end of the previous"
                                                                 " phase"),
                    "before it, wait for the previous phase by `nvgpu.mbarrier.try_wait.parity`, in this thread or in one"
                    " that it waits for",
                )  # fmt: skip

    def _all_before(self, signal: Signal) -> bool:
        """Whether all arrivals of the previous phase come before a signal, even if no thread waits
        for that phase."""
        if of(self.model, signal.ring, "load"):
            return False
        for arrival in of(self.model, signal.ring, "arrive"):
            left = self.order.same_phase(arrival, signal, 1)
            for way in self.order.paths(point_of(arrival), point_of(signal), "time"):
                left = self.instances.without(left, way)
            if not self.instances.is_empty(left):
                return False
        return True

    def _waits(self) -> Iterator[SignalFault]:
        for wait in (s for s in self.phases if s.kind == "wait"):
            if (found := self._endless(wait)) is not None:
                point, told = found
                at = self._at(wait, point)
                arrivals, loads = of(self.model, wait.ring, "arrive"), of(self.model, wait.ring, "load")
                yield SignalFault(
                    "W0665", f"a wait is for a phase that never ends: {wait.op}", wait.op,
                    (told, f"phase {at.phase} of {self.counts.name(wait.ring, at)}: arrivals:"
                           f" {self.counts.participants(arrivals, at)};"
                     f" loads: {self.counts.participants(loads, at)}"),
                    "let as many threads arrive in each phase as `nvgpu.mbarrier.init` states, and load as many bytes"
                    " as `arrive.expect_tx` states",
                )  # fmt: skip
                continue
            early = self._uncovered(
                wait, self._is_over(wait, 1), lambda x, w=wait: [at_least(x.form(self.phases[w]), 1)]
            )
            late = None if early is not None else self._overtaken(wait)
            if early is not None or late is not None:
                point, told = early or late or ({}, "")
                why = "nothing ensures that the previous phase is complete: then the wait ends at once"
                if early is None:
                    why = (
                        "nothing ensures that the next phase is still incomplete: once it is complete, the wait is"
                        " for the phase after it"
                    )
                yield SignalFault(
                    "W0662",
                    f"the parity may not identify the phase of a wait: {wait.op}",
                    wait.op,
                    (told, self._phase_of(wait, point), why),
                    "`nvgpu.mbarrier.try_wait.parity` for each phase, before the arrivals of the phase after the next:"
                    " a barrier is at most one phase ahead of a thread that waits",
                )

    def _endless(self, wait: Signal) -> tuple[dict[Symbol, int], str] | None:
        at = phases_at(wait, self.phases[wait], self.instances)
        full = self.counts.full[wait.ring]
        ended = self.ask(lambda: at.intersect_range(full).domain())
        open_ = self.instances.of(point_of(wait), lambda x: [at_least(x.form(self.phases[wait]), 0)])
        return self._left(wait, open_, iter((ended,)))

    def _overtaken(self, wait: Signal) -> tuple[dict[Symbol, int], str] | None:
        """An instance of a wait that may be overtaken: the phase after the awaited one may complete
        before the wait has observed that one."""
        at = phases_at(wait, self.phases[wait] + 1, self.instances)
        ends = self.ask(lambda: at.intersect_range(self.counts.full[wait.ring]).domain())

        def overtaking() -> Iterator[isl.Set]:
            for arrival in of(self.model, wait.ring, "arrive"):
                next_ = self.order.same_phase(wait, arrival, 1)
                for way in self.order.paths(point_of(wait), point_of(arrival), "time"):
                    yield self.ask(lambda w=way, n=next_: w.intersect(n).domain())

        return self._left(wait, ends, overtaking())

    # ---- ends --------------------------------------------------------------------------------------------------------

    def _ends(self) -> Iterator[SignalFault]:
        for load in (s for s in self.phases if s.kind == "load"):
            seen = (self.ask(landing.domain) for _, landing in self.order.landing(load))
            if (left := self._left(load, self.instances.of(point_of(load)), seen)) is not None:
                yield SignalFault(
                    "W0665",
                    f"no thread waits for the bytes of a load: {load.op}",
                    load.op,
                    (left[1], self._phase_of(load, left[0])),
                    "`nvgpu.mbarrier.try_wait.parity` for each phase with a load, before the block ends",
                )
        yield from self._outlived()
        yield from WaitCycles(self.instances, self.order, self.phases, self.steps).faults()
        yield from register_faults(self.instances)

    def _is_remote(self, signal: Signal) -> bool:
        """Whether a signal may be at a barrier of another block."""
        return signal.block != self.model.values.rank

    def _outlived(self) -> Iterator[SignalFault]:
        """Arrivals at a barrier of a block that may have ended by then. To exclude this, a thread
        of that block must observe each arrival by a wait or a barrier."""
        rank = self.model.values.rank
        for signal in (s for s in self.phases if s.kind == "arrive" and self._is_remote(s)):
            (node,) = [node for node in self.order.nodes if node.thing is signal]

            def seen(signal: Signal = signal, node: OrderNode = node) -> Iterator[isl.Set]:
                for other, way in self.order.told(node):
                    there = self.instances.relation(
                        node.point, other.point, lambda x, y: [equal(x.form(signal.block), y.form(rank))]
                    )
                    yield self.ask(lambda w=way, t=there: w.intersect(t).domain())

            if (left := self._left(signal, self.instances.of(node.point), seen())) is not None:
                at = self._at(signal, left[0])
                yield SignalFault(
                    "W0669", f"a block may end before another one arrives at its barrier: {signal.op}", signal.op,
                    (left[1], f"{self.counts.name(signal.ring, at)}: none of that block's threads knows that it has"
                              f" been done"),
                    "let all blocks of the cluster synchronize before they end: `nvvm.cluster.arrive`, then"
                    " `nvvm.cluster.wait`",
                )  # fmt: skip


def outside(index: Linear, size: int) -> Formula:
    """The condition that an index is outside 0 … size-1."""
    return either(less(index, Linear.of(0)), at_least(index, size))
