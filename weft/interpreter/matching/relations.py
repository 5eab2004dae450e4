"""Dataflow between ops: the ops that make a value, through loops and through ops that only move
elements (reshapes, slices, paddings, broadcasts, copies). In memory, it is the last op before the
reader that writes the buffer."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.mlir import FUNCTIONS, GAP, NotLocalError, ancestors, ir, is_tensor, made_within, operations, producer, tensor
from ..ir.mlir import maker as owner
from ..ir.structured import body_of, is_loop, is_read, is_structured, loop_inits, loop_outputs, segments
from ..memory.effects import is_memref, written
from ..memory.views import SEEN_THROUGH, may_be_accessed, root_memref
from ..padding.masked_loads import is_masked_load
from .kinds import kind_of

MOVING = ("copy", "transpose", "broadcast")
"""Kinds of ops that compute nothing: a relation goes through them, too."""


def makers_of(op: ir.Operation, value: ir.Value) -> dict[ir.Operation, ir.Value]:
    """The ops that make an operand of `op`, each with the tensor or buffer that it makes: structured
    ops, and the loops around them that end before."""
    found: dict[ir.Operation, ir.Value] = {}
    waiting, seen = [(op, value)], {value}
    for reader, at in waiting:
        makers, more = _step(reader, at)
        found.update({made: at if is_tensor(at) else root_memref(at) for made in makers})
        moving = [(made, source) for made in makers for source in _moved(made)]
        waiting += [one for one in (*((reader, other) for other in more), *moving) if one[1] not in seen]
        seen.update(other for _, other in waiting)
    return found


def _moved(op: ir.Operation) -> list[ir.Value]:
    """The tensor of which an op moves elements, if it does nothing else: also that of the masked load
    of a ragged tile."""
    if is_masked_load(op):
        return [inner.operands[0] for inner in operations(op) if isinstance(inner.opview, tensor.ExtractOp)][:1]
    return [op.operands[0]] if op.name == "memref.copy" or kind_of(op) in MOVING else []


def _step(reader: ir.Operation, at: ir.Value) -> tuple[list[ir.Operation], list[ir.Value]]:
    """One step of the search: the ops that make the value as `reader` reads it; or, where an op only
    passes it on (a view, a padding, a loop), the values that it comes from. Raises `NotLocalError`
    if they may be outside the part that is present."""
    if is_memref(at):
        return list(_writers(reader, at)), []
    made = producer(at)
    if made is None:
        loop = owner(at)
        outputs = loop_outputs(loop) if is_loop(loop) else []
        return [], [loop_inits(loop)[outputs.index(at)]] if at in outputs else []
    if made.name == GAP:
        raise NotLocalError
    if made.name in SEEN_THROUGH or isinstance(made.opview, tensor.PadOp):
        return [], [made.operands[0]]
    return [made], _yielded(made, ir.OpResult(at).result_number) if is_loop(made) else []


def _yielded(loop: ir.Operation, number: int) -> list[ir.Value]:
    """The values that become a result of a loop."""
    end = body_of(loop).operations[-1].operation
    if loop.name != "scf.forall":
        return [end.operands[number]]
    output = loop_outputs(loop)[number]
    return [i.operands[0] for i in operations(end, "tensor.parallel_insert_slice") if i.operands[1] == output]


def _writers(op: ir.Operation, buffer: ir.Value) -> Iterator[ir.Operation]:
    """The last op before `op`, in the order of the text, that writes a buffer or a part of it; and
    the loops around it that do not contain `op`."""
    root, around = root_memref(buffer), [op, *ancestors(op)]
    function = next((one for one in around if one.name in FUNCTIONS), around[-1])
    last: ir.Operation | None = None
    for one in operations(function):
        if one == op:
            break
        unseen = one.name == GAP and may_be_accessed(one, root)
        if unseen or any(root_memref(value) == root for value in written(one) if is_memref(value)):
            last = one
    if last is not None and last.name == GAP:
        raise NotLocalError
    if last is not None:
        yield last
        yield from (loop for loop in ancestors(last) if is_loop(loop) and loop not in around)


def operands_read(op: ir.Operation) -> list[ir.Value]:
    """The tensors and memrefs that an op reads; those that a loop's body takes from outside, too."""
    shaped = [value for value in op.operands if is_tensor(value) or is_memref(value)]
    if is_loop(op):
        inside = [value for inner in operations(op) if inner != op for value in operands_read(inner)]
        return list(dict.fromkeys([*shaped, *(value for value in inside if not made_within(value, op))]))
    if not is_structured(op):
        return shaped
    inputs, _ = segments(op)
    return [value for n, value in enumerate(op.operands) if value in shaped and (n < inputs or is_read(op, n))]


def consumes(op: ir.Operation, maker: ir.Operation, number: int | None = None) -> bool:
    """Whether an op reads what another op makes: any of its results, or the one with this number."""
    if op == maker:
        return False
    found = [makers[maker] for value in operands_read(op) if maker in (makers := makers_of(op, value))]
    if number is None:
        return bool(found)
    results = list(maker.results) or [root_memref(value) for value in list(maker.operands)[segments(maker)[0] :]]
    return results[number] in found
