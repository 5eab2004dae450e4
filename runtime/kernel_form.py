"""The normal form of kernels: which ops the emitter and the simulator know, and how others become these.

What a schedule makes is in it already. A kernel from outside may say more: upstream's passes lower that on a clone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..interpreter.ir.mlir import ir, operations, run_passes

_LOWERED = frozenset(
    ("affine.delinearize_index", "affine.for", "affine.if", "affine.linearize_index", "affine.load", "affine.store",
     "affine.vector_load", "affine.vector_store"),
)  # fmt: skip
"""Ops that make the pipeline run."""

_PIPELINE = "gpu.module(gpu.func(affine-expand-index-ops,lower-affine))"


def normal(function: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """The kernel in normal form, and the module that it lives in, and as long as: its own, or a clone of that.

    An op without a lowering stays what it is.
    """
    path = [function]
    while path[-1].parent is not None:
        path.append(path[-1].parent.operation)
    if not any(op.name in _LOWERED for op in operations(function)):
        return function, path[-1]
    module = path[-1].clone().operation
    try:
        run_passes(module, _PIPELINE)
    except ir.MLIRError:
        return function, path[-1]
    found = module
    for original in reversed(path[:-1]):
        name = original.attributes["sym_name"]
        found = next(op for op in operations(found, original.name) if op.attributes["sym_name"] == name)
    return found, module


ARRANGING = frozenset(
    ("vector.broadcast", "vector.extract", "vector.extract_strided_slice", "vector.from_elements", "vector.insert",
     "vector.insert_strided_slice", "vector.interleave", "vector.shape_cast", "vector.shuffle", "vector.transpose"),
)  # fmt: skip
"""Ops on vectors that compute nothing: each element of the result is one of an operand's."""


def arranged(op: ir.Operation) -> np.ndarray | None:
    """For each element of the result the number of that which it is, counted over all operands, row by row.

    None where that is not known: a dynamic position, an element that is poison.
    """
    shapes = [tuple(v.type.shape) if isinstance(v.type, ir.VectorType) else () for v in op.operands]
    counts = [math.prod(shape) for shape in shapes]
    numbers = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
    first, *rest = (part.reshape(shape) for part, shape in zip(numbers, shapes, strict=True))
    result = op.results[0].type
    made = tuple(result.shape) if isinstance(result, ir.VectorType) else ()
    match op.name.removeprefix("vector."):
        case "extract" | "insert":
            place = tuple(op.attributes["static_position"])
            if any(p < 0 for p in place):
                return None
            return first[place] if op.name == "vector.extract" else _overwritten(rest[0], place, first)
        case "extract_strided_slice":
            return first[_slices(op, integers_of(op, "sizes"))]
        case "insert_strided_slice":
            (target,) = rest
            return _overwritten(target, _slices(op, [1] * (target.ndim - first.ndim) + list(first.shape)), first)
        case "shuffle":
            mask = list(op.attributes["mask"])
            return None if -1 in mask else np.concatenate([np.atleast_1d(v) for v in (first, *rest)])[mask]
        case "transpose":
            return first.transpose(list(op.attributes["permutation"]))
        case "interleave":
            return np.stack((first, *rest), axis=-1).reshape(made)
        case "broadcast":
            return np.broadcast_to(first, made)
        case _:
            return np.arange(sum(counts)).reshape(made)


def _overwritten(target: np.ndarray, where: tuple[int | slice, ...], values: np.ndarray) -> np.ndarray:
    made = target.copy()
    made[where] = values
    return made


def _slices(op: ir.Operation, sizes: Sequence[int]) -> tuple[slice, ...]:
    """Of the leading dimensions; the others are taken whole."""
    offsets, steps = integers_of(op, "offsets"), integers_of(op, "strides")
    steps += [1] * (len(offsets) - len(steps))
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, steps, strict=False))


def integers_of(op: ir.Operation, name: str) -> list[int]:
    """An attribute that is a list of integers, in either spelling."""
    return [ir.IntegerAttr(i).value if isinstance(i, ir.Attribute) else i for i in op.attributes[name]]
