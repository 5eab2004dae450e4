"""Memory described by memref types and views: strides and offset, elements, memory spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from math import gcd, prod
from typing import Literal, TypeVar

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..ir.functions import name_of
from ..ir.mlir import DYNAMIC, ir, memref
from ..ir.refusing import refuse
from ..ir.reshapes import groups_of
from ..ir.structured import dynamic_and_static


def strided(kind: ir.Type, at: ir.Operation | None = None, what: str | None = None) -> tuple[list[int], int]:
    """Strides and offset of a memref type, `DYNAMIC` where not static.

    Args:
        at: the op that the memref belongs to, for the diagnostic.
        what: a description of the memref, if it has a name.

    Raises:
        WeftError: W0398 for a layout that no strides express, such as `affine_map<(i) -> (i
            floordiv 4, i mod 4)>`.
    """
    try:
        strides, offset = ir.MemRefType(kind).get_strides_and_offset()
    except RuntimeError as error:
        given = f"the layout of {kind}" if what is None else f"{what} is {kind}: its layout"
        hint = "write the layout as `strided<[8, 1]>`, or leave it out: upstream's `normalize-memrefs` does that"
        raise refuse("W0398", f"{given} has no strides", at, hint) from error
    return list(strides), offset


def transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """The buffer with its dimensions in this order, at the insertion point."""
    kind = ir.MemRefType(value.type)
    strides, offset = strided(kind)
    layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in order])
    seen = ir.MemRefType.get([kind.shape[axis] for axis in order], kind.element_type, layout, kind.memory_space)
    return memref.TransposeOp(seen, value, ir.AffineMapAttr.get(ir.AffineMap.get_permutation(list(order)))).result


def is_plain(kind: ir.Type) -> bool:
    """Whether a memref type has no layout: row-major from its first element, whatever its sizes."""
    if not isinstance(kind, ir.MemRefType):
        return False
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank, kind.context))


@record
class MemrefLayout:
    """Addresses of a memref's elements: `(i, j, ...)` is at `offset + i * strides[0] + j *
    strides[1] + ...`.

    Args:
        shape: the sizes.
        strides, offset: in elements. None: known only at run time.
        plain: without a layout: row-major, whatever the sizes.
    """

    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    plain: bool = False

    @classmethod
    def of(cls, kind: ir.Type, at: ir.Operation | None = None) -> MemrefLayout:
        """The layout of a memref type. `at`: the op it belongs to. Raises W0398 (see `strided`)."""
        seen = ir.MemRefType(kind)
        strides, offset = strided(kind, at)
        shape = tuple(None if seen.is_dynamic_dim(d) else seen.get_dim_size(d) for d in range(seen.rank))
        return cls(shape, *_open(strides, offset), is_plain(kind))

    @cached_property
    def apart(self) -> bool | None:
        """Whether the layout is injective: no two elements are at one address. None where open
        sizes or strides decide it."""
        if self.plain or 0 in self.shape:
            return True
        axes = [(size, stride) for size, stride in zip(self.shape, self.strides, strict=True) if size != 1]
        known = [(size, abs(stride)) for size, stride in axes if size is not None and stride is not None]
        others = [stride for size, stride in axes if size is None or stride is None]
        if not others:
            return _apart(known)
        if len(others) == 1 and others[0] is not None:  # one size is open: with the largest stride it may be any
            widest, reach = abs(others[0]), sum((size - 1) * stride for size, stride in known)
            return True if widest > reach and _apart(known) else None
        # two elements that differ along the known axes alone are at one address, if there are any elements
        return False if None not in self.shape and _apart(known) is False else None

    @property
    def reach(self) -> tuple[int, int] | None:
        """The lowest and the highest address; None where a size, a stride or the offset is open, or
        there are no elements."""
        if self.offset is None or 0 in self.shape:
            return None
        low = high = self.offset
        for size, stride in zip(self.shape, self.strides, strict=True):
            if size is None or (stride is None and size != 1):
                return None
            span = (size - 1) * (stride or 0)
            low, high = low + min(span, 0), high + max(span, 0)
        return low, high

    @property
    def in_rows(self) -> bool:
        """Whether the elements are row-major and contiguous from the first address, as far as their
        sizes are known."""
        if self.plain:
            return True
        row: int | None = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and (stride is None or stride != row):
                return False
            row = None if row is None or size is None else row * size
        return self.offset == 0


def _open(strides: Sequence[int], offset: int) -> tuple[tuple[int | None, ...], int | None]:
    return tuple(None if stride == DYNAMIC else stride for stride in strides), None if offset == DYNAMIC else offset


NO_LAYOUT = "leave the layout out; `memref.reinterpret_cast` shows memory that lies row by row in another way"
"""The hint where created memory must be row-major: upstream allocates no other."""
MOST_TRIED = 10_000
"""Differences of indices that are tried, at most, to find two elements at one address."""


def _apart(axes: Sequence[tuple[int, int]]) -> bool | None:
    """Whether no two elements of these sizes (above 1) and strides (non-negative) are at one
    address. None: too many to try."""
    axes = sorted(axes, key=lambda axis: -axis[1])
    inner = [(0, 0)]  # of the axes from here on: their reach, and a divisor of their strides
    for size, stride in reversed(axes):
        inner.insert(0, (inner[0][0] + (size - 1) * stride, gcd(inner[0][1], stride)))
    if all(stride > reach for (_, stride), (reach, _) in zip(axes, inner[1:], strict=True)):
        return True
    if any(stride == 0 for _, stride in axes) or prod(size for size, _ in axes) > inner[0][0] + 1:
        return False
    tried = 0
    waiting = [(0, 0, False)]  # number of axes, the address of the indices along them, whether an index is not 0
    while waiting and tried < MOST_TRIED:
        depth, address, moved = waiting.pop()
        if depth == len(axes):
            if moved:
                return False
            continue
        (size, stride), (reach, step) = axes[depth], inner[depth + 1]
        low, high = (
            max(1 - size if moved else 0, -((address + reach) // stride)),
            min(size - 1, (reach - address) // stride),
        )
        for index in range(low, min(high, low + MOST_TRIED) + 1):
            tried += 1
            there = address + index * stride
            if there % step == 0 if step else there == 0:
                waiting.append((depth + 1, there, moved or index != 0))
    return None if waiting else True


T = TypeVar("T")


def kept_dimensions(sizes: list[int], result: ir.MemRefType) -> list[int]:
    """The dimensions of a subview that its (perhaps rank-reduced) result keeps; the others have
    size 1."""
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
    """The strides in elements. None if a stride is unknown or not positive; with `offset_counts`,
    also if the offset is not 0."""
    if any(kind.is_dynamic_dim(d) for d in range(1, kind.rank)):
        return None
    strides, offset = strided(kind)
    if any(s == DYNAMIC or s <= 0 for s in strides) or (offset_counts and offset != 0):
        return None
    return tuple(strides)


READING, STORING = "bufferization.to_tensor", "bufferization.materialize_in_destination"
"""A buffer's elements as a tensor; a tensor's elements into a buffer."""


def as_tensor(view: ir.Value) -> ir.Value:
    """The view as a tensor to write into, at the insertion point."""
    kind = ir.MemRefType(view.type)
    tensor_type = ir.RankedTensorType.get(list(kind.shape), kind.element_type)
    return ir.Operation.create(READING, [tensor_type], [view], _alone()).results[0]


def store_tensor(tensor: ir.Value, view: ir.Value) -> None:
    """Stores a tensor's elements to the view, at the insertion point."""
    ir.Operation.create(STORING, [], [tensor, view], _alone())


def _alone() -> dict[str, ir.Attribute]:
    return {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}


def value_name(value: ir.Value) -> str:
    """A memref's name for users, or MLIR's."""
    return name_of(value) or value.get_name(use_local_scope=True).lstrip("%")


# ---- what views say of themselves ------------------------------------------------------------------------------------


def mixed(op: ir.Operation, *attributes: str, first: int = 1) -> list[list[int | ir.Value]]:
    """The op's mixed list of offsets, sizes or strides; dynamic entries are its operands from
    `first` on, in order."""
    dynamic = iter(list(op.operands)[first:])
    return [[next(dynamic) if n == DYNAMIC else n for n in op.attributes[name]] for name in attributes]


RESHAPING = frozenset(["memref.collapse_shape", "memref.expand_shape", "memref.reshape", "memref.transpose"])
"""Views of a whole memref from its first element, with other sizes and strides."""


def reshaped(
    op: ir.Operation,
    sizes: Sequence[T],
    strides: Sequence[T],
    number: Callable[[int | ir.Value], T],
    times: Callable[[T, T], T],
    one: Callable[[T], bool],
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The sizes and strides of a reshaping view, from those of its memref. Numbers may be of any
    domain; `times` multiplies them."""
    if op.name == "memref.transpose":
        order = [result.position for result in ir.AffineMapAttr(op.attributes["permutation"]).value.results]
        return tuple(sizes[d] for d in order), tuple(strides[d] for d in order)
    if op.name == "memref.reshape":
        kind = ir.MemRefType(op.results[0].type)
        return tuple(map(number, kind.shape)), tuple(map(number, kind.get_strides_and_offset()[0]))
    groups = groups_of(op)
    if op.name == "memref.collapse_shape":
        longer = [[d for d in group if not one(sizes[d])] or group for group in groups]
        products = tuple(reduce(times, (sizes[d] for d in group)) for group in groups)
        return products, tuple(strides[d[-1]] for d in longer)
    made = [number(n) for n in mixed(op, "static_output_shape")[0]]
    steps = list(made)
    for group, stride in zip(groups, strides, strict=True):
        for d in reversed(group):
            steps[d] = stride
            stride = times(stride, made[d])
    return tuple(made), tuple(steps)


Space = Literal["workgroup", "global", "private"]

_SPELLINGS: dict[str, Space] = {
    "#gpu.address_space<global>": "global",
    "#gpu.address_space<constant>": "global",
    "#gpu.address_space<workgroup>": "workgroup",
    "#gpu.address_space<private>": "private",
    "#nvvm.memory_space<generic>": "global",
    "#nvvm.memory_space<global>": "global",
    "#nvvm.memory_space<constant>": "global",
    "#nvvm.memory_space<shared>": "workgroup",
    "#nvvm.memory_space<local>": "private",
    "#ptr.generic_space": "global",
    "#amdgpu.address_space<fat_raw_buffer>": "global",
    "#spirv.storage_class<CrossWorkgroup>": "global",
    "#spirv.storage_class<StorageBuffer>": "global",
    "#spirv.storage_class<Uniform>": "global",
    "#spirv.storage_class<UniformConstant>": "global",
    "#spirv.storage_class<Generic>": "global",
    "#spirv.storage_class<Workgroup>": "workgroup",
    "#spirv.storage_class<Private>": "private",
    "#spirv.storage_class<Function>": "private",
}
_NUMBERS: dict[int, Space] = {0: "global", 1: "global", 3: "workgroup", 4: "global", 5: "private"}
"""LLVM's address spaces, numbered the same by NVPTX and AMDGPU."""


def space_of(kind: ir.MemRefType | ir.UnrankedMemRefType) -> Space | None:
    """The memory space of a memref type; None for an unknown one (of clusters, of tensor cores,
    others)."""
    attribute = kind.memory_space
    if attribute is None:
        return "global"
    text = str(attribute)
    number = re.fullmatch(r"(?:#llvm\.address_space<)?(\d+)(?:>| : \w+)?", text)
    return _NUMBERS.get(int(number[1])) if number is not None else _SPELLINGS.get(text)


def memory_space(kind: ir.MemRefType | ir.UnrankedMemRefType) -> Space:
    """The memory space of a memref type.

    Raises:
        WeftError: W0641 for an unknown memory space.
    """
    space = space_of(kind)
    if space is None:
        raise fail(
            "W0641",
            f"the memory space {kind.memory_space} is not known: {kind}",
            "write `#gpu.address_space<global>`, `#gpu.address_space<workgroup>` or `#gpu.address_space<private>`; or"
            " LLVM's `1`, `3` or `5`",
        )
    return space


