"""Buffers and windows of them in host code, and the test whether two windows share no element.

A caller may pass one array twice, or two overlapping windows of an array, without a trace in the
function. Two things show that an argument overlaps no other memory: the standard attribute
`llvm.noalias`, which `async-fork noalias` sets; and `bufferize.result`, the mark of a result's
buffer, which Weft allocates itself. Tensors are values: bufferization never writes into the buffer
of a former tensor argument, and reads need no order. Element types prove nothing, because memory
has no type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from ....dsl.diagnostics import fail, quoted
from ....dsl.records import record
from ...indices.linear import Linear
from ...ir.functions import argument_attributes, name_of, symbol
from ...ir.mlir import ir, maker, operations
from ...memory.effects import is_memref

BufferKind = Literal["argument", "allocation", "global", "unknown"]


@record
class HostBuffer:
    """Memory that the host function gets, allocates or names.

    Args:
        kind: `unknown` is memory of unknown origin: it may be any other buffer.
        key: the value of an argument or allocation, the name of a global, or the value of unknown
            origin.
    """

    kind: BufferKind
    key: ir.Value | str

    @cached_property
    def name(self) -> str:
        """The name in messages: `A` by its `weft.name`, else `%alloc_0`, `@table`."""
        if isinstance(self.key, str):
            return f"@{self.key}"
        if (name := name_of(self.key)) is not None:
            return name
        if isinstance(self.key.owner, ir.Block) and maker(self.key).name == "func.func":
            return f"%arg{ir.BlockArgument(self.key).arg_number}"  # `get_name` would number all values
        return self.key.get_name(use_local_scope=True)

    def distinct(self, other: HostBuffer) -> bool:
        """Whether the two buffers are different memory, provided that arguments are."""
        return self != other and "unknown" not in (self.kind, other.kind)


@record
class MovingWindow:
    """A window that moves with the iterations of a loop: its start, as a form of the counters of
    `HostValues`, and its sizes and strides. None: unknown."""

    start: Linear | None = None
    dims: tuple[tuple[int, int], ...] | None = None


@record
class Window:
    """Elements of a buffer: `offset + Σ i·stride`, `0 ≤ i < size`, for the `(size, stride)` pairs
    in `dims`.

    With `dims` None the elements are unknown: possibly all of the buffer. With `part` they are some
    part of it.
    """

    buffer: HostBuffer
    offset: int = 0
    dims: tuple[tuple[int, int], ...] | None = None
    part: MovingWindow | None = None

    @property
    def extent(self) -> tuple[int, int] | None:
        """The first and the last element; None where unknown."""
        if self.dims is None:
            return None
        reach = [(size - 1) * stride for size, stride in self.dims]
        return self.offset + sum(r for r in reach if r < 0), self.offset + sum(r for r in reach if r > 0)

    @property
    def empty(self) -> bool:
        return self.dims is not None and any(size == 0 for size, _ in self.dims)

    @cached_property
    def cell(self) -> tuple[tuple[int, int], ...] | None:
        """The grid that the window is a cell of; None if there is none. Two cells of one grid are
        equal or disjoint."""
        if self.dims is None or self.empty:
            return None
        strides = self._radix(self)
        digits = self._digits(strides) if strides is not None else None
        if digits is None or any(first % (last - first + 1) for first, last in digits):
            return None
        return self.dims

    def disjoint(self, other: Window) -> bool:
        """Whether the two windows certainly share no element."""
        if self.buffer.distinct(other.buffer) or self.empty or other.empty:
            return True
        if self.dims is None or other.dims is None or self.buffer != other.buffer:
            return False
        mine, theirs = self.extent, other.extent
        if mine is not None and theirs is not None and (mine[1] < theirs[0] or theirs[1] < mine[0]):
            return True
        # Offsets as digits in the mixed radix of all strides: two windows are disjoint if they are in one digit.
        # That separates columns of a matrix, and even from odd elements, through any views
        strides = self._radix(other)
        here, there = (None, None) if strides is None else (self._digits(strides), other._digits(strides))
        if here is None or there is None:
            return False
        return any(a[1] < b[0] or b[1] < a[0] for a, b in zip(here, there, strict=True))

    def _radix(self, other: Window) -> list[int] | None:
        """All strides of both windows in descending order; None if one does not divide its
        predecessor."""
        strides = sorted({n for size, n in (*(self.dims or ()), *(other.dims or ())) if size > 1} | {1}, reverse=True)
        return None if strides[-1] < 1 or any(big % small for big, small in pairwise(strides)) else strides

    def _digits(self, strides: Sequence[int]) -> list[tuple[int, int]] | None:
        """The range of each digit; None where an addition carries into the next one."""
        sizes: dict[int, int] = {}
        for size, stride in self.dims or ():
            sizes[stride] = sizes.get(stride, 1) + size - 1
        found: list[tuple[int, int]] = []
        rest = self.offset
        for i, stride in enumerate(strides):
            digit, rest = divmod(rest, stride)
            last = digit + sizes.get(stride, 1) - 1
            if i and last >= strides[i - 1] // stride:
                return None
            found.append((digit, last))
        return found


NOALIAS = "llvm.noalias"
OWN = (NOALIAS, "bufferize.result")
"""Attributes of arguments that overlap no other memory."""


@dataclass(eq=False)
class Aliasing:
    """The buffers of a module's host functions that may overlap other buffers from outside.

    Args:
        module: a module; it must not change while this is used.
        distinct: arguments that are stated to overlap no other memory.
    """

    module: ir.Module
    distinct: Collection[ir.Value] = ()
    _known: dict[HostBuffer, bool] = field(default_factory=dict)

    def may_alias(self, buffer: HostBuffer) -> bool:
        """Whether the buffer may overlap others: two buffers may overlap if this holds for both."""
        if buffer not in self._known:
            self._known[buffer] = self._may_overlap(buffer)
        return self._known[buffer]

    def _may_overlap(self, buffer: HostBuffer) -> bool:
        if isinstance(buffer.key, str):
            return not self._is_constant(buffer.key)
        if buffer.kind != "argument" or buffer.key in self.distinct:
            return False
        return argument_attributes(buffer.key).keys().isdisjoint(OWN)

    def _is_constant(self, name: str) -> bool:
        """Whether the global is constant."""
        found = operations(self.module.operation, "memref.global")
        return any("constant" in op.attributes for op in found if symbol(op) == name)


def stated(functions: Sequence[ir.Operation], names: Sequence[str]) -> dict[ir.Value, str]:
    """The arguments with the given names, each with its name; all arguments, if no names are given.

    Raises:
        WeftError: W0435 for a name that no argument has.
    """
    arguments = {value: HostBuffer("argument", value).name for function in functions for value in memrefs(function)}
    known = {name.removeprefix("%") for name in arguments.values()}
    unknown = [name for name in names if name.removeprefix("%") not in known]
    if unknown:
        listed = quoted(dict.fromkeys(arguments.values()))
        message = f"no argument that launches use has the name `{unknown[0]}`"
        raise fail("W0435", message, hint=f"name one of {listed}" if listed else "leave `noalias` out")
    wanted = {name.removeprefix("%") for name in names}
    return {value: name for value, name in arguments.items() if not names or name.removeprefix("%") in wanted}


def state(argument: ir.Value) -> None:
    """Marks an argument as memory that overlaps no other memory."""
    function = maker(argument)
    count = len(function.regions[0].blocks[0].arguments)
    given: list[ir.Attribute] = [ir.DictAttr.get({})] * count
    if "arg_attrs" in function.attributes:
        given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    number = ir.BlockArgument(argument).arg_number
    given[number] = ir.DictAttr.get({**argument_attributes(argument), NOALIAS: ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)


def memrefs(function: ir.Operation) -> list[ir.Value]:
    """The function's arguments that are memrefs."""
    return [value for value in function.regions[0].blocks[0].arguments if is_memref(value)]
