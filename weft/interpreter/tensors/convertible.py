"""The ops on memrefs that can be raised to tensors: structured ops and copies on whole buffers, or
on static windows of buffers."""

from __future__ import annotations

from itertools import combinations, takewhile

from ..ir.mlir import ancestors, children, ir, made_by
from ..ir.structured import is_structured, operand_names, structure
from ..memory.effects import is_memref
from ..memory.layouts import is_plain
from ..memory.views import root_memref

ALLOCATIONS = ("memref.alloc", "memref.alloca")
RESHAPES = ("memref.collapse_shape", "memref.expand_shape")
_PLAIN = ("arith.", "math.", "index.")
_HOST = ("scf.for", "scf.if")


def on_memrefs(op: ir.Operation) -> bool:
    """Whether an op works on memrefs."""
    return any(map(is_memref, op.operands))


def is_convertible(op: ir.Operation, *, shared: bool = False) -> bool:
    """Whether an op can be raised: a linalg op, an allocation or scalar arithmetic, on whole static
    buffers or static windows of them.

    `shared`: several of its operands may be in one buffer.
    """
    if op.name == "func.return":
        return not on_memrefs(op)
    if op.name in ALLOCATIONS:
        return not len(op.operands) and all(is_plain(r.type) for r in op.results)  # static sizes
    if op.name == "memref.dealloc" or op.name.startswith(_PLAIN):
        return True
    if op.name == "memref.subview":
        return is_window(op)
    if op.name == "memref.copy":
        return all(_has_value(v) for v in op.operands) and (
            shared or root_of(op.operands[0]) != root_of(op.operands[1])
        )
    if not is_structured(op) or not (shared or not overwrites_its_inputs(op)):
        return False
    return all(not is_memref(v) or _has_value(v) for v in op.operands)


def has_known_buffers(op: ir.Operation) -> bool:
    """Whether the op's buffers are arguments and allocations, or these in another shape: any two
    of them are the same or disjoint."""
    roots = dict.fromkeys(root_of(v) for v in op.operands if is_memref(v))
    under = [root_memref(v) if made_by(v, *RESHAPES) is not None else v for v in roots]
    known = (isinstance(root.owner, ir.Block) or made_by(root, *ALLOCATIONS) is not None for root in under)
    return len({*under}) == len(roots) and all(known)


def is_on_host(op: ir.Operation) -> bool:
    """Whether the op is in a function, directly or in loops and branches of the payload (not of a
    statement)."""
    around = takewhile(lambda each: each.name != "func.func", ancestors(op))
    payload = all(
        each.name in _HOST and not any(name.startswith("weft.") for name in each.attributes) for each in around
    )
    return payload and any(each.name == "func.func" for each in ancestors(op))


def has_apart_windows(op: ir.Operation) -> bool:
    """Whether each window (or buffer) of the op can have its own value: no element belongs to two
    of them, so that one iteration reads or writes it and another iteration writes it."""
    from ..proof.overlaps import overlap  # late import: most ops are on whole buffers

    return all(not is_memref(v) or is_plain(root_memref(v).type) for v in op.operands) and overlap(op) is None


MOST_WINDOWS = 24
"""The most windows of a function that are compared pairwise."""


def apart_windows(function: ir.Operation) -> dict[ir.Value, ir.Value] | None:
    """For each memref that ops of a function's body use, the first memref with the same view: each
    view can have its own value, like a buffer. None if two different views may overlap, or if an op
    reads a view at another element than it writes."""
    from ..mapping.keys import structural_key
    from ..proof.overlaps import apart, overlap

    working = [op for op in children(function) if is_structured(op) or op.name == "memref.copy"]
    used = [value for op in working for value in op.operands if is_memref(value)]
    first: dict[str, ir.Value] = {}
    found = {value: first.setdefault(structural_key(value), value) for value in used}
    if len(first) > MOST_WINDOWS or not all(apart(a, b) for a, b in combinations(first.values(), 2)):
        return None
    if any(is_structured(op) and overlap(op) is not None for op in working):
        return None
    return found


def is_window(op: ir.Operation) -> bool:
    """Whether a subview is a static window of a whole buffer, of the buffer's rank."""
    kinds = [v.type for v in (op.operands[0], op.results[0])]
    ranks = {k.rank for k in kinds if isinstance(k, ir.MemRefType)}
    return len(op.operands) == 1 and is_plain(op.operands[0].type) and len(ranks) == 1


def window_of(value: ir.Value) -> ir.Operation | None:
    """The subview that makes `value`; None if another op does."""
    return made_by(value, "memref.subview")


def root_of(value: ir.Value) -> ir.Value:
    window = window_of(value)
    return value if window is None else root_of(window.operands[0])


def _has_value(value: ir.Value) -> bool:
    """Whether a buffer, or a window of one, can have a current value."""
    window = window_of(value)
    return is_plain(value.type) if window is None else is_window(window)


def overwrites_its_inputs(op: ir.Operation) -> bool:
    """Whether an output is also an input that is read at an element other than the written one:
    tensors, as values, cannot express that."""
    space = structure(op)
    operands = list(op.operands)
    return any(
        root_of(operands[o]) == root_of(operands[i]) and (operands[o] != operands[i] or space.maps[o] != space.maps[i])
        for o in range(space.inputs, len(operands))
        for i in range(len(operands))
        if i != o
    )


def obstacle(op: ir.Operation) -> tuple[str, str]:
    """The reason why an op on memrefs cannot be raised, and a hint."""
    names = operand_names(op)
    for name, buffer in zip(names, op.operands, strict=True):
        root = root_of(buffer)
        if is_memref(root) and not is_plain(root.type):
            what = f"`{name}` is {root.type}" if root == buffer else f"`{name}` is a window of {root.type}"
            return (
                f"{what}, a buffer with a layout, which no tensor has",
                "take a buffer without a layout as argument, and its window by `memref.subview` in the function",
            )
    if is_on_host(op) and is_structured(op) and not has_apart_windows(op):
        return (
            "it reads a buffer at other elements than those that it writes",
            "write to a buffer of its own in the payload, `memref.alloc`, or `memref.copy` the input first",
        )
    if not is_on_host(op):
        return "it is in a loop or a branch, so that it can't be converted to tensors", "use it before `bufferize`"
    return "it can't be converted to tensors", "use it before `bufferize`"
