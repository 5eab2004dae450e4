"""arith: ops on scalars, and elementwise on vectors; `conversions.py` has those from one type to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....interpreter.ir.mlir import ir
from ...kernel_form import ON_BITS, refuse
from ..kernel import KernelWriter
from ..registry import writes
from ..values import integers
from ..values.expression import RELATION, Expr, binary, call, cast, combine, ternary, unary
from ..values.integers import Integer, bounds, decide, literal, settle, to_signed, to_unsigned
from ..values.ranges import Range
from ..values.types import ScalarType, constant, element, truth


@dataclass(frozen=True)
class ElementwiseSite:
    """Where an elementwise function writes: the kernel, the op, the scalar types of its operand and its result, and what is
    done: the op's own name, or of a reduction what it does with two elements."""

    kernel: KernelWriter
    op: ir.Operation
    source: ScalarType
    result: ScalarType
    name: str

    @property
    def integer(self) -> Integer:
        kind = self.source.integer
        if kind is None:
            raise refuse("W0502", f"`{self.name}` on {self.source.name}", self.op)
        return kind

    def atom(self, e: Expr) -> Expr:
        return self.kernel.named(e)


Function = Callable[..., Expr]
FUNCTIONS: dict[str, Function] = {}
"""By the name of an op: the function that makes its result of scalars."""


def elementwise(*names: str) -> Callable[[Function], Function]:
    """Register a function `(site, *operands) -> Expr` on scalars as the writer of ops on scalars and vectors."""

    def register(function: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(names, function))

        @writes(*names)
        def write(kernel: KernelWriter, op: ir.Operation) -> None:
            kind, count = element(op.results[0].type, op)
            source, _ = element(op.operands[-1].type, op)
            site = ElementwiseSite(kernel, op, source, kind, op.name)
            columns = [kernel.lanes(v) for v in op.operands]
            columns = [c if len(c) == count else c * (count or 1) for c in columns]  # a scalar condition serves all lanes
            kernel.bind(op.results[0], *(function(site, *row) for row in zip(*columns, strict=True)))

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
    raise refuse("W0503", "a constant whose elements are not in the text (a resource)", op)


# ---- integers ---------------------------------------------------------------------------------------------------------


_LOGIC = {"xor": "!=", "and": "&&", "or": "||"}


