"""Conflicts of a kernel: two threads, one element, at least one write, and nothing that orders them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from .injective import apart, same_owner
from .linear import Linear, Naming
from .model import Access, Barrier, KernelModel, Loop
from .relations import PairClass, Solver, Unknown, meeting

Kind = Literal["RAW", "WAR", "WAW"]


@dataclass(frozen=True)
class Instance:
    """One execution of an access: by which thread, in which block, with which loop variables (by the loops' labels)."""

    op: str
    kind: Literal["read", "write"]
    thread: tuple[int, int, int]
    block: tuple[int | None, int | None, int | None]
    iterations: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        at = f", iteration {', '.join(str(v) for _, v in self.iterations)}" if self.iterations else ""
        return f"thread {_triple(self.thread)}{at}: {self.op} {'writes' if self.kind == 'write' else 'reads'} it"


@dataclass(frozen=True)
class Conflict:
    """A conflict with its witness.

    Args:
        kind: what order is missing: the write before the read, the read before the write, or one write before the other.
        element: coordinates in the buffer (one flat position where views of it reshape); empty if it may be any.
        first, second: two instances that collide; None where ISL gave none within its limit.
        assumed: not proven, because something in it is not affine (or the analysis ran out of its limit).
        carried_by: the loop a later iteration of which `second` is in.
        across_blocks: the threads are of different blocks: no barrier can order them.
        aliased: the accesses are to two buffers that may be the same memory.
        chosen: the buffer is one of several that a loop or a branch may hand on.
        unsure: the barrier that may come between, where it is not known whether all threads execute it.
    """

    kind: Kind
    buffer: str
    space: str
    element: tuple[int, ...]
    first_op: str
    second_op: str
    first: Instance | None
    second: Instance | None
    assumed: bool
    carried_by: str | None = None
    across_blocks: bool = False
    aliased: bool = False
    chosen: bool = False
    unsure: str = ""

    def notes(self) -> tuple[str, ...]:
        """The witness, in words."""
        element = f"[{', '.join(map(str, self.element))}]" if self.element else "[any element]"
        if self.first is None or self.second is None:
            return (
                f"{self.first_op} and {self.second_op} on `{self.buffer}`: assumed, the analysis reached its limit",
            )
        lines = [f"element {self.buffer}{element}"]
        for instance in (self.first, self.second):
            where = f"block {_triple(instance.block)}, " if any(instance.block) or self.across_blocks else ""
            lines.append(f"{where}{instance}")
        if self.aliased:
            lines.append("assumed: nothing says that the two buffers are different memory")
        elif self.chosen:
            lines.append("assumed, not proven: a loop or a branch hands on one of several buffers, and it is not known which")
        elif self.unsure:
            lines.append(f"assumed, not proven: it is not known whether all threads execute {self.unsure} in between")
        elif self.assumed:
            lines.append("assumed, not proven: the index or a condition is not affine (it depends on data)")
        return tuple(lines)


def _triple(ids: Iterable[int | None]) -> str:
    return "(" + ", ".join("?" if i is None else str(i) for i in ids) + ")"


def conflicts(
    model: KernelModel, barriers: Iterable[Barrier] | None = None, *, solver: Solver | None = None
) -> list[Conflict]:
    """The conflicts within a block that `barriers` (those of the model, if None) leave; one for each pair of accesses and
    way they follow each other. `solver` bounds the effort; a question it gives up on is a conflict, `assumed`."""
    used = list(model.barriers if barriers is None else barriers)
    out: list[Conflict] = []
    for pair in colliding_classes(model, solver):
        left = residue(pair, used)
        if left is None or not pair.solver.is_empty(left):
            out.append(as_conflict(pair, left))
    return out


def conflicts_between_blocks(model: KernelModel, *, solver: Solver | None = None) -> list[Conflict]:
    """Pairs of accesses to global memory by two blocks, at least one a write: no barrier orders them."""
    solver = solver or Solver()
    out: list[Conflict] = []
    for a, b in _pairs(model):
        if a.buffer.space == "global" and not same_owner(a, b, model.values.block_ids()):
            pair = PairClass(model, a, b, (), 0, False, solver, same_block=False)
            if _collides(pair):
                out.append(as_conflict(pair, None if pair.unknown else pair.collisions, across_blocks=True))
    return out


# ---- classes ----------------------------------------------------------------------------------------------------------


def colliding_classes(model: KernelModel, solver: Solver | None = None) -> list[PairClass]:
    """All classes of pairs in a block that collide, whatever barriers there are. Without a `solver` they are found once."""
    if solver is not None:
        return _find_colliding(model, solver)
    if model.colliding is None:
        model.colliding = _find_colliding(model, Solver())
    return model.colliding


def _find_colliding(model: KernelModel, solver: Solver) -> list[PairClass]:
    if model.shape.threads == 1:
        return []
    holding = {loop for barrier in model.barriers for loop in barrier.place.loops}
    out: list[PairClass] = []
    for a, b in _pairs(model):
        if same_owner(a, b, model.values.thread_ids()):
            continue
        loops, order = meeting(a.place, b.place)
        shared = tuple(loop for loop in loops if loop in holding)
        if order > 0:
            a, b = b, a
        if not shared or _collides(PairClass(model, a, b, (), 0, False, solver)):
            out += [c for c in _classes(model, a, b, shared, solver) if _collides(c)]
    return out


def _classes(model: KernelModel, a: Access, b: Access, shared: tuple[Loop, ...], solver: Solver) -> Iterator[PairClass]:
    yield PairClass(model, a, b, shared, len(shared), False, solver)
    for level in range(len(shared)):
        yield PairClass(model, a, b, shared, level, True, solver)
        if a is not b:
            yield PairClass(model, b, a, shared, level, True, solver)


def _pairs(model: KernelModel) -> Iterator[tuple[Access, Access]]:
    for i, a in enumerate(model.accesses):
        for b in model.accesses[i:]:
            written = "write" in (a.kind, b.kind) and not (a.atomic and b.atomic)
            if written and model.may_meet(a, b) and not apart(a, b):
                yield a, b


def _collides(pair: PairClass) -> bool:
    try:
        return not pair.solver.is_empty(pair.collisions)
    except Unknown:
        pair.unknown = True
        return True


def residue(pair: PairClass, barriers: Iterable[Barrier]) -> isl.Set | None:
    """The collisions that the barriers leave; None if that is not known (which counts as: some)."""
    left: isl.Set | None = None if pair.unknown else pair.collisions
    pair.unsure = next((b for b in pair.model.divergent if b.assumed and pair.may_separate(b)), None)
    for barrier in barriers:
        if not barrier.place.settled and pair.may_separate(barrier):
            pair.unsure = barrier
        try:
            separated = pair.separated_by(barrier)
            if separated is True:
                return pair.solver.set(pair.names, ["1 = 0"])
            if left is not None and not isinstance(separated, bool):
                left = pair.solver.subtract(left, separated)
        except Unknown:
            pair.unsure = barrier  # a barrier of which it is not known what it separates is taken to separate nothing
    return left


# ---- witnesses --------------------------------------------------------------------------------------------------------


def as_conflict(pair: PairClass, left: isl.Set | None, *, across_blocks: bool = False) -> Conflict:
    """The conflict with a witness out of `left`."""
    a, b = pair.first, pair.second
    kind: Kind = "WAW" if a.kind == b.kind else "RAW" if a.kind == "write" else "WAR"
    sample = None if left is None else pair.solver.sample(left)
    loop = pair.loop.label if pair.loop is not None else None
    aliased = a.buffer is not b.buffer
    name = f"{a.buffer.name} and {b.buffer.name}" if aliased else a.buffer.name
    chosen = a.chosen or b.chosen
    unsure = pair.unsure.op if pair.unsure is not None and a.settled and b.settled else ""
    assumed = aliased or chosen or sample is None or not a.settled or not b.settled or bool(unsure)
    if sample is None:
        return Conflict(kind, name, a.buffer.space, (), a.op, b.op, None, None, True, loop, across_blocks, aliased)
    point = dict(zip(pair.names, sample, strict=True))
    element = [pair.value(c, pair.x, point) for c in (() if aliased else a.coordinates or ())]
    known = tuple(e for e in element if e is not None)
    return Conflict(
        kind, name, a.buffer.space, known if len(known) == len(element) else (), a.op, b.op,
        _instance(pair, a, pair.x, point), _instance(pair, b, pair.y, point), assumed, loop, across_blocks, aliased, chosen, unsure,
    )  # fmt: skip


def _instance(pair: PairClass, access: Access, naming: Naming, point: dict[str, int]) -> Instance:
    values = pair.model.values

    def ids(forms: tuple[Linear, ...]) -> tuple[int | None, ...]:
        return tuple(pair.value(form, naming, point) for form in forms)

    x, y, z = ids(values.thread_ids())
    bx, by, bz = ids(values.block_ids())
    iterations = [
        (loop.label, value)
        for loop in access.place.loops
        if (value := pair.value(loop.variable or Linear.of(loop.counter), naming, point)) is not None
    ]
    return Instance(access.op, access.kind, (x or 0, y or 0, z or 0), (bx, by, bz), tuple(iterations))
