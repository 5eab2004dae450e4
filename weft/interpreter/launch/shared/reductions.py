"""A reduction that processors share: each reduces its own iterations, then all combine their
partial results.

    map OP to lanes      the partial results of 32 lanes are exchanged by `gpu.shuffle`, until each lane has the whole
    map OP to threads    the same in each warp, then one result per warp through shared memory; every thread combines these

So every processor has the result. Five shuffles with `xor` give all lanes the same bits, since
combiners commute. A thread without an iteration contributes the combiner's identity.

The op states the participants (`weft.participants`). If a loop around it distributes rows to
threads, the lanes of a warp that share a row exchange their partial results first. Then the parts
of the row go through shared memory, each at the place of its thread.

Source: NVIDIA, "Faster Parallel Reductions on Kepler"; upstream's `gpu.subgroup_reduce`, which is
lowered to the same shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...buffers.elements import StructuredOp
from ...hardware.limits import WARP
from ...indices.arithmetic import apply_map, is_zero, value_of
from ...indices.linear import Linear
from ...ir.functions import COMBINER, PARTICIPANTS, name_of, set_name
from ...ir.mlir import gpu, ir, memref
from ...ir.refusing import refuse
from ...ir.structured import structure
from ...mapping.mapping import Mapping, handed_out
from ...mapping.participants import Team, alike, team
from ...mapping.processors import Hardware, for_each, when
from ...memory.views import is_own_array, root_memref
from ...reductions.combiners import Combiner, combiner
from ...reductions.identities import number
from ...reductions.scans import running

At = Sequence[Linear]
EmitOwned = Callable[[StructuredOp, Callable[[At], At]], None]
"""Emits the iterations of an op that the thread owns, given a function from the index of a
distributed iteration to the index of the op."""


class SharedReduction:
    """A reduction on memrefs, in a kernel that is being materialized.

    Args:
        op: the mapped op.
        mapping: its map, to lanes or to threads.
        hardware: the kernel's processors.
        around: the maps of the loops around it.
        alive: in rounds that all threads execute, the conditions under which a thread has an
            iteration in the round.
        again: whether it is repeated without a barrier of the block in between.

    Errors: W0352 if the threads do not combine their parts in rows of threads.
    """

    def __init__(
        self, op: ir.Operation, mapping: Mapping, hardware: Hardware, around: Sequence[Mapping], *,
        alive: Sequence[ir.Value] = (), again: bool = False,
    ) -> None:  # fmt: skip
        self.op, self.mapping, self.hardware, self.alive, self.again = op, mapping, hardware, alive, again
        self.stated = op.attributes[PARTICIPANTS]
        self.team = self._team(self.stated)
        self.equal = self._team(alike(op, around, hardware.geometry))
        self.combiner = self._combiner()
        self.structured = StructuredOp.of(op)
        space = structure(op)
        self.reduced = handed_out(op)
        self.kept = [d for d in range(space.rank) if d not in self.reduced]
        self.extents = [space.extents[d] or 0 for d in self.kept]
        self.outputs = [space.inputs + n for n in running(op)]
        self.results = [self.structured.operands[n] for n in self.outputs]
        self.kinds = [ir.MemRefType(result.type).element_type for result in self.results]

    def emit(self, owned: EmitOwned) -> None:
        """Emits the reduction at the insertion point, which all threads of the block reach (if the
        participants are in one warp: all threads of the warp)."""
        own = [self.part(memref.AllocaOp(ir.MemRefType.get(self.extents, kind), [], [])) for kind in self.kinds]

        for_each(self.extents, lambda at: store(self._identities(), own, at))

        def reduce(at: At) -> None:
            with when(*self.alive):
                owned(self._into(own), lambda inner: self._index(at, inner))

        for_each(self.extents, reduce)
        if not self.team.meets:
            for_each(self.extents, lambda at: self._finish(self._across_lanes(load(own, at)), at))
            return
        parts = self._shared()
        digit = self.hardware.digit
        lanes = [digit(one) for one in self.team.lanes if one.free]
        mine, row = Linear.of(), Linear.of()
        for one, stride in self.team.places():
            mine += digit(one) * stride
            row += Linear.of() if one.free else digit(one) * stride
        others = [(one.radix, stride) for one, stride in self.team.places() if one.free]

        def leave(at: At) -> None:
            values = self._across_lanes(load(own, at))
            with when(*map(is_zero, lanes)):
                store(values, parts, [*at, mine])

        def take(at: At) -> None:
            if self.team.others > UNROLLED:
                return self._finish(self._taken_in_loops(own, parts, at, row, others), at)
            places = [Linear.of()]
            for radix, stride in others:
                places = [place + (n * stride) for n in range(radix) for place in places]
            values = load(parts, [*at, row + places[0]])
            for place in places[1:]:
                values = self.combiner.together(values, load(parts, [*at, row + place]), False)
            self._finish(values, at)

        for_each(self.extents, leave)
        barrier()
        for_each(self.extents, take)
        if self.again:
            barrier()

    def _taken_in_loops(
        self, own: Sequence[ir.Value], parts: Sequence[ir.Value], at: At, row: Linear, others: Sequence[tuple[int, int]]
    ) -> list[ir.Value]:
        """Combines all parts of the row in a loop, in an array of the thread's own, and returns
        it."""
        store(self._identities(), own, at)

        def add(place: At) -> None:
            there = row
            for index, (_, stride) in zip(place, others, strict=True):
                there += index * stride
            store(self.combiner.together(load(own, at), load(parts, [*at, there]), False), own, at)

        for_each([radix for radix, _ in others], add)
        return load(own, at)

    def _identities(self) -> list[ir.Value]:
        return [number(value, kind) for value, kind in zip(self.combiner.identities, self.kinds, strict=True)]

    def _combiner(self) -> Combiner:
        found = combiner(self.op)
        assert found is not None, "the map was checked"
        return found

    def _team(self, stated: ir.Attribute) -> Team:
        found = team(stated, self.hardware.geometry)
        if found is None:
            raise refuse(
                "W0352",
                f"the threads of a block with the same result do not combine it in rows of threads: {stated}",
                self.op,
                "`map` the loops around it to `warps`, or to whole axes of the block: `threads(y)`, `threads(x)`",
            )
        return found

    def _into(self, own: Sequence[ir.Value]) -> StructuredOp:
        """The op, with the thread's own partial results as its outputs."""
        return reducing_into(self.structured, self.outputs, own, [ir.AffineDimExpr.get(d) for d in self.kept])

    def _index(self, at: At, inner: At) -> At:
        """The index of an iteration, from the indices along the kept dimensions and along the
        reduced dimensions."""
        places = dict(zip([*self.kept, *self.reduced], [*at, *inner], strict=True))
        return [places[d] for d in sorted(places)]

    def _across_lanes(self, values: list[ir.Value]) -> list[ir.Value]:
        integer = ir.IntegerType.get_signless(32)
        whole = number(WARP, integer)
        for step in self.team.distances:
            distance = number(step, integer)
            others = [gpu.ShuffleOp(v, distance, whole, gpu.ShuffleMode.XOR).shuffleResult for v in values]
            values = self.combiner.together(values, others, False)
        return values

    def _finish(self, values: list[ir.Value], at: At) -> None:
        """Combines the values with the previous contents of the results. In memory that threads
        share, only the first thread with the values writes."""
        zeros = self._index(at, [Linear.of()] * len(self.reduced))
        index = [value_of(place) for place in zeros]
        places = [apply_map(self.structured.maps[n], index) for n in self.outputs]
        own = all(map(is_own_array, self.results))
        with when(*self.alive, *[] if own else self.firsts()):
            before = [memref.LoadOp(result, place).result for result, place in zip(self.results, places, strict=True)]
            after = self.combiner.together(before, values, True)
            for value, result, place in zip(after, self.results, places, strict=True):
                memref.StoreOp(value, result, place)

    def firsts(self) -> list[ir.Value]:
        """The conditions under which the thread is the first of all threads with the same
        results."""
        return [is_zero(self.hardware.digit(one)) for one in self.equal.digits if one.free]

    def part(self, made: memref.AllocaOp) -> ir.Value:
        """A thread's partial result, with attributes that state the participants and the combiner."""
        set_name(made, "part")
        made.operation.attributes[PARTICIPANTS] = self.stated
        made.operation.attributes[COMBINER] = ir.StringAttr.get(self.combiner.words)
        return made.result

    def _shared(self) -> list[ir.Value]:
        """The buffers in shared memory for the parts of each result."""
        space = ir.Attribute.parse(SHARED)
        kinds = [ir.MemRefType.get([*self.extents, self.team.parts], kind, None, space) for kind in self.kinds]
        made = [memref.AllocOp(kind, [], []) for kind in kinds]
        for result, alloc in zip(self.results, made, strict=True):
            name = name_of(root_memref(result))
            set_name(alloc, name and f"{name}_parts")
        return [alloc.result for alloc in made]


