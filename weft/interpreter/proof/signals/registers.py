"""Registers that warp groups exchange: a request is granted once other groups have released enough.

Each group changes its registers once, not in a loop. Then two conditions suffice: the final total
fits, and no group waits, before it releases registers, for a group that requests some.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from ...hardware.limits import registers_at_start
from ..kernels.signals import RegisterChange
from .counts import MOST_THREADS, SignalFault
from .instances import PARAM, SET, Instances, Point, VagueError
from .phase_numbers import point_of

FIRST = "change registers once, where a role begins: `nvvm.setmaxregister decrease` before all waits of the group"


def register_faults(instances: Instances) -> Iterator[SignalFault]:
    """Faults, and properties that could not be proven. Raises VagueError, Unknown."""
    changes, threads = instances.model.registers, instances.model.shape.threads
    if not changes:
        return
    if threads is None:
        raise VagueError(changes[0].op, "it is not known how many threads the block has")
    start = registers_at_start(threads, max(change.count for change in changes), instances.model.register_cap)
    for change in changes:
        if (change.count < start) if change.more else (change.count > start):
            what, than = ("increase", "more") if change.more else ("decrease", "fewer")
            message = f"registers {what} to {change.count}, which is not {than} than a thread has: {change.op}"
            yield SignalFault(
                "W0670",
                message,
                change.op,
                (_all(start, threads),),
                f"request {than} than {start} registers by `nvvm.setmaxregister`",
            )
            return
    yield from _sum(changes, start, threads, instances)
    yield from _late(changes, instances)


def _sum(changes: list[RegisterChange], start: int, threads: int, instances: Instances) -> Iterator[SignalFault]:
    """The fault that the requests cannot all be granted, if they cannot."""
    others, needed, asked = threads, 0, ""
    seen: isl.Set | None = None
    for change in changes:
        if change.place.loops:
            raise VagueError(change.op, "it changes registers in a loop")
        who = _threads(change, instances)
        if seen is not None and not instances.is_empty(instances.solver.ask(lambda a=seen, b=who: a.intersect(b))):
            raise VagueError(change.op, "some threads change their registers twice")
        seen = who if seen is None else instances.solver.ask(lambda a=seen, b=who: a.union(b))
        instances.solver.spend(MOST_THREADS)
        count = who.count_val().to_python()
        others, needed, asked = others - count, needed + count * change.count, change.op if change.more else asked
    if (missing := needed + others * start - threads * start) > 0 and asked:
        yield SignalFault(
            "W0670",
            f"a warp group waits for registers that no other group releases: {asked}",
            asked,
            (_all(start, threads), f"{missing} more are requested than exist"),
            "request fewer by `nvvm.setmaxregister increase`, or release more in other groups by"
            " `nvvm.setmaxregister decrease`",
        )


def _late(changes: list[RegisterChange], instances: Instances) -> Iterator[SignalFault]:
    """The fault that a group releases registers only after it has waited for a group that may
    itself wait for these registers, if one does."""
    model = instances.model
    for given in (change for change in changes if not change.more):
        for wait in (signal for signal in model.signals if signal.kind == "wait"):
            if not instances.is_empty(instances.before(point_of(wait), _point(given))):
                message = (
                    f"registers are released after a wait for threads that may need them first (assumed): {given.op}"
                )
                yield SignalFault("W0670", message, given.op, (f"after {wait.op}",), FIRST, assumed=True)
                return
        for barrier in (each for each in model.barriers if not each.narrow):
            at = Point(barrier.place, barrier.op)
            for asked in (change for change in changes if change.more):
                ways = instances.before(_point(asked), at), instances.before(at, _point(given))
                if not any(map(instances.is_empty, ways)):
                    message = (
                        f"a warp group waits for registers that are released after a barrier of the block: {asked.op}"
                    )
                    told = f"it reaches {barrier.op} later, and {given.op} is after that"
                    yield SignalFault("W0670", message, asked.op, (told,), FIRST)
                    return


def _point(change: RegisterChange) -> Point:
    return Point(change.place, change.op)


def _threads(change: RegisterChange, instances: Instances) -> isl.Set:
    """The threads that execute the op in any block, by their ids in the block."""
    found = instances.of(_point(change))
    own = {symbol for form in instances.model.values.thread_ids() for symbol in form.symbols()}
    for position in reversed(range(len(instances.threads))):
        if instances.threads[position] not in own:
            found = found.project_out(SET, position, 1)
    return found.project_out(PARAM, 0, found.dim(PARAM))


def _all(start: int, threads: int) -> str:
    return f"each of the block's {threads} threads begins with {start} registers, and together they have no more"
