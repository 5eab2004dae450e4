"""The buffers that a memref may refer to: views, values carried by loops, values chosen by
branches."""

from __future__ import annotations

from collections.abc import Callable

from ..hardware.instructions import Shown
from ..hardware.queries import SHOWN
from ..ir.mlir import GAP, ir, made_by, maker, operations, producer, users
from ..ir.structured import is_structured, loop_inits, structure
from .effects import accesses, is_memref, written
from .table import ALLOCATIONS, CONTROL, STORED

VIEWS: dict[str, Shown] = {
    "bufferization.to_buffer": "anywhere",
    "bufferization.to_tensor": "anywhere",
    "memref.assume_alignment": "same",
    "memref.cast": "same",
    "memref.collapse_shape": "reshape",
    "memref.distinct_objects": "same",
    "memref.expand_shape": "reshape",
    "memref.extract_strided_metadata": "start",
    "memref.memory_space_cast": "same",
    "memref.reinterpret_cast": "reinterpret",
    "memref.reshape": "reshape",
    "memref.subview": "subview",
    "memref.transpose": "transpose",
    "memref.view": "bytes",
    "vector.type_cast": "anywhere",
    **SHOWN,
}
"""Ops with a result that refers to the memory of an operand, and in which way.

`same`: element for element; `subview`, `transpose`, `reinterpret`, `bytes` (`memref.view`),
`reshape` (in row-major order): as the op defines; `start`: the buffer's first element; `anywhere`:
some part of it.
"""


SEEN_THROUGH = ("tensor.extract_slice", "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", *VIEWS)
"""Views, and ops on tensors that are to become views."""


def view_source(value: ir.Value) -> ir.Value | None:
    """The memref of which `value` is a view; None if no op of the table defines it."""
    op = producer(value)
    if op is None or op.name not in VIEWS or not len(op.operands):
        return None
    number = ir.OpResult(value).result_number if op.name == "memref.distinct_objects" else 0
    return op.operands[number] if is_memref(op.operands[number]) else None


def is_view(op: ir.Operation) -> bool:
    """Whether the op creates a memref that refers to the memory of its first operand, and nothing
    else."""
    plain = op.name in VIEWS and len(op.operands) > 0 and len(op.results) == 1
    return plain and is_memref(op.operands[0]) and is_memref(op.results[0])


def root_memref(value: ir.Value) -> ir.Value:
    """The memref under all views: allocated, passed, carried, chosen, or defined in an unknown way."""
    while (source := view_source(value)) is not None:
        value = source
    return value


def may_be_accessed(gap: ir.Operation, buffer: ir.Value) -> bool:
    """Whether the ops that a `GAP` replaces may access a buffer: not one that is allocated beside
    them, and of which neither they nor others before them are given a view."""
    root = root_memref(buffer)
    if made_by(root, *ALLOCATIONS) is None:
        return True
    views = [root]
    for view in views:
        for user in users(view):
            if user.name == GAP and (user == gap or user.is_before_in_block(gap)):
                return True
            views += (result for result in user.results if is_memref(result) and result not in views)
    return False


def is_own_array(value: ir.Value) -> bool:
    """Whether a memref is (a part of) a thread's private array."""
    return made_by(root_memref(value), "memref.alloca") is not None


def sources(value: ir.Value) -> list[ir.Value] | None:
    """The memrefs that `value` is derived from: the source of a view, values carried by a loop,
    values yielded by the arms of a branch.

    Empty for a buffer of its own (an allocation, an argument); None where it may be any memory.
    """
    if isinstance(
        value.owner, ir.Block
    ):  # none for a function's entry; a loop's initial values and those that its body yields
        block, number, holder = value.owner, ir.BlockArgument(value).arg_number, maker(value)
        if holder.name in ("func.func", "gpu.func", "gpu.launch"):
            return [] if block == holder.regions[0].blocks[0] else None
        if holder.name in ("scf.for", "affine.for") and number > 0:
            return [loop_inits(holder)[number - 1], terminator(block).operands[number - 1]]
        if holder.name != "scf.while":
            return None
        before, after = (region.blocks[0] for region in holder.regions)
        if block == after:
            return [terminator(before).operands[1 + number]]
        return [holder.operands[number], terminator(after).operands[number]]
    op = value.owner.operation
    if op.name in ALLOCATIONS or op.name in STORED:
        return []
    source = view_source(value)
    if source is not None:
        return [source]
    if op.name == "arith.select":
        return [v for v in op.operands if is_memref(v)]
    if op.name not in CONTROL:
        return None
    return _yielded(op, ir.OpResult(value).result_number) or None


def _yielded(op: ir.Operation, number: int) -> list[ir.Value]:
    """Values that result `number` of a branch or a loop may be: those yielded by its arms, and the
    initial value of a loop."""
    if op.name == "scf.while":
        return [terminator(op.regions[0].blocks[0]).operands[1 + number]]
    ends = [terminator(block) for region in op.regions for block in region.blocks]
    found = [end.operands[number] for end in ends if number < len(end.operands)]
    if op.name in ("scf.for", "affine.for"):
        found.append(loop_inits(op)[number])
    return [v for v in found if is_memref(v)]


def hands_on(value: ir.Value) -> bool:
    """Whether `value` is one of its `sources`, whole and unchanged: carried by a loop, or yielded
    by a branch."""
    return maker(value).name in ("scf.for", "affine.for", "scf.if")


def way(value: ir.Value, of: Callable[[ir.Value], list[ir.Value] | None] = sources) -> list[ir.Value]:
    """`value` and all memrefs that it is derived from, each once."""
    seen = {value: None}
    waiting = [value]
    for at in waiting:
        more = [source for source in of(at) or () if source not in seen]
        waiting += dict.fromkeys(more)
        seen.update(dict.fromkeys(more))
    return waiting


def roots(value: ir.Value) -> frozenset[ir.Value | str] | None:
    """The buffers that `value` may refer to: values, and names of globals; None where it may be any
    memory."""
    made_of = {at: sources(at) for at in way(value)}
    if None in made_of.values():
        return None
    return frozenset(stored_name(at) or at for at, of in made_of.items() if not of)


def stored_name(value: ir.Value) -> str | None:
    """The name of a global; dynamic shared memory has a single one."""
    op = producer(value)
    if op is None or op.name not in STORED:
        return None
    return ir.FlatSymbolRefAttr(op.attributes["name"]).value if "name" in op.attributes else op.name


def may_share(one: ir.Value, other: ir.Value) -> bool:
    """Whether two memrefs may refer to the same buffer. Arguments of a function are taken as
    distinct buffers."""
    if one == other:
        return True
    mine, its = roots(one), roots(other)
    return mine is None or its is None or not mine.isdisjoint(its)


def changes(op: ir.Operation, value: ir.Value) -> bool:
    """Whether an op, or one in it, may write a buffer."""
    return any(value in way(each) for inner in operations(op) for each in written(inner))


def terminator(block: ir.Block) -> ir.Operation:
    """The block's last op."""
    return block.operations[len(block.operations) - 1].operation


def last_writer(op: ir.Operation, value: ir.Value) -> tuple[str, int] | None:
    """The last structured op that writes a buffer, of those in `op` or `op` itself: its location,
    and the number of its output."""
    found: tuple[str, int] | None = None
    for inner in operations(op):
        for one in (accesses(inner) or ()) if is_structured(inner) else ():
            if one.changes and value in way(one.value):
                found = str(inner.location), list(inner.operands).index(one.value) - structure(inner).inputs
    return found
