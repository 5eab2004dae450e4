"""`arith`, `math` and `affine`."""

from __future__ import annotations

from functools import partial

from ....interpreter.ir.affine_maps import results_of
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import ON_BITS, pairs_of, refuse
from ..translate import BOOL, INT64, Made, Translator, Val, handles, literal, value_type
from ..values.numeric import MATH, wrap
from .memory import dense

_OPERATORS = "addf +  subf -  mulf *  divf /  andi &  ori |  xori ^  addi +  subi -  muli *  floordivsi //"
_FUNCTIONS = (
    "remf np.fmod  maximumf N.maximum  minimumf N.minimum  maxnumf N.maxnum  minnumf N.minnum  maxsi N.maximum_of"
    "  minsi N.minimum_of  maxui N.maxui  minui N.minui  shli np.left_shift  shrsi np.right_shift  shrui N.shrui"
    "  divsi N.divsi  divui N.divui  remsi np.fmod  remui N.remui  ceildivsi N.ceildivsi"
)
"""The Python expression of an op of `arith`, by name."""
_PATTERNS = {"arith.negf": "-{0}"}
_PATTERNS |= {f"arith.{name}": f"{{0}} {made} {{1}}" for name, made in pairs_of(_OPERATORS).items()}
_PATTERNS |= {f"arith.{name}": f"{made}({{0}}, {{1}})" for name, made in pairs_of(_FUNCTIONS).items()}
_LOGIC = {"xor": "{0} ^ {1}", "and": "{0} & {1}", "or": "{0} | {1}"}

_SIGNED = ["==", "!=", "<", "<=", ">", ">="]
_UNSIGNED = ["<", "<=", ">", ">="]
_FLOAT = ["==", ">", ">=", "<", "<=", "!="]


def _number(t: Translator, op: ir.Operation, made: str, values: list[Val], *, pure: bool = True) -> Val:
    """The op's result; a uniform index or i64 is a Python integer."""
    uniform = pure and all(v.uniform and not v.shape for v in values)
    wide = uniform and str(op.results[0].type) in ("index", "i64")
    return t.result(op, f"N.wrap(int({made}))" if wide else made, values, pure=pure)


@handles("arith.constant")
def constant(t: Translator, op: ir.Operation) -> Val:
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
    return made


@handles(*_PATTERNS)
def operate(t: Translator, op: ir.Operation) -> Val:
    values, pattern, pure, word = t.operands(op), _PATTERNS[op.name], True, op.name[6:-1]
    if values[0].dtype == BOOL:
        if word not in ON_BITS:
            hint = f"leave `{op.name}` out: a shift of one bit is by 0, a divisor of one bit is 1"
            raise refuse("W0750", f"the simulator does not support `{op.name}` on i1", op, hint=hint)
        pattern = _LOGIC[ON_BITS[word]]
    elif word in ("add", "sub", "mul") and not values[0].shape and all(v.const is not None for v in values):
        return literal(wrap(eval(pattern.format(*(v.const for v in values)))))
    elif op.name.endswith("i") and ("div" in word or "rem" in word):
        pure = bool(values[1].const)
        values[1] = values[1] if pure else t.nonzero(values[1], op)
    return _number(t, op, pattern.format(*(v.text for v in values)), values, pure=pure)


@handles("arith.cmpi")
def compare_integers(t: Translator, op: ir.Operation) -> Val:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    values = t.operands(op)
    a, b = (v.text for v in values)
    if predicate > 5:
        made = f"N.unsigned({a}) {_UNSIGNED[predicate - 6]} N.unsigned({b})"
    elif predicate > 1 and values[0].dtype == BOOL:
        made = f"{b} {_SIGNED[predicate]} {a}"  # as i1, true is -1
    else:
        made = f"{a} {_SIGNED[predicate]} {b}"
    return t.result(op, made, values)


@handles("arith.cmpf")
def compare_floats(t: Translator, op: ir.Operation) -> Val:
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
    return t.result(op, made, t.operands(op))


