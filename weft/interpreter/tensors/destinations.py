"""Where results are computed, before bufferization: one place each, so that no buffer is copied for its size alone.

`tensor.empty` is only a shape, and common subexpressions make one of all that are alike. Bufferization would then see
two ops write one buffer, and copy what nobody has written. Here every op that needs no contents gets an empty tensor of
its own, and within a loop only the op whose result is inserted keeps the slice it is inserted into.

A result may be computed in another shape than it has: a convolution's, as a matrix. `expand_shape` of a loop's result
    would
bufferize to a buffer of the loop's shape and a copy. So the loop is given the result's own buffer to write in, seen in
its shape: before bufferization where that is an argument (`start_reshaped`), and behind it for the buffers that
    bufferization allocates,
whatever they start with (`allocate_expanded`).
"""

from __future__ import annotations

from ..ir.cloning import replace_operands
from ..ir.functions import given_name
from ..ir.mlir import ahead_of, attributes, has_parent, ir, made_by, memref, operations, producer, tensor, users
from ..ir.structured import (
    element_type,
    empty,
    extents_of,
    from_origin,
    is_empty,
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
from ..memory.layouts import STORING, as_tensor, is_plain
from ..padding import masked_loads
from .debufferization import start_apart


def separate_destinations(module: ir.Module) -> None:
    """Give each op that only writes its destination one of its own."""
    without_contents: set[ir.Value] = set()
    ops = list(operations(module.operation))
    for loop in (op for op in ops if op.name == "scf.forall"):  # outer loops first
        for output, init in zip(loop_outputs(loop), loop_inits(loop), strict=True):
            if is_empty(init) or sliced(init) in without_contents:
                without_contents.add(output)
                _separate_slices(output)
    lengths: dict[ir.Value, int] = {}
    for op in filter(is_structured, ops):
        if has_parent(op, "func.func") and "weft.map" not in op.attributes:
            start_apart(
                op
            )  # it is not scheduled yet: it can be tiled and fused later as if nothing had been bufferized
        else:
            _write_over_an_input(op, lengths)
    for op in ops:
        if op.name == "tensor.empty":
            _split(op)


FILL = "linalg.fill"


def fill_what_is_wanted(module: ir.Module) -> None:
    """A fill that was rounded up, and of which only the part in front is read, fills that part alone."""
    for op in operations(module.operation, FILL):
        parts = [user for result in op.results for user in users(result)]
        if not parts or not is_empty(op.operands[1]) or not all(from_origin(part) for part in parts):
            continue
        kinds = {part.results[0].type for part in parts}
        if len(kinds) > 1 or None in shape_of(parts[0].results[0]):
            continue
        with ir.InsertionPoint(op):
            op.operands[1] = empty(extents_of(parts[0].results[0]), element_type(op.results[0]))
        op.results[0].set_type(kinds.pop())
        for part in parts:
            replace(part, [op.results[0]])


MOST_IN_ONE_PLACE = 16
"""How many ops in a row write over each other: what bufferization does with them grows with the cube of their
number."""


def _write_over_an_input(op: ir.Operation, lengths: dict[ir.Value, int]) -> None:
    """Let an elementwise op that writes to a new place write over an input that is its own: made next to it, read by it
    alone.

    `lengths`: of the results so far, how many ops wrote to their place one after the other.
    """
    space = structure(op)
    number = space.inputs
    if space.outputs != 1 or not is_empty(op.operands[number]) or "reduction" in space.iterators:
        return
    if is_read(op, number):
        return
    for i, value in enumerate(list(op.operands)[:number]):
        maker = producer(value)
        alike = space.maps[i] == space.maps[number] == ir.AffineMap.get_identity(space.rank)
        if maker is None or not is_structured(maker) or masked_loads.is_masked_load(maker) or maker.block != op.block:
            continue
        if made_by(maker.operands[segments(maker)[0]], "bufferization.to_tensor") is not None:
            continue  # a promoted tile, which has a map of its own
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


def has_empty(module: ir.Module) -> bool:
    """Whether there is a shape without contents."""
    return any(operations(module.operation, "tensor.empty"))


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
                    own = empty(extents_of(part.results[0]), element_type(output))
                user.operands[number] = own


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
    while (op := producer(value)) is not None and (is_structured(op) or op.name in ("scf.forall", "scf.for")):
        first = segments(op)[0] if is_structured(op) else len(op.operands) - len(op.results)
        chain.append((op, first + ir.OpResult(value).result_number))
        value = op.operands[chain[-1][1]]
    return chain


def result_name(value: ir.Value) -> str | None:
    """The `weft.name` of the function's result that a value becomes (a part of)."""
    for use in value.uses:
        user, number = use.owner.operation, use.operand_number
        if user.name == "func.return":
            return given_name(user.parent.operation, number, "res_attrs")
        following = next((name for v in _onward(user, number) if (name := result_name(v)) is not None), None)
        if following is not None:
            return following
    return None


def _onward(user: ir.Operation, number: int) -> list[ir.Value]:
    """The values that an operand of a use goes into, as a tensor does."""
    if user.name == "tensor.parallel_insert_slice":
        loop = user.parent.operation.parent.operation
        return [
            loop.results[n] for n, output in enumerate(loop_outputs(loop)) if number == 0 and output == user.operands[1]
        ]
    if user.name == "scf.yield":
        return list(user.parent.operation.results)[number : number + 1]
    written = is_structured(user) and number >= segments(user)[0]
    seen = user.name in ("tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape")
    return list(user.results) if written or seen else []


def start_reshaped(module: ir.Module) -> None:
    """Loops whose result is expanded into an argument, and which start from nothing, start from that argument,
    collapsed."""
    for op in operations(module.operation, "tensor.expand_shape"):
        made = made_by(op.operands[0], "scf.forall")
        if made is None:
            continue
        first, number = _first_writer(made, ir.OpResult(op.operands[0]).result_number)
        if is_empty(first.operands[number]):
            with ir.InsertionPoint(first):
                place = _argument_place(op.results[0], first)
                if place is not None:
                    kind = first.operands[number].type
                    first.operands[number] = tensor.CollapseShapeOp(kind, place, op.attributes["reassociation"]).result


def _first_writer(op: ir.Operation, result: int) -> tuple[ir.Operation, int]:
    """Of the loops and ops that write a result one after the other, the first one, and its operand that the result
    starts from."""
    outputs = len(op.results) if op.name == "scf.forall" else segments(op)[1]
    number = len(op.operands) - outputs + result
    before = producer(op.operands[number])
    if before is None or before.block != op.block or not (before.name == "scf.forall" or is_structured(before)):
        return op, number
    return _first_writer(before, ir.OpResult(op.operands[number]).result_number)


def _argument_place(result: ir.Value, loop: ir.Operation) -> ir.Value | None:
    """The argument that the result goes to and nothing else does with it, as a tensor; made at the insertion point."""
    taken = users(result)
    if len(taken) != 1 or taken[0].name != STORING or taken[0].block != loop.block:
        return None
    buffer = taken[0].operands[1]
    if not isinstance(buffer.type, ir.MemRefType) or not isinstance(buffer.owner, ir.Block):
        return None
    for made in users(buffer):
        if made.name == "bufferization.to_tensor":
            return made.results[0] if made.block == loop.block and made.is_before_in_block(loop) else None
        if made != taken[0]:
            return None
    return as_tensor(buffer)


def allocate_expanded(module: ir.Module) -> None:
    """Allocate what is expanded later in its expanded shape; those that fill it see it collapsed.

    A convolution that adds to a tensor argument starts from a copy of it as a matrix: the copy then is the result, and
    no copy of that is made. In the body of a function alone: what a loop allocates is a tile, and stays as it was
        scheduled.
    """
    for op in operations(module.operation, "memref.expand_shape"):
        made, kind = made_by(op.operands[0], "memref.alloc"), op.results[0].type
        if made is None or not is_plain(kind) or not all(ahead(made, size) for size in list(op.operands)[1:]):
            continue
        result = made.results[0]
        if not has_parent(made, "func.func") or any(user.name == "func.return" for user in users(result)):
            continue
        with ahead_of(made):
            given = attributes(made) | {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(op.operands) - 1, 0])}
            whole = ir.Operation.create("memref.alloc", [kind], list(op.operands)[1:], given).results[0]
            seen = memref.CollapseShapeOp(result.type, whole, op.attributes["reassociation"]).result
        for user in users(result):
            replace_operands(user, {result: whole if user.name == "memref.dealloc" else seen})
        made.erase()


def ahead(op: ir.Operation, value: ir.Value) -> bool:
    """Whether a value of the same function is there in front of an op."""
    made = producer(value)
    return made is None or (made.block == op.block and made.is_before_in_block(op))


def fold_reshapes(module: ir.Module) -> None:
    """A reshape of a reshape back to the type it came from is what it came from."""
    for op in operations(module.operation, "memref.expand_shape", "memref.collapse_shape"):
        other = "memref.collapse_shape" if op.name == "memref.expand_shape" else "memref.expand_shape"
        before = made_by(op.operands[0], other)
        if before is not None and before.operands[0].type == op.results[0].type:
            replace(op, [before.operands[0]])
