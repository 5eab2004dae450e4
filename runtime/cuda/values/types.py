"""MLIR's scalar types as C++ ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse, shape_of
from .ranges import Range


@dataclass(frozen=True)
class ScalarType:
    """A scalar type: its name in MLIR, its C++ type in memory (a signed one, of an integer), and its size in bytes."""

    name: str
    cxx: str
    size: int

    @property
    def integer(self) -> bool:
        """An integer wider than `i1`, or an `index`."""
        return not self.boolean and not self.floating

    @property
    def index(self) -> bool:
        """64 bits that count elements of memory."""
        return self.name == "index"

    @property
    def bits(self) -> int:
        return 8 * self.size

    @property
    def unsigned(self) -> str:
        return {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}[self.bits]

    @property
    def range(self) -> Range:
        """Of an integer."""
        return Range.signed(self.bits)

    @property
    def boolean(self) -> bool:
        return self.name == "i1"

    @property
    def floating(self) -> bool:
        return self.name in ("f16", "bf16", "f32", "f64")

    @property
    def small_float(self) -> bool:
        """A float that is stored in 16 bits and calculated with in `float`."""
        return self.name in ("f16", "bf16")

    @property
    def full_range(self) -> Range | None:
        return self.range if self.integer else None

    def variable(self, known: Range | None) -> str:
        """The C++ type of a variable of this type."""
        return "int" if self.index and known is not None and known.fits(32) else self.cxx


SCALARS = {
    s.name: s
    for s in (
        ScalarType("f64", "double", 8), ScalarType("f32", "float", 4), ScalarType("f16", "f16", 2), ScalarType("bf16", "bf16", 2),
        ScalarType("i1", "bool", 1), ScalarType("i8", "signed char", 1), ScalarType("i16", "short", 2), ScalarType("i32", "int", 4),
        ScalarType("i64", "long long", 8), ScalarType("index", "long long", 8),
    )
}  # fmt: skip
INDEX, I32 = SCALARS["index"], SCALARS["i32"]

BUILT_IN_VECTORS = {
    ("float", 2): "float2", ("float", 4): "float4", ("int", 2): "int2", ("int", 4): "int4", ("double", 2): "double2",
}  # fmt: skip
"""Vector types of the language that have the size of one access. The others are the text's own `vec<T, n>`."""


def scalar(type: ir.Type, op: ir.Operation | ir.OpView | None) -> ScalarType:
    """The scalar type that `type` is; raises W0502, naming `op`, for others."""
    found = SCALARS.get(str(type))
    if found is None:
        raise refuse("W0502", f"type {type} has no CUDA C++ counterpart here", op,
                     hint=f"the emitter knows {', '.join(SCALARS)}, and memrefs and vectors of them")  # fmt: skip
    return found


def element(type: ir.Type, op: ir.Operation | ir.OpView | None) -> tuple[ScalarType, int | None]:
    """The element type of a scalar or vector type and how many elements a vector has (None for a scalar)."""
    kind, shape = shape_of(type, op, "W0502")
    return scalar(kind, op), None if shape is None else math.prod(shape)
