"""Arrivals and bytes of each phase of each barrier.

An arrival that several threads execute counts once per thread. The number of threads may depend on
the block that owns the barrier, but not on the phase. The count is a list of pieces: sets of
(block, barrier, phase), each with one number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import islpy as isl

from ....dsl.records import record
from ...hardware.hopper.mbarriers import MOST_BYTES
from ...indices.linear import Formula, Linear, equal
from ..kernels.model import KernelModel
from ..kernels.signals import Ring, Signal
from ..solver import Naming
from .instances import IN, OUT, PARAM, SET, Instances, VagueError
from .phase_numbers import of_one_barrier, phases_at, point_of

MOST_THREADS = 1024

Pieces = list[tuple[isl.Set, int]]


class At(NamedTuple):
    """A phase of a barrier."""

    block: int
    stage: int
    phase: int


@record
class PhaseShare:
    """The contribution of a signal to the barriers of one block: in each of `phases`, `threads`
    threads execute the signal once."""

    phases: isl.Set
    threads: int


def shares(signal: Signal, phase: Linear, instances: Instances) -> Iterator[PhaseShare]:
    """A share for each block of the cluster that owns barriers at which the signal arrives.

    Raises VagueError if a thread arrives several times in a phase, or the number of threads differs
    between phases.
    """
    point = point_of(signal)

    def twice(x: Naming, y: Naming) -> Iterable[Formula]:
        same = [*of_one_barrier(signal, signal, x, y), equal(x.form(phase), y.form(phase))]
        return [*instances.same_thread(x, y), instances.earlier(signal.place, signal.place, x, y), *same]

    if not instances.is_empty(instances.relation(point, point, twice)):
        raise VagueError(signal.op, "a thread executes it several times in a phase")
    everything, context = phases_at(signal, phase, instances), instances.solver.context
    for block in range(instances.model.shape.blocks):
        at = everything.fix_val(OUT, 0, isl.Val(block, context))
        if not instances.is_empty(at):
            yield _share(signal, at, instances)


def _share(signal: Signal, at: isl.Map, instances: Instances) -> PhaseShare:
    """A signal's share at the barriers of a block. `at`: instances → (block, barrier, phase)."""
    ask, count = instances.solver.ask, len(instances.threads)
    kept = ask(lambda: at.project_out(IN, count, at.dim(IN) - count))
    threads, phases = ask(kept.domain), ask(at.range)
    threads = ask(lambda: threads.project_out(PARAM, 0, threads.dim(PARAM)))
    everywhere = isl.Map.from_domain_and_range(threads.align_params(phases.get_space()), phases)
    if not instances.is_empty(ask(lambda: everywhere.subtract(kept))):
        raise VagueError(signal.op, "other threads execute it in other phases")
    instances.solver.spend(MOST_THREADS)  # ISL counts incompletely where a limit stops it: without one
    return PhaseShare(phases, threads.count_val().to_python())


def total(shares: Iterable[tuple[isl.Set, int]], instances: Instances) -> Pieces:
    """The counts of all shares, added up where their sets overlap."""
    ask, pieces = instances.solver.ask, Pieces()
    for where, amount in shares:
        rest, out = where, Pieces()
        for piece, sum_ in pieces:
            common, alone = ask(lambda p=piece, w=where: p.intersect(w)), ask(lambda p=piece, w=where: p.subtract(w))
            rest = ask(lambda p=piece, r=rest: r.subtract(p))
            out += [(s, n) for s, n in ((common, sum_ + amount), (alone, sum_)) if not instances.is_empty(s)]
        pieces = out + ([(rest, amount)] if not instances.is_empty(rest) else [])
    return pieces


@record
class SignalFault:
    """A fault, or a property that could not be proven.

    Args:
        op: its subject.
        assumed: neither proven wrong nor right.
    """

    code: str
    message: str
    op: str
    notes: tuple[str, ...] = ()
    hint: str = ""
    assumed: bool = False