def is_shared(kind: ir.Type) -> bool:
    """Whether a type is in the memory shared by the threads of a block."""
    return isinstance(kind, ir.MemRefType | ir.UnrankedMemRefType) and space_of(kind) == "workgroup"


def subview_type(parts: Sequence[Sequence[int | ir.Value]], old: ir.MemRefType, source: ir.MemRefType) -> ir.MemRefType:
    """The type of a subview with these offsets, sizes and strides, `old` being the type for another
    source or place."""
    strides, offset = strided(source)
    for start, stride in zip(parts[0], strides, strict=True):
        step = _times(start, stride)
        offset = DYNAMIC if DYNAMIC in (offset, step) else offset + step
    if old.rank != source.rank:
        strides, before = strided(old)
        layout = old.layout if offset == before else ir.StridedLayoutAttr.get(offset, strides)
    else:
        strides = [_times(step, stride) for step, stride in zip(parts[2], strides, strict=True)]
        layout = ir.StridedLayoutAttr.get(offset, strides)
    return ir.MemRefType.get(old.shape, old.element_type, layout, source.memory_space)


def _times(count: int | ir.Value, stride: int) -> int:
    """The address difference of `count` strides, as upstream's verifier computes it: 0 for a count
    of 0, whatever the stride."""
    if count == 0 or stride == 0:
        return 0
    return count * stride if isinstance(count, int) and stride != DYNAMIC else DYNAMIC


def subview(source: ir.Value, parts: Sequence[Sequence[int | ir.Value]], old: ir.MemRefType) -> ir.Value:
    """A subview at the insertion point, of the shape of `old`."""
    return memref.SubViewOp(
        subview_type(parts, old, ir.MemRefType(source.type)), source, *dynamic_and_static(*parts)
    ).result
