"""Layouts and elements of memrefs, as their types show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

from ..ir.functions import name_of
from ..ir.mlir import DYNAMIC, ir
from .strides import strided

T = TypeVar("T")


def kept_dimensions(sizes: list[int], result: ir.MemRefType) -> list[int]:
    """Which dimensions of a subview its (perhaps rank-reduced) result keeps; the others have size 1."""
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        position = len(kept)
        if position == result.rank:
            break
        wanted = DYNAMIC if result.is_dynamic_dim(position) else result.get_dim_size(position)
        if size == wanted:
            kept.append(dimension)
    return kept


def static_strides(kind: ir.MemRefType, *, offset_counts: bool = True) -> tuple[int, ...] | None:
    if any(kind.is_dynamic_dim(d) for d in range(1, kind.rank)):
        return None
    strides, offset = strided(kind)
    if any(s == DYNAMIC or s <= 0 for s in strides) or (offset_counts and offset != 0):
        return None
    return tuple(strides)


def element_bytes(kind: ir.Type) -> int | None:
    """The bytes of an element in memory; None for a type of which that is not known."""
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.VectorType):
        inner = element_bytes(kind.element_type)
        count = 1
        for extent in kind.shape:
            count *= extent
        return None if inner is None else inner * count
    width = getattr(kind, "width", None)
    return None if width is None else -(-width // 8)


def value_name(value: ir.Value) -> str:
    """What users call a memref: its name, or as MLIR prints it."""
    return name_of(value) or value.get_name(use_local_scope=True).lstrip("%")


# ---- what views say of themselves ----------------------------------------------------------------------------------------


def mixed(op: ir.Operation, *attributes: str, first: int = 1) -> list[list[int | ir.Value]]:
    """The op's lists of offsets, sizes or strides; what is not static in them are its operands from `first` on, in that order."""
    dynamic = iter(list(op.operands)[first:])
    return [[next(dynamic) if n == DYNAMIC else n for n in op.attributes[name]] for name in attributes]


RESHAPING = frozenset(["memref.collapse_shape", "memref.expand_shape", "memref.reshape", "memref.transpose"])
"""Views of a whole memref from its first element on, with other sizes and strides."""


def reshaped(
    op: ir.Operation,
    sizes: Sequence[T],
    strides: Sequence[T],
    number: Callable[[int | ir.Value], T],
    times: Callable[[T, T], T],
    one: Callable[[T], bool],
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Sizes and strides of such a view, of those of its memref: whatever stands for numbers, multiplied by `times`."""
    if op.name == "memref.transpose":
        order = [result.position for result in ir.AffineMapAttr(op.attributes["permutation"]).value.results]
        return tuple(sizes[d] for d in order), tuple(strides[d] for d in order)
    if op.name == "memref.reshape":
        kind = ir.MemRefType(op.results[0].type)
        return tuple(map(number, kind.shape)), tuple(map(number, kind.get_strides_and_offset()[0]))
    groups = [[ir.IntegerAttr(d).value for d in group] for group in op.attributes["reassociation"]]
    if op.name == "memref.collapse_shape":
        longer = [[d for d in group if not one(sizes[d])] or group for group in groups]
        return tuple(reduce(times, (sizes[d] for d in group)) for group in groups), tuple(strides[d[-1]] for d in longer)
    made = [number(n) for n in mixed(op, "static_output_shape")[0]]
    steps = list(made)
    for group, stride in zip(groups, strides, strict=True):
        for d in reversed(group):
            steps[d] = stride
            stride = times(stride, made[d])
    return tuple(made), tuple(steps)
