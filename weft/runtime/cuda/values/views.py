"""Memrefs in the text: each is a buffer (a pointer or an array), and a view of it.

A view maps its indices to those of the buffer, dimension by dimension. So accesses of a subview
appear in the text as `A[(row0 + i) * 48 + col]`, or for a shared array as `s0[i][j + 4]`. Views
that cannot be expressed so (reinterpretations, collapsed shapes) are flat buffers with strides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ....dsl.records import record
from .expression import Expr, Lane, combine
from .integers import add, bounds, literal, multiply
from .types import BUILT_IN_VECTORS, INDEX, Range, ScalarType

Space = Literal["global", "shared", "private", "constant"]


@record
class NamedMemory:
    """Memory with a name: element (i, j, …) is at `offset + i * strides[0] + j * strides[1] + …`.

    Attributes:
        array: it is declared with its dimensions, `float s0[16][17]`, row-major; else its name is a
            pointer, unless `single`.
        single: it is one element, a plain variable.
        origin: the declared name, if `name` is an expression.
        elements: their number, if known.
    """

    name: str
    element: ScalarType
    space: Space
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    offset: Expr
    array: bool = False
    origin: str = ""
    single: bool = False
    elements: Expr | None = None

    @property
    def root(self) -> str:
        """The name of the parameter or the array that the memory belongs to."""
        return self.origin or self.name

    @property
    def value_name(self) -> str:
        """The name for a value loaded from it: `a` from `A`, `v0` from `s0`."""
        plain = self.root.lower()
        return plain if self.space == "global" and plain != self.root else "v"

    @property
    def pointer(self) -> str:
        """A pointer to the first element."""
        if self.single:
            return f"&{self.name}"
        return f"&{self.name}{'[0]' * len(self.sizes)}" if self.array and len(self.sizes) != 1 else self.name


@record
class Axis:
    """Index of a buffer dimension = `offset` + `stride` * (view index `dimension`); `offset` if
    `dimension` is None."""

    offset: Expr
    stride: Expr
    dimension: int | None


@record
class NamedView:
    """A memref as the text accesses it: a buffer, and the sizes and strides of the view's
    dimensions."""

    buffer: NamedMemory
    shape: tuple[Expr, ...]
    axes: tuple[Axis, ...]

    @classmethod
    def whole(cls, buffer: NamedMemory, rank: int | None = None) -> NamedView:
        """A view of a whole buffer. A memref of rank 0 (`rank`) has no index, but its buffer an
        axis of one element."""
        zero, one = literal(0), literal(1)
        if rank == 0:
            return cls(buffer, (), tuple(Axis(zero, one, None) for _ in buffer.sizes))
        return cls(buffer, buffer.sizes, tuple(Axis(zero, one, d) for d in range(len(buffer.sizes))))

    @property
    def element(self) -> ScalarType:
        return self.buffer.element

    def buffer_indices(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The buffer's indices of the view's element `indices`."""
        return tuple(
            axis.offset if axis.dimension is None else add(axis.offset, multiply(indices[axis.dimension], axis.stride))
            for axis in self.axes
        )

    def strides(self) -> tuple[Expr, ...]:
        """The view's strides in elements of the buffer, one per view dimension (0 for a dimension
        of size one)."""
        made = [literal(0)] * len(self.shape)
        for axis, stride in zip(self.axes, self.buffer.strides, strict=True):
            if axis.dimension is not None:
                made[axis.dimension] = multiply(axis.stride, stride)
        return tuple(made)

    def offset(self) -> Expr:
        """The linear index of the view's first element."""
        return linear(self.buffer, self.buffer_indices(tuple(literal(0) for _ in self.shape)))

    def flat(self, sizes: tuple[Expr, ...], strides: tuple[Expr, ...], offset: Expr) -> NamedView:
        """Another view of the same memory, with these sizes, strides and offset."""
        buffer = self.buffer
        pointer = buffer.pointer if buffer.pointer == buffer.name else f"({buffer.pointer})"
        memory = replace(buffer, name=pointer, origin=buffer.root, array=False, single=False)
        return NamedView.whole(replace(memory, sizes=sizes, strides=strides, offset=offset))


