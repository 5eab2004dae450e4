"""Where results are computed, before bufferization: one place each, so that no buffer is copied for its size alone.

`tensor.empty` is only a shape, and common subexpressions make one of all that are alike. Bufferization would then see two ops
write one buffer, and copy what nobody has written. Here every op that needs no contents gets an empty tensor of its own, and
within a loop only the op whose result is inserted keeps the slice it is inserted into.
"""

from __future__ import annotations

from ..ir.mlir import ir, operations, producer, users
from ..ir.structured import (
    element_type,
    extents_of,
    from_origin,
    is_read,
    is_structured,
    loop_inits,
    loop_outputs,
    replace,
    segments,
    shape_of,
    sliced,
    structure,
)
from ..padding import gathers


def separate_destinations(module: ir.Module) -> None:
    """Give each op that only writes its destination one of its own."""
    without_contents: set[ir.Value] = set()
    for loop in operations(module.operation, "scf.forall"):  # outer loops first
        for output, init in zip(loop_outputs(loop), loop_inits(loop), strict=True):
            if gathers.is_empty(init) or sliced(init) in without_contents:
                without_contents.add(output)
                _separate_slices(output)
    lengths: dict[ir.Value, int] = {}
    for op in operations(module.operation):
        if is_structured(op):
            _write_over_an_input(op, lengths)
    for op in operations(module.operation, "tensor.empty"):
        _split(op)


def fill_what_is_wanted(module: ir.Module) -> None:
    """A fill that was rounded up, and of which only the part in front is read, fills that part alone."""
    for op in operations(module.operation, "linalg.fill"):
        parts = [user for result in op.results for user in users(result)]
        if not parts or not gathers.is_empty(op.operands[1]) or not all(from_origin(part) for part in parts):
            continue
        kinds = {part.results[0].type for part in parts}
        if len(kinds) > 1:
            continue
        with ir.InsertionPoint(op):
            op.operands[1] = gathers.empty(extents_of(parts[0].results[0]), element_type(op.results[0]))
        op.results[0].set_type(kinds.pop())
        for part in parts:
            replace(part, [op.results[0]])


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
    if is_read(op, number):
        return
    for i, value in enumerate(list(op.operands)[:number]):
        maker = producer(value)
        alike = space.maps[i] == space.maps[number] == ir.AffineMap.get_identity(space.rank)
        if maker is None or not is_structured(maker) or gathers.is_gather(maker) or maker.block != op.block:
            continue
        length = lengths.get(value, 1) + 1
        if (
            alike
            and length <= MOST_IN_ONE_PLACE
            and value.type == op.operands[number].type
            and len(list(value.uses)) == 1
        ):
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


def _separate_slices(output: ir.Value) -> None:
    """Only the op whose result is inserted into `output` keeps the slice that it is inserted into."""
    inserted = [use.owner.operation for use in output.uses if use.operand_number == 1]
    kept = [
        step for op in inserted if op.name == "tensor.parallel_insert_slice" for step in written_over(op.operands[0])
    ]
    for part in users(output):
        if part.name != "tensor.extract_slice" or None in shape_of(part.results[0]):
            continue
        for use in list(part.results[0].uses):
            user, number = use.owner.operation, use.operand_number
            if (user, number) not in kept and _only_written(user, number):
                with ir.InsertionPoint(user):
                    user.operands[number] = gathers.empty(extents_of(part.results[0]), element_type(part.results[0]))


def _only_written(op: ir.Operation, number: int) -> bool:
    """Whether the operand is a destination whose contents the op does not read."""
    if op.name == "scf.forall":  # its own slices are written by ops that say so themselves
        position = number - len(op.operands)
        if position < -len(op.results):
            return False
        slices = [user for user in users(loop_outputs(op)[position]) if user.name == "tensor.extract_slice"]
        return all(_only_written(u.owner.operation, u.operand_number) for s in slices for u in s.results[0].uses)
    return is_structured(op) and number >= segments(op)[0] and not is_read(op, number)


def written_over(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    """The ops that make `value`, each with the operand that it is written over, the last one first."""
    chain: list[tuple[ir.Operation, int]] = []
    while (step := _destination(value)) is not None:
        chain.append(step)
        value = step[0].operands[step[1]]
    return chain


def _destination(value: ir.Value) -> tuple[ir.Operation, int] | None:
    """The op that makes `value`, and the operand that it is written over."""
    op = producer(value)
    if op is None or not (is_structured(op) or op.name in ("scf.forall", "scf.for")):
        return None
    first = segments(op)[0] if is_structured(op) else len(op.operands) - len(op.results)
    return op, first + ir.OpResult(value).result_number
