"""MLIR's scalar types as C++ ones."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse, shape_of
from .expression import Expr, call
from .integers import INDEX, Integer, literal
from .ranges import Range


@dataclass(frozen=True)
class ScalarType:
    """A scalar type: its name in MLIR, its C++ type in memory, and its size in bytes."""

    name: str
    cxx: str
    size: int

    @cached_property
    def integer(self) -> Integer | None:
        """Set for integers wider than `i1`, and `index`."""
        if self.name == "index":
            return INDEX
        return Integer(int(self.name[1:])) if self.name in ("i8", "i16", "i32", "i64") else None

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
        return self.integer.range if self.integer is not None else None

    def variable(self, known: Range | None) -> str:
        """The C++ type of a variable of this type."""
        return self.integer.variable(known) if self.integer is not None else self.cxx


SCALARS = {
    s.name: s
    for s in (
        ScalarType("f64", "double", 8), ScalarType("f32", "float", 4), ScalarType("f16", "f16", 2), ScalarType("bf16", "bf16", 2),
        ScalarType("i1", "bool", 1), ScalarType("i8", "signed char", 1), ScalarType("i16", "short", 2), ScalarType("i32", "int", 4),
        ScalarType("i64", "long long", 8), ScalarType("index", "long long", 8),
    )
}  # fmt: skip

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


def truth(known: bool) -> Expr:
    return Expr("true" if known else "false", "bool", range=Range.constant(int(known)), atom=True)


def constant(value: float | int | bool, kind: ScalarType) -> Expr:
    """A literal of that type, exact."""
    if kind.boolean:
        return truth(bool(value))
    if kind.integer is not None:
        return literal(int(value))
    if kind.small_float and math.isnan(value):  # a conversion would make another NaN of it
        return of_bits(literal(small_bits(float(value), kind)), kind)
    if kind.small_float:
        return call(kind.cxx, kind.cxx, float_literal(float(value), "f32"))
    return float_literal(float(value), kind.name)


def of_bits(bits: Expr, kind: ScalarType) -> Expr:
    """A 16-bit float from its bits, those of an integer."""
    return call(f"{kind.cxx}_of_bits", kind.cxx, bits)


def small_bits(nan: float, kind: ScalarType) -> int:
    """The bits of a NaN, of which the narrow type keeps the upper ones."""
    bits = struct.unpack("<I", struct.pack("<f", nan))[0]
    return bits >> 16 if kind.name == "bf16" else (bits >> 16 & 0x8000) | 0x7C00 | (bits >> 13 & 0x3FF)


def float_literal(value: float, name: str) -> Expr:
    """An `f32` or `f64` literal: the fewest digits that give the value back; bits for infinities and NaNs."""
    cxx, suffix = ("float", "f") if name == "f32" else ("double", "")
    if math.isinf(value) or math.isnan(value):
        if name == "f32":
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            return Expr(f"__uint_as_float(0x{bits:08x}u)", cxx, atom=True)
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return Expr(f"__longlong_as_double(0x{bits:016x}ll)", cxx, atom=True)
    text = next(t for t in (f"{value:.{digits}g}" for digits in range(1, 18)) if _read_back(t, name) == value)
    text = repr(float(text))  # 100.0, not 1e+02
    return Expr(text + suffix, cxx, atom=True, precedence=11 if text.startswith("-") else 12)


def _read_back(text: str, name: str) -> float:
    value = float(text)
    if name == "f64":
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:  # a few digits of a number near the largest one may round past it
        return math.inf
