"""Gathers that were not promoted melt into the body of the op that reads them: nothing is materialised for them."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import apply_map
from ..ir.affine_maps import dimension_of
from ..ir.cloning import clone_body
from ..ir.mlir import ir, linalg, operations, producer, stands_in
from ..ir.structured import Structure, body_of, copy_marks, generic, is_structured, replace, segments, structure
from ..padding import gathers
from ..session.rewriter import WAS
from .fusing import remove_if_dead


def inline_gathers(module: ir.Module) -> bool:
    """Inline every gather without inputs that a structured op reads. Returns whether there was one."""
    some = False
    for reader in [op for op in operations(module.operation) if is_structured(op)]:
        while (position := _gathered_input(reader)) is not None:
            reader, some = _inline(reader, position), True
    return some


def _gathered_input(op: ir.Operation) -> int | None:
    """The position of the first input of a structured op that is a gather."""
    makers = (producer(value) for value in list(op.operands)[: segments(op)[0]])
    return next((n for n, maker in enumerate(makers) if maker is not None and gathers.is_gather(maker)), None)


def _inline(op: ir.Operation, position: int) -> ir.Operation:
    """Rebuild `op` as a generic without the input at `position`; its value is computed in the body instead. Returns that."""
    gather, space, operands = op.operands[position].owner.operation, structure(op), list(op.operands)
    others = [i for i in range(space.inputs) if i != position]
    inputs, maps = [operands[i] for i in others], [space.maps[i] for i in others]
    results = space.maps[space.inputs :]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        indices = [linalg.IndexOp(d).result for d in range(space.rank)]
        where = apply_map(space.maps[position], indices)
        own = [*arguments[: len(others)], *arguments[len(inputs) :]]
        own.insert(position, gathers.element_of(gather, where))
        return clone_body(body_of(op), own, indices)

    with ir.InsertionPoint(op), op.location:
        if (window := _window(space, [*maps, *results])) is not None:
            inputs, maps = [*inputs, window[0]], [*maps, window[1]]
        made = generic(inputs, operands[space.inputs :], [*maps, *results], space.iterators, body)
    copy_marks(op, made)
    if op.name != "linalg.generic" and stands_in(op, "func.func"):
        made.attributes[WAS] = ir.StringAttr.get(op.name)
    replace(op, made.results)
    remove_if_dead(gather)
    return made


def _window(space: Structure, maps: Sequence[ir.AffineMap]) -> tuple[ir.Value, ir.AffineMap] | None:
    """An operand that only carries the extents which no remaining operand has (upstream's pooling ops have one, too).

    Nothing reads it: it disappears with the first dead-code elimination after lowering to loops.
    """
    covered = {dimension_of(e) for m in maps for e in m.results}
    missing = [d for d in range(space.rank) if d not in covered]
    if not missing:
        return None
    kind = ir.IntegerType.get_signless(1)
    shape = [space.extents[d] or 0 for d in missing]
    results = [ir.AffineDimExpr.get(d) for d in missing]
    return gathers.empty(shape, kind), ir.AffineMap.get(space.rank, 0, results)
