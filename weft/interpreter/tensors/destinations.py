"""The destinations of results, set before bufferization: one for each result, so that no buffer is
copied only for its shape.

A `tensor.empty` is only a shape, and CSE merges two of the same type. In bufferization, two ops
would then write one buffer, and undefined contents would be copied. So every op that needs no
initial contents gets its own empty tensor. Within a loop, only the op with the inserted result
keeps the slice into which the result is inserted.

A result may be computed in another shape than its own: for example, the result of a convolution as
a matrix. Bufferization of `expand_shape` on the loop's result would then add a buffer in the loop's
shape, and a copy. So the loop gets the result's own buffer as its destination, viewed in the loop's
shape: before bufferization if that buffer is an argument (`start_reshaped`), and afterwards for
buffers that bufferization allocates, with any initial contents (`allocate_expanded`).
"""

from __future__ import annotations

from itertools import takewhile

from ..ir.cloning import is_named, replace_operands
from ..ir.copying import fill_value, fill_with
from ..ir.functions import given_name
from ..ir.mlir import (
    ahead_of,
    ancestors,
    attributes,
    has_parent,
    ir,
    made_by,
    memref,
    operations,
    producer,
    tensor,
    users,
)
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
    """Gives each op that only writes its destination its own empty tensor."""
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
            )  # not scheduled yet: it stays independent of its destination, so that it can be tiled and fused later
        else:
            _write_over_an_input(op, lengths)
    for op in ops:
        if op.name == "tensor.empty":
            _split(op)


def fill_what_is_wanted(module: ir.Module) -> None:
    """Shrinks fills that were rounded up to the leading part that is read, if only that is."""
    for op in [op for op in operations(module.operation) if fill_value(op) is not None]:
        parts = [user for result in op.results for user in users(result)]
        if not parts or not is_empty(op.operands[-1]) or not all(from_origin(part) for part in parts):
            continue
        kinds = {part.results[0].type for part in parts}
        if len(kinds) > 1 or None in shape_of(parts[0].results[0]):
            continue
        with ir.InsertionPoint(op):
            op.operands[len(op.operands) - 1] = empty(extents_of(parts[0].results[0]), element_type(op.results[0]))
        op.results[0].set_type(kinds.pop())
        for part in parts:
            replace(part, [op.results[0]])


def start_from_own_fills(module: ir.Module) -> None:
    """If several ops of a function write over one fill, or over parts of it, and no handle names
    the fill, gives each op a fill of its own. Bufferization would fill one buffer and copy it for
    each of the others: a copy that no later statement could fuse or distribute."""
    for op in [op for op in operations(module.operation) if fill_value(op) is not None]:
        value = fill_value(op)
        if value is None or not has_parent(op, "func.func") or is_named(op) or not is_empty(op.operands[-1]):
            continue
        for part in users(op.results[0]):
            if (
                part.name == "tensor.extract_slice"
                and None not in shape_of(part.results[0])
                and _starts(part.results[0])
            ):
                with ahead_of(part):
                    place = empty(extents_of(part.results[0]), element_type(part.results[0]))
                    replace(part, [fill_with(place, value).results[0]])
        starts = _starts(op.results[0])
        for user, number in starts[len(starts) == len(list(op.results[0].uses)) :]:
            with ir.InsertionPoint(user):
                user.operands[number] = op.clone().results[0]


