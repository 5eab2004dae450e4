"""`arith` and `math`."""

from __future__ import annotations

from ....interpreter.ir.mlir import ir
from ...kernel_form import ON_BITS, refuse
from ..translate import BOOL, INT64, Mem, Translator, Val, handles, literal
from ..types import dense, value_type
from ..values.numeric import MATH

_BINARY = {
    "arith.addf": "{0} + {1}", "arith.subf": "{0} - {1}", "arith.mulf": "{0} * {1}", "arith.divf": "{0} / {1}",
    "arith.remf": "np.fmod({0}, {1})", "arith.maximumf": "N.maximum({0}, {1})",
    "arith.minimumf": "N.minimum({0}, {1})", "arith.maxnumf": "N.maxnum({0}, {1})",
    "arith.minnumf": "N.minnum({0}, {1})", "arith.negf": "-{0}",
    "arith.andi": "{0} & {1}", "arith.ori": "{0} | {1}", "arith.xori": "{0} ^ {1}",
}  # fmt: skip

_INTEGER = {"arith.addi": "{0} + {1}", "arith.subi": "{0} - {1}", "arith.muli": "{0} * {1}"}
_LOGIC = {"xor": "{0} ^ {1}", "and": "{0} & {1}", "or": "{0} | {1}"}

_ORDERED = {
    "arith.maxsi": "N.maximum_of({0}, {1})", "arith.minsi": "N.minimum_of({0}, {1})",
    "arith.maxui": "N.maxui({0}, {1})", "arith.minui": "N.minui({0}, {1})",
    "arith.shli": "np.left_shift({0}, {1})", "arith.shrsi": "np.right_shift({0}, {1})",
    "arith.shrui": "N.shrui({0}, {1})",
}  # fmt: skip

_DIVISION = {
    "arith.divsi": "N.divsi({0}, {1})", "arith.divui": "N.divui({0}, {1})", "arith.remsi": "np.fmod({0}, {1})",
    "arith.remui": "N.remui({0}, {1})", "arith.floordivsi": "{0} // {1}", "arith.ceildivsi": "N.ceildivsi({0}, {1})",
}  # fmt: skip

_SIGNED = ["==", "!=", "<", "<=", ">", ">="]
_UNSIGNED = ["<", "<=", ">", ">="]
_FLOAT = ["==", ">", ">=", "<", "<=", "!="]


def plain(op: ir.Operation, made: str) -> str:
    """The expression as a Python integer, where a uniform index or i64 results."""
    return f"N.wrap(int({made}))"


def _integer(t: Translator, op: ir.Operation, pattern: str, values: list[Val], *, pure: bool = True) -> None:
    made = pattern.format(*(v.text for v in values))
    uniform = pure and all(v.uniform for v in values)
    t.result(op, plain(op, made) if uniform and is_wide(op) else made, values, pure=pure)


def is_wide(op: ir.Operation) -> bool:
    return str(op.results[0].type) in ("index", "i64")


@handles("arith.constant")
def constant(t: Translator, op: ir.Operation) -> None:
    attribute = op.attributes["value"]
    dtype, shape = value_type(op.results[0].type, op)
    if isinstance(op.results[0].type, ir.VectorType):
        elements = dense(attribute, op.results[0].type, op)
        made = t.constant(elements[None, None] if shape else elements[()], dtype, shape)
    elif dtype == INT64:
        made = literal(ir.IntegerAttr(attribute).value)
    elif dtype == BOOL:
        made = Val(str(bool(ir.BoolAttr(attribute).value)), 0, BOOL, uniform=True)
    elif isinstance(attribute, ir.FloatAttr):
        made = t.constant(dtype.type(attribute.value), dtype)
    else:
        made = t.constant(dtype.type(ir.IntegerAttr(attribute).value), dtype)
    t.values[op.results[0]] = made


@handles(*_BINARY)
def binary(t: Translator, op: ir.Operation) -> None:
    values = t.operands(op)
    t.result(op, _BINARY[op.name].format(*(v.text for v in values)), values)


@handles(*_INTEGER, *_ORDERED)
def integer(t: Translator, op: ir.Operation) -> None:
    values = t.operands(op)
    pattern = (_INTEGER | _ORDERED)[op.name]
    if values[0].dtype == BOOL:
        if op.name[6:-1] not in ON_BITS:
            raise refuse("W0750", "the simulator does not shift i1", op, hint="a shift of one bit is by 0: leave it out")
        pattern = _LOGIC[ON_BITS[op.name[6:-1]]]
    elif op.name in _INTEGER and not values[0].shape and all(v.const is not None for v in values):
        made = eval(pattern.format(*(v.const for v in values)))
        t.values[op.results[0]] = literal((made + (1 << 63)) % (1 << 64) - (1 << 63))
        return
    _integer(t, op, pattern, values)


