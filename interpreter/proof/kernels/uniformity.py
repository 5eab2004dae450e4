"""Which barriers all threads of a block reach together. The others are faults, and order nothing."""

from __future__ import annotations

import dataclasses
from typing import Literal

from ..forms.linear import Symbol, equal, settled
from ..forms.naming import Naming, points
from ..forms.solver import Solver, Unknown
from .dependence import WARP
from .model import Barrier, KernelModel


def split_uniform(model: KernelModel, solver: Solver) -> tuple[list[Barrier], list[Barrier]]:
    """The barriers that are reached by all threads of a block or by none, and the divergent ones."""
    uniform: list[Barrier] = []
    divergent: list[Barrier] = []
    for barrier in model.barriers:
        reach = reached(model, barrier, solver)
        if reach == "together":
            uniform.append(barrier)
        else:
            divergent.append(dataclasses.replace(barrier, assumed=reach == "unknown"))
    return uniform, divergent


def reached(model: KernelModel, barrier: Barrier, solver: Solver) -> Literal["together", "apart", "unknown"]:
    """Whether the conditions around the barrier hold for all threads of a block or for none, in each iteration.

    Conditions that do not depend on the thread need no proof. Those that do are compared for two threads, by ISL.
    """
    guards = [g for g in barrier.place.guards if g.depends().thread]
    if not guards:
        return "together"
    if any(s.kind == "opaque" and s.depends.thread for g in guards for s in g.symbols()):
        return "unknown"
    shared = Naming("")

    def shares(symbol: Symbol) -> bool:
        return not symbol.depends.thread

    x, y = Naming("x_", shared, shares), Naming("y_", shared, shares)
    here = [x.formula(g) for g in (*barrier.place.guards, *model.facts)] + [y.formula(g) for g in model.facts]
    if barrier.narrow and model.shape.threads is not None:
        warp = model.shape.linear_id(model.values.thread_ids()).floordiv(WARP)
        here.append(equal(x.form(warp), y.form(warp)))
    there = [y.formula(g) for g in barrier.place.guards]
    for naming in (x, y):
        naming.definitions()  # they may name more
    if any(s.kind == "defined" for naming in (x, y) for s in naming.names):
        return "unknown"  # a thread's own minimum: existential, and its complement is not what `there` negated says
    try:
        names, both_there = points(solver, (shared, x, y), here)
        if solver.is_empty(solver.subtract(both_there, solver.set(names, there))):
            return "together"
    except Unknown:
        return "unknown"
    return "apart" if settled(s for naming in (x, y, shared) for s in naming.names) else "unknown"
