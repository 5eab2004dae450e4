"""Registers between a read and a write: the pair of mapped ops that `pipeline` makes, with a tile in each thread's hands between.

The staged tile is a block's temporary that one mapped op fills and another, with the same map, drains. Each thread drains what
it has filled, so the tile becomes an array of each thread's own, addressed by the ordinal of the owned iteration. Every thread
runs the same number of rounds, under guards where its last ones are surplus: all subscripts are numbers once the loops
are unrolled, and the array lives in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import WeftError
from ..indices.arithmetic import Sum, conjunction, delinearise, less
from ..ir.mlir import ir, producer
from ..ir.structured import structure
from ..mapping.hardware import Hardware
from ..mapping.legality import refusal
from ..mapping.mapping import Mapping
from ..mapping.owned import Processors, loop_over, when
from ..memory.shared import element_bytes
from .elements import Address, StructuredOp, emit_element, emit_vector
from .views import own_array

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
            if guards:
                with when(conjunction(guards)):
                    body(index, slot)
            else:
                body(index, slot)

        loop_over(self.rounds, lambda r: loop_over(self.size, lambda j: one(r, j)))


class Staging:
    """Realises the ops that fill and drain staged tiles; the tiles' arrays are made by whichever comes first."""

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware
        self._arrays: dict[ir.Value, ir.Value] = {}

    def concerns(self, op: ir.Operation) -> bool:
        """Whether a mapped op fills or drains a staged tile."""
        return any(is_stage(operand) for operand in op.operands)

    def realise(self, op: ir.Operation, mapping: Mapping) -> None:
        """Emit the iterations that one thread owns, the staged tile replaced by an array of the thread's own."""
        structured = StructuredOp.of(op)
        space = [extent for extent in structure(op).extents if extent is not None]
        lanes = mapping.vector
        units = [*space[:-1], space[-1] // lanes]
        shares, row_by_row = _shares(op, units, mapping, self._hardware)
        elements = math.prod(share.slots for share in shares) * lanes
        staged = [n for n, operand in enumerate(structured.operands) if is_stage(operand)]
        own = {n: self._array(op, structured.operands[n], elements) for n in staged}

        def emit(at: Sequence[Sum], slot: Sum) -> None:
            first = slot.times(lanes)
            instead: dict[int, Address] = {n: (array, [first.emit()]) for n, array in own.items()}
            if lanes == 1:
                emit_element(structured, at, instead)
            else:
                emit_vector(structured, [*at[:-1], at[-1].times(lanes)], lanes, instead)

        def nest(position: int, at: tuple[Sum, ...], slot: Sum) -> None:
            if position == len(shares):
                return emit(delinearise(at[0], units) if row_by_row else at, slot)
            share = shares[position]
            share.emit(lambda i, s: nest(position + 1, (*at, i), slot.times(share.slots) + s))

        nest(0, (), Sum())

    def _array(self, op: ir.Operation, tile: ir.Value, elements: int) -> ir.Value:
        """The thread's own array in a staged tile's place. Two ops with the same map agree on its size."""
        if tile not in self._arrays:
            kind = ir.MemRefType(tile.type)
            if elements * element_bytes(kind.element_type) > MOST_BYTES:
                raise refusal(
                    "W0365",
                    f"each thread would keep {elements} elements of type {kind.element_type} in registers until they are stored",
                    op,
                    hint=f"take smaller tiles, or more threads: at most {MOST_BYTES} bytes a thread are staged",
                )
            alloc = ir.OpResult(tile).owner.operation
            self._arrays[tile] = own_array(alloc, ir.MemRefType.get([elements], kind.element_type))
        return self._arrays[tile]


def is_stage(tile: ir.Value) -> bool:
    """Whether a buffer is the staged tile of a pipelined loop."""
    made_by = producer(tile)
    return made_by is not None and ATTRIBUTE in made_by.attributes


def _shares(op: ir.Operation, units: list[int], mapping: Mapping, hardware: Hardware) -> tuple[list[Share], bool]:
    """One share per mapped dimension; True if there is a single one for all of them, row by row."""
    if mapping.every or len(mapping.axes) < len(units):
        total = math.prod(units)
        who = hardware.linear_thread() if mapping.every else hardware.along(mapping, 0, total)
        return [_share(op, total, who, mapping)], True
    return [_share(op, n, hardware.along(mapping, d, n), mapping) for d, n in enumerate(units)], False


def _share(op: ir.Operation, trips: int, by: Processors, mapping: Mapping) -> Share:
    if not isinstance(by.count, int):
        raise _unknown(op, mapping)
    size = 1
    if mapping.dist == "block":
        size = max(-(-trips // by.count), 1)
    elif mapping.dist == "block-cyclic" and mapping.chunk is not None:
        size = mapping.chunk
    stride = by.count * size
    return Share(trips, by, max(-(-trips // stride), 1), size, stride)


def _unknown(op: ir.Operation, mapping: Mapping) -> WeftError:
    return refusal(
        "W0365",
        "how many elements of this tile a thread keeps in registers is known only at run time",
        op,
        f"`{mapping}`: the number of threads is not part of the kernel",
        hint="give the map a count, or leave out `pipeline`",
    )
