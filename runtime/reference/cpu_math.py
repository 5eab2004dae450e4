"""Functions that upstream's passes lower inexactly or not at all: `expm1`, which they take for `exp(x) - 1`, and `isinf`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from ...interpreter.ir import mlir
from ...interpreter.ir.mlir import ir

LIBRARY = {"f32": "expm1f", "f64": "expm1"}


def lower_functions(module: ir.Module) -> None:
    """Rewrite them, on scalars and vectors, in place; tensors of them have become loops over scalars before."""
    for op in list(mlir.operations(module.operation, "math.expm1", "math.isinf")):
        with module.context, op.location, ir.InsertionPoint(op):
            rewrite = _infinite if op.name == "math.isinf" else _each(_expm1(module))
            op.results[0].replace_all_uses_with(rewrite(op.operands[0]))
        op.erase()


def _made(name: str, operands: Sequence[ir.Value], result: ir.Type, **attributes: ir.Attribute) -> ir.Value:
    return ir.Operation.create(name, [result], operands, attributes).results[0]


def _infinite(value: ir.Value) -> ir.Value:
    """`|x| == inf`."""
    kind = value.type
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    infinity: ir.Attribute = ir.FloatAttr.get(element, float("inf"))
    if isinstance(kind, ir.VectorType):
        infinity = ir.DenseElementsAttr.get_splat(kind, infinity)
    bound = _made("arith.constant", [], kind, value=infinity)
    return mlir.arith.cmpf(mlir.arith.CmpFPredicate.OEQ, _made("math.absf", [value], kind), bound)


def _expm1(module: ir.Module) -> Callable[[ir.Value], ir.Value]:
    """The call of the C library's function; halves by way of f32."""

    def call(value: ir.Value) -> ir.Value:
        kind, single = value.type, ir.F32Type.get()
        wide = kind if str(kind) in LIBRARY else single
        argument = value if wide == kind else _made("arith.extf", [value], wide)
        name = LIBRARY[str(wide)]
        _declare(module, name, wide)
        result = _made("func.call", [argument], wide, callee=ir.FlatSymbolRefAttr.get(name))
        return result if wide == kind else _made("arith.truncf", [result], kind)

    return call


def _declare(module: ir.Module, name: str, kind: ir.Type) -> None:
    """The library's function, unless the module has it already."""
    if any(op.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value == name for op in module.body.operations):
        return
    with ir.InsertionPoint.at_block_begin(module.body):
        declared = mlir.func.FuncOp(name, ([kind], [kind]), visibility="private")
        declared.operation.attributes["llvm.readnone"] = ir.UnitAttr.get()


def _each(function: Callable[[ir.Value], ir.Value]) -> Callable[[ir.Value], ir.Value]:
    """On a scalar; of a vector, on each element."""

    def apply(value: ir.Value) -> ir.Value:
        kind = value.type
        if not isinstance(kind, ir.VectorType):
            return function(value)
        result = value
        for place in product(*map(range, kind.shape)):
            position = ir.DenseI64ArrayAttr.get(list(place))
            element = _made("vector.extract", [value], kind.element_type, static_position=position)
            result = _made("vector.insert", [function(element), result], kind, static_position=position)
        return result

    return apply