@handles("arith.select")
def select(t: Translator, op: ir.Operation) -> Made:
    condition = t.value(op.operands[0])
    yes, no = t.values[op.operands[1]], t.values[op.operands[2]]
    if isinstance(yes, Val) or isinstance(no, Val):
        yes, no = t.value(op.operands[1]), t.value(op.operands[2])
        made = f"N.select({condition.text}, {yes.text}, {no.text}, {yes.rank if not condition.shape else 0})"
        return t.result(op, made, [condition, yes, no])
    taken, other = t.fresh("m"), t.fresh("m")
    t.emit(f"{taken}, {other} = L.split(None, {condition.text})")
    arms, parts = f"{taken}, {other}", []
    for number, (a, b) in enumerate(zip(yes.parts, no.parts, strict=True)):
        made = f"L.choose({condition.text}, {a.text}, {b.text}, {0 if number == 2 else None}, {arms})"
        parts.append(a if a.text == b.text else t.define(made, [condition, a, b], INT64, pure=False))
    return yes.of(parts)


_CASTS = {
    "arith.bitcast": "bitcast",
    "arith.fptoui": "to_unsigned",
    **{f"arith.{name}": "convert" for name in ("extsi", "index_cast", "sitofp", "fptosi", "extf", "truncf", "trunci")},
    **{f"arith.{name}": "convert_unsigned" for name in ("extui", "index_castui", "uitofp")},
}


@handles(*_CASTS)
def cast(t: Translator, op: ir.Operation) -> Val:
    (value,) = t.operands(op)
    dtype, _ = value_type(op.results[0].type, op)
    if value.const is not None and dtype == INT64:
        return value
    return _number(t, op, f"T.{_CASTS[op.name]}({value.text}, {t.constant(dtype, INT64).text})", [value])


_MATH_BIT = {"math.ctpop": "{0}", "math.ctlz": "~{0}", "math.cttz": "~{0}"}
"""On i1: the count of zeros of `false` is 1, which is `true`."""


@handles(*(f"math.{name}" for name in MATH))
def math(t: Translator, op: ir.Operation) -> Val:
    values = t.operands(op)
    first, *others = (v.text for v in values)
    if values[0].dtype == BOOL:
        if op.name not in _MATH_BIT:
            raise refuse("W0750", "the simulator has no such op on i1", op)
        return t.result(op, _MATH_BIT[op.name].format(f"np.bool_({first})" if values[0].uniform else first), values)
    if values[0].uniform and values[0].dtype == INT64:
        first = f"N.typed({first})"
    return _number(t, op, f"M[{op.name.removeprefix('math.')!r}]({', '.join([first, *others])})", values)


# ---- affine maps -----------------------------------------------------------------------------------------------------


def _operate(t: Translator, op: ir.Operation, operator: str, a: Val, b: Val) -> Val:
    if operator == "add":
        return t.add(a, b)
    if operator == "mul":
        return t.multiply(a, b)
    pure = b.const is not None
    if b.const is not None and b.const <= 0:
        raise refuse("W0750", f"an affine map divides by {b.const}", op)
    if not pure:
        b = t.nonzero(b, op)
    pattern = {"mod": "{0} % {1}", "floordiv": "{0} // {1}", "ceildiv": "-(-{0} // {1})"}[operator]
    return t.define(pattern.format(a.text, b.text), [a, b], INT64, pure=pure)


@handles("affine.apply", "affine.min", "affine.max")
def affine(t: Translator, op: ir.Operation) -> Val:
    values = results_of(ir.AffineMapAttr(op.attributes["map"]).value, t.operands(op), literal, partial(_operate, t, op))
    function, texts = "minimum_of" if op.name == "affine.min" else "maximum_of", ", ".join(v.text for v in values)
    return values[0] if len(values) == 1 else t.define(f"N.{function}({texts})", values, INT64)
