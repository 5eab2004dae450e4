"""Where results are computed, before bufferization: one place each, so that no buffer is copied for its size alone.

`tensor.empty` is only a shape, and common subexpressions make one of all that are alike. Bufferization would then see two ops
write one buffer, and copy what nobody has written. Here every op that needs no contents gets an empty tensor of its own, and
within a loop only the op whose result is inserted keeps the slice it is inserted into.
"""

from __future__ import annotations

from ..ir import mlir
from ..ir.mlir import ir
from ..ir.structured import element_type, is_structured, segments, shape_of, structure
from ..padding import gathers
from ..padding.rounding import from_origin, sliced
from .fusing import loop_inits


def separate_destinations(module: ir.Module) -> None:
    """Give each op that only writes its destination one of its own."""
    without_contents: set[ir.Value] = set()
    with module.context, ir.Location.unknown():
        for loop in mlir.operations(module.operation, "scf.forall"):  # outer loops first
            body = loop.regions[0].blocks[0]
            inits = loop_inits(loop)
            outputs = list(body.arguments)[len(body.arguments) - len(inits) :]
            for output, init in zip(outputs, inits, strict=True):
                if gathers.is_empty(init) or sliced(init) in without_contents:
                    without_contents.add(output)
                    _separate_slices(body, output)
        lengths: dict[ir.Value, int] = {}
        for op in mlir.operations(module.operation):
            if is_structured(op):
                _write_over_an_input(op, lengths)
        for op in mlir.operations(module.operation, "tensor.empty"):
            _split(op)


def fill_what_is_wanted(module: ir.Module) -> None:
    """A fill that was rounded up, and of which only the part in front is read, fills that part alone."""
    with module.context, ir.Location.unknown():
        for op in mlir.operations(module.operation, "linalg.fill"):
            parts = [use.owner.operation for result in op.results for use in result.uses]
            if not parts or not gathers.is_empty(op.operands[1]) or not all(from_origin(part) for part in parts):
                continue
            kinds = {part.results[0].type for part in parts}
            if len(kinds) > 1:
                continue
            with ir.InsertionPoint(op):
                shape = [n or 0 for n in shape_of(parts[0].results[0])]
                op.operands[1] = gathers.empty(shape, element_type(op.results[0]))
            op.results[0].set_type(kinds.pop())
            for part in parts:
                part.results[0].replace_all_uses_with(op.results[0])
                part.erase()


MOST_IN_ONE_PLACE = 16
"""How many ops in a row write over each other: what bufferization does with them grows with the cube of their number."""


def _write_over_an_input(op: ir.Operation, lengths: dict[ir.Value, int]) -> None:
    """Let an elementwise op that writes to a new place write over an input that is its own: made next to it, read by it alone.

    `lengths`: of the results so far, how many ops wrote to their place one after the other.
    """
    space = structure(op)
    number = space.inputs
    if space.outputs != 1 or not gathers.is_empty(op.operands[number]) or "reduction" in space.iterators:
        return
    if any(True for _ in op.regions[0].blocks[0].arguments[number].uses):
        return
    for i, value in enumerate(list(op.operands)[:number]):
        maker = mlir.producer(value)
        alike = space.maps[i] == space.maps[number] == ir.AffineMap.get_identity(space.rank)
        if maker is None or not is_structured(maker) or gathers.is_gather(maker) or maker.block != op.block:
            continue
        length = lengths.get(value, 1) + 1
        if alike and length <= MOST_IN_ONE_PLACE and value.type == op.operands[number].type and len(list(value.uses)) == 1:
            op.operands[number] = value
            lengths[op.results[0]] = length
            return


def _split(op: ir.Operation) -> None:
    """A copy of a `tensor.empty` for each of its uses but one beside it: what a loop makes for itself, it makes inside.

    Common subexpressions take a block's temporary out of its loop where it is as large as what the loop fills.
    """
    uses = [(use.owner.operation, use.operand_number) for use in op.results[0].uses]
    beside = next((use for use in uses if use[0].block == op.block), None)
    for user, number in uses:
        if (user, number) != beside:
            with ir.InsertionPoint(user):
                copy = op.clone().operation
            user.operands[number] = copy.results[0]
    if beside is None:
        op.erase()


def _separate_slices(body: ir.Block, output: ir.Value) -> None:
    kept = inserted_chain(output)
    for use in list(output.uses):
        part = use.owner.operation
        if part.name != "tensor.extract_slice" or None in shape_of(part.results[0]):
            continue
        for inner in list(part.results[0].uses):
            user = inner.owner.operation
            if (user, inner.operand_number) in kept or not _only_written(user, inner.operand_number):
                continue
            with ir.InsertionPoint(user):
                own = gathers.empty([n or 0 for n in shape_of(part.results[0])], element_type(part.results[0]))
            user.operands[inner.operand_number] = own


def _only_written(op: ir.Operation, number: int) -> bool:
    """Whether the operand is a destination whose contents the op does not read."""
    if op.name == "scf.forall":  # its own slices are written by ops that say so themselves
        first = len(op.operands) - len(op.results)
        if number < first:
            return False
        body = op.regions[0].blocks[0]
        inner = body.arguments[len(body.arguments) - len(op.results) + number - first]
        slices = [u.owner.operation for u in inner.uses if u.owner.operation.name == "tensor.extract_slice"]
        return all(_only_written(u.owner.operation, u.operand_number) for s in slices for u in s.results[0].uses)
    if not is_structured(op) or number < segments(op)[0]:
        return False
    return not any(True for _ in op.regions[0].blocks[0].arguments[number].uses)


def inserted_chain(output: ir.Value) -> list[tuple[ir.Operation, int]]:
    """The destination operands behind what is inserted into `output`: these stay in place."""
    inserted = [use.owner.operation for use in output.uses if use.operand_number == 1]
    return [step for op in inserted if op.name == "tensor.parallel_insert_slice" for step in written_over(op.operands[0])]


def written_over(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    """The ops that make `value`, each with the operand that it is written over, the last one first."""
    chain: list[tuple[ir.Operation, int]] = []
    while (step := _destination(value)) is not None:
        chain.append(step)
        value = step[0].operands[step[1]]
    return chain


def _destination(value: ir.Value) -> tuple[ir.Operation, int] | None:
    """The op that makes `value`, and the operand that it is written over."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    position = list(op.results).index(value)
    if is_structured(op):
        return op, segments(op)[0] + position
    if op.name in ("scf.forall", "scf.for"):
        return op, len(op.operands) - len(op.results) + position
    return None
