"""Tiles of which each thread keeps the elements that it makes: arrays of its own, addressed by the rounds of a map.

The staged tile of `pipeline` is a block's temporary that one mapped op fills and another, with the same map, drains. Each thread
drains what it has filled, so the tile becomes an array of each thread's own, addressed by the ordinal of the owned iteration. Every
thread runs the same number of rounds, under guards where its last ones are surplus: all subscripts are numbers once the loops are
unrolled, and the array lives in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table

from ...dsl.records import record
from ..hardware.limits import OF_A_THREAD
from ..indices.arithmetic import Bound, inside, less, value_of
from ..indices.linear import Linear
from ..ir.element_sizes import element_bytes
from ..ir.mlir import ir, producer
from ..ir.refusing import refuse
from ..mapping.mapping import Mapping
from ..mapping.processors import Processors, loop_over, when
from .elements import Address
from .owners.arrays import OwnArray, Rounds
from .views import own_array

EmitStaged = Callable[[Sequence[Linear], Table[int, Address]], None]
"""Emits one unit, given where in the thread's own arrays the elements of staged tiles are."""
ATTRIBUTE = "weft.register_stage"


@record
class Share:
    """What a processor owns of one dimension: `rounds` chunks of `size` iterations, the first at p * size, `stride` apart."""

    trips: int
    by: Processors
    rounds: int
    size: int
    stride: int

    @property
    def slots(self) -> int:
        return self.rounds * self.size

    def emit(self, body: Callable[[Linear, Linear], None]) -> None:
        """Emit `body(iteration, slot)` for every slot, guarded where some processor's slot is not an iteration."""

        def one(round_: Linear, inner: Linear) -> None:
            index = self.by.index * self.size + round_ * self.stride + inner
            slot = round_ * self.size + inner
            guards = [less(self.by.index, self.by.count)] if self.by.surplus else []
            if self.rounds * self.stride != self.trips:
                guards += inside(index, self.trips)
            with when(*guards):
                body(index, slot)

        loop_over(self.rounds, lambda r: loop_over(self.size, lambda j: one(r, j)))


class RegisterStages:
    """Emits the ops that fill and drain staged tiles; the tiles' arrays are made by whichever comes first."""

    def __init__(self) -> None:
        self._arrays: dict[ir.Value, ir.Value] = {}

    def emit(
        self, op: ir.Operation, mapping: Mapping, sharers: Sequence[tuple[Bound, Processors]], body: EmitStaged
    ) -> None:
        """Emit the units that one thread owns, the staged tile replaced by an array of the thread's own."""
        shares = [_share(op, n, who, mapping) for n, who in sharers]
        elements = math.prod(share.slots for share in shares) * mapping.vector
        own = {n: self._array(op, tile, elements) for n, tile in enumerate(op.operands) if is_stage(tile)}

        def nest(at: tuple[Linear, ...], slot: Linear) -> None:
            if len(at) == len(shares):
                first = value_of(slot * mapping.vector)
                return body(at, {n: (array, [first]) for n, array in own.items()})
            share = shares[len(at)]
            share.emit(lambda i, s: nest((*at, i), slot * share.slots + s))

        nest((), Linear.of())

    def emit_rounds(
        self, op: ir.Operation, mapping: Mapping, sharers: Sequence[tuple[Bound, Processors]], arrays: Sequence[OwnArray],
        body: EmitStaged,
    ) -> None:
        """Emit the units that one thread owns, of operands that are arrays of its own: by the rounds of the map."""
        shares = [_share(op, n, who, mapping) for n, who in sharers]
        walks = [rounds for array in arrays for rounds in array.rounds if rounds.op == op]

        def nest(at: tuple[Linear, ...], slots: tuple[Linear, ...]) -> None:
            if len(at) < len(shares):
                return shares[len(at)].emit(lambda i, s: nest((*at, i), (*slots, s)))
            own = {one.position: (one.part, _in_rounds(one, slots)) for one in walks}
            return body(at, own)

        nest((), ())

    def _array(
        self, op: ir.Operation, tile: ir.Value, elements: int) -> ir.Value:
        """The thread's own array in a staged tile's place. Two ops with the same map agree on its size."""
        if tile not in self._arrays:
            kind = ir.MemRefType(tile.type)
            if elements * element_bytes(kind.element_type) > OF_A_THREAD:
                raise refuse(
                    "W0365",
                    f"each thread would keep {elements} elements of type {kind.element_type} in registers until they are stored",
                    op,
                    f"take smaller tiles, or more threads: at most {OF_A_THREAD} bytes a thread are staged",
                )
            alloc = ir.OpResult(tile).owner.operation
            self._arrays[tile] = own_array(alloc, ir.MemRefType.get([elements], kind.element_type))
        return self._arrays[tile]


def _in_rounds(rounds: Rounds, slots: Sequence[Linear]) -> list[ir.Value]:
    """The first element, in a thread's part of its own array, of a unit."""
    walked, axes = dict(rounds.walked), range(ir.MemRefType(rounds.part.type).rank)
    return [value_of(slots[walked[axis]] if axis in walked else 0) for axis in axes]


def is_stage(tile: ir.Value) -> bool:
    """Whether a buffer is one of which each thread keeps the elements that it makes: the staged tile of a pipelined loop, a row
    that ops with one map fill and read."""
    made_by = producer(tile)
    return made_by is not None and ATTRIBUTE in made_by.attributes


def _share(op: ir.Operation, trips: Bound, by: Processors, mapping: Mapping) -> Share:
    if not isinstance(by.count, int) or not isinstance(trips, int):
        raise refuse(
            "W0365",
            "how many elements of this tile a thread keeps in registers is known only at run time",
            op,
            "give the map a count, or leave out `pipeline`",
            f"`{mapping}`: the number of threads is not part of the kernel",
        )
    size = max(-(-trips // by.count), 1) if mapping.dist == "block" else 1
    if mapping.dist == "block-cyclic" and mapping.chunk is not None:
        size = mapping.chunk
    stride = by.count * size
    return Share(trips, by, max(-(-trips // stride), 1), size, stride)
