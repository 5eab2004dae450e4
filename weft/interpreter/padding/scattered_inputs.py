"""Inputs of which a tile reads no slice, such as x[9 - i] or x[i mod 4].

A tile of an op reads a slice of each input, from its subscripts at the tile's first iteration to
those at its last one, also for dimensions that are not tiled. That is correct for sums of
dimensions (x[2 * i + k]), and of their quotients by a multiple or a divisor of the tile's size (x[k
floordiv 16], in tiles of 8 or 32). For any other input, a masked load over the dimensions on which
it depends is created. It reads the same elements that the op would have read:

    before: linalg.generic ins(%x) {(i) -> (9 - i)}
    after:  linalg.generic ins(%y) {(i) -> (i)}      %y: a masked load, `tensor.extract %x[9 - i]`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..ir.mlir import affine, ahead_of, ir
from ..ir.sizes import iterations_of
from ..ir.structured import Structure, dimensions_of, element_type, shape_of
from . import masked_loads


def has_slices(space: Structure, number: int, shape: Sequence[int | None], tiled: Mapping[int, int | None]) -> bool:
    """Whether tiles of these dimensions access slices of an operand of that shape; sizes of tiles
    may be unknown.

    A subscript without a tiled dimension covers the elements up to that of the last iteration: its
    slice is complete if no earlier iteration accesses a later element, or if this is the last
    element of the axis.
    """
    indexing = space.maps[number]
    return all(
        _is_sum(e, tiled)
        if dimensions_of(e) & tiled.keys()
        else _rises(e) or (n is not None and _at_last(e, space.extents) == n - 1)
        for e, n in zip(indexing.results, shape, strict=True)
    )


def _rises(expr: ir.AffineExpr) -> bool:
    """Whether a subscript is monotonically non-decreasing."""
    if isinstance(expr, ir.AffineAddExpr):
        return _rises(expr.lhs) and _rises(expr.rhs)
    if isinstance(expr, ir.AffineMulExpr):
        by = expr.rhs
        return isinstance(by, ir.AffineConstantExpr) and by.value >= 0 and _rises(expr.lhs)
    if isinstance(expr, (ir.AffineFloorDivExpr, ir.AffineCeilDivExpr)):
        by = expr.rhs
        return isinstance(by, ir.AffineConstantExpr) and by.value > 0 and _rises(expr.lhs)
    return isinstance(expr, (ir.AffineDimExpr, ir.AffineConstantExpr))


def _at_last(expr: ir.AffineExpr, extents: Sequence[int | None]) -> int | None:
    """A subscript in the last iteration; None where the extents of its dimensions are known only at
    run time."""
    if any(extents[d] is None for d in dimensions_of(expr)):
        return None
    last = [ir.AffineConstantExpr.get((n or 1) - 1) for n in extents]
    return ir.AffineConstantExpr(expr.compose(ir.AffineMap.get(0, 0, last))).value


def _is_sum(expr: ir.AffineExpr, tiled: Mapping[int, int | None]) -> bool:
    """Whether a subscript is a sum of dimensions, and quotients of them that begin anew with each
    tile or are the same in all of it, with non-negative coefficients, and a non-negative constant."""
    if isinstance(expr, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return _is_sum(expr.lhs, tiled) and _is_sum(expr.rhs, tiled)
    if isinstance(expr, ir.AffineFloorDivExpr) and isinstance(expr.lhs, ir.AffineDimExpr):
        by, size = expr.rhs, tiled.get(expr.lhs.position)
        known = isinstance(by, ir.AffineConstantExpr) and by.value > 0 and size is not None
        return known and 0 in (size % by.value, by.value % size)
    return isinstance(expr, ir.AffineDimExpr) or (isinstance(expr, ir.AffineConstantExpr) and expr.value >= 0)


def load_scattered(op: ir.Operation, space: Structure, tiled: Mapping[int, int | None]) -> list[str]:
    """Creates masked loads for the inputs of `op` (a `linalg.generic` on tensors) that have no
    slices for tiles of the dimensions `tiled`, in place; returns remarks."""
    scattered = [i for i in range(space.inputs) if not has_slices(space, i, shape_of(op.operands[i]), tiled)]
    if not scattered:
        return []
    maps, done = list(space.maps), list[str]()
    with ahead_of(op):
        sizes = [n for n in iterations_of(op, space) if n is not None]
        if len(sizes) < space.rank:
            return []
        for i in scattered:
            used = sorted({d for e in space.maps[i].results for d in dimensions_of(e)}) or [*range(space.rank)]
            dims = [
                ir.AffineExpr.get_dim(used.index(d)) if d in used else ir.AffineExpr.get_constant(0)
                for d in range(space.rank)
            ]
            own = ir.AffineMap.get(len(used), 0, dims)
            of_used = ir.AffineMap.get(len(used), 0, [e.compose(own) for e in space.maps[i].results])
            op.operands[i] = _load(op.operands[i], of_used, [sizes[d] for d in used])
            maps[i] = ir.AffineMap.get(space.rank, 0, [ir.AffineExpr.get_dim(d) for d in used])
            read = ", ".join(map(str, space.maps[i].results))
            done.append(f"input {i} is read element by element, at ({read}): a tile has no slice of it")
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
    return done


def _load(value: ir.Value, indexing: ir.AffineMap, sizes: Sequence[int | ir.Value]) -> ir.Value:
    kind = element_type(value)

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        indices = list(at)
        single = (ir.AffineMap.get(indexing.n_dims, 0, [expr]) for expr in indexing.results)
        where = [affine.AffineApplyOp(each, indices).result for each in single]
        return masked_loads.read_at(value, where, None, None)

    return masked_loads.computed(sizes, kind, element)