def _on_bits(function: Callable[[ElementwiseSite, Expr, Expr, Integer], Expr]) -> Function:
    """The function, and what the op does to integers of one bit."""

    def write(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
        if site.result.boolean:
            return _logic(_LOGIC[ON_BITS[site.name[6:-1]]], a, b)
        return function(site, a, b, site.integer)

    return write


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


elementwise("arith.addi")(_on_bits(lambda s, a, b, k: integers.add(a, b, k)))
elementwise("arith.subi")(_on_bits(lambda s, a, b, k: integers.subtract(a, b, k)))
elementwise("arith.muli")(_on_bits(lambda s, a, b, k: integers.multiply(a, b, k)))


@elementwise("arith.andi", "arith.ori", "arith.xori")
@_on_bits
def bitwise(site: ElementwiseSite, a: Expr, b: Expr, kind: Integer) -> Expr:
    operator = {"and": "&", "or": "|", "xor": "^"}[site.name[6:-1]]
    a, b = integers.same_width(to_signed(a, kind), to_signed(b, kind))
    ra, rb = bounds(a, kind), bounds(b, kind)
    known = kind.range
    if ra.non_negative and rb.non_negative:
        low_bits = (1 << max(ra.high, rb.high).bit_length()) - 1
        known = Range(0, min(ra.high, rb.high) if operator == "&" else low_bits)
    elif operator == "&" and (ra.non_negative or rb.non_negative):
        known = Range(0, ra.high if ra.non_negative else rb.high)
    return settle(binary(operator, a, b, a.type, known), kind)


def _no_bool(name: str, function: Callable[[ElementwiseSite, Expr, Expr, Integer], Expr]) -> None:
    @elementwise(name)
    def write(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
        return function(site, a, b, site.integer)


_no_bool("arith.divsi", lambda s, a, b, k: integers.divide_signed(a, b, k))
_no_bool("arith.remsi", lambda s, a, b, k: integers.remainder_signed(a, b, k))
_no_bool("arith.divui", lambda s, a, b, k: integers.unsigned_operation("/", a, b, k))
_no_bool("arith.remui", lambda s, a, b, k: integers.unsigned_operation("%", a, b, k))
_no_bool("arith.floordivsi", lambda s, a, b, k: integers.floor_divide(a, b, k, s.kernel.need))
_no_bool("arith.ceildivsi", lambda s, a, b, k: integers.ceil_divide(a, b, k, s.kernel.need))


@elementwise("arith.shli")
def shift_left(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    kind = site.integer
    ra, amount = bounds(a, kind), b.constant
    if amount is not None and 0 <= amount < kind.bits - 1 and ra.non_negative:
        exact = ra * Range.constant(1 << amount)
        if exact.fits(kind.bits):
            return integers.multiply(a, literal(1 << amount), kind)
    wide = "unsigned long long" if kind.bits == 64 else "unsigned"
    made = binary("<<", cast(wide, to_signed(a, kind)), to_signed(b, kind), wide, kind.range)
    return cast(kind.signed, made, kind.range) if kind.bits < 32 or kind.index else made


@elementwise("arith.shrsi")
def shift_right_signed(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    kind = site.integer
    a, ra = to_signed(a, kind), bounds(a, kind)
    if kind.bits == 64 and not bounds(b, kind).clamp(0, 63).fits(6):  # 32 and more: more than an int may be shifted
        a = cast("long long", a, ra)
    known = ra.join(Range(-1, 0))
    if b.constant is not None and 0 <= b.constant < kind.bits:  # MLIR leaves open what others do
        known = ra.floordiv(Range.constant(1 << b.constant))
    return binary(">>", a, to_signed(b, kind), "long long" if a.type == "long long" else "int", known)


@elementwise("arith.shrui")
def shift_right_unsigned(site: ElementwiseSite, a: Expr, b: Expr) -> Expr:
    kind = site.integer
    if bounds(a, kind).non_negative:
        return shift_right_signed(site, a, b)
    a = to_unsigned(a, kind)
    type = kind.unsigned if kind.bits >= 32 else "int"
    known = kind.range if kind.bits >= 32 else Range(0, (1 << kind.bits) - 1)
    made = settle(binary(">>", a, to_signed(b, kind), type, known), kind)
    return cast(kind.signed, made) if kind.index else made


@elementwise("arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui")
@_on_bits
def extremes(site: ElementwiseSite, a: Expr, b: Expr, kind: Integer) -> Expr:
    function, unsigned = site.name[6:9], site.name.endswith("ui")
    if not unsigned or (bounds(a, kind).non_negative and bounds(b, kind).non_negative):
        return integers.extreme(function, a, b, kind)
    a, b = (to_unsigned(e, kind) for e in (a, b))
    wide = kind.unsigned if kind.bits >= 32 else "int"
    a, b = (e if e.type == wide else cast(wide, e) for e in (a, b))
    made = settle(call(function, wide, a, b, range=kind.range if kind.bits >= 32 else Range(0, 255)), kind)
    return cast(kind.signed, made, kind.range)


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
        known = decide(operator, ra, rb)
        if known is not None:
            return truth(known)
        if kind.index and b.constant == 0 and a.split is not None and a.split[1] == "-":
            left, _, right = a.split  # `x >= 1` for `x - 1 >= 0`, `x <= 3` for `3 - x >= 0`
            if left.isdigit():
                left, operator, right = right, operator.translate(str.maketrans("<>", "><")), left
            return combine(f"{left} {operator} {right}", "bool", (a,), RELATION, Range(0, 1))
        return binary(operator, to_signed(a, kind), to_signed(b, kind), "bool", Range(0, 1))
    if kind.index and ra.fits(32) and rb.fits(32):
        kind = Integer(32)  # as 64-bit numbers, too, a negative one is larger than every `int`
    a, b = (cast("long long", e) if kind.bits == 64 and e.type == "int" else e for e in (a, b))
    return binary(operator, to_unsigned(a, kind), to_unsigned(b, kind), "bool", Range(0, 1))


@elementwise("arith.select")
def select(site: ElementwiseSite, condition: Expr, a: Expr, b: Expr) -> Expr:
    if condition.constant is not None:
        return a if condition.constant else b
    kind = site.result
    known = None
    if kind.integer is not None:
        a, b = to_signed(a, kind.integer), to_signed(b, kind.integer)
        known = bounds(a, kind.integer).join(bounds(b, kind.integer))
    type = kind.cxx
    if kind.integer is not None:  # what C++ makes of the two
        type = "long long" if "long long" in (a.type, b.type) else "int"
    return ternary(condition, a, b, type, known)
