"""Affine loops and accesses → `scf` and `memref`, in one loop and not in the whole module (upstream's `lower-affine`).

The subscripts stay `affine.apply`s, which the analysis reads; only what demands an affine loop around it has to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ..indices.arithmetic import apply_map, conjunction, constant, known
from ..ir.affine_maps import constraints
from ..ir.mlir import affine, arith, ir, memref, operations, scf, vector
from ..ir.structured import copy_marks, replace
from .forall import one_forall


def without_affine_loops(root: ir.Operation) -> ir.Operation:
    """Rewrite `root` and what it holds, innermost first; the loop that stands where `root` stood.

    Handles (`weft.*` attributes) come along. An `affine.parallel` with reductions stays: nothing maps it.
    """
    made = root
    for op in reversed(list(operations(root))):  # the root comes last
        made = _rewrite(op)
    return made


def _rewrite(op: ir.Operation) -> ir.Operation:
    with ir.InsertionPoint(op), op.location:
        match op.name:
            case "affine.for":
                return _for(op)
            case "affine.parallel" if not op.results:
                return _parallel(op)
            case "affine.if":
                return _if(op)
            case "affine.load" | "affine.vector_load":
                subscripts = apply_map(_map(op, "map"), list(op.operands)[1:])
                if op.name == "affine.load":
                    made = memref.LoadOp(op.operands[0], subscripts).operation
                else:
                    made = vector.LoadOp(op.results[0].type, op.operands[0], subscripts).operation
            case "affine.store" | "affine.vector_store":
                subscripts = apply_map(_map(op, "map"), list(op.operands)[2:])
                store = memref.StoreOp if op.name == "affine.store" else vector.StoreOp
                made = store(op.operands[0], op.operands[1], subscripts).operation
            case _:
                return op
    return _replace(op, made)


def _replace(op: ir.Operation, made: ir.Operation) -> ir.Operation:
    copy_marks(op, made)
    replace(op, made.results)
    return made


def _map(op: ir.Operation, name: str) -> ir.AffineMap:
    return ir.AffineMapAttr(op.attributes[name]).value


def _extreme(mapping: ir.AffineMap, operands: Sequence[ir.Value], *, most: bool) -> ir.Value:
    """The largest lower bound, or the smallest upper bound."""
    if len(mapping.results) == 1:
        return apply_map(mapping, operands)[0]
    kind = affine.AffineMaxOp if most else affine.AffineMinOp
    return kind(mapping, list(operands)).result


def _for(op: ir.Operation) -> ir.Operation:
    lows, highs, inits = (int(n) for n in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)
    low = _extreme(_map(op, "lowerBoundMap"), operands[:lows], most=True)
    high = _extreme(_map(op, "upperBoundMap"), operands[lows : lows + highs], most=False)
    step = constant(ir.IntegerAttr(op.attributes["step"]).value)
    loop = scf.ForOp(low, high, step, operands[lows + highs : lows + highs + inits]).operation
    _move(op.regions[0].blocks[0], loop.regions[0].blocks[0])
    return _replace(op, loop)


def _move(source: ir.Block, target: ir.Block) -> None:
    """The ops of an affine block, its `affine.yield` as a `scf.yield`."""
    for old, new in zip(source.arguments, target.arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in list(target.operations):
        op.operation.erase()
    for op in list(source.operations):
        operation = op.operation
        if operation.name == "affine.yield":
            with ir.InsertionPoint(target), operation.location:
                scf.YieldOp(list(operation.operands))
        else:
            operation.detach_from_parent()
            ir.InsertionPoint(target).insert(operation)


def _parallel(op: ir.Operation) -> ir.Operation:
    """A `scf.forall`; each dimension's bounds are a group of the map's results."""
    lower, upper = _map(op, "lowerBoundsMap"), _map(op, "upperBoundsMap")
    operands = list(op.operands)
    own, others = operands[: lower.n_inputs], operands[lower.n_inputs :]
    lows = [_extreme(group, own, most=True) for group in _groups(op, "lowerBoundsGroups", lower)]
    highs = [_extreme(group, others, most=False) for group in _groups(op, "upperBoundsGroups", upper)]
    steps = [ir.IntegerAttr(s).value for s in ir.ArrayAttr(op.attributes["steps"])]
    return one_forall([op], [known(n) for n in lows], [known(n) for n in highs], steps)


def _groups(op: ir.Operation, name: str, mapping: ir.AffineMap) -> list[ir.AffineMap]:
    sizes = ir.DenseIntElementsAttr(op.attributes[name])
    numbers = iter(range(len(mapping.results)))
    return [mapping.get_submap(list(islice(numbers, int(sizes[position])))) for position in range(len(sizes))]


def _if(op: ir.Operation) -> ir.Operation:
    mapping, equalities = constraints(op.attributes["condition"])
    zero, predicates = constant(0), arith.CmpIPredicate
    conditions = [
        arith.CmpIOp(predicates.eq if equality else predicates.sge, form, zero).result
        for equality, form in zip(equalities, apply_map(mapping, list(op.operands)), strict=True)
    ]
    otherwise = len(op.regions) > 1 and len(op.regions[1].blocks) > 0
    made = scf.IfOp(conjunction(conditions), [r.type for r in op.results], has_else=otherwise).operation
    for region, target in zip(op.regions, made.regions, strict=False):
        if len(region.blocks):
            _move(region.blocks[0], target.blocks[0])
    return _replace(op, made)
