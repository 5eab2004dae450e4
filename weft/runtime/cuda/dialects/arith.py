"""arith and affine: integers, as scalars and elementwise in vectors. Floats and conversions are in
`math.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from math import gcd

from ....dsl.records import record
from ....interpreter.ir.affine_maps import results_of
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import ON_BITS, refuse
from ..kernel import KernelWriter, Lanes, writes
from ..values import division, integers
from ..values.expression import PRODUCT, RELATION, SUM, Expr, binary, call, cast, combine, ternary, unary
from ..values.integers import LONG, bounds, constant, literal, settle, to_signed, to_unsigned, truth
from ..values.types import I32, INDEX, Range, ScalarType, element


@record
class ElementwiseSite:
    """The site of an elementwise function.

    Attributes:
        kernel: the writer of the kernel.
        op: the op that is written.
        source: scalar type of the operands.
        result: scalar type of the result.
        name: name of the op to apply: the op's own, or, for a reduction, the op that combines two
            elements.
    """

    kernel: KernelWriter
    op: ir.Operation
    source: ScalarType
    result: ScalarType
    name: str

    def __post_init__(self) -> None:
        """Raises W0503 for arithmetic in 8 bits."""
        small = next((kind for kind in (self.source, self.result) if kind.byte_float), None)
        if small is not None and self.name != "arith.select" and (self.name != "arith.extf" or self.result.byte_float):
            hint = "extend it by `arith.extf`, to f32 or f16: there is no arithmetic on 8-bit floats"
            raise refuse("W0503", f"`{self.name}` on {small.name}", self.op, hint=hint)

    @property
    def integer(self) -> ScalarType:
        if not self.source.integer:
            raise refuse("W0502", f"`{self.name}` on {self.source.name}", self.op)
        return self.source

    def atom(self, e: Expr) -> Expr:
        return self.kernel.named(e)


Function = Callable[..., Expr]
FUNCTIONS: dict[str, Function] = {}
"""By name of an op: the function that computes its result on scalars."""


def elementwise(*names: str) -> Callable[[Function], Function]:
    """Registers a function `(site, *operands) -> Expr` on scalars as the writer of the named ops on
    scalars and vectors."""

    def register(function: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(names, function))

        @writes(*names)
        def write(kernel: KernelWriter, op: ir.Operation) -> Lanes:
            kind, count = element(op.results[0].type, op)
            source, _ = element(op.operands[-1].type, op)
            site = ElementwiseSite(kernel, op, source, kind, op.name)
            # a scalar condition applies to all elements
            columns = [c if len(c) == count else c * (count or 1) for c in map(kernel.lanes, op.operands)]
            return tuple(function(site, *row) for row in zip(*columns, strict=True))

        return function

    return register


@writes("arith.constant")
def write_constant(kernel: KernelWriter, op: ir.Operation) -> None:
    result, attribute = op.results[0], op.attributes["value"]
    kind, count = element(result.type, op)
    values = [attribute.value] if count is None else dense_values(attribute, count, op)
    kernel.values[result] = tuple(constant(v, kind) for v in values)


def dense_values(attribute: ir.Attribute, count: int, op: ir.Operation) -> list[float | int | bool]:
    """The elements of a dense attribute, in row-major order."""
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return [attribute.get_splat_value().value] * count
    if isinstance(attribute, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr):
        return list(attribute)
    raise refuse("W0503", "a constant with elements outside the text (a resource)", op)


# ---- integers ------------------------------------------------------------------------------------


def bitwise(operator: str, a: Expr, b: Expr, kind: ScalarType) -> Expr:
    a, b = integers.same_width(to_signed(a, kind), to_signed(b, kind))
    ra, rb = bounds(a, kind), bounds(b, kind)
    known = kind.range
    if ra.non_negative and rb.non_negative:
        low_bits = (1 << max(ra.high, rb.high).bit_length()) - 1
        common = gcd(ra.multiple, rb.multiple)  # low bits of the value that are known to be zero
        known = Range(0, min(ra.high, rb.high) if operator == "&" else low_bits, common & -common)
    elif operator == "&" and (ra.non_negative or rb.non_negative):
        known = Range(0, ra.high if ra.non_negative else rb.high)
    return settle(binary(operator, a, b, a.type, known), kind)


def shift_left(a: Expr, b: Expr, kind: ScalarType) -> Expr:
    ra, factor = bounds(a, kind), 1 << b.constant if b.constant is not None and 0 <= b.constant < kind.bits - 1 else 0
    if factor and ra.non_negative and (ra * Range.constant(factor)).fits(kind.bits):
        return integers.multiply(a, literal(factor), kind)
    wide = "unsigned long long" if kind.bits == 64 else "unsigned"
    made = binary("<<", cast(wide, to_signed(a, kind)), to_signed(b, kind), wide, kind.range)
    return cast(kind.cxx, made, kind.range) if kind.bits < 32 or kind.index else made


def shift_right_signed(a: Expr, b: Expr, kind: ScalarType) -> Expr:
    a, ra = to_signed(a, kind), bounds(a, kind)
    if kind.bits == 64 and not bounds(b, kind).clamp(0, 63).fits(
        6
    ):  # C++ leaves shifts of an int by 32 and more undefined
        a = cast("long long", a, ra)
    known = ra.join(Range(-1, 0))
    if b.constant is not None and 0 <= b.constant < kind.bits:  # MLIR leaves larger shifts undefined
        known = ra.floordiv(Range.constant(1 << b.constant))
    return binary(">>", a, to_signed(b, kind), "long long" if a.type == "long long" else "int", known)


def shift_right_unsigned(a: Expr, b: Expr, kind: ScalarType) -> Expr:
    if bounds(a, kind).non_negative:
        return shift_right_signed(a, b, kind)
    type, known = integers.unsigned_result(kind)
    made = settle(binary(">>", to_unsigned(a, kind), to_signed(b, kind), type, known), kind)
    return cast(kind.cxx, made) if kind.index else made


def unsigned_extreme(function: str, a: Expr, b: Expr, kind: ScalarType) -> Expr:
    if bounds(a, kind).non_negative and bounds(b, kind).non_negative:
        return integers.extreme(function, a, b, kind)
    wide, known = integers.unsigned_result(kind)
    made = settle(call(function, wide, *(cast(wide, to_unsigned(e, kind)) for e in (a, b)), range=known), kind)
    return cast(kind.cxx, made, kind.range)


_INTEGERS: dict[str, Callable[[Expr, Expr, ScalarType], Expr]] = {
    "addi": integers.add, "subi": integers.subtract, "muli": integers.multiply,
    "divsi": division.divide_signed, "remsi": division.remainder_signed,
    "divui": partial(division.unsigned_operation, "/"), "remui": partial(division.unsigned_operation, "%"),
    "floordivsi": division.floor_divide, "ceildivsi": division.ceil_divide,
    "andi": partial(bitwise, "&"), "ori": partial(bitwise, "|"), "xori": partial(bitwise, "^"),
    "shli": shift_left, "shrsi": shift_right_signed, "shrui": shift_right_unsigned,
    "minsi": partial(integers.extreme, "min"), "maxsi": partial(integers.extreme, "max"),
    "minui": partial(unsigned_extreme, "min"), "maxui": partial(unsigned_extreme, "max"),
}  # fmt: skip
_LOGIC = {"xor": "!=", "and": "&&", "or": "||"}


@elementwise(*(f"arith.{name}" for name in _INTEGERS))
def operate(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    word = site.name[6:]
    if site.result.boolean and word[:-1] in ON_BITS:
        return _logic(_LOGIC[ON_BITS[word[:-1]]], a, b)
    return _INTEGERS[word](a, b, site.integer)


def _logic(operator: str, a: Expr, b: Expr) -> Expr:
    for one, other in ((a, b), (b, a)):
        if one.constant is not None:
            true = bool(one.constant)
            if operator == "&&":
                return other if true else one
            if operator == "||":
                return one if true else other
            return unary("!", other, "bool") if true else other
    return binary(operator, a, b, "bool")


_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


@elementwise("arith.cmpi")
def compare_integers(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    number = ir.IntegerAttr(site.op.attributes["predicate"]).value
    operator, unsigned = _PREDICATES[number], number >= 6
    if site.source.boolean:
        if number >= 2:
            a, b = ((cast("int", e) if unsigned else unary("-", cast("int", e), "int")) for e in (a, b))
        return binary(operator, a, b, "bool")
    kind = site.integer
    ra, rb = bounds(a, kind), bounds(b, kind)
    if not unsigned or (ra.non_negative and rb.non_negative):
        known = integers.decide(operator, ra, rb)
        if known is not None:
            return truth(known)
        if kind.index and b.constant == 0 and a.split is not None and a.split[1] == "-":
            left, _, right = a.split  # `x >= 1` for `x - 1 >= 0`, `x <= 3` for `3 - x >= 0`
            if left.is_literal:
                left, operator, right = right, operator.translate(str.maketrans("<>", "><")), left
            text = f"{left.within(SUM)} {operator} {right.within(PRODUCT)}"
            return combine(text, "bool", (a,), RELATION, Range(0, 1))
        if kind.index:
            a, b = _apart(a, b)
        return binary(operator, to_signed(a, kind), to_signed(b, kind), "bool", Range(0, 1))
    if kind.index and ra.fits(32) and rb.fits(32):
        kind = I32  # also as 64-bit numbers, a negative one is larger than every `int`
    a, b = (cast("long long", e) if kind.bits == 64 and e.type == "int" else e for e in (a, b))
    return binary(operator, to_unsigned(a, kind), to_unsigned(b, kind), "bool", Range(0, 1))


def _apart(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """For 64-bit indices, rewrites a comparison of `x + 1` with a size `n` to a comparison of `x`
    with `n - 1`. If several neighbors of `x` are compared, each right side is then uniform, and
    takes no registers of the threads."""
    if a.type != LONG or a.split is None or a.split[1] != "+" or not a.split[2].is_literal or a.range is None:
        return a, b
    if b.host is None or not b.host.exact or b.host.facts.narrow:
        return a, b
    left, _, more = a.split
    less = replace(a, text=left.within(SUM), range=a.range - bounds(more, INDEX), split=None, host=None)
    return less, integers.subtract(b, more)


@elementwise("arith.select")
def select(site: ElementwiseSite, condition: Expr, a: Expr, b: Expr) -> Expr:
    if condition.constant is not None:
        return a if condition.constant else b
    kind = site.result
    if not kind.integer:
        return ternary(condition, a, b, kind.cxx)
    a, b = to_signed(a, kind), to_signed(b, kind)
    type = "long long" if "long long" in (a.type, b.type) else "int"  # the common type in C++
    return ternary(condition, a, b, type, bounds(a, kind).join(bounds(b, kind)))


# ---- affine: the arithmetic of indices -------------------------------------------------------------------------------


_OPERATORS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": integers.add,
    "mul": integers.multiply,
    "mod": division.modulo,
    "floordiv": division.floor_divide,
    "ceildiv": division.ceil_divide,
}


def _operate(operator: str, a: Expr, b: Expr) -> Expr:
    if operator not in ("add", "mul") and b.range is not None:
        b = replace(b, range=b.range.clamp(1, max(b.range.high, 1)))  # the divisor of an affine map is positive
    return _OPERATORS[operator](a, b)


@writes("affine.apply", "affine.min", "affine.max")
def affine(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    """Evaluates the op's map; operands that it uses more than once are bound to names."""
    map, numbers = ir.AffineMapAttr(op.attributes["map"]).value, range(len(op.operands))
    used = results_of(map, [Counter([n]) for n in numbers], lambda _: Counter[int](), lambda _, a, b: a + b)
    uses = sum(used, Counter[int]())
    operands = [kernel.atom(v, "idx") if uses[n] > 1 else kernel.expr(v) for n, v in enumerate(op.operands)]
    results = results_of(map, operands, literal, _operate)
    return (reduce(partial(integers.extreme, op.name[-3:]), results),)
