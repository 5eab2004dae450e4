"""Copies: of modules, which make a statement a transaction; of ops that take other values than these do."""

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
    """A module with these attributes, and nothing in it."""
    made = ir.Module.create(loc=like.operation.location)
    for name, attribute in given.items():
        made.operation.attributes[name] = attribute
    return made


PROVEN = "weft.proven"
"""On a mapped loop or a kernel: the fingerprint of what was proven race-free (`proof/races/proof.py`). Gone from what
users see, as handles' tags are."""

UNPROVEN = "weft.unproven"
"""On a kernel that is not proven race-free and was let through: why."""

COMBINED = "weft.combined"
"""On a kernel: what is known of the reductions of the payload that it executes (`proof/coverage`), a line each. Gone
likewise."""

LEAVES = "weft.leaves"
"""On a launch: what it leaves in the buffers that are passed to it (`proof/coverage`). Gone likewise."""

_STATED = (PROVEN, COMBINED, LEAVES)
_TAG = "|".join((r"(?:weft\.h\d+", *(rf'{re.escape(name)} = "[^"]*"' for name in _STATED))) + ")"
_TAGS = [re.compile(pattern) for pattern in (f"{_TAG}, ", f", {_TAG}", rf" attributes \{{{_TAG}\}}", rf" \{{{_TAG}\}}")]
"""A tag among others, and alone: each pattern begins with letters of its own, which are searched for fast."""


def strip_tags(module: ir.Module) -> ir.Module:
    """A copy without the handles' tags, for showing and for goldens."""
    copy = clone_module(module)
    for op in operations(copy.operation):
        for name in [n for n in op.attributes if n in _STATED or _handle_number(n) is not None]:
            del op.attributes[name]
    return copy


def tagged(module: ir.Module) -> dict[int, ir.Operation]:
    """The ops of a module by the number of the handle on them."""
    ops = operations(module.operation)
    return {number: op for op in ops for name in op.attributes if (number := _handle_number(name)) is not None}


def _handle_number(name: str) -> int | None:
    return int(name[6:]) if name.startswith("weft.h") and name[6:].isdigit() else None


def is_named(op: ir.Operation) -> bool:
    """Whether a handle names the op: a statement may be said about it."""
    return any(_handle_number(name) is not None for name in op.attributes)


def without_tags(text: str) -> str:
    """The text of an op without handle tags: `{weft.h3, weft.map = …}` → `{weft.map = …}`."""
    for tag in _TAGS:
        text = tag.sub("", text)
    return text


def text_of(op: ir.Operation) -> str:
    """The text of an op that is right, as upstream's verifier says, without handle tags."""
    return without_tags(op.get_asm(binary=True, use_local_scope=True, assume_verified=True).decode())


def replace_operands(op: ir.Operation, by: Mapping[ir.Value, ir.Value]) -> None:
    """Let an op, and the ops in it, take other values in the place of those in `by`."""
    for inner in operations(op):
        for position, operand in enumerate(inner.operands):
            if operand in by:
                inner.operands[position] = by[operand]


def clone_with(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of an op at the insertion point, of the copies of what it takes; its results join them."""
    copy = op.clone(ir.InsertionPoint.current).operation
    replace_operands(copy, copies)
    copies.update(zip(op.results, copy.results, strict=True))
    return copy


def index_dimension(op: ir.Operation) -> int:
    """Which dimension's index a `linalg.index` is."""
    return ir.IntegerAttr(op.attributes["dim"]).value


def clone_body(block: ir.Block, arguments: Sequence[ir.Value], indices: Sequence[ir.Value] = ()) -> list[ir.Value]:
    """Clone a body at the insertion point, with values for its arguments and its `linalg.index`es; the values that it
    yields."""
    return clone_until(block, dict(zip(block.arguments, arguments, strict=False)), indices)


def clone_until(
    block: ir.Block, copies: dict[ir.Value, ir.Value], indices: Sequence[ir.Value] = (), end: ir.Operation | None = None
) -> list[ir.Value]:
    """Clone the ops of a block in front of `end`, or of its last one, but those whose copies are there; what that op
    takes."""
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
    """Slice what a `tensor.pad` of negative widths crops, in front of it; the widths that are left are 0 or more."""
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
    """From where to where what is left of the image stands in the result; nowhere at 0."""
    start, stop = max(low, 0), min(low + size, size + low + high)
    return (start, stop) if start < stop else (0, 0)


def unproven(kernel: ir.Operation) -> str | None:
    """Why a kernel is not proven race-free; None if it is, or was never asked."""
    return ir.StringAttr(kernel.attributes[UNPROVEN]).value if UNPROVEN in kernel.attributes else None
