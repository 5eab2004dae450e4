"""Floats and conversions (arith), and the math dialect. Each op rounds once; none is fused or
reordered here.

`f16` and `bf16` add, subtract, multiply and divide in `float`, which has more than twice their
digits, and then round to 16 bits: the result is correctly rounded (Figueroa, "When is double
rounding innocuous?", 1995).
"""

from __future__ import annotations

from dataclasses import replace

from ....interpreter.ir.mlir import ir
from ...form.kernel_form import FORM, pairs_of, refuse
from ..values.expression import Expr, binary, call, cast, combine, ternary, unary
from ..values.integers import bounds, literal, of_bits, to_signed, to_unsigned, truth
from ..values.types import Range
from .arith import ElementwiseSite, elementwise

_INFIX = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/"}


@elementwise(*_INFIX)
def infix(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    return binary(_INFIX[site.name], a, b, site.result.cxx)


@elementwise("arith.negf")
def negate(site: ElementwiseSite, a: Expr) -> Expr:
    return unary("-", a, site.result.cxx)


def _widened(site: ElementwiseSite, a: Expr) -> Expr:
    return cast("float", a) if site.source.small_float else a


# ---- comparisons ---------------------------------------------------------------------------------

_COMPARE: dict[int, str] = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_NEGATED: dict[int, str] = {9: "<=", 10: "<", 11: ">=", 12: ">"}  # "unordered or greater" is "not less or equal"


@elementwise("arith.cmpf")
def compare(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    predicate = ir.IntegerAttr(site.op.attributes["predicate"]).value
    a, b = _widened(site, a), _widened(site, b)
    if predicate in _COMPARE:
        return binary(_COMPARE[predicate], a, b, "bool")
    if predicate in _NEGATED:
        return unary("!", binary(_NEGATED[predicate], a, b, "bool"), "bool")
    if predicate in (0, 15):
        return truth(predicate == 15)
    a, b = site.atom(a), site.atom(b)
    if predicate in (6, 8):  # predicate `one`: ordered and not equal; `ueq` is its negation
        apart = binary("||", binary("<", a, b, "bool"), binary(">", a, b, "bool"), "bool")
        return apart if predicate == 6 else unary("!", apart, "bool")
    operator, joint = ("==", "&&") if predicate == 7 else ("!=", "||")  # predicates `ord`, `uno`
    if a.text == b.text:
        return binary(operator, a, a, "bool")
    return binary(joint, binary(operator, a, a, "bool"), binary(operator, b, b, "bool"), "bool")


# ---- math ----------------------------------------------------------------------------------------

_OWN = ("ctlz", "ctpop", "cttz", "fma", "fpowi", "ipowi")
"""Ops of the dialect without a function in the C library."""
_LIBRARY = {f"math.{name}": name for name in FORM["math"].split() if name not in _OWN} | pairs_of(
    "math.powf pow  math.roundeven rint  math.absf fabs  arith.remf fmod  arith.maxnumf fmax  arith.minnumf fmin"
    "  arith.maximumf maximum  arith.minimumf minimum"
)


@elementwise(*_LIBRARY)
def library(site: ElementwiseSite, *arguments: Expr) -> Expr:
    """A function of the C library, or of the prelude; in float for f32 and the 16-bit types."""
    function, type = _LIBRARY[site.name], "double" if site.source.name == "f64" else "float"
    if type == "float" and function not in ("maximum", "minimum"):
        function += "f"
    made = call(function, type, *(_widened(site, a) for a in arguments))
    return cast(site.result.cxx, made) if site.result.small_float else made


@elementwise("math.fma")
def fused(site: ElementwiseSite, a: Expr, b: Expr, c: Expr) -> Expr:
    if site.result.small_float:
        return call("fma", site.result.cxx, a, b, c)
    return call("fma" if site.result.name == "f64" else "fmaf", site.result.cxx, a, b, c)


@elementwise("math.fpowi")
def power_of_integer(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    exponent = to_signed(b, site.integer)
    if site.result.small_float:
        return cast(site.result.cxx, call("ipow", "float", cast("float", a), exponent))
    return call("ipow", site.result.cxx, a, exponent)


@elementwise("math.ctpop")
def count_ones(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.boolean:
        return a
    kind = site.integer
    suffix = "ll" if kind.bits == 64 else ""
    return call(f"__popc{suffix}", "int", to_unsigned(a, kind), range=Range(0, kind.bits))


@elementwise("math.ctlz")
def count_leading_zeros(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.boolean:
        return unary("!", a, "bool")
    kind = site.integer
    if kind.bits < 32:
        made = call("__clz", "int", to_unsigned(a, kind), range=Range(32 - kind.bits, 32))
        return binary("-", made, literal(32 - kind.bits), "int", Range(0, kind.bits))
    return call("__clzll" if kind.bits == 64 else "__clz", "int", to_signed(a, kind), range=Range(0, kind.bits))


@elementwise("math.cttz")
def count_trailing_zeros(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.boolean:
        return unary("!", a, "bool")
    kind = site.integer
    a = site.atom(to_signed(a, kind))
    find = call("__ffsll" if kind.bits == 64 else "__ffs", "int", a)
    zero = binary("==", a, literal(0), "bool")
    return ternary(zero, literal(kind.bits), binary("-", find, literal(1), "int"), "int", Range(0, kind.bits))


# ---- from one type to another ----------------------------------------------------------------------------------------


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
    a = to_signed(a, site.integer)
    return a if bounds(a, site.integer).fits(result.bits) else cast(result.cxx, a, result.range)


@elementwise("arith.extui", "arith.index_castui")
def convert_unsigned(site: ElementwiseSite, a: Expr) -> Expr:
    source, result = site.source, site.result
    if source.boolean:
        return a if result.boolean else cast("int", a, Range(0, 1))
    if result.bits <= site.integer.bits:
        return convert_signed(site, a)
    if bounds(a, source).non_negative:
        return to_signed(a, source)
    return cast("long long" if source.bits == 32 else "int", to_unsigned(a, source), Range(0, (1 << source.bits) - 1))


@elementwise("arith.sitofp", "arith.uitofp")
def integer_to_float(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.boolean:
        a = cast("int", a)
        a = unary("-", a, "int") if site.name == "arith.sitofp" else a
    else:
        kind = site.integer
        a = to_signed(a, kind) if site.name == "arith.sitofp" else to_unsigned(a, kind)
    if site.result.small_float and a.type in ("long long", "unsigned long long"):
        # a double cannot hold it: rounding to 16 bits would be a second rounding
        a = call("odd_double", "double", a)
    elif site.result.small_float:
        a = cast("double", a)
    return cast(site.result.cxx, replace(a, range=None))


@elementwise("arith.fptosi", "arith.fptoui")
def float_to_integer(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.small_float:
        a = cast("float", a)
    result = site.result
    if result.boolean:
        return binary("!=", cast("int", a), literal(0), "bool")
    wide = result.unsigned if result.bits >= 32 else "int"
    made = a if site.name == "arith.fptosi" else cast(wide, a, result.range)
    return made if made.type == result.unsigned else cast(result.cxx, made, result.range)


@elementwise("arith.extf", "arith.truncf")
def convert_float(site: ElementwiseSite, a: Expr) -> Expr:
    if site.source.byte_float or (site.source.small_float and site.result.small_float and site.source != site.result):
        a = cast("float", a)
    return cast(site.result.cxx, a)


_BITS = pairs_of(
    "f32,i32 __float_as_int  i32,f32 __int_as_float  f64,i64 __double_as_longlong  i64,f64 __longlong_as_double"
)


@elementwise("arith.bitcast")
def bitcast(site: ElementwiseSite, a: Expr) -> Expr:
    source, result = site.source, site.result
    if source == result:
        return a
    function = _BITS.get(f"{source.name},{result.name}")
    if function is not None:
        a = to_signed(a, site.integer) if source.integer else a
        return call(function, result.cxx, a, range=result.full_range)
    bits = combine(f"{a.within(12)}.bits", "unsigned short", (a,), range=Range(0, 0xFFFF)) if source.small_float else a
    if source.small_float and result.name == "i16":
        return cast("short", bits, result.full_range)
    if result.small_float and source.size == 2:
        return of_bits(bits, result)
    raise refuse("W0503", f"arith.bitcast from {source.name} to {result.name}", site.op)