def reducing_into(
    op: StructuredOp, outputs: Sequence[int], own: Sequence[ir.Value], subscripts: Sequence[ir.AffineExpr]
) -> StructuredOp:
    """The op with other buffers as its outputs, accessed at the given subscripts."""
    operands, maps = [*op.operands], [*op.maps]
    for position, buffer in zip(outputs, own, strict=True):
        operands[position] = buffer
        maps[position] = ir.AffineMap.get(maps[position].n_dims, 0, subscripts)
    return replace(op, operands=tuple(operands), maps=tuple(maps))


SHARED = "#gpu.address_space<workgroup>"
UNROLLED = 32
"""A thread combines more parts than this in a loop."""


def barrier() -> None:
    """Emits a barrier that orders accesses of shared memory."""
    gpu.BarrierOp(address_spaces=ir.ArrayAttr.get([ir.Attribute.parse(SHARED)]))


def load(buffers: Sequence[ir.Value], at: At) -> list[ir.Value]:
    index = [value_of(place) for place in at]
    return [memref.LoadOp(buffer, index).result for buffer in buffers]


def store(values: Sequence[ir.Value], buffers: Sequence[ir.Value], at: At) -> None:
    index = [value_of(place) for place in at]
    for value, buffer in zip(values, buffers, strict=True):
        memref.StoreOp(value, buffer, index)
