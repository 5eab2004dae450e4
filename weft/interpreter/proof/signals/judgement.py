"""The findings in a kernel with memory barriers or asynchronous accesses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from ..kernels.model import Barrier, KernelModel
from ..races.conflicts import LIMIT, Conflict
from ..races.uninitialized_reads import UnwrittenRead
from ..solver import Solver, Unknown
from .conflicts import Asynchronous
from .counts import SignalFault
from .deadlocks import NOT_KNOWN
from .faults import SignalJudge
from .instances import VagueError


@dataclass
class SignalJudgement:
    """Faults, and properties that could not be proven. If the barriers cannot be analysed, there is
    no search for conflicts."""

    faults: list[SignalFault] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    found: Asynchronous | None = None

    @property
    def clean(self) -> bool:
        """Whether there is no fault, and nothing unknown."""
        return not (self.faults or self.conflicts or self.unwritten())

    def unwritten(self) -> list[UnwrittenRead]:
        """Reads without an earlier write; for kernels without conflicts."""
        return [] if self.found is None else list(dict.fromkeys(self.found.unwritten()))


class SignalTrials:
    """Judgements of one kernel with several choices of barriers. Results that do not depend on
    barriers are computed once, and ISL's answers are kept as long as this object. Each judgement
    has its own budget."""

    def __init__(self, model: KernelModel) -> None:
        self.model = model
        self._any: SignalJudge | None = None

    def judge(self, barriers: Iterable[Barrier]) -> SignalJudge:
        """The judgement with these barriers. Raises VagueError, Unknown."""
        if self._any is None:
            self._any = SignalJudge(self.model, tuple(barriers), Solver())
            return self._any
        self._any.instances.solver.renew()
        return self._any.having(tuple(barriers))

    def are_ordered(self, barriers: Iterable[Barrier]) -> bool:
        """Whether the kernel's order has no fault with these barriers."""
        try:
            judge = self.judge(barriers)
            found = Asynchronous(judge)
            return next(chain(judge.faults(), found.faults(), found.conflicts()), None) is None
        except (VagueError, Unknown):
            return False


def judge_signals(
    model: KernelModel, barriers: Iterable[Barrier] | None = None, trials: SignalTrials | None = None
) -> SignalJudgement:
    """Judges a kernel's memory barriers, and the accesses within a block.

    Args:
        barriers: those of the model, if None.
        trials: results for the same model with other choices of barriers.

    If only copies are asynchronous, threads wait only at barriers that all of them reach, so that
    there are no faults.
    """
    out = SignalJudgement()
    try:
        judge = (trials or SignalTrials(model)).judge(model.barriers if barriers is None else barriers)
        out.faults += judge.faults() if model.is_asynchronous else ()
        out.found = Asynchronous(judge)
        out.faults += out.found.faults()
        alike: dict[tuple[str, str, str], Conflict] = {}
        for conflict in out.found.conflicts():  # a tile of several boxes is reported once
            alike.setdefault(
                (conflict.kind, conflict.buffer, conflict.agent or conflict.first_op + conflict.second_op), conflict
            )
        out.conflicts += alike.values()
        out.conflicts.sort(key=lambda conflict: conflict.kind == "WAW")  # mostly a consequence of others
    except VagueError as vague:
        out.faults.append(_not_known(vague.op, (vague.why,) if vague.why else ()))
    except Unknown:
        out.faults.append(_not_known(model.signals[0].op if model.signals else model.name, (LIMIT,)))
    return out


def _not_known(op: str, notes: tuple[str, ...]) -> SignalFault:
    message = f"it is not known when this is done, or for which phase of a memory barrier (assumed): {op}"
    hint = (
        "use barrier `i mod n` of a ring of n in iteration i, with the parity of `i div n`; let whole warp groups"
        " execute the same ops"
    )
    return SignalFault("W0668", message, op, (*notes, NOT_KNOWN), hint, assumed=True)
