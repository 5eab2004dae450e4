"""The iteration space of a mapped `scf.forall` or all-parallel op: its extents, and its trip counts along the axes of the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, Sum, ceildiv, constant, known, multiply, subtract, value
from ..indices.ranges import largest, range_of
from ..ir.affine_maps import dimension_of
from ..ir.mlir import DYNAMIC, affine, ir, memref, producer, scf
from ..ir.structured import shape_of, structure
from .mapping import Mapping


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


def extents(op: ir.Operation) -> list[Bound]:
    """The iteration extents; emits a `memref.dim` (or finds the subview's size) for dynamic ones."""
    found: list[Bound | None] = list(structure(op).extents)
    for operand, axis, dimension in _axes(op):
        if found[dimension] is None:
            size = _named_size(operand, axis)
            found[dimension] = memref.DimOp(operand, value(axis)).result if size is None else size
    return [constant(1) if extent is None else extent for extent in found]


def most_extents(op: ir.Operation) -> list[int | None]:
    """The iteration extents, or numbers that they never exceed: what a slice's `min(8, n - i)` says. Emits nothing."""
    found = list(structure(op).extents)
    for operand, axis, dimension in _axes(op):
        size = _named_size(operand, axis)
        if found[dimension] is None and size is not None:
            found[dimension] = largest(size)
    return found


def _axes(op: ir.Operation) -> list[tuple[ir.Value, int, int]]:
    """Operands of a structured op, their axes, and the dimensions that walk these; by dimension."""
    each = zip(op.operands, structure(op).maps, strict=True)
    found = [(operand, axis, dimension_of(e)) for operand, m in each for axis, e in enumerate(m.results)]
    return sorted(((o, axis, d) for o, axis, d in found if d is not None), key=lambda one: one[2])


def _named_size(buffer: ir.Value, axis: int) -> Bound | None:
    """The size that a slice names along an axis; None of what is not sliced, or has lost an axis by it."""
    view = producer(buffer)
    if view is None or view.name not in ("memref.subview", "tensor.extract_slice"):
        return None
    sizes = subview_sizes(view)
    return sizes[axis] if len(sizes) == len(shape_of(buffer)) else None


@dataclass(frozen=True)
class Mapped:
    """One mapped loop or op of a launch."""

    op: ir.Operation
    mapping: Mapping


def trip_counts(one: Mapped) -> list[int | None]:
    """The number of iterations along each axis of the map, where it is known."""
    return _along_axes(one, lambda d: d.static_trips, lambda op: list(structure(op).extents))


def most_trips(one: Mapped) -> list[int | None]:
    """The number of iterations per dimension, or a number that it never exceeds: `min(8, n - i)` is at most 8."""
    return _along_axes(one, lambda d: d.most_trips, most_extents)


def _along_axes(
    one: Mapped,
    of_loop: Callable[[LoopDimension], int | None],
    of_op: Callable[[ir.Operation], list[int | None]],
) -> list[int | None]:
    """A map with one axis for all dimensions counts the iterations row by row. Of an op with `vector n`, n elements are one."""
    mapping = one.mapping
    if one.op.name == "scf.forall":
        counts = [of_loop(d) for d in loop_dimensions(one.op)]
    else:
        counts = of_op(one.op)
        counts[-1:] = [None if n is None else n // mapping.vector for n in counts[-1:]]
    if len(mapping.axes) != len(counts) and (len(mapping.axes) == 1 or mapping.every):
        return [None if None in counts else math.prod(n for n in counts if n is not None)]
    return counts


def subview_parts(subview: ir.Operation) -> list[list[Bound]]:
    """The offsets, sizes and strides of a subview, as it spells them."""
    values = iter(list(subview.operands)[1:])
    static = (ir.DenseI64ArrayAttr(subview.attributes[f"static_{key}"]) for key in ("offsets", "sizes", "strides"))
    return [[next(values) if number == DYNAMIC else number for number in numbers] for numbers in static]


def subview_offsets(subview: ir.Operation) -> list[Bound]:
    """The offsets of a subview, numbers where they are known."""
    return [known(offset) for offset in subview_parts(subview)[0]]


def subview_sizes(subview: ir.Operation) -> list[Bound]:
    """The sizes of a subview, numbers where they are known."""
    return [known(size) for size in subview_parts(subview)[1]]
