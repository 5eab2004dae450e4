"""Gathers that were not promoted melt into the body of the op that reads them: nothing is materialised for them."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import mlir
from ..ir.mlir import ir, linalg, tensor
from ..ir.structured import Structure, dimension_of, element_type, is_structured, segments, structure
from ..padding import gathers
from ..session.rewriter import WAS


def inline_gathers(module: ir.Module) -> bool:
    """Inline every gather without inputs that a structured op reads. Returns whether there was one."""
    some = False
    with module.context, ir.Location.unknown():
        for reader in [op for op in mlir.operations(module.operation) if is_structured(op)]:
            while (position := _gathered_input(reader)) is not None:
                reader, some = _inline(reader, position), True
    return some


def _gathered_input(op: ir.Operation) -> int | None:
    """The position of the first input of a structured op that is a gather."""
    for position in range(segments(op)[0]):
        owner = op.operands[position].owner
        if not isinstance(owner, ir.Block) and gathers.is_gather(owner.operation):
            return position
    return None


def _inline(op: ir.Operation, position: int) -> ir.Operation:
    """Rebuild `op` as a generic without the input at `position`; its value is computed in the body instead. Returns that."""
    gather = op.operands[position].owner.operation
    space = structure(op)
    keep = [i for i in range(len(op.operands)) if i != position]
    inputs = [op.operands[i] for i in keep if i < space.inputs]
    maps = [space.maps[i] for i in keep]
    with ir.InsertionPoint(op), op.location:
        if (window := _window(space, maps)) is not None:
            inputs, maps = [*inputs, window[0]], [*maps[: len(inputs)], window[1], *maps[len(inputs) :]]
        made = _generic(op, inputs, maps, space.iterators)
    if op.name != "linalg.generic" and op.parent is not None and op.parent.operation.name == "func.func":
        made.operation.attributes[WAS] = ir.StringAttr.get(op.name)
    block = made.regions[0].blocks[0]
    with ir.InsertionPoint(block), op.location:
        indices = [linalg.IndexOp(d).result for d in range(space.rank)]
        arguments = [a for i, a in enumerate(block.arguments) if window is None or i != len(inputs) - 1]
        own = dict(zip(keep, arguments, strict=True))
        where = [gathers.apply_map(e, space.maps[position], indices) for e in space.maps[position].results]
        value = _gathered(gather, where)
        arguments = [value if i == position else own[i] for i in range(len(op.operands))]
        linalg.YieldOp(gathers.clone_body(op.regions[0].blocks[0], arguments, indices))
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    if not any(True for _ in gather.results[0].uses):
        gather.erase()
    return made.operation


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


def _gathered(gather: ir.Operation, where: Sequence[ir.Value]) -> ir.Value:
    """The gather's value at `where`, computed at the insertion point; a masked producer is read with `tensor.extract`."""
    count = segments(gather)[0]
    arguments = [tensor.ExtractOp(gather.operands[i], list(where)).result for i in range(count)]
    return gathers.clone_body(gather.regions[0].blocks[0], arguments, where)[0]


def _generic(
    op: ir.Operation, inputs: Sequence[ir.Value], maps: Sequence[ir.AffineMap], iterators: Sequence[str]
) -> ir.OpView:
    """An empty generic with `op`'s outputs, results and attributes, and these inputs and maps."""
    count = segments(op)[0]
    outputs = list(op.operands)[count:]
    made = linalg.GenericOp(
        result_tensors=[r.type for r in op.results],
        inputs=list(inputs),
        outputs=outputs,
        indexing_maps=ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
        iterator_types=ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in iterators]),
    )
    for name in op.attributes:
        if name.startswith("weft."):
            made.operation.attributes[name] = op.attributes[name]
    made.regions[0].blocks.append(*[element_type(v) for v in (*inputs, *outputs)])
    return made
