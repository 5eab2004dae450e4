"""The kind of a structured op (`KINDS` in `dsl/tree.py`), by its indexing maps and its body, not by its
name."""

from __future__ import annotations

from ..ir.affine_maps import dimension_of
from ..ir.mlir import ir, is_within, linalg, made_by, maker, memref, operations, tensor
from ..ir.structured import Structure, adds_a_product, body_of, is_structured, structure, yielded


def kind_of(op: ir.Operation) -> str | None:
    """The kind of a structured op; None for another op, and for one that scatters its results."""
    if not is_structured(op):
        return None
    space = structure(op)
    inputs, outputs = space.maps[: space.inputs], space.maps[space.inputs :]
    if "reduction" in space.iterators:
        of_products = linalg.isa_contraction_op(op) or adds_a_product(op)
        if windows_of(space):
            return "convolution" if of_products else "pooling"
        chosen = all(dimension_of(e) is not None for m in inputs for e in m.results)
        return "contraction" if of_products and chosen and space.inputs == 2 else "reduction"
    if not all(_chooses_dimensions(m) for m in outputs):
        return None
    computed = any(
        dimension_of(e) is None and not isinstance(e, ir.AffineConstantExpr) for m in inputs for e in m.results
    )
    if computed or any(isinstance(inner.opview, tensor.ExtractOp | memref.LoadOp) for inner in operations(op)):
        return "gather"
    return _moving(op, space) or "elementwise"


def _chooses_dimensions(m: ir.AffineMap) -> bool:
    """Whether the results of a map are different dimensions."""
    found = [dimension_of(e) for e in m.results]
    return None not in found and len(set(found)) == len(found)


def _moving(op: ir.Operation, space: Structure) -> str | None:
    """The kind of an op that computes nothing; None for another."""
    body, values = body_of(op), yielded(op)
    if len(values) != 1:
        return None
    (value,), result = values, [dimension_of(e) for e in space.maps[-1].results]
    if value not in list(body.arguments):
        constant = made_by(value, "arith.constant") is not None
        return "fill" if constant or not is_within(maker(value), op) else None
    number = list(body.arguments).index(value)
    if number >= space.inputs:
        return None
    if not isinstance(op.operands[number].type, ir.ShapedType):
        return "fill"
    read = [dimension_of(e) for e in space.maps[number].results]
    if read == result:
        return "copy"
    if sorted(map(str, read)) == sorted(map(str, result)):
        return "transpose"
    return "fill" if not read else "broadcast"


def windows_of(space: Structure) -> list[tuple[int, int]]:
    """The stride and dilation of each axis along which an input is read in windows: at `stride * p
    + dilation * r`, where p is a parallel dimension and r a reduced one."""
    found: list[tuple[int, int]] = []
    for indexing in space.maps[: space.inputs]:
        for e in indexing.results:
            factors = _factors(e)
            kinds = {space.iterators[d]: factor for d, factor in (factors or {}).items()}
            if factors is not None and len(factors) == 2 and len(kinds) == 2:
                found.append((kinds["parallel"], kinds["reduction"]))
    return found


def _factors(e: ir.AffineExpr) -> dict[int, int] | None:
    """The factor of each dimension in a linear form; None for another expression."""
    if isinstance(e, ir.AffineConstantExpr):
        return {}
    if (d := dimension_of(e)) is not None:
        return {d: 1}
    if isinstance(e, ir.AffineAddExpr):
        one, other = _factors(e.lhs), _factors(e.rhs)
        if one is None or other is None:
            return None
        return {d: one.get(d, 0) + other.get(d, 0) for d in dict.fromkeys((*one, *other))}
    if isinstance(e, ir.AffineMulExpr) and isinstance(e.rhs, ir.AffineConstantExpr):
        factors = _factors(e.lhs)
        return None if factors is None else {d: factor * e.rhs.value for d, factor in factors.items()}
    return None
