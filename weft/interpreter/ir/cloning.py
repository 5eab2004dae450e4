"""Copies of modules, which make a statement a transaction; copies of ops with other operands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .mlir import DYNAMIC, ahead_of, attributes, ir, operations, ops_of
from .structured import part_of, replace


def clone_module(module: ir.Module) -> ir.Module:
    """An independent copy of `module` in the same context, attributes of the module op included."""
    with module.context:
        copy = empty_module(module, attributes(module.operation))
        for op in module.body.operations:
            copy.body.append(op.operation.clone())
    return copy


def empty_module(like: ir.Module, given: Mapping[str, ir.Attribute]) -> ir.Module:
    """An empty module with the same attributes."""
    made = ir.Module.create(loc=like.operation.location)
    for name, attribute in given.items():
        made.operation.attributes[name] = attribute
    return made


PROVEN = "weft.proven"
"""On a mapped loop or a kernel: the fingerprint of the body that was proven race-free
(`proof/races/proof.py`). Removed from the module that users see, like handles' tags."""

UNPROVEN = "weft.unproven"
"""On a kernel that was accepted without a proof of race freedom: the reason."""

COMBINED = "weft.combined"
"""On a kernel: a line for each reduction of the payload that it executes, with the result of
`proof/coverage`. Removed likewise."""

LEAVES = "weft.leaves"
"""On a launch: the contents it leaves in the buffers passed to it (`proof/coverage`). Removed
likewise."""

LEAVES_IN_ARGUMENTS = "weft.leaves_in_arguments"
"""On a gap (`focus`): the contents that the ops in its place leave in arguments of the function, by their
numbers."""

_STATED = (PROVEN, COMBINED, LEAVES)
_TAG = "|".join((r"(?:weft\.h\d+", *(rf'{re.escape(name)} = "[^"]*"' for name in _STATED))) + ")"
_TAGS = [re.compile(pattern) for pattern in (f"{_TAG}, ", f", {_TAG}", rf" attributes \{{{_TAG}\}}", rf" \{{{_TAG}\}}")]
"""A tag among others, and alone. Each pattern begins with distinct letters, so that the search is
fast."""


def strip_tags(module: ir.Module) -> ir.Module:
    """A copy without handles' tags, for display and for goldens."""
    copy = clone_module(module)
    for op in operations(copy.operation):
        for name in [n for n in op.attributes if n in _STATED or _handle_number(n) is not None]:
            del op.attributes[name]
    return copy


def tagged(module: ir.Module) -> dict[int, ir.Operation]:
    """The ops of a module, by the number of the handle on them."""
    ops = operations(module.operation)
    return {number: op for op in ops for name in op.attributes if (number := _handle_number(name)) is not None}


def _handle_number(name: str) -> int | None:
    return int(name[6:]) if name.startswith("weft.h") and name[6:].isdigit() else None


def is_named(op: ir.Operation) -> bool:
    """Whether a handle names the op, so that a statement may refer to it."""
    return any(_handle_number(name) is not None for name in op.attributes)


def without_tags(text: str) -> str:
    """The text of an op without handle tags: `{weft.h3, weft.map = …}` → `{weft.map = …}`."""
    for tag in _TAGS:
        text = tag.sub("", text)
    return text


def text_of(op: ir.Operation) -> str:
    """The text of a verified op, without handle tags."""
    return without_tags(op.get_asm(binary=True, use_local_scope=True, assume_verified=True).decode())


def replace_operands(op: ir.Operation, by: Mapping[ir.Value, ir.Value]) -> None:
    """Replaces operands of an op, and of the ops in it."""
    for inner in operations(op):
        for position, operand in enumerate(inner.operands):
            if operand in by:
                inner.operands[position] = by[operand]


def clone_with(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of an op at the insertion point, with the copies of its operands; its results are
    added to them."""
    copy = op.clone(ir.InsertionPoint.current).operation
    replace_operands(copy, copies)
    copies.update(zip(op.results, copy.results, strict=True))
    return copy


def index_dimension(op: ir.Operation) -> int:
    """The dimension of a `linalg.index`."""
    return ir.IntegerAttr(op.attributes["dim"]).value


def clone_body(block: ir.Block, arguments: Sequence[ir.Value], indices: Sequence[ir.Value] = ()) -> list[ir.Value]:
    """Clones a body at the insertion point, with values for its arguments and its `linalg.index`
    ops; returns the yielded values."""
    return clone_until(block, dict(zip(block.arguments, arguments, strict=False)), indices)


def clone_until(
    block: ir.Block, copies: dict[ir.Value, ir.Value], indices: Sequence[ir.Value] = (), end: ir.Operation | None = None
) -> list[ir.Value]:
    """Clones the ops of a block before `end` (by default the terminator), except those with copies;
    returns the copies of the operands of `end`."""
    *ops, last = ops_of(block)
    for op in ops:
        if end is not None and op == end:
            last = op
            break
        if op.name == "linalg.index" and indices:
            copies[op.results[0]] = indices[index_dimension(op)]
        elif not op.results or op.results[0] not in copies:
            made = clone_with(op, copies)
            for index in operations(made, "linalg.index") if indices else ():
                replace(index, [indices[index_dimension(index)]])
    return [copies.get(v, v) for v in last.operands]


def crop_before_padding(module: ir.Module) -> None:
    """Replaces cropping by a `tensor.pad` of negative widths with a slice before it; the remaining
    widths are at least 0."""
    for op in operations(module.operation, "tensor.pad"):
        low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{end}"])) for end in ("low", "high"))
        kind = ir.RankedTensorType(op.operands[0].type)
        if DYNAMIC in (*low, *high) or min((*low, *high), default=0) >= 0 or not kind.has_static_shape:
            continue
        boxes = [_box(n, a, b) for n, a, b in zip(kind.shape, low, high, strict=True)]
        sizes = [stop - start for start, stop in boxes]
        offsets = [start - a if n else 0 for n, (start, _), a in zip(sizes, boxes, low, strict=True)]
        whole = [n + a + b for n, a, b in zip(kind.shape, low, high, strict=True)]
        with module.context, ahead_of(op):
            op.operands[0] = part_of(op.operands[0], sizes, offsets)
            op.attributes["static_low"] = ir.DenseI64ArrayAttr.get([start for start, _ in boxes])
            op.attributes["static_high"] = ir.DenseI64ArrayAttr.get(
                [n - stop for n, (_, stop) in zip(whole, boxes, strict=True)]
            )


def _box(size: int, low: int, high: int) -> tuple[int, int]:
    """Bounds of the cropped image in the result; empty at 0."""
    start, stop = max(low, 0), min(low + size, size + low + high)
    return (start, stop) if start < stop else (0, 0)


def unproven(kernel: ir.Operation) -> str | None:
    """The reason why a kernel has no proof of race freedom; None if it has, or needs, none."""
    return ir.StringAttr(kernel.attributes[UNPROVEN]).value if UNPROVEN in kernel.attributes else None