def _starts(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    """The ops that write over a value, each with the number of the operand."""
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    return [(user, number) for user, number in uses if number >= len(user.operands) - len(user.results) > 0]


MOST_IN_ONE_PLACE = 16
"""The most consecutive ops that write over each other: the cost of bufferization grows with the
cube of their number."""


def _write_over_an_input(op: ir.Operation, lengths: dict[ir.Value, int]) -> None:
    """Lets an elementwise op with an empty destination write over one of its inputs that has no
    other reader and is made in the same block.

    `lengths`: for each result so far, the number of consecutive ops that wrote to its place.
    """
    space = structure(op)
    number = space.inputs
    if space.outputs != 1 or not is_empty(op.operands[number]) or "reduction" in space.iterators:
        return
    if is_read(op, number):
        return
    for i, value in enumerate(list(op.operands)[:number]):
        maker = producer(value)
        same_element = space.maps[i] == space.maps[number] == ir.AffineMap.get_identity(space.rank)
        if maker is None or not is_structured(maker) or masked_loads.is_masked_load(maker) or maker.block != op.block:
            continue
        if made_by(maker.operands[segments(maker)[0]], "bufferization.to_tensor") is not None:
            continue  # a promoted tile, which has a map of its own
        length = lengths.get(value, 1) + 1
        if (
            same_element
            and length <= MOST_IN_ONE_PLACE
            and value.type == op.operands[number].type
            and len(list(value.uses)) == 1
        ):
            op.operands[number] = value
            lengths[op.results[0]] = length
            return


def has_empty(module: ir.Module) -> bool:
    """Whether the module has a `tensor.empty`."""
    return any(operations(module.operation, "tensor.empty"))


def _split(op: ir.Operation) -> None:
    """Copies a `tensor.empty` for each use except one in its own block: a temporary of a loop is
    then made inside the loop.

    CSE moves the temporary of a block out of its loop if it has the shape of the tensor that the
    loop fills.
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
    """Gives empty tensors to ops on slices of `output`; only the op with the inserted result keeps
    its slice."""
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
    """Whether the operand is a destination that the op writes without reading it."""
    if op.name == "scf.forall":  # the ops on its slices decide
        position = number - len(op.operands)
        if position < -len(op.results):
            return False
        slices = [user for user in users(loop_outputs(op)[position]) if user.name == "tensor.extract_slice"]
        return all(_only_written(u.owner.operation, u.operand_number) for s in slices for u in s.results[0].uses)
    return is_structured(op) and number >= segments(op)[0] and not is_read(op, number)


def written_over(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    """The ops that make `value` one over the other, each with the number of its overwritten
    operand, the last op first."""
    chain: list[tuple[ir.Operation, int]] = []
    while (op := producer(value)) is not None and (is_structured(op) or op.name in ("scf.forall", "scf.for")):
        first = segments(op)[0] if is_structured(op) else len(op.operands) - len(op.results)
        chain.append((op, first + ir.OpResult(value).result_number))
        value = op.operands[chain[-1][1]]
    return chain


def result_name(value: ir.Value) -> str | None:
    """The `weft.name` of the function result that a value becomes (a part of)."""
    for use in value.uses:
        user, number = use.owner.operation, use.operand_number
        if user.name == "func.return":
            return given_name(user.parent.operation, number, "res_attrs")
        following = next((name for v in _onward(user, number) if (name := result_name(v)) is not None), None)
        if following is not None:
            return following
    return None


def _onward(user: ir.Operation, number: int) -> list[ir.Value]:
    """The values that contain the operand `number` of `user`, in the same tensor."""
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
    """Lets loops with an undefined start and a result that is expanded into an argument start from
    that argument, collapsed."""
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
    """The first of the consecutive loops and ops that write a result, and the number of its operand
    with the result's start."""
    outputs = len(op.results) if op.name == "scf.forall" else segments(op)[1]
    number = len(op.operands) - outputs + result
    before = producer(op.operands[number])
    if before is None or before.block != op.block or not (before.name == "scf.forall" or is_structured(before)):
        return op, number
    return _first_writer(before, ir.OpResult(op.operands[number]).result_number)


def _argument_place(result: ir.Value, loop: ir.Operation) -> ir.Value | None:
    """The argument, or the buffer of the host, into which the result is stored, as a tensor made at
    the insertion point; None if the result or the buffer has another use in between."""
    taken = users(result)
    if len(taken) != 1 or taken[0].name != STORING or taken[0].block != loop.block:
        return None
    buffer = taken[0].operands[1]
    if (alloc := producer(buffer)) is not None:
        return as_tensor(buffer) if _waits(alloc, taken[0], loop) else None
    if not isinstance(buffer.type, ir.MemRefType):
        return None
    for made in users(buffer):
        if made.name == "bufferization.to_tensor":
            return made.results[0] if made.block == loop.block and made.is_before_in_block(loop) else None
        if made != taken[0]:
            return None
    return as_tensor(buffer)


def _waits(alloc: ir.Operation, store: ir.Operation, loop: ir.Operation) -> bool:
    """Whether an allocation before a loop is not used until a store after it."""
    later = [user for user in users(alloc.results[0]) if user != store]
    beside = alloc.name == "memref.alloc" and alloc.block == loop.block and alloc.is_before_in_block(loop)
    return beside and all(user.block == loop.block and store.is_before_in_block(user) for user in later)


def allocate_expanded(module: ir.Module) -> None:
    """Allocates buffers that are expanded later in their expanded shape; the ops that fill them use
    a collapsed view.

    A convolution that adds to a tensor argument starts from a copy of it as a matrix: that copy
    becomes the result, without a second copy. Only in the body of a function: an allocation in a
    loop is a scheduled tile, and stays.
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
    """Whether a value is defined before an op, in its block or in one around it."""
    made = producer(value)
    for around in takewhile(lambda each: each.parent is not None, (op, *ancestors(op))):
        if around.block == (value.owner if made is None else made.block):
            return made is None or made.is_before_in_block(around)
    return False


def fold_reshapes(module: ir.Module) -> None:
    """Removes reshapes that undo another reshape."""
    for op in operations(module.operation, "memref.expand_shape", "memref.collapse_shape"):
        other = "memref.collapse_shape" if op.name == "memref.expand_shape" else "memref.expand_shape"
        before = made_by(op.operands[0], other)
        if before is not None and before.operands[0].type == op.results[0].type:
            replace(op, [before.operands[0]])
