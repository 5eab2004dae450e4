"""Reads of shared memory that no thread has written before.

The analysis takes the instances of each read, and removes those that read an element after an
instance of a write has written it. The remaining instances read whatever the previous block left in
the memory. "Earlier" means program order (Kelly's 2d+1 vectors), both within a thread and across
threads. Between threads, only barriers enforce that order; where they do not, there is a conflict,
which `conflicts` finds. The analysis is therefore meaningful only for kernels without conflicts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence

import islpy as isl

from ....dsl.records import record
from ...indices.linear import THREAD, TRUE, Formula, Linear, Symbol, at_least, equal, less, settled
from ..kernels.model import Access, KernelModel
from ..kernels.places import Loop, Place
from ..solver import Naming, Solver, Unknown, points
from .conflicts import LIMIT, Instance, not_affine
from .phases import meeting


@record
class UnwrittenRead:
    """A read of an element that no thread of the block has written. `reader` is None if ISL gave no
    witness within its limit.

    Args:
        assumption: why it is not proven; empty if it is.
        of_block: the block that owns the shared memory of the element, as in `Conflict`.
    """

    buffer: str
    element: tuple[int, ...]
    op: str
    reader: Instance | None
    assumption: str
    of_block: int | None = None

    @property
    def assumed(self) -> bool:
        return self.assumption != ""


def unwritten_reads(model: KernelModel, solver: Solver | None = None) -> list[UnwrittenRead]:
    """Reads (and atomic updates) of shared memory that may come before any write of their element,
    one for each op."""
    solver = solver or Solver()
    whole: dict[Hashable, _Unfilled | None] = {}
    rooms: dict[Hashable, list[_Room]] = {}
    reads = [a for a in model.accesses if a.buffer.space == "workgroup" and (a.kind == "read" or a.atomic is not None)]
    reads = [a for a in reads if a.phase != "ended"]
    for read in reads:
        if (room := _room(read)) is not None:
            rooms.setdefault(_neighbours(model, read, room), []).append(room)
    found = (_unwritten(model, read, solver, whole, rooms) for read in reads)
    return list(dict.fromkeys(each for each in found if each is not None))  # copies of one op yield one report


def _writes(model: KernelModel, read: Access) -> list[Access]:
    """The non-atomic writes that may have written the buffer."""
    writes = [a for a in model.accesses if a.buffer is read.buffer and a.kind == "write" and a.atomic is None]
    return [a for a in writes if a.phase != "begins"]


_Room = tuple[Linear | tuple[int, int], ...]


def _unwritten(
    model: KernelModel,
    read: Access,
    solver: Solver,
    whole: dict[Hashable, _Unfilled | None],
    rooms: Mapping[Hashable, list[_Room]],
) -> UnwrittenRead | None:
    """The finding for one read, or None. `whole` caches the answers of `_unfilled`. Reads of one
    buffer after the same writes share an answer for the union of their rooms (`rooms`; see
    `_room`); each read is tested against that. If ISL gives up on the union, each read gets an
    answer for its own room."""
    writes = _writes(model, read)
    if (own := _room(read)) is not None:
        key = _neighbours(model, read, own)
        for room in dict.fromkeys((_around(rooms[key]), own)):
            if (room, key) not in whole:
                whole[room, key] = _unfilled(model, read, writes, room, solver)
            rest = whole[room, key]
            if rest is not None:
                if not rest.may_have(read):
                    return None
                break
    question = _Question(model, read, solver)
    try:
        left: isl.Set | None = question.without(question.pieces(writes))
        if solver.is_empty(left):
            return None
    except Unknown:
        left = None
    sample = None if left is None else solver.sample(left)
    if sample is None:
        return UnwrittenRead(read.buffer.name, (), read.op, None, LIMIT)
    why = not_affine(read, *writes) if question.unsure or not settled(question.naming.names) else ""
    point = dict(zip(question.names, sample, strict=True))
    element = tuple(question.naming.form(c).value(point) or 0 for c in read.coordinates or ())
    return UnwrittenRead(read.buffer.name, element, read.op, Instance.of(model, read, question.naming, point), why)


def _unfilled(
    model: KernelModel, read: Access, writes: Sequence[Access], room: _Room, solver: Solver
) -> _Unfilled | None:
    """The elements in `room` that no thread has written before the read, whichever thread reads
    them; None if ISL gave up.

    In the common case a tile is filled before it is used. Often only this question can be decided:
    the elements that a ragged product reads can be harder to describe than those of the whole tile.
    """
    fresh = model.values.fresh
    anywhere = tuple(at if isinstance(at, Linear) else Linear.of(fresh("lane", THREAD, *at)) for at in room)
    guards = (tuple(g for g in s.guards if not g.depends().thread) for s in read.place.steps)
    steps = tuple(dataclasses.replace(s, guards=kept) for s, kept in zip(read.place.steps, guards, strict=True))
    anyone = dataclasses.replace(read, coordinates=anywhere, when=TRUE, place=Place(steps, read.place.position))
    question = _Question(model, anyone, solver)
    try:
        return _Unfilled(question, question.without(question.pieces(writes)))
    except Unknown:
        return None


@record
class _Unfilled:
    """The elements that no thread has written before a read: `left` has the instances of a read of
    any element that find it unwritten."""

    question: _Question
    left: isl.Set

    def may_have(self, read: Access) -> bool:
        """Whether the read may be of an unwritten element. A room comes from intervals, so that the
        read may use only a part of it."""
        question, solver = self.question, self.question.solver
        try:
            if solver.is_empty(self.left):
                return False
            naming = Naming("own_", question.naming, lambda symbol: symbol in question.naming.names)
            parts = [naming.formula(g) for g in (*read.place.guards, read.when)]
            pairs = zip(question.read.coordinates or (), read.coordinates or (), strict=False)
            parts += [equal(question.naming.form(any_of), naming.form(at)) for any_of, at in pairs]
            parts += naming.definitions()
            own = list(naming.names.values())
            reads = solver.set([*question.names, *own], parts, own)
            here = self.left.add_dims(isl.dim_type.set, len(own))
            return not solver.disjoint(reads, here)
        except Unknown:
            return True


def _neighbours(model: KernelModel, read: Access, room: _Room) -> Hashable:
    """A key that is equal for reads if their rooms differ only in the ranges."""
    key = tuple(at if isinstance(at, Linear) else None for at in room)
    return (
        read.buffer,
        key,
        read.place.steps,
        *(meeting(write.place, read.place)[1] for write in _writes(model, read)),
    )


def _around(rooms: Sequence[_Room]) -> _Room:
    """The smallest room that contains the rooms of all neighbours."""
    sides = zip(*rooms, strict=True)
    return tuple(at[0] if isinstance(at[0], Linear) else (min(a for a, _ in at), max(b for _, b in at)) for at in sides)


def _room(read: Access) -> _Room | None:
    """The room of a read: a box that contains the elements that it may read. Along each coordinate
    it is a form that is equal for all threads (such as a stage), or a range within the buffer
    without its padding. None if the size of the buffer is unknown."""
    out: list[Linear | tuple[int, int]] = []
    for axis, extent in enumerate(_extents(read)):
        if extent is None:
            return None
        form = None if read.coordinates is None else read.coordinates[axis]
        if form is not None and not any(s.depends.thread or s.kind == "opaque" for s in form.symbols()):
            out.append(form)
            continue
        low, high = (None, None) if form is None else form.bounds()
        out.append((max(low or 0, 0), extent - 1 if high is None else min(high, extent - 1)))
    return tuple(out)


@record
class _Piece:
    """A condition on the read's instances: before the read, some instance of a write has written
    the element. `own`: the dimensions of the write's instance. `earlier`: that instance is in an
    earlier iteration of a loop around both."""

    own: tuple[Symbol, ...]
    formulas: tuple[Formula, ...]
    earlier: bool


class _Question:
    """The question about one read: the space of its instances, and the part of it that is known to
    be written before."""

    def __init__(self, model: KernelModel, read: Access, solver: Solver) -> None:
        self.model, self.read, self.solver = model, read, solver
        self.naming = Naming("r_")
        self.unsure = read.coordinates is None
        self.names: list[Symbol] = []
        self.here = [self.naming.formula(g) for g in (*read.place.guards, read.when, *model.facts)]
        for form in (*model.values.thread_ids(), *model.values.block_ids()):
            self.naming.form(form)
        for loop in read.place.loops:
            self.naming(loop.counter)
        if read.coordinates is not None:
            for coordinate, extent in zip(read.coordinates, _extents(read), strict=True):
                self.here.append(at_least(self.naming.form(coordinate), 0))
                if extent is not None:
                    self.here.append(less(self.naming.form(coordinate), Linear.of(extent)))

    def pieces(self, writes: Sequence[Access]) -> list[_Piece]:
        """The pieces, one for each way in which an instance of a write can come before the read.
        Those in the read's own iteration come first: often they suffice."""
        found: list[_Piece] = []
        for write in writes:
            if write.coordinates is None or self.read.coordinates is None or not write.certain:
                self.unsure = True
                continue
            loops, order = meeting(write.place, self.read.place)
            made = (self._piece(write, loops, level) for level in range(len(loops) + (order < 0)))
            found += [piece for piece in made if piece is not None]
        return sorted(found, key=lambda piece: piece.earlier)

    def _piece(self, write: Access, loops: Sequence[Loop], level: int) -> _Piece | None:
        """The piece in which the write is in the same iteration of the first `level` loops, and in
        an earlier iteration of the next loop; None if no instance of the write is certain."""
        fixed = {loop.number for loop in loops[:level]}

        def shares(symbol: Symbol) -> bool:
            return not symbol.depends.thread and symbol.depends.loops <= fixed

        naming = Naming("w_", self.naming, shares)
        parts = [naming.formula(g) for g in (*write.place.guards, write.when, *self.model.facts)]
        for mine, theirs in zip(self.read.coordinates or (), write.coordinates or (), strict=True):
            parts.append(equal(self.naming.form(mine), naming.form(theirs)))
        for loop in loops[:level]:
            parts.append(equal(Linear.of(self.naming(loop.counter)), Linear.of(naming(loop.counter))))
        if level < len(loops):
            parts.append(less(Linear.of(naming(loops[level].counter)), Linear.of(self.naming(loops[level].counter))))
        parts += naming.definitions()
        if any(s.kind == "opaque" for s in naming.names):
            self.unsure = True  # such a value may be anything: the existence of an instance is unknown
            return None
        return _Piece(tuple(naming.names.values()), tuple(parts), level < len(loops))

    def without(self, pieces: Sequence[_Piece]) -> isl.Set:
        """The read's instances that no piece covers. Raises Unknown."""
        self.names, left = points(self.solver, (self.naming,), self.here)
        for piece in pieces:
            covered = self.solver.set([*self.names, *piece.own], piece.formulas, piece.own)
            left = self.solver.subtract(left, self.solver.project(covered, len(self.names)))
            if self.solver.is_empty(left):
                break
        return left


def _extents(read: Access) -> tuple[int | None, ...]:
    """The sizes of the buffer along the access's coordinates; indices out of bounds are a separate
    fault."""
    shape = read.buffer.shape
    if read.sizes:
        return tuple(size.constant if size.is_constant else None for size in read.sizes)
    if not read.flat:
        return shape
    return (read.buffer.size,)