def _in_bounds(index: Expr, size: Expr) -> Expr:
    """Narrows an index of an access to the size: executed accesses are in bounds."""
    known, size_value = index.range, size.constant
    if known is None or size_value is None or size_value == 0 or known.value is not None:
        return index
    return replace(index, range=known.clamp(0, size_value - 1))


def linear(buffer: NamedMemory, indices: tuple[Expr, ...]) -> Expr:
    """The linear index of a buffer element, with the range that follows from its being in bounds."""
    total = literal(0)
    for index, size, stride in zip(indices, buffer.sizes, buffer.strides, strict=True):
        total = add(total, multiply(_in_bounds(index, size), stride))
    return add(buffer.offset, total)


def _accessed(buffer: NamedMemory, indices: tuple[Expr, ...]) -> Expr:
    """The linear index of an accessed element. If the number of elements fits in 32 bits, it bounds
    each partial sum."""
    count, parts = buffer.elements, (*buffer.strides, buffer.offset)
    few = count is not None and count.host is not None and count.range is not None and count.range.fits(32)
    if count is None or not few or not all(part.range is not None and part.range.non_negative for part in parts):
        return linear(buffer, indices)
    within = Range(0, bounds(count, INDEX).high)
    total = replace(buffer.offset, host=None)
    for index, size, stride in zip(indices, buffer.sizes, buffer.strides, strict=True):
        known = bounds(_in_bounds(index, size), INDEX).clamp(0, within.high)
        term = multiply(replace(index, range=known, host=None), replace(stride, host=None), within=within)
        total = add(total, term, within=within)
    return total


def access(buffer: NamedMemory, indices: tuple[Expr, ...]) -> Expr:
    """The element itself: `A[row * 48 + col]`, `s0[ty][tx]`."""
    if buffer.single:
        text, parts = buffer.name, ()
    elif buffer.array:
        text = buffer.name + "".join(f"[{i.text}]" for i in indices) if indices else buffer.name
        parts = indices
    else:
        index = _accessed(buffer, indices)
        text, parts = f"{buffer.name}[{index.text}]", (index,)
    made = combine(text, buffer.element.cxx, parts, range=buffer.element.full_range)
    return replace(made, reads=True)


def vector_type(element: ScalarType, count: int) -> str:
    """The C++ type of an access to `count` elements."""
    return BUILT_IN_VECTORS.get((element.cxx, count), f"vec<{element.cxx}, {count}>")


def lanes_of(variable: str, element: ScalarType, count: int) -> tuple[Expr, ...]:
    """The elements of a variable of a vector type."""
    type, built_in = vector_type(element, count), (element.cxx, count) in BUILT_IN_VECTORS
    return tuple(
        Expr(
            f"{variable}.{'xyzw'[i]}" if built_in else f"{variable}.at[{i}]",
            element.cxx,
            range=element.full_range,
            atom=True,
            element=Lane(variable, type, i, count),
        )
        for i in range(count)
    )


def wide(first: Expr, type: str, *, const: bool) -> str:
    """`*reinterpret_cast<const float4*>(&A[…])`."""
    return f"*reinterpret_cast<{'const ' if const else ''}{type}*>(&{first.text})"


def access_width(buffer: NamedMemory, indices: tuple[Expr, ...], count: int, *, registers: bool = False) -> int:
    """The largest number of `count` consecutive elements that one access may move: at most 16
    bytes, with proven alignment.

    Pointers and shared arrays with wide accesses are aligned to 16 bytes
    (`runtime/cuda/__init__.py`). Private arrays are registers without addresses; they have wide
    accesses only where these move them from or to memory (`registers`).
    """
    if (buffer.space == "private" and not registers) or buffer.single:
        return 1
    if buffer.element.boolean or buffer.element.cxx == "long long":
        return 1
    index = _accessed(buffer, indices)
    multiple = (index.range or Range(0, 0, 1)).multiple
    width = min(count, 16 // buffer.element.size)
    while width > 1 and (count % width or multiple % width):
        width -= 1
    return width if width & (width - 1) == 0 else 1
