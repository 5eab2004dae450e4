"""f16 and bf16 payloads in f32: what the reference computes with, so that it has no rounding of its own to speak of.

Types are changed in place, everywhere in the module; extensions and truncations between types that became equal vanish.
A payload that looks at the bits of its halves is left as it is: its meaning would change.
"""

from __future__ import annotations

from ...interpreter.ir import mlir
from ...interpreter.ir.mlir import ir
from ..host.constants import constant_array

HALVES = ("f16", "bf16")
BIT_CASTS = ("arith.bitcast", "tensor.bitcast", "vector.bitcast", "memref.view", "llvm.bitcast")
CONVERSIONS = ("arith.extf", "arith.truncf")


def widen_halves(module: ir.Module) -> bool:
    """Make f32 of every f16 and bf16 in the module. False: it looks at their bits, and was left as it is."""
    ops = list(mlir.operations(module.operation))
    with module.context, ir.Location.unknown():
        if any(op.name in BIT_CASTS and _touches_halves(op) for op in ops):
            return False
        for op in ops:
            for result in op.results:
                result.set_type(wide_type(result.type))
            for argument in (a for region in op.regions for block in region.blocks for a in block.arguments):
                argument.set_type(wide_type(argument.type))
            for name in list(op.attributes):
                op.attributes[name] = _wide_attribute(op.attributes[name])
        for op in ops:
            if op.name in CONVERSIONS and op.operands[0].type == op.results[0].type:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
    return True


def _touches_halves(op: ir.Operation) -> bool:
    return any(wide_type(v.type) != v.type for v in (*op.operands, *op.results))


def wide_type(type_: ir.Type) -> ir.Type:
    """The same type with f32 for f16 and bf16."""
    if str(type_) in HALVES:
        return ir.F32Type.get(type_.context)
    if isinstance(type_, ir.FunctionType):
        return ir.FunctionType.get([wide_type(t) for t in type_.inputs], [wide_type(t) for t in type_.results])
    if not isinstance(type_, ir.ShapedType) or not type_.has_rank:
        return type_
    element = wide_type(type_.element_type)
    if element == type_.element_type:
        return type_
    shape = [type_.get_dim_size(i) for i in range(type_.rank)]
    if isinstance(type_, ir.RankedTensorType):
        return ir.RankedTensorType.get(shape, element, type_.encoding)
    if isinstance(type_, ir.MemRefType):
        return ir.MemRefType.get(shape, element, type_.layout, type_.memory_space)
    if isinstance(type_, ir.VectorType):
        return ir.VectorType.get(shape, element, scalable=type_.scalable_dims)
    return type_


def _wide_attribute(attribute: ir.Attribute) -> ir.Attribute:
    if isinstance(attribute, ir.TypeAttr):
        return ir.TypeAttr.get(wide_type(attribute.value))
    if isinstance(attribute, ir.FloatAttr):
        return ir.FloatAttr.get(wide_type(attribute.type), attribute.value)
    if isinstance(attribute, ir.DenseFPElementsAttr):
        return _wide_constant(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return ir.ArrayAttr.get([_wide_attribute(a) for a in attribute])
    return attribute


def _wide_constant(attribute: ir.DenseFPElementsAttr) -> ir.Attribute:
    type_ = attribute.type
    wide = wide_type(type_)
    values = constant_array(attribute, "f32") if wide != type_ else None
    if values is None:
        return attribute
    if attribute.is_splat and values.size:
        return ir.DenseElementsAttr.get_splat(wide, ir.FloatAttr.get(wide.element_type, float(values.flat[0])))
    return ir.DenseElementsAttr.get(values, type=wide)