@handles(*_DIVISION)
def division(t: Translator, op: ir.Operation) -> None:
    left, right = t.operands(op)
    if left.dtype == BOOL:
        raise refuse("W0750", "the simulator does not divide i1", op)
    pure = right.const is not None and right.const != 0
    if not pure:
        text = f"L.nonzero({right.text}, {t.mask}, {t.site(op)})"
        right = t.define(text, [right], right.dtype, right.shape, pure=False)
    _integer(t, op, _DIVISION[op.name], [left, right], pure=pure)


@handles("arith.cmpi")
def compare_integers(t: Translator, op: ir.Operation) -> None:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (v.text for v in t.operands(op))
    if predicate > 5:
        made = f"N.unsigned({a}) {_UNSIGNED[predicate - 6]} N.unsigned({b})"
    elif predicate > 1 and t.operands(op)[0].dtype == BOOL:
        made = f"{b} {_SIGNED[predicate]} {a}"  # as i1, true is -1
    else:
        made = f"{a} {_SIGNED[predicate]} {b}"
    t.result(op, made, t.operands(op))


@handles("arith.cmpf")
def compare_floats(t: Translator, op: ir.Operation) -> None:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (v.text for v in t.operands(op))
    either = f"(np.isnan({a}) | np.isnan({b}))"
    if predicate in (0, 15):
        made = f"np.full(np.broadcast_shapes(np.shape({a}), np.shape({b})), {predicate == 15})[()]"
    elif predicate in (7, 14):
        made = either if predicate == 14 else f"~{either}"
    else:
        made = f"({a} {_FLOAT[(predicate - 1) % 7]} {b})"
        made += f" | {either}" if predicate > 7 else f" & ~{either}" if predicate == 6 else ""
    t.result(op, made, t.operands(op))


@handles("arith.select")
def select(t: Translator, op: ir.Operation) -> None:
    condition = t.value(op.operands[0])
    yes, no = t.values[op.operands[1]], t.values[op.operands[2]]
    if isinstance(yes, Val) and isinstance(no, Val):
        made = f"N.select({condition.text}, {yes.text}, {no.text}, {yes.rank if not condition.shape else 0})"
        t.result(op, made, [condition, yes, no])
    elif isinstance(yes, Mem) and isinstance(no, Mem):
        taken, other = t.fresh("m"), t.fresh("m")
        t.emit(f"{taken}, {other} = L.split(None, {condition.text})")
        arms, parts = f"{taken}, {other}", []
        for number, (a, b) in enumerate(zip(yes.parts, no.parts, strict=True)):
            made = f"L.choose({condition.text}, {a.text}, {b.text}, {0 if number == 2 else None}, {arms})"
            parts.append(a if a.text == b.text else t.define(made, [condition, a, b], INT64, pure=False))
        t.values[op.results[0]] = yes.of(parts)


_WIDER = ("arith.extsi", "arith.index_cast", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "arith.trunci")
_ZEROES = ("arith.extui", "arith.index_castui", "arith.uitofp")


@handles(*_WIDER, *_ZEROES, "arith.fptoui", "arith.bitcast")
def cast(t: Translator, op: ir.Operation) -> None:
    (value,) = t.operands(op)
    dtype, _ = value_type(op.results[0].type, op)
    function = {"arith.bitcast": "bitcast", "arith.fptoui": "to_unsigned"}.get(op.name, "convert")
    function = "convert_unsigned" if op.name in _ZEROES else function
    made = f"T.{function}({value.text}, {t.constant(dtype, INT64).text})"
    if value.const is not None and dtype == INT64:
        t.values[op.results[0]] = value
    else:
        t.result(op, plain(op, made) if value.uniform and not value.shape and is_wide(op) else made, [value])


_MATH_BIT = {"math.ctpop": "{0}", "math.ctlz": "~{0}", "math.cttz": "~{0}"}
"""On i1: the count of zeros of `false` is 1, which is `true`."""


@handles(*(f"math.{name}" for name in MATH))
def math(t: Translator, op: ir.Operation) -> None:
    values = t.operands(op)
    if values[0].dtype == BOOL:
        if op.name not in _MATH_BIT:
            raise refuse("W0750", "the simulator has no such op on i1", op)
        t.result(op, _MATH_BIT[op.name].format(f"np.bool_({values[0].text})" if values[0].uniform else values[0].text), values)
        return
    made = f"M[{op.name.removeprefix('math.')!r}]({', '.join(v.text for v in values)})"
    wide = str(op.results[0].type) == "i64" and all(v.uniform for v in values)
    if values[0].uniform and values[0].dtype == INT64:
        made = made.replace(f"({values[0].text}", f"(N.typed({values[0].text})", 1)
    t.result(op, plain(op, made) if wide else made, values)


