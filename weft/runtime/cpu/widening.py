"""Widening of payloads: f16, bf16 and f8 become f32, so that the reference has almost no rounding
errors of its own. To judge the rounding errors of f32, all floats become f64.

Types are changed in place, everywhere in the module. Extensions and truncations between types that
are now equal are erased. A payload that reads the bits of its halves is left unchanged, because its
meaning would change.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ...interpreter.hardware.ampere.copies import COPY, GROUP, WAIT
from ...interpreter.ir.mlir import ir, operations, regions_of, vector
from ..form.kernel_form import async_copy
from ..host.functions import constant_array
from ..plan.dtypes import narrow
from .threads import nought

BFLOAT = re.compile(r"(?:^|(?<=[x<(, ]))bf16\b")
NARROWER = {
    "f32": re.compile(r"(?:^|(?<=[x<(, ]))(?:b?f16|f8E4M3FN|f8E5M2)\b"),
    "f64": re.compile(r"(?:^|(?<=[x<(, ]))(?:b?f16|f8E4M3FN|f8E5M2|f32)\b"),
}
"""Patterns in a type's text that become the wide type: after `x` as an element type, else as a
complete name."""

BIT_CASTS = ("arith.bitcast", "tensor.bitcast", "vector.bitcast", "memref.view", "llvm.bitcast")
CONVERSIONS = ("arith.extf", "arith.truncf")


def widen_floats(module: ir.Module, to: str) -> bool:
    """Widens all narrower floats of the module to f32, or f64. If the module reads their bits,
    leaves it unchanged and returns False."""

    def wide_type(kind: ir.Type) -> ir.Type:
        return _replaced(kind, NARROWER[to], to)

    ops = list(operations(module.operation))
    with module.context, ir.Location.unknown():
        cast = [value.type for op in ops if op.name in BIT_CASTS for value in (*op.operands, *op.results)]
        if any(wide_type(kind) != kind for kind in cast):
            return False
        change_types(module, wide_type)
        for op in ops:
            if op.name in CONVERSIONS and op.operands[0].type == op.results[0].type:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
    return True


def change_types(module: ir.Module, changed: Callable[[ir.Type], ir.Type]) -> None:
    """Changes the types of all values and attributes, in place."""
    types: dict[ir.Type, ir.Type] = {}
    attributes: dict[ir.Attribute, ir.Attribute] = {}
    for op in operations(module.operation):
        for value in (*op.results, *(a for region in regions_of(op) for b in region.blocks for a in b.arguments)):
            old = value.type
            if (new := types.get(old)) is None:
                new = types[old] = _of(old, changed)
            if new is not old and new != old:
                value.set_type(new)
        for name in list(op.attributes):
            old = op.attributes[name]
            if (new := attributes.get(old)) is None:
                new = attributes[old] = _changed(old, changed)
            if new is not old and new != old:
                op.attributes[name] = new


def _of(type_: ir.Type, changed: Callable[[ir.Type], ir.Type]) -> ir.Type:
    if not isinstance(type_, ir.FunctionType):
        return changed(type_)
    return ir.FunctionType.get([changed(t) for t in type_.inputs], [changed(t) for t in type_.results])


def _changed(attribute: ir.Attribute, changed: Callable[[ir.Type], ir.Type]) -> ir.Attribute:
    if isinstance(attribute, ir.TypeAttr):
        return ir.TypeAttr.get(_of(attribute.value, changed))
    if isinstance(attribute, ir.FloatAttr):
        kind = changed(attribute.type)
        if isinstance(kind, ir.IntegerType):
            (bits,) = narrow(np.array([attribute.value]), str(attribute.type)).view(f"i{kind.width // 8}")
            return ir.IntegerAttr.get(kind, int(bits))
        return ir.FloatAttr.get(kind, attribute.value)
    if isinstance(attribute, ir.DenseFPElementsAttr):
        return _constant(attribute, changed(attribute.type))
    if isinstance(attribute, ir.ArrayAttr):
        return ir.ArrayAttr.get([_changed(a, changed) for a in attribute])
    return attribute


def _constant(attribute: ir.DenseFPElementsAttr, wide: ir.Type) -> ir.Attribute:
    element = wide.element_type
    as_bits = isinstance(element, ir.IntegerType)
    dtype = str((attribute.type if as_bits else wide).element_type)
    values = constant_array(attribute, dtype) if wide != attribute.type else None
    if values is None:
        return attribute
    if as_bits:
        return ir.DenseElementsAttr.get(np.ascontiguousarray(values).view(f"i{element.width // 8}"), type=wide)
    if attribute.is_splat and values.size:
        return ir.DenseElementsAttr.get_splat(wide, ir.FloatAttr.get(wide.element_type, float(values.flat[0])))
    return ir.DenseElementsAttr.get(values, type=wide)


def bfloats_as_bits(module: ir.Module) -> None:
    """Replaces remaining bf16 types, which no op computes with by now, by 16-bit integers: for
    bf16, LLVM may call conversion functions that a JIT lacks. Raises `ir.MLIRError` if an op still
    computes with bf16."""
    with module.context, ir.Location.unknown():
        change_types(module, lambda kind: _replaced(kind, BFLOAT, "i16"))
    module.operation.verify()


def _replaced(type_: ir.Type, element: re.Pattern[str], other: str) -> ir.Type:
    """A type, with all occurrences of an element type replaced."""
    text = str(type_)
    found = element.sub(other, text)
    return type_ if found == text else ir.Type.parse(found, type_.context)


def copy_at_once(module: ir.Module) -> None:
    """Replaces asynchronous copies by vector loads and stores, in place. Their tokens become unused
    values.

    Raises W0725 for a copy that no GPU supports.
    """
    with module.context, ir.Location.unknown():
        for op in list(operations(module.operation, COPY, GROUP, WAIT)):
            with ir.InsertionPoint(op), op.location:
                if op.name == COPY:
                    _copy(op)
                for token in op.results:
                    nothing = ir.Operation.create(
                        "ub.poison", [token.type], attributes={"value": ir.Attribute.parse("#ub.poison")}
                    )
                    token.replace_all_uses_with(nothing.result)
            op.erase()


def _copy(op: ir.Operation) -> None:
    found = async_copy(op, "W0725")
    kind = ir.VectorType.get([found.count], ir.MemRefType(found.source.type).element_type)
    if found.read is None:
        value = vector.load(kind, found.source, found.begin)
    else:
        bits = ir.VectorType.get([found.count], ir.IntegerType.get_signless(1))
        mask = vector.create_mask(bits, [found.read])
        value = vector.maskedload(kind, found.source, found.begin, mask, nought(kind))
    vector.store(value, found.target, found.at)
