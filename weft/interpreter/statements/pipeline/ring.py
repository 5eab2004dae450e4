"""A ring of tiles that the tensor memory accelerator fills. Each tile has a memory barrier, which
completes when all bytes have arrived.

    without a producer, in 3 stages, all threads:
        start tile 0 → buffer 0; start tile 1 → buffer 1
        for k
            wait until buffer k mod 3 is full
            if there is a tile k + 2 { start it → its buffer }
            compute with the buffer of tile k

    a producer, which is a warp group of its own:
        for k { wait until buffer k mod 3 is empty; start tile k → that buffer }
    and the other warp groups:
        for k
            wait until buffer k mod 3 is full
            compute with it
            arrive at its barrier: the warp group has left the buffer

Without a producer, the buffer of tile k + 2 is that of tile k - 1, which all threads have read
before the single barrier after the wait. With a producer, no barrier of the block is needed: a
buffer is empty when every warp group has left it, and before it is filled for the first time. With
`overlap`, a warp group leaves a buffer when it has begun to use the next one, while the product of
that one is in flight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack

from ...buffers.tensor_copies import (
    OVERLAP,
    PRODUCER,
    arrive,
    iteration_count,
    make_barriers,
    start,
    start_here,
    turn,
    wait,
)
from ...indices.arithmetic import value_of
from ...ir.element_sizes import bytes_of
from ...ir.mlir import arith, i64, ir, operations, scf
from ...ir.refusing import refuse
from ...ir.structured import body_of
from ...loops.forall import end_of, make_forall
from ...mapping.mapping import ATTRIBUTE, Mapped, Mapping, mapping_of, trip_counts
from ...mapping.processors import when
from .pipelined_copies import Pipelined
from .rotation import before_the_loop, copies_of, following


def together(found: Pipelined, buffers: Sequence[ir.Value], stages: int, first: ir.Operation) -> None:
    """Lets all threads wait for a tile, one of them start the tile `stages` - 1 ahead, and all
    compute."""
    loop, tiles = found.loop, [copy.target for copy in found.copies]

    def started(k: ir.Value, place: ir.Value, *, keep_handles: bool) -> None:
        start(full, place, tiles, lambda: copies_of(found, buffers, k, place, keep_handles=keep_handles))

    with ir.InsertionPoint(loop):
        full = make_barriers("full", stages, 1)
        begun = iteration_count(loop)
        for stage in range(stages - 1):
            place = turn(begun, stages, stage)
            before_the_loop(found, stage, lambda k, place=place: started(k, place, keep_handles=False))
    with ir.InsertionPoint(first):
        begun = iteration_count(loop, body_of(loop).arguments[0])
        wait(full, turn(begun, stages), begun, stages)
        next_one, more = following(found, stages - 1)
        with when(more):
            started(next_one, turn(begun, stages, stages - 1), keep_handles=True)


def by_producer(
    found: Pipelined, buffers: Sequence[ir.Value], stages: int, registers: int | None, *, overlap: bool
) -> None:
    """Lets a separate warp group start all tiles, while the others signal when they have finished
    with a buffer: with `overlap`, once they have begun the next tile, even if that is in the next
    execution of the loop. Raises W0406."""
    loop, groups = found.loop, _groups(found.loop)
    expected = sum(bytes_of(copy.target.type) for copy in found.copies)
    with ir.InsertionPoint(loop):
        full, empty = make_barriers("full", stages, 1), make_barriers("empty", stages, groups)
        role = make_forall([0], [1], [1])
    role.attributes[ATTRIBUTE] = Mapping("producer").attribute()
    if registers is not None:
        role.attributes[PRODUCER] = i64(registers)
    with ir.InsertionPoint(end_of(role)):
        made = scf.ForOp(loop.operands[0], loop.operands[1], loop.operands[2])
        with ir.InsertionPoint(made.body):
            k = made.induction_variable
            begun = iteration_count(loop, k)
            place = turn(begun, stages)
            wait(empty, place, begun, stages, before=True)
            start_here(full, place, expected, lambda: copies_of(found, buffers, k, place, keep_handles=True))
            scf.YieldOp([])
    with ir.InsertionPoint.at_block_begin(body_of(loop)):
        begun = iteration_count(loop, body_of(loop).arguments[0])
        here = turn(begun, stages)
        wait(full, here, begun, stages)
    with ir.InsertionPoint(body_of(loop).operations[-1]), ExitStack() as inside:
        if overlap:
            loop.attributes[OVERLAP] = ir.UnitAttr.get()
            inside.enter_context(when(arith.CmpIOp(arith.CmpIPredicate.sgt, begun, value_of(0)).result))
            here = turn(begun, stages, stages - 1)
        leave = make_forall([0], [groups], [1])
        leave.attributes[ATTRIBUTE] = Mapping("warpgroups", ("x",), (groups,)).attribute()
        with ir.InsertionPoint(end_of(leave)):
            arrive(empty, here)


def _groups(loop: ir.Operation) -> int:
    """The number of warp groups that read the loop's copies. Raises W0406."""
    found = [
        (op, mapping) for op in operations(loop) if (mapping := mapping_of(op)) is not None and mapping.distributes
    ]
    others = [mapping for _, mapping in found if mapping.space not in ("warpgroups", "quarters", "lanes")]
    groups = {_processors(op, mapping) for op, mapping in found if mapping.space == "warpgroups"}
    if others or len(groups) != 1 or None in groups:
        which = f"`{others[0]}` does" if others else "how many there are is not known"
        raise refuse(
            "W0406",
            f"a producer waits for the warp groups that read its tiles, and {which}",
            loop,
            "put everything that the loop computes into loops over the same number of `warpgroups`; or use"
            " `pipeline … async`",
        )
    return next(iter(groups)) or 1


def _processors(op: ir.Operation, mapping: Mapping) -> int | None:
    trips = trip_counts(Mapped(op, mapping))
    counts = [n if n > 0 else trip for n, trip in zip(mapping.counts, trips, strict=True)]
    return None if None in counts else math.prod(n for n in counts if n is not None)
