"""The root buffers of a kernel's memrefs, and the addresses of their elements.

Elements are distinguished by their indices if no two elements have the same address. Otherwise they
are distinguished by their addresses: a layout such as `strided<[4, 1]>` of 8x8 puts several
elements at one address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Literal

from ....dsl.records import record
from ...indices.linear import NOTHING, TRUE, Formula, Linear, Symbol
from ...indices.values import Values
from ...ir.functions import arguments, callee, symbol
from ...ir.mlir import DYNAMIC, ancestors, constant_of, ir, maker, operations, producer
from ...memory.layouts import MemrefLayout, Space, mixed
from ...memory.table import CALLS
from ...memory.views import VIEWS, sources


@record(eq=False)
class RootBuffer:
    """A root buffer.

    Args:
        strides: the strides of its elements in memory; None where its layout is not static.
        offset: the position of its first element.
        plain: its elements are contiguous and row-major from its first element on.
        foreign: it comes from outside the analysed code (an argument), so it may be the same memory
            as another foreign buffer.
        value: its memref, or the name of a global.
        of_each_block: each block of a cluster has its own instance; the block number is the first
            subscript.
        by_address: its type, where elements are distinguished by their addresses.
        unknown: the strides, known only at run time, on which these addresses depend.
    """

    name: str
    space: Space | Literal["any"]
    shape: tuple[int | None, ...]
    strides: tuple[int, ...] | None = field(default=None, repr=False)
    plain: bool = False
    foreign: bool = False
    value: ir.Value | str | None = field(default=None, repr=False)
    of_each_block: bool = False
    offset: Linear = field(default_factory=lambda: Linear.of(0), repr=False)
    by_address: str = ""
    unknown: frozenset[Symbol] = field(default=frozenset(), repr=False)

    @property
    def anything(self) -> bool:
        """Whether the buffer represents any memory that threads share, because the memory of a
        memref, or the effects of an op, are unknown."""
        return self.space == "any"

    def steps(self, sizes: Sequence[Linear] = ()) -> tuple[int, ...] | None:
        """The strides of its elements in memory; those of rows of `sizes`, if the coordinates refer
        to such rows. None where the strides are unknown."""
        if not sizes:
            return self.strides
        if not all(size.is_constant for size in sizes[1:]):
            return None
        return tuple(prod(size.constant for size in sizes[d + 1 :]) for d in range(len(sizes)))

    def position(self, coordinates: Sequence[Linear], sizes: Sequence[Linear] = ()) -> Linear | None:
        """The position of an element in memory, in elements; None where `steps` is None."""
        if (strides := self.steps(sizes)) is None:
            return None
        return sum(
            (coordinate * stride for coordinate, stride in zip(coordinates, strides, strict=True)), start=self.offset
        )

    @property
    def size(self) -> int | None:
        """The number of elements of memory up to the buffer's last element, from the buffer's
        start; None where unknown."""
        if self.strides is None or not self.offset.is_constant:
            return None
        reach = MemrefLayout(self.shape, self.strides, self.offset.constant).reach
        return None if reach is None else reach[1] + 1


ANYTHING = RootBuffer("any memory", "any", ())


@record
class Coordinate:
    """One coordinate of the root: `offset + sum(stride * index[dimension])`."""

    offset: Linear
    strides: tuple[tuple[int, Linear], ...]


@record
class View:
    """The map from the indices of a memref to coordinates of `root`.

    Args:
        axes: one entry per coordinate; None if the coordinates may be anything.
        flat: the only coordinate is the position in memory.
        sizes: the sizes of the row-major shape in which the coordinates count, if that is not the
            root's own shape.
        when: the condition under which the memref has this view.
        unit: the number of consecutive coordinates that an element takes: in a view of bytes, its
            bytes.
        base: the start of the memory, from which a reinterpret_cast counts.
        chosen: the view is one of several that a loop or a branch may pass on.
    """

    root: RootBuffer
    axes: tuple[Coordinate, ...] | None
    flat: bool = False
    sizes: tuple[Linear, ...] = ()
    when: Formula = TRUE
    unit: int = 1
    base: Linear = field(default_factory=lambda: Linear.of(0))
    chosen: bool = False


def placed(layout: MemrefLayout, values: Values, *, by_address: bool) -> tuple[Linear, tuple[Linear, ...]]:
    """The offset of a buffer's first element, and, if `by_address`, its strides. A number known
    only at run time is the same for all threads."""
    strides = layout.strides if by_address else ()
    offset, *steps = (values.opaque(NOTHING) if n is None else Linear.of(n) for n in (layout.offset, *strides))
    return offset, tuple(steps)


def apart(value: ir.Value, *, passed_in_rows: bool = False, seen: frozenset[ir.Value] = frozenset()) -> bool | None:
    """Whether no two elements of a memref have the same address; None where unknown.

    If the type does not state the strides, the answer comes from the sources of the memref, or from
    the operands of calls and launches.

    Args:
        passed_in_rows: an argument of a host function with unknown strides is row-major, because
            the runtime passes no other arrays.
        seen: the values that are being examined; a value that a loop passes to its own next
            iteration is not examined again.

    Raises:
        WeftError: W0398 for a layout that no strides express.
    """
    known = MemrefLayout.of(value.type).apart if isinstance(value.type, ir.MemRefType) else None
    if known is not None or value in seen:
        return known is not False
    op, made_of = producer(value), sources(value)
    if op is not None and VIEWS.get(op.name) == "reinterpret":
        sizes, strides = (
            tuple(map(_number, part)) for part in mixed(op, "static_offsets", "static_sizes", "static_strides")[1:]
        )
        return MemrefLayout(sizes, strides, None).apart
    if made_of == []:
        made_of = _given(value)
        outside = (
            isinstance(value.owner, ir.Block) and maker(value).name == "func.func" and not _is_private(maker(value))
        )
        if (outside and not passed_in_rows) or not (made_of or outside):
            return None
    elif op is not None and op.name in VIEWS and not _keeps_apart(op):
        return None
    found = [apart(each, passed_in_rows=passed_in_rows, seen=seen | {value}) for each in made_of or ()]
    return None if made_of is None or None in found else all(found)


def _number(entry: int | ir.Value) -> int | None:
    return entry if isinstance(entry, int) else constant_of(entry)


def _keeps_apart(view: ir.Operation) -> bool:
    """Whether the view maps distinct elements to distinct elements of its source."""
    how = VIEWS[view.name]
    if how == "subview":
        return not {0, DYNAMIC} & set(ir.DenseI64ArrayAttr(view.attributes["static_strides"]))
    return how in ("same", "transpose", "reshape")


def _given(argument: ir.Value) -> list[ir.Value]:
    """The operands of calls and launches for an argument of a function or a kernel."""
    if not isinstance(argument.owner, ir.Block):
        return []
    holder, around = maker(argument), list(ancestors(maker(argument)))
    if not around or holder.name not in ("func.func", "gpu.func"):
        return []
    name = symbol(holder) if holder.name == "func.func" else f"{symbol(around[0])}::{symbol(holder)}"
    calls = [op for op in operations(around[-1], *CALLS) if callee(op) == name]
    return [arguments(op)[ir.BlockArgument(argument).arg_number] for op in calls]


def _is_private(function: ir.Operation) -> bool:
    return (
        "sym_visibility" in function.attributes
        and ir.StringAttr(function.attributes["sym_visibility"]).value == "private"
    )
