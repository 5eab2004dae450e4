"""Separates the barriers that all threads of a block, a warp or a warp group reach together from
all others, which are faults and order nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ...hardware.limits import NUMBERED
from ...indices.linear import Depends, Formula, Linear, Symbol, at_least, either, equal, less, settled, unequal
from ..solver import Naming, Solver, Unknown, points
from .model import Barrier, KernelModel


def split_uniform(model: KernelModel, solver: Solver) -> tuple[list[Barrier], list[Barrier]]:
    """The uniform barriers, which all threads of a block reach or none, and the divergent barriers.
    Collective ops of a warp are judged in the same way."""
    uniform: list[Barrier] = []
    divergent: list[Barrier] = []
    for barrier in (*model.barriers, *model.warp_wide):
        reach = reached(model, barrier, solver)
        if reach == "together" and barrier.number is not None and not is_one_groups(model, barrier, solver):
            reach = "unknown"
        if reach != "together":
            elsewhere = met_elsewhere(model, barrier, solver) if reach == "apart" else None
            divergent.append(replace(barrier, assumed=reach == "unknown" or elsewhere is not None, meets=elsewhere))
        elif barrier not in model.warp_wide:
            uniform.append(barrier)
    return uniform, divergent


def reached(model: KernelModel, barrier: Barrier, solver: Solver) -> Literal["together", "apart", "unknown"]:
    """Whether the conditions around the barrier hold for all threads of a block (or a cluster) or
    for none, in each iteration.

    A condition that does not depend on the thread needs no proof. For any other condition, ISL
    compares its values for two threads.
    """

    def differs(depends: Depends) -> bool:
        return depends.thread or (barrier.of_cluster and depends.rank)

    guards = [g for g in barrier.place.guards if differs(g.depends())]
    if not guards:
        return "together"
    if any(s.kind == "opaque" and differs(s.depends) for g in guards for s in g.symbols()):
        return "unknown"
    shared = Naming("")

    def shares(symbol: Symbol) -> bool:
        return not differs(symbol.depends)

    x, y = Naming("x_", shared, shares), Naming("y_", shared, shares)
    here = [x.formula(g) for g in (*barrier.place.guards, *model.facts)] + [y.formula(g) for g in model.facts]
    warp = model.group_of(barrier.threads) if barrier.narrow else None
    if warp is not None:
        here.append(equal(x.form(warp), y.form(warp)))
    there = [y.formula(g) for g in barrier.place.guards]
    for naming in (x, y):
        naming.definitions()  # the definitions may add names
    if any(s.kind == "defined" for naming in (x, y) for s in naming.names):
        return "unknown"  # a minimum of the thread's own: existential, so the complement is not the negation of `there`
    try:
        names, both_there = points(solver, (shared, x, y), here)
        if solver.is_empty(solver.subtract(both_there, solver.set(names, there))):
            return "together"
    except Unknown:
        return "unknown"
    return "apart" if settled(s for naming in (x, y, shared) for s in naming.names) else "unknown"


def is_one_groups(model: KernelModel, barrier: Barrier, solver: Solver) -> bool:
    """Whether the number of a barrier is known to belong to a single group of threads: all threads
    that arrive at that number, at any op, are in one group; the group is complete, and all of its
    threads use the same number here. Number 0 is the barrier of the block."""
    group, number, threads = model.group_of(barrier.threads), barrier.number, model.shape.threads
    if group is None or number is None or threads is None:
        return False
    shared = Naming("")
    x, y = (Naming(prefix, shared, _shares) for prefix in ("x_", "y_"))
    here = [*map(x.formula, (*barrier.place.guards, *model.facts))]
    which, mine = x.form(number), x.form(group)
    partial = at_least(mine, threads // barrier.threads)
    if not _never(solver, (shared, x), [*here, either(less(which, Linear.of(1)), at_least(which, NUMBERED), partial)]):
        return False
    if number.depends().thread:
        u, v = (Naming(prefix, shared, lambda symbol: not symbol.depends.thread) for prefix in ("u_", "v_"))
        both = [naming.formula(f) for naming in (u, v) for f in (*barrier.place.guards, *model.facts)]
        several = either(*unequal(u.form(number), v.form(number)))
        if not _never(solver, (shared, u, v), [*both, equal(u.form(group), v.form(group)), several]):
            return False
    for other in (b for b in model.barriers if b.number is not None):
        if other.threads != barrier.threads and other.number is not None:
            here_too = [equal(which, y.form(other.number))]
        else:
            here_too = [equal(which, y.form(other.number or number)), either(*unequal(mine, y.form(group)))]
        there = [*map(y.formula, (*other.place.guards, *model.facts))]
        if not _never(solver, (shared, x, y), [*here, *there, *here_too]):
            return False
    return True


def met_elsewhere(model: KernelModel, barrier: Barrier, solver: Solver) -> str | None:
    """For a numbered barrier that not all threads of its group execute: the op at which other
    threads may arrive at the same number; None if there is no such op. The hardware counts all
    threads that arrive at a number, at any op and in any iteration."""
    number, group = barrier.number, model.group_of(barrier.threads)
    if number is None:
        return None
    if group is None or any(g.depends().thread and g.depends().loops for g in barrier.place.guards):
        return barrier.op
    shared = Naming("")
    x, y = (Naming(prefix, shared, _shares) for prefix in ("x_", "y_"))
    here = [*map(x.formula, (*barrier.place.guards, *model.facts))]
    for other in (b for b in model.barriers if b.number is not None):
        there = [
            *map(y.formula, (*other.place.guards, *model.facts)),
            equal(x.form(number), y.form(other.number or number)),
        ]
        if other is barrier:
            there.append(either(*unequal(x.form(group), y.form(group))))
        if not _never(solver, (shared, x, y), [*here, *there]):
            return other.op
    return None


def _shares(symbol: Symbol) -> bool:
    """Whether the symbol has the same value for all threads, in all iterations."""
    return not symbol.depends.thread and not symbol.depends.loops


def _never(solver: Solver, namings: tuple[Naming, ...], formulas: list[Formula]) -> bool:
    """Whether it is known that the formulas never hold together."""
    try:
        return solver.is_empty(points(solver, namings, formulas)[1])
    except Unknown:
        return False
