"""Asynchronous copies: the waits after which each copy has arrived, and the accesses that model the
copy.

A copy belongs to the next group that its thread commits. A wait that leaves n groups pending waits
for all groups but the n newest. So a copy has arrived at the first such wait that comes after n
more commits than that of the copy's own group. This module finds that wait, and the iteration of
its loop, if groups are committed in straight-line code, or in each iteration of a loop in such
code. Any other copy is assumed never to arrive; if that leaves a conflict, `signals/groups.py`
counts its groups along paths.

An access of a copy becomes two accesses of the same element: one that begins at the copy, and one
that has ended at the wait. `races/in_flight.py` treats the interval between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...indices.linear import THREAD, TRUE, Formula, Linear, Symbol, at_least, both, equal
from ...indices.values import Values
from .model import Access
from .places import GroupEvent, Landing, Loop, Place, PlaceStep


def with_ends(accesses: Sequence[Access], events: Sequence[GroupEvent], values: Values) -> Iterator[Access]:
    """Yields the accesses. After each access that begins an asynchronous copy come the accesses
    that end it."""
    found: dict[Place, tuple[Landing, ...]] = {}
    for number, access in enumerate(accesses):
        if access.phase != "begins":
            yield access
            continue
        if access.place not in found:
            found[access.place] = tuple(landings_of(access.place, events))
        landings = found[access.place]
        copy = replace(access, flight=number, landings=landings)
        yield copy
        sooner: Formula = TRUE
        for landing in landings:
            yield _ended(copy, landing, sooner, values)
            sooner = both(sooner, landing.reached.negate())


# ---- where it is waited for ------------------------------------------------------------------------------------------


def landings_of(copy: Place, events: Sequence[GroupEvent]) -> Iterator[Landing]:
    """Yields the waits at which a copy may have arrived, in the order in which the issuing thread
    reaches them."""
    straight = _Straight(copy)
    seen = [replace(event, place=straight.place(event.place)) for event in events]
    for landing in _landings(straight.place(copy), seen):
        yield replace(landing, place=straight.original[landing.place])


SCALE = 1 << 16
DEEP = SCALE**8
"""The distance of positions in a block of ops. Each level of dissolved conditions (`_Straight`)
divides it by `SCALE`."""


class _Straight:
    """Rewrites places without the conditions under which the copy is issued, as these hold wherever
    it matters: ops inside such a condition become ops of the enclosing block."""

    def __init__(self, copy: Place) -> None:
        self.holds = {guard for guard in copy.guards if not guard.depends().loops}
        self.original: dict[Place, Place] = {}
        self._steps: dict[PlaceStep, PlaceStep] = {}

    def place(self, place: Place) -> Place:
        """The place, with positions scaled so that the ops of removed conditions fit in between."""
        steps: list[PlaceStep] = []
        base, unit = 0, DEEP
        for step in place.steps:
            base += (step.position + (unit < DEEP)) * unit
            if step.loop is None and step.guards and set(step.guards) <= self.holds and unit > 1:
                unit //= SCALE
                continue
            steps.append(self._steps.setdefault(step, PlaceStep(base, step.region, step.guards, step.loop)))
            base, unit = 0, DEEP
        found = Place(tuple(steps), base + (place.position + (unit < DEEP)) * unit)
        self.original[found] = place
        return found


def _landings(copy: Place, events: Sequence[GroupEvent]) -> Iterator[Landing]:
    commits = [e.place for e in events if e.pending is None]
    waits = [e for e in events if e.pending is not None and not any(g.depends().thread for g in e.place.guards)]
    group = _group_of(copy, commits)
    if group is None or any(guard.depends().thread for place in commits for guard in place.guards):
        return
    straight = [c for c in commits if c.steps == group.steps]
    in_a_loop = False
    for position in sorted({_at(w.place, group) for w in waits if w.place.steps[: len(group.steps)] == group.steps}):
        if position <= group.position:
            continue
        passed = [c for c in straight if group.position < c.position < position]
        between = [c for c in commits if group.order < c.order and _at(c, group) < position]
        counted = len(between) == len(passed)
        own = [w for w in waits if w.place.steps == group.steps and w.place.position == position]
        if any(w.pending == 0 or (counted and len(passed) >= (w.pending or 0)) for w in own):
            yield Landing(own[0].place)
            return
        if not own and counted and not in_a_loop:
            for landing in _in_a_later_loop(group, position, len(passed), commits, waits):
                in_a_loop = True
                yield landing
    around = group.steps[-1].loop if group.steps else None
    if around is not None and not in_a_loop:
        yield from _in_later_iterations(group, around, straight, commits, waits)


def _group_of(copy: Place, commits: Sequence[Place]) -> Place | None:
    """The commit of the group of a copy: the next commit that the thread passes, in whatever
    iterations; None if another commit may come first."""
    closing = [c for c in commits if c.steps == copy.steps[: len(c.steps)] and _at(copy, c) < c.position]
    if not closing:
        return None
    group = max(closing, key=lambda c: (len(c.steps), -c.position))
    inside = set(copy.loops) - set(group.loops)
    earlier = any(copy.order < c.order < group.order or inside.intersection(c.loops) for c in commits if c is not group)
    return None if earlier else group


def _at(place: Place, block: Place) -> int:
    """The position, in the block of ops that contains `block`, of the op that contains `place`."""
    depth = len(block.steps)
    return place.steps[depth].position if depth < len(place.steps) else place.position


def _in_later_iterations(
    group: Place, loop: Loop, straight: Sequence[Place], commits: Sequence[Place], waits: Sequence[GroupEvent]
) -> Iterator[Landing]:
    """Yields the landings of a group that is committed in each iteration of a loop: at a wait in a
    later iteration, then at a wait for all groups after the loop."""
    if any(loop in c.loops and c not in straight for c in commits):
        return
    every, after = len(straight), sum(c.position > group.position for c in straight)
    ends: list[tuple[int, int, GroupEvent]] = []
    for wait in waits:
        if wait.place.steps == group.steps:
            before = sum(c.position < wait.place.position for c in straight)
            later = 1 + max(0, -(-((wait.pending or 0) - after - before) // every))
            ends.append((later, wait.place.position, wait))
    if ends:
        later, _, wait = min(ends, key=lambda end: end[:2])
        yield Landing(wait.place, ((loop, Linear.of(loop.counter) + later),))
    yield from _for_all(group, waits)


def _in_a_later_loop(
    group: Place, position: int, passed: int, commits: Sequence[Place], waits: Sequence[GroupEvent]
) -> Iterator[Landing]:
    """Yields the landing of a group in an iteration of a later loop, at `position` in the group's
    block. `passed`: the number of groups committed between the group and that loop."""
    deeper = [w for w in waits if len(w.place.steps) == len(group.steps) + 1 and w.place.steps[:-1] == group.steps]
    inside = [w for w in deeper if w.place.steps[-1].position == position]
    step = inside[0].place.steps[-1] if inside else None
    if step is None or step.loop is None:
        return
    own = [c for c in commits if c.steps == (*group.steps, step)]
    if any(step.loop in c.loops and c not in own for c in commits):
        return
    ends: list[tuple[int, int, GroupEvent]] = []
    for wait in inside:
        missing = (wait.pending or 0) - passed - sum(c.position < wait.place.position for c in own)
        if missing <= 0 or own:
            ends.append((max(0, -(-missing // max(len(own), 1))), wait.place.position, wait))
    if ends:
        at, _, wait = min(ends, key=lambda end: end[:2])
        yield Landing(wait.place, ((step.loop, Linear.of(at)),))


def _for_all(group: Place, waits: Sequence[GroupEvent]) -> Iterator[Landing]:
    """Yields the landings of a group in a loop at waits for all groups (pending 0): the first wait
    after the loop; if there is none, a wait in the next iteration of an enclosing loop, then a wait
    after that loop, and so on."""
    every = sorted((w.place for w in waits if w.pending == 0), key=lambda place: place.order)
    steps = group.steps
    while steps:
        *outer, step = steps
        found = next((p for p in every if p.steps == tuple(outer) and p.position > step.position), None)
        if found is not None:
            yield Landing(found)
            return
        steps = tuple(outer)
        around = outer[-1].loop if outer else None
        if around is None:
            continue
        again = next(
            (p for p in every if p.steps[: len(steps)] == steps and all(s.loop for s in p.steps[len(steps) :])), None
        )
        if again is not None:  # in the first iteration of each loop inside
            first = [(s.loop, Linear.of(0)) for s in again.steps[len(steps) :] if s.loop is not None]
            yield Landing(again, ((around, Linear.of(around.counter) + 1), *first))


# ---- what has ended there --------------------------------------------------------------------------------------------


def _ended(begins: Access, landing: Landing, sooner: Formula, values: Values) -> Access:
    """The access that ends the copy at a landing, in the symbols of the wait's iteration. `sooner`:
    the condition that no earlier landing was reached.

    Loops of the copy that do not enclose the wait, or in which the wait has a fixed iteration, may
    be in any iteration.
    """
    around = set(landing.place.loops) - {loop for loop, counter in landing.at if counter.is_constant}
    there: dict[Symbol, Linear] = {}
    conditions, there_is = [begins.when, sooner], TRUE
    for loop in begins.place.loops:
        if loop not in around:
            there[loop.counter] = Linear.of(values.fresh("lane", THREAD, loop.counter.low, loop.counter.high))
    for loop, counter in landing.at:
        now = Linear.of(loop.counter)
        if counter.is_constant:
            there_is = both(there_is, equal(now, counter))
        else:
            there[loop.counter] = now - counter.constant
            there_is = both(there_is, at_least(now, counter.constant))
    shared = [a is b for a, b in zip(begins.place.steps, landing.place.steps, strict=False)]
    common = shared.index(False) if False in shared else len(shared)
    shifted = set(there)
    own = [
        step for n, step in enumerate(begins.place.steps) if n >= common or (step.loop and step.loop.counter in shifted)
    ]
    conditions += [guard for step in own for guard in step.guards]

    def restated(form: Linear) -> Linear:
        return form.replaced(lambda symbol: there.get(symbol, Linear.of(symbol)))

    numbers = {loop.number for loop in begins.place.loops if loop.counter in shifted}
    forms = (*(begins.coordinates or ()), *conditions)
    vague = any(s.kind in ("opaque", "defined") and s.depends.loops & numbers for form in forms for s in form.symbols())
    coordinates = None if vague or begins.coordinates is None else tuple(map(restated, begins.coordinates))
    when = TRUE if vague else both(there_is, *(condition.changed(restated) for condition in conditions))
    return replace(
        begins, place=landing.place, coordinates=coordinates, when=when, phase="ended", landings=(),
        certain=begins.certain and not vague,
    )  # fmt: skip
