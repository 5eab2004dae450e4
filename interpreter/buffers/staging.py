"""Registers between a read and a write: the pair of mapped ops that `pipeline` makes, with a tile in each thread's hands between.

The staged tile is a block's temporary that one mapped op fills and another, with the same map, drains. Each thread drains what
it has filled, so the tile becomes an array of each thread's own, addressed by the ordinal of the owned iteration. Every thread
runs the same number of rounds, under guards where its last ones are surplus: all subscripts are numbers once the loops
are unrolled, and the array lives in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from dataclasses import dataclass

from ..indices.arithmetic import Bound, Sum, less
from ..ir.mlir import ir, producer
from ..mapping.mapping import Mapping
from ..mapping.processors import Processors, loop_over, when
from ..memory.layouts import element_bytes
from ..session.rewriter import refuse
from .elements import Address
from .views import own_array

EmitStaged = Callable[[Sequence[Sum], Table[int, Address]], None]
"""Emits one unit, given where in the thread's own arrays the elements of staged tiles are."""
ATTRIBUTE = "weft.staging"
MOST_BYTES = 512
"""Half of the registers that a thread may have: beyond that nothing is left to compute with."""


@dataclass(frozen=True)
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

    def emit(self, body: Callable[[Sum, Sum], None]) -> None:
        """Emit `body(iteration, slot)` for every slot, guarded where some processor's slot is no iteration."""

        def one(round_: Sum, inner: Sum) -> None:
            index = self.by.index.times(self.size) + round_.times(self.stride) + inner
            slot = round_.times(self.size) + inner
            guards = [less(self.by.index, self.by.count)] if self.by.surplus else []
            if self.rounds * self.stride != self.trips and (index.maximum is None or index.maximum >= self.trips):
                guards.append(less(index, self.trips))
            with when(*guards):
                body(index, slot)

        loop_over(self.rounds, lambda r: loop_over(self.size, lambda j: one(r, j)))


class Staging:
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

        def nest(at: tuple[Sum, ...], slot: Sum) -> None:
            if len(at) == len(shares):
                first = slot.times(mapping.vector).emit()
                return body(at, {n: (array, [first]) for n, array in own.items()})
            share = shares[len(at)]
            share.emit(lambda i, s: nest((*at, i), slot.times(share.slots) + s))

        nest((), Sum())

    def _array(self, op: ir.Operation, tile: ir.Value, elements: int) -> ir.Value:
        """The thread's own array in a staged tile's place. Two ops with the same map agree on its size."""
        if tile not in self._arrays:
            kind = ir.MemRefType(tile.type)
            if elements * element_bytes(kind.element_type) > MOST_BYTES:
                raise refuse(
                    "W0365",
                    f"each thread would keep {elements} elements of type {kind.element_type} in registers until they are stored",
                    op,
                    f"take smaller tiles, or more threads: at most {MOST_BYTES} bytes a thread are staged",
                )
            alloc = ir.OpResult(tile).owner.operation
            self._arrays[tile] = own_array(alloc, ir.MemRefType.get([elements], kind.element_type))
        return self._arrays[tile]


def is_stage(tile: ir.Value) -> bool:
    """Whether a buffer is the staged tile of a pipelined loop."""
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
