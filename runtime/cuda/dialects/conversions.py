"""arith: from one type to another."""

from __future__ import annotations

from ...kernel_form import refuse
from ..values.expression import Expr, binary, call, cast, combine, unary
from ..values.integers import bounds, literal, to_signed, to_unsigned
from ..values.ranges import Range
from ..values.types import of_bits
from .arith import ElementwiseSite, elementwise


@elementwise("arith.index_cast", "arith.extsi", "arith.trunci")
def convert_signed(site: ElementwiseSite, a: Expr) -> Expr:
    source, result = site.source, site.result
    if source.boolean and result.boolean:
        return a
    if source.boolean:
        return unary("-", cast("int", a), "int", Range(-1, 0))
    if result.boolean:
        a = to_signed(a, site.integer)
        return binary("!=", binary("&", a, literal(1), a.type), literal(0), "bool")
    kind = result.integer
    if kind is None:
        raise refuse("W0502", f"`{site.name}` to {result.name}", site.op)
    a = to_signed(a, site.integer)
    known = bounds(a, site.integer)
    return a if known.fits(kind.bits) else cast(kind.signed, a, kind.range)


@elementwise("arith.extui", "arith.index_castui")
def convert_unsigned(site: ElementwiseSite, a: Expr) -> Expr:
    source, result = site.source, site.result
    if source.boolean:
        return a if result.boolean else cast("int", a, Range(0, 1))
    kind = result.integer
    if kind is None or kind.bits <= site.integer.bits:
        return convert_signed(site, a)
    known = bounds(a, site.integer)
    if known.non_negative:
        return to_signed(a, site.integer)
    whole = Range(0, (1 << site.integer.bits) - 1)
    made = to_unsigned(a, site.integer)
    if site.integer.bits == 32:
        return cast("long long", made, whole)
    return cast("int", made, whole)


@elementwise("arith.sitofp", "arith.uitofp")
def integer_to_float(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.boolean:
        a = cast("int", a)
        a = unary("-", a, "int") if site.name == "arith.sitofp" else a
    else:
        kind = site.integer
        a = to_signed(a, kind) if site.name == "arith.sitofp" else to_unsigned(a, kind)
    if site.result.small_float and a.type in ("long long", "unsigned long long"):
        site.kernel.need("odd_double")  # a double does not hold it: the rounding to 16 bits would be the second
        a = call("odd_double", "double", a)
    elif site.result.small_float:
        a = cast("double", a)
    return cast(site.result.cxx, a).typed(site.result.cxx)


@elementwise("arith.fptosi", "arith.fptoui")
def float_to_integer(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.small_float:
        a = cast("float", a)
    result = site.result
    if result.boolean:
        return binary("!=", cast("int", a), literal(0), "bool")
    kind = result.integer
    if kind is None:
        raise refuse("W0502", f"`{site.name}` to {result.name}", site.op)
    if site.name == "arith.fptosi":
        return cast(kind.signed, a, kind.range)
    made = cast(kind.unsigned if kind.bits >= 32 else "int", a, kind.range)
    return made if kind.bits >= 32 else cast(kind.signed, made, kind.range)


@elementwise("arith.extf", "arith.truncf")
def convert_float(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.small_float and site.result.small_float and site.source != site.result:
        a = cast("float", a)
    return cast(site.result.cxx, a)


_BITS = {
    ("f32", "i32"): "__float_as_int", ("i32", "f32"): "__int_as_float",
    ("f64", "i64"): "__double_as_longlong", ("i64", "f64"): "__longlong_as_double",
}  # fmt: skip


@elementwise("arith.bitcast")
def bitcast(site: ElementwiseSite, a: Expr) -> Expr:
    source, result = site.source, site.result
    if source == result:
        return a
    function = _BITS.get((source.name, result.name))
    if function is not None:
        a = to_signed(a, site.integer) if source.integer else a
        return call(function, result.cxx, a, range=result.full_range)
    bits = combine(f"{a.within(12)}.bits", "unsigned short", (a,), range=Range(0, 0xFFFF)) if source.small_float else a
    if source.small_float and result.name == "i16":
        return cast("short", bits, result.full_range)
    if result.small_float and source.size == 2:
        site.kernel.need(f"{result.cxx}_of_bits")
        return of_bits(bits, result)
    raise refuse("W0503", f"arith.bitcast from {source.name} to {result.name}", site.op)
