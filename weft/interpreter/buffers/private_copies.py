"""Privatizes a buffer that iterations of a loop update atomically: each block has its own copy
while the loop runs.

    for i: atomic H[x[i]] += 1   →   H_shared = 0;  for i: atomic H_shared[x[i]] += 1;  for b:
        atomic H[b] += H_shared[b]

Subscripts may depend on data: the copy is as large as the buffer. It begins with the combiner's
identity, so that an element of the buffer is updated once per block, instead of once per iteration.

Source: Podlozhnyuk, "Histogram calculation in CUDA"; `PrivatizedAtomics` of CUB's
`DeviceHistogram`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..ir.copying import fill_with
from ..ir.mlir import ahead_of, ir, is_used, memref
from ..ir.refusing import describe
from ..ir.structured import ATOMIC, generic
from ..memory.effects import combiner, update_of
from ..reductions.identities import COMBINERS, identity, number


@record
class AtomicUpdates:
    """The ops of a loop that combine into `buffer`, all by the same op of `arith`."""

    buffer: ir.Value
    ops: tuple[ir.Operation, ...]
    by: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(ir.MemRefType(self.buffer.type).shape)


def updates_of(name: str, users: Sequence[tuple[ir.Operation, ir.Value]]) -> AtomicUpdates:
    """The updates of a buffer in a loop, if each user combines into an element by the same op, and
    does not read the previous value. Raises W0332, W0469."""
    ops = [op for op, _ in users]
    first = next(op for op in ops if isinstance(op.opview, memref.AtomicRMWOp))
    for op in ops:
        if not isinstance(op.opview, memref.AtomicRMWOp):
            why = "accesses it in another way"
        elif is_used(op.results[0]):
            why = "reads the previous value, which differs from block to block"
        elif combiner(op) not in COMBINERS:
            why = f"replaces an element by `{combiner(op)}`"
        elif op.operands[1] != first.operands[1] or update_of(op) != update_of(first):
            why = f"combines in another way than {describe(first)}"
        else:
            continue
        raise fail(
            "W0469",
            f"`{name}` is combined into atomically, and {describe(op)} {why}: copies per block cannot replace it",
            "let the loop access it by one kind of `memref.atomic_rmw` alone; or leave this statement out",
        )
    buffer = first.operands[1]
    if not ir.MemRefType(buffer.type).has_static_shape:
        raise fail(
            "W0332",
            f"`{name}` of type {buffer.type} has no static shape, and each block would have a copy of all of it",
            "write static sizes in the payload, such as `memref<256xi32>`; or leave this statement out",
        )
    return AtomicUpdates(buffer, tuple(ops), COMBINERS[combiner(first)])


def privatize(loop: ir.Operation, found: AtomicUpdates, view: ir.Value) -> tuple[ir.Operation, ir.Operation]:
    """Rewrites the loop to combine into `view`. Returns the op before the loop that fills the view,
    and the op after it that combines the view into the buffer."""
    rank, kind = len(found.shape), ir.MemRefType(view.type).element_type
    whole = ir.AffineMap.get_identity(rank)
    with ahead_of(loop):
        fill = fill_with(view, number(identity(found.by), kind))
    for op in found.ops:
        op.operands[1] = view

    def combined(own: list[ir.Value]) -> list[ir.Value]:
        return [ir.Operation.create(found.by, [kind], [own[1], own[0]]).results[0]]

    with ir.InsertionPoint.after(loop), loop.location:
        merge = generic([view], [found.buffer], [whole, whole], ["parallel"] * rank, combined)
    merge.attributes[ATOMIC] = ir.UnitAttr.get()
    return fill, merge
