"""The buffers that a kernel's memrefs are views of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from ...indices.linear import Linear
from ...ir.mlir import ir
from ...memory.layouts import Space


@dataclass(frozen=True, eq=False)
class RootBuffer:
    """A root buffer.

    Args:
        strides: those of its elements in memory, None where its layout is not static.
        plain: it lies row by row from its first element on.
        foreign: it comes from outside what is analysed (an argument), so that nothing tells it from other such ones.
        value: the memref that is it, or the name of a global.
        of_each_block: each block of a cluster has one: its number is the first subscript.
    """

    name: str
    space: Space | Literal["any"]
    shape: tuple[int | None, ...]
    strides: tuple[int, ...] | None = field(default=None, repr=False)
    plain: bool = False
    foreign: bool = False
    value: ir.Value | str | None = field(default=None, repr=False)
    of_each_block: bool = False

    @property
    def anything(self) -> bool:
        """It stands for any memory that threads share: what is behind a memref, or what an op does, is not known."""
        return self.space == "any"

    def steps(self, sizes: Sequence[Linear] = ()) -> tuple[int, ...] | None:
        """The strides of its elements in memory; of rows of `sizes`, if coordinates count in those. None where they are open."""
        if not sizes:
            return self.strides
        if not all(size.is_constant for size in sizes[1:]):
            return None
        return tuple(prod(size.constant for size in sizes[d + 1 :]) for d in range(len(sizes)))

    def position(self, coordinates: Sequence[Linear], sizes: Sequence[Linear] = ()) -> Linear | None:
        """Where an element lies in memory, in elements; None where `steps` are."""
        if (strides := self.steps(sizes)) is None:
            return None
        return sum((coordinate * stride for coordinate, stride in zip(coordinates, strides, strict=True)), start=Linear.of(0))


ANYTHING = RootBuffer("any memory", "any", ())