def of(model: KernelModel, ring: Ring, *kinds: str) -> list[Signal]:
    """The signals of those kinds."""
    return [s for s in model.signals if s.ring is ring and s.kind in kinds]


def rings(model: KernelModel) -> list[Ring]:
    """The kernel's arrays of barriers."""
    return list(dict.fromkeys(signal.ring for signal in model.signals))


@dataclass(eq=False)
class Counts:
    """The numbers of arrivals and of bytes in each phase.

    Attributes:
        full: for each ring, the phases that are complete at some time; `faults` finds them.
    """

    model: KernelModel
    instances: Instances
    phases: Mapping[Signal, Linear]
    full: dict[Ring, isl.Set] = field(default_factory=dict)
    _shares: dict[Signal, list[PhaseShare]] = field(default_factory=dict)

    def shares_of(self, signal: Signal) -> list[PhaseShare]:
        """The shares of a signal, one for each block that owns barriers which it signals."""
        if signal not in self._shares:
            self._shares[signal] = list(shares(signal, self.phases.get(signal, Linear.of(0)), self.instances))
        return self._shares[signal]

    def _shared(self, signals: Iterable[Signal]) -> Iterator[tuple[Signal, PhaseShare]]:
        return ((signal, share) for signal in signals for share in self.shares_of(signal))

    def faults(self) -> Iterator[SignalFault]:
        for ring in rings(self.model):
            inits = of(self.model, ring, "init")
            vague = next((s for s in self.model.signals if s.ring is ring and not s.amount.is_constant), None)
            if vague is not None:
                raise VagueError(vague.op, "its number of arrivals or bytes is not constant")
            made = total(((share.phases, share.threads) for _, share in self._shared(inits)), self.instances)
            if (again := next(((where, n) for where, n in made if n > 1), None)) is not None:
                at = self._phase(again[0])._replace(phase=0)
                yield SignalFault(
                    "W0664",
                    f"{self.name(ring, at)} is initialized {again[1]} times",
                    inits[0].op,
                    (f"by {self.participants(inits, at)}",),
                    "let one thread execute `nvgpu.mbarrier.init`, once for each barrier",
                )
                continue
            yield from self._arrivals_of(ring, inits)
            yield from self._bytes_of(ring)

    def _arrivals_of(self, ring: Ring, inits: list[Signal]) -> Iterator[SignalFault]:
        arrivals = of(self.model, ring, "arrive")
        pieces = total(((share.phases, share.threads) for _, share in self._shared(arrivals)), self.instances)
        full: isl.Set | None = None
        for where, count in pieces:
            for init, share in self._shared(inits):
                there = self.instances.solver.ask(lambda w=where, s=share: w.intersect(self._any_phase(s.phases)))
                expected = init.amount.constant
                if count == expected and not self.instances.is_empty(there):
                    full = (
                        there
                        if full is None
                        else self.instances.solver.ask(lambda f=full, t=there: f.union(t).coalesce())
                    )
                elif count > expected and not self.instances.is_empty(there):
                    self._expect_one_turn(arrivals)
                    at = self._phase(there)
                    yield SignalFault(
                        "W0660",
                        f"{count} threads arrive at {self.name(ring, at)} in a phase of {expected} arrivals",
                        init.op,
                        (f"phase {at.phase}: {self.participants(arrivals, at)}",),
                        "make the count of `nvgpu.mbarrier.init` the number of arrivals in each phase: each arriving"
                        " thread counts, and `arrive.expect_tx` is an arrival",
                    )
        nothing = isl.Set.empty(isl.Space.set_alloc(self.instances.solver.context, 0, len(At._fields)))
        self.full[ring] = nothing if full is None else full

    def _expect_one_turn(self, arrivals: list[Signal]) -> None:
        """Raises VagueError if a thread arrives, waits, and arrives again in what is assumed to be
        one phase. Phases are assumed to follow the iterations of loops, but straight-line code may
        pass through several."""
        for wait, first, again in product(of(self.model, arrivals[0].ring, "wait"), arrivals, arrivals):
            known = self.instances.relation(point_of(first), point_of(again), lambda x, y, a=first, b=again: [
                *of_one_barrier(a, b, x, y), equal(x.form(self.phases[a]), y.form(self.phases[b]))
            ])  # fmt: skip
            there, back = (self._in_turn(a, b) for a, b in ((first, wait), (wait, again)))
            if not self.instances.is_empty(
                self.instances.solver.ask(lambda t=there, b=back, k=known: t.apply_range(b).intersect(k))
            ):
                raise VagueError(again.op, "a thread that has arrived and waited arrives again in the same iteration")

    def _in_turn(self, a: Signal, b: Signal) -> isl.Map:
        """The program order of signals of one barrier."""
        one = self.instances.relation(point_of(a), point_of(b), lambda x, y: of_one_barrier(a, b, x, y))
        return self.instances.solver.ask(lambda: self.instances.before(point_of(a), point_of(b)).intersect(one))

    def _any_phase(self, where: isl.Set) -> isl.Set:
        return where.project_out(SET, 2, 1).add_dims(SET, 1)

    def _bytes_of(self, ring: Ring) -> Iterator[SignalFault]:
        arrivals, loads = of(self.model, ring, "arrive"), of(self.model, ring, "load")
        said, come = (
            [(share.phases, share.threads * s.amount.constant) for s, share in self._shared(some) if s.amount.constant]
            for some in (arrivals, loads)
        )
        for where, missing in total([*said, *((where, -n) for where, n in come)], self.instances):
            if missing:
                at = self._phase(where)
                expected, brought = (self._at(total(list(each), self.instances), at) for each in (said, come))
                message = f"a phase of {self.name(ring, at)} expects {expected} bytes, and {brought} come"
                who = f"phase {at.phase}: {self.participants([*arrivals, *loads], at)}"
                yield SignalFault(
                    "W0661",
                    message,
                    (arrivals or loads)[0].op,
                    (who,),
                    "`nvgpu.mbarrier.arrive.expect_tx` the bytes of all boxes that are loaded in the phase, of whole"
                    " boxes also where they reach beyond the tensor",
                )
                self.full[ring] = self.instances.solver.ask(lambda f=self.full[ring], w=where: f.subtract(w))
        for where, expected in total(said, self.instances):
            if expected > MOST_BYTES:
                at = self._phase(where)
                message = f"a phase of {self.name(ring, at)} expects {expected} bytes, more than {MOST_BYTES}"
                yield SignalFault(
                    "W0661",
                    message,
                    arrivals[0].op,
                    (f"by {self.participants(arrivals, at)}",),
                    f"load at most {MOST_BYTES} bytes in a phase, or `nvgpu.mbarrier.create` more barriers",
                )

    def _at(self, pieces: Pieces, at: At) -> int:
        return sum(n for where, n in pieces if self._contains(where, at))

    def _contains(self, where: isl.Set, at: At) -> bool:
        for number, value in enumerate(at):
            where = where.fix_val(SET, number, isl.Val(value, self.instances.solver.context))
        return not self.instances.is_empty(where)

    def _phase(self, where: isl.Set) -> At:
        """The first phase of the set."""
        found = self.instances.solver.sample(where.project_out(PARAM, 0, where.dim(PARAM)))
        return At(0, 0, 0) if found is None else At(*found[: len(At._fields)])

    def participants(self, signals: list[Signal], at: At) -> str:
        """The ops that contribute to the phase, as text, each with the number of its threads if
        there are several."""
        there = [(signal, share) for signal, share in self._shared(signals) if self._contains(share.phases, at)]
        texts = [f"{s.op}{f' by {share.threads} threads' if share.threads > 1 else ''}" for s, share in there]
        return ", ".join(texts) or "no op"

    def name(self, ring: Ring, at: At) -> str:
        """`full[1]`; in a cluster, with the block."""
        return f"`{ring.name}[{at.stage}]`{f' of block {at.block}' if self.model.shape.blocks > 1 else ''}"
