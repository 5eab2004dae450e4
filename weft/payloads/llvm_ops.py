"""Rewrites ops of the LLVM dialect that only compute into ops of `arith` and `math` with the same
meaning.

A payload may use them in the bodies of its ops (chapter H of MLIR's transform tutorial uses
`llvm.intr.maxnum`). Results that they leave undefined are undefined in `arith`, too; flags that
only permit optimizations are dropped. Ops without a counterpart are kept, and are refused in
kernels.
"""

from __future__ import annotations

from ..interpreter.ir.mlir import ancestors, ir, operations

_WRITTEN = """
add=arith.addi sub=arith.subi mul=arith.muli sdiv=arith.divsi udiv=arith.divui srem=arith.remsi urem=arith.remui
and=arith.andi or=arith.ori xor=arith.xori shl=arith.shli lshr=arith.shrui ashr=arith.shrsi
fadd=arith.addf fsub=arith.subf fmul=arith.mulf fdiv=arith.divf frem=arith.remf fneg=arith.negf
icmp=arith.cmpi fcmp=arith.cmpf select=arith.select bitcast=arith.bitcast
sext=arith.extsi zext=arith.extui trunc=arith.trunci fpext=arith.extf fptrunc=arith.truncf
sitofp=arith.sitofp uitofp=arith.uitofp fptosi=arith.fptosi fptoui=arith.fptoui mlir.constant=arith.constant
intr.smax=arith.maxsi intr.smin=arith.minsi intr.umax=arith.maxui intr.umin=arith.minui intr.abs=math.absi
intr.maxnum=arith.maxnumf intr.minnum=arith.minnumf intr.maximum=arith.maximumf intr.minimum=arith.minimumf
intr.ctlz=math.ctlz intr.cttz=math.cttz intr.ctpop=math.ctpop intr.copysign=math.copysign intr.fabs=math.absf
intr.fma=math.fma intr.pow=math.powf intr.powi=math.fpowi intr.sqrt=math.sqrt
intr.exp=math.exp intr.exp2=math.exp2 intr.log=math.log intr.log2=math.log2 intr.log10=math.log10
intr.ceil=math.ceil intr.floor=math.floor intr.trunc=math.trunc intr.round=math.round
intr.roundeven=math.roundeven intr.rint=math.roundeven intr.nearbyint=math.roundeven
intr.sin=math.sin intr.cos=math.cos intr.tan=math.tan intr.asin=math.asin intr.acos=math.acos intr.atan=math.atan
intr.atan2=math.atan2 intr.sinh=math.sinh intr.cosh=math.cosh intr.tanh=math.tanh
"""
_SAME = {pair.partition("=")[0]: pair.partition("=")[2] for pair in _WRITTEN.split()}
"""Op of the LLVM dialect → op of `arith` or `math`. `rint` and `nearbyint` round to nearest even,
the default mode."""

_FUSED = "llvm.intr.fmuladd"
_ANY = ("llvm.mlir.zero", "llvm.mlir.undef", "llvm.mlir.poison")
"""Constants that are 0 or may be taken as 0 (Polygeist initializes variables as undefined)."""

_KEPT = ("predicate", "value")
"""Attributes with the same meaning in both dialects; the numbers of predicates are equal."""


def in_plain_ops(module: ir.Module) -> None:
    """Rewrites the ops of `_SAME` in functions, in place, if no operand or result has an LLVM type."""
    for op in list(operations(module.operation)):
        new = _SAME.get(op.name.removeprefix("llvm.")) if op.name.startswith("llvm.") else None
        if (new is None and op.name not in (_FUSED, *_ANY)) or not _plain(op):
            continue
        with module.context, op.location, ir.InsertionPoint(op):
            kinds, operands = [result.type for result in op.results], list(op.operands)
            if op.name in _ANY:
                made = ir.Operation.create("arith.constant", kinds, [], {"value": _zero(kinds[0])})
            elif new is None:
                product = ir.Operation.create("arith.mulf", kinds, operands[:2]).results[0]
                made = ir.Operation.create("arith.addf", kinds, [product, operands[2]])
            else:
                attributes = {name: op.attributes[name] for name in _KEPT if name in op.attributes}
                if "value" in attributes:
                    attributes["value"] = _value_of(attributes["value"], kinds[0])
                made = ir.Operation.create(new, kinds, operands, attributes)
        for old, result in zip(op.results, made.results, strict=True):
            old.replace_all_uses_with(result)
        op.erase()


def _zero(kind: ir.Type) -> ir.Attribute:
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    zero = ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
    return ir.DenseElementsAttr.get_splat(kind, zero) if isinstance(kind, ir.VectorType) else zero


def _value_of(value: ir.Attribute, kind: ir.Type) -> ir.Attribute:
    """The value of a constant as an attribute of type `kind`: `3 : index` may be written for an
    i64, and an integer of another width is sign-extended or truncated."""
    if not isinstance(value, ir.IntegerAttr) or not isinstance(kind, ir.IntegerType) or value.type == kind:
        return value
    return ir.IntegerAttr.get(kind, (value.value + (1 << kind.width - 1)) % (1 << kind.width) - (1 << kind.width - 1))


def _plain(op: ir.Operation) -> bool:
    """Whether the op has no LLVM types and is in a function that is not `llvm.func`."""
    if any("!llvm." in str(value.type) for value in (*op.operands, *op.results)):
        return False
    if "value" in op.attributes:  # a string constant is only legal in the LLVM dialect
        kind = op.results[0].type
        value = _value_of(op.attributes["value"], kind)
        if not isinstance(value, ir.IntegerAttr | ir.FloatAttr | ir.DenseElementsAttr) or value.type != kind:
            return False
    if (
        op.name == "llvm.bitcast"
        and len({isinstance(v.type, ir.VectorType) for v in (op.operands[0], op.results[0])}) > 1
    ):
        return False
    return not any(around.name.startswith("llvm.") for around in ancestors(op))
