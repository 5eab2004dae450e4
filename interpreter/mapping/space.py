"""The iteration space of a mapped thing: a `scf.forall`, or an all-parallel op; what it costs to know its extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, Sum, ceildiv, constant, known, multiply, subtract, value
from ..indices.ranges import largest, range_of
from ..ir.mlir import DYNAMIC, affine, ir, linalg, memref, producer, scf


@dataclass(frozen=True)
class LoopDimension:
    """One dimension of a `scf.forall`: iterations `lower, lower + step, …` below `upper`."""

    lower: Bound
    upper: Bound
    step: Bound

    def trips(self) -> Bound:
        """How many iterations there are; emits index arithmetic where a bound is not a number."""
        if self.lower == 0 and self.step == 1:
            return self.upper
        span = ceildiv(subtract(self.upper, self.lower), self.step)
        return max(span, 0) if isinstance(span, int) else span

    @property
    def static_trips(self) -> int | None:
        numbers = (self.lower, self.upper, self.step)
        if not all(isinstance(n, int) for n in numbers):
            return None
        lower, upper, step = (n for n in numbers if isinstance(n, int))
        return max(-(-(upper - lower) // step), 0)

    @property
    def most_trips(self) -> int | None:
        """The number of iterations, or a number that it never exceeds; None where there is none."""
        last, first, step = largest(self.upper), range_of(self.lower)[0], range_of(self.step)[0]
        if last is None or first is None:
            return None
        return max(-(-(last - first) // max(step or 1, 1)), 0)

    def induction(self, iteration: Sum) -> ir.Value:
        """The loop variable in that iteration."""
        if isinstance(self.step, int):
            scaled = iteration.times(self.step)
        else:
            scaled = Sum.of(multiply(iteration.emit(), self.step))
        return (scaled + Sum.of(self.lower)).emit()


def product(trips: Sequence[Bound]) -> Bound:
    """How many iterations several dimensions have together. A bound below the lower one is no iterations, not fewer than none:
    the product of two such counts would be some."""
    total: Bound = 1
    for count in trips:
        low = range_of(count)[0]
        if not isinstance(count, int) and len(trips) > 1 and (low is None or low < 0):
            zero, itself = ir.AffineExpr.get_constant(0), ir.AffineExpr.get_dim(0)
            count = affine.AffineMaxOp(ir.AffineMap.get(1, 0, [itself, zero]), [count]).result
        total = multiply(total, count)
    return total


def loop_dimensions(forall: ir.Operation) -> tuple[LoopDimension, ...]:
    """The dimensions of a `scf.forall`. Error: W0344 for a step that is no step; MLIR leaves open what such a loop does."""
    loop = forall.opview
    if not isinstance(loop, scf.ForallOp):
        return ()
    values = iter(loop.operands)

    def bounds(key: str) -> list[Bound]:
        static = ir.DenseI64ArrayAttr(loop.operation.attributes[key])
        return [known(next(values)) if number == DYNAMIC else number for number in static]

    lower, upper, step = bounds("staticLowerBound"), bounds("staticUpperBound"), bounds("staticStep")
    stuck = next((n for n in step if isinstance(n, int) and n <= 0), None)
    if stuck is not None:
        raise fail("W0344", f"a step of {stuck} makes no loop: MLIR says nothing of what it does", hint="steps are positive")
    return tuple(LoopDimension(*dimension) for dimension in zip(lower, upper, step, strict=True))


def is_parallel_op(op: ir.Operation) -> bool:
    """A structured op all of whose iterators are parallel, so that each element of its result is written once."""
    types = iterator_types(op)
    return types is not None and all(kind == "parallel" for kind in types)


def iterator_types(op: ir.Operation) -> list[str] | None:
    """`parallel`, `reduction` or `window` per dimension; None for an op that is not structured."""
    maps = indexing_maps(op)
    if maps is None:
        return None
    if op.name == "linalg.generic":
        return [_iterator(a) for a in ir.ArrayAttr(op.attributes["iterator_types"])]
    outputs = maps[-1]
    mapped = {str(r) for r in outputs.results}
    return ["parallel" if f"d{d}" in mapped else "reduction" for d in range(maps[0].n_dims)]


def _iterator(attribute: ir.Attribute) -> str:
    return str(attribute).split("<")[-1].rstrip(">")


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap] | None:
    """The indexing maps of a structured op, inputs first; None for any other op."""
    if not op.name.startswith("linalg.") or op.name in ("linalg.index", "linalg.yield"):
        return None
    maps = linalg.get_indexing_maps(op)
    return None if maps is None else [ir.AffineMapAttr(m).value for m in maps]


def static_extents(op: ir.Operation) -> list[int | None]:
    """The iteration extents of a structured op (None where one is dynamic), from the shapes of its operands."""
    maps = indexing_maps(op) or []
    extents: list[int | None] = [None] * (maps[0].n_dims if maps else 0)
    for operand, indexing in zip(op.operands, maps, strict=False):
        if not isinstance(operand.type, ir.ShapedType):
            continue
        shaped = operand.type
        for axis, result in enumerate(indexing.results):
            if isinstance(result, ir.AffineDimExpr) and not shaped.is_dynamic_dim(axis):
                extents[result.position] = shaped.get_dim_size(axis)
    return extents


def extents(op: ir.Operation) -> list[Bound]:
    """The iteration extents; emits a `memref.dim` (or finds the subview's size) for dynamic ones."""
    found: list[Bound] = []
    for dimension, extent in enumerate(static_extents(op)):
        found.append(extent if extent is not None else _dynamic_extent(op, dimension))
    return found


def most_extents(op: ir.Operation) -> list[int | None]:
    """The iteration extents, or numbers that they never exceed: what a slice's `min(8, n - i)` says. Emits nothing."""
    found = static_extents(op)
    for operand, indexing in zip(op.operands, indexing_maps(op) or [], strict=False):
        view = producer(operand)
        if view is None or view.name not in ("memref.subview", "tensor.extract_slice"):
            continue
        sizes = subview_sizes(view)
        if len(sizes) != len(indexing.results):
            continue
        for size, result in zip(sizes, indexing.results, strict=True):
            if isinstance(result, ir.AffineDimExpr) and found[result.position] is None:
                found[result.position] = largest(size)
    return found


def _dynamic_extent(op: ir.Operation, dimension: int) -> Bound:
    for operand, indexing in zip(op.operands, indexing_maps(op) or [], strict=False):
        for axis, result in enumerate(indexing.results):
            if str(result) == f"d{dimension}":
                return dimension_of(operand, axis)
    return constant(1)


def dimension_of(buffer: ir.Value, axis: int) -> Bound:
    """A dynamic size of a memref: the size that its subview names, or a `memref.dim`."""
    view = producer(buffer)
    if view is not None and view.name == "memref.subview":
        sizes = subview_sizes(view)
        if isinstance(buffer.type, ir.MemRefType) and len(sizes) == buffer.type.rank:
            return sizes[axis]
    return memref.DimOp(buffer, value(axis)).result


def subview_offsets(subview: ir.Operation) -> list[Bound]:
    """The offsets of a `memref.subview`, numbers where they are known."""
    return _mixed(subview, "static_offsets", 1)


def subview_sizes(subview: ir.Operation) -> list[Bound]:
    """The sizes of a `memref.subview`, numbers where they are known."""
    dynamic_offsets = sum(n == DYNAMIC for n in ir.DenseI64ArrayAttr(subview.attributes["static_offsets"]))
    return _mixed(subview, "static_sizes", 1 + dynamic_offsets)


def _mixed(subview: ir.Operation, key: str, first: int) -> list[Bound]:
    values = iter(list(subview.operands)[first:])
    return [known(next(values)) if n == DYNAMIC else n for n in ir.DenseI64ArrayAttr(subview.attributes[key])]
