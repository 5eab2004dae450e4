"""The elements of memrefs that an op of a kernel reads and writes: the footprints of
`memory/effects.py` as index forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import gcd
from typing import Literal

from ....dsl.records import record
from ...hardware.ampere.fragments import warp_matrix
from ...indices.algebra import at_or_above
from ...indices.linear import THREAD, TRUE, Formula, Linear, both, less
from ...indices.values import Values
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ir, producer
from ...layouts.swizzles import SPANS, Swizzle
from ...memory import effects
from ...memory.layouts import is_shared
from .model import Access, OfMatrix
from .root_buffers import RootBuffer


@record
class Touch:
    """One use of a memref.

    Args:
        memref: the accessed memref; None: any memory.
        indices: the accessed element; None: any element.
        atomic: for an atomic access, the type that it updates as a whole; None for other accesses.
        certain: every element that the indices can denote is touched.
        when: the condition that selects the active lanes of a vector.
        exchanges: the swizzles that the last subscript may contain.
        part: the accessed element of a matrix that begins at `indices`.
    """

    kind: Literal["read", "write"]
    memref: ir.Value | None
    indices: list[Linear] | None
    atomic: ir.Type | None = None
    certain: bool = True
    when: Formula = TRUE
    exchanges: Exchanges | None = None
    part: OfMatrix | None = None


@record(eq=False)
class Exchanges:
    """The swizzles that the last subscript of an element may contain. They are computed on demand,
    because most buffers have none."""

    op: ir.Operation
    access: effects.MemoryEffect
    values: Values

    @cached_property
    def made(self) -> tuple[tuple[ir.Value, ir.Operation], ...]:
        """The exclusive ors (value and op) in the last subscript."""
        return tuple(
            _exclusive_ors(list(self.op.operands)[self.access.first + ir.MemRefType(self.access.value.type).rank - 1])
        )

    @cached_property
    def removed(self) -> dict[Swizzle, Linear]:
        """For each possible swizzle, the form that must be added to the last subscript to remove
        it."""
        return dict(self._removed())

    def _removed(self) -> Iterator[tuple[Swizzle, Linear]]:
        kind, values = ir.MemRefType(self.access.value.type), self.values
        *_, row, last = list(self.op.operands)[self.access.first : self.access.first + kind.rank]
        at = values.linear(last)
        exchanges = [(values.linear(made), [values.linear(v) for v in op.operands]) for made, op in self.made]
        ways = (*(Swizzle.of(kind, span) for span in SPANS), Swizzle.of_box(kind))
        for swizzle in dict.fromkeys(way for way in ways if way is not None):
            number = (values.linear(row).floordiv(swizzle.lines) * swizzle.step).modulo(swizzle.pieces) * swizzle.width
            plain = at if number == Linear.of(0) else None
            for made, parts in exchanges:  # whole spans may be added to the exchanged form
                if (at - made).content % swizzle.span == 0 and number in parts:
                    plain = at - made + parts[1 - parts.index(number)]
            if plain is None and number.is_constant and (at - at.constant).content % swizzle.span == 0:
                plain = at - at.constant + (at.constant ^ number.constant)
            if (
                plain is not None and gcd(plain.content, swizzle.width) % self.access.count == 0
            ):  # a vector lies within one piece
                yield swizzle, plain - at


def touches(op: ir.Operation, values: Values) -> Iterator[Touch]:
    """Yields the reads and writes of `op` (without its regions). An unknown op reads and writes
    anything."""
    found = effects.accesses(op)
    if found is None:
        yield Touch("read", None, None)
        yield Touch("write", None, None, certain=False)
        return
    for access in found:
        match access.kind:
            case "read" | "write" if access.footprint == "matrix":
                yield _of_matrix(op, access, values)
            case "read" | "write":
                lanes: list[Linear] = []
                indices = _indices(op, access, values, lanes)
                box = _leading_lanes(op, values)
                if box is None or len(box) != len(lanes):
                    exchanges = _exchanges(op, access, values)
                    yield Touch(access.kind, access.value, indices, certain=access.certain, exchanges=exchanges)
                    continue
                there = both(*(less(lane, size) for lane, size in zip(lanes, box, strict=True)))
                yield Touch(access.kind, access.value, indices, certain=effects.in_bounds(op), when=there)
            case "atomic":
                kind, at = access.value.type.element_type, _indices(op, access, values, [])
                yield Touch("write", access.value, at, atomic=kind)


def _of_matrix(op: ir.Operation, access: effects.MemoryEffect, values: Values) -> Touch:
    """The touch of one element, any, of a matrix that a warp loads or stores. If the memref's
    elements are vectors, or the block size is unknown: of any element of the memref."""
    matrix, kind = warp_matrix(op), ir.MemRefType(access.value.type)
    does: Literal["read", "write"] = "write" if access.changes else "read"
    if isinstance(kind.element_type, ir.VectorType) or values.shape.threads is None:
        return Touch(does, access.value, None)
    indices = [values.linear(v) for v in list(op.operands)[access.first : access.first + kind.rank]]
    row, column = _lane(values, matrix.rows), _lane(values, matrix.columns)
    return Touch(does, access.value, indices, part=OfMatrix(matrix.kind, row, column, matrix.stride))


def in_matrix(first: Access, part: OfMatrix) -> Access:
    """The access of element `part` of the matrix that begins at `first`: by subscripts if the
    matrix rows are rows of the buffer and do not leave them, otherwise by the flat position in
    memory."""
    at, steps, shape = first.coordinates, first.buffer.steps(first.sizes), first.buffer.shape
    if at is not None and len(at) == 2 and not first.flat and steps is not None and list(steps) == [part.stride, 1]:
        inside = [at_or_above(at[1], 0), at_or_above(at[1] * -1 - part.column, 1 - (shape[1] or 0))]
        if all(inside):
            return replace(first, coordinates=(at[0] + part.row, at[1] + part.column))
    flat = first.flattened()
    if flat.coordinates is None:
        return flat
    return replace(flat, coordinates=(flat.coordinates[0] + part.row * part.stride + part.column,))


def _exchanges(op: ir.Operation, access: effects.MemoryEffect, values: Values) -> Exchanges | None:
    kind = access.value.type
    if access.footprint != "element" or not is_shared(kind) or ir.MemRefType(kind).rank < 2 or "map" in op.attributes:
        return None
    return Exchanges(op, access, values)


def _exclusive_ors(value: ir.Value) -> Iterator[tuple[ir.Value, ir.Operation]]:
    """Yields the exclusive ors from which affine maps compute the value, each with its op."""
    made = producer(value)
    if made is not None and made.name == "affine.apply":
        for operand in made.operands:
            yield from _exclusive_ors(operand)
    elif made is not None and made.name == "arith.xori":
        yield value, made


def _leading_lanes(op: ir.Operation, values: Values) -> list[Linear] | None:
    """The number of active lanes along each dimension, for a mask that activates the leading lanes;
    None for any other mask, and without a mask."""
    mask = effects.mask_of(op)
    made = None if mask is None else producer(mask)
    if made is None:
        return None
    if made.name == "vector.constant_mask":
        return [Linear.of(size) for size in ir.DenseI64ArrayAttr(made.attributes["mask_dim_sizes"])]
    return [values.linear(v) for v in made.operands] if made.name == "vector.create_mask" else None


def _indices(
    op: ir.Operation, access: effects.MemoryEffect, values: Values, lanes: list[Linear]
) -> list[Linear] | None:
    """The index forms of the accessed element; None if unknown. `lanes` is filled with the lane
    symbol of each dimension of a vector."""
    match access.footprint:
        case "element" | "transfer":
            return _memref_indices(op, access, values, lanes)
        case "whole":
            kind = access.value.type
            if isinstance(kind, ir.MemRefType) and kind.has_static_shape:
                return [_lane(values, extent) for extent in kind.shape]
    return None


def _memref_indices(
    op: ir.Operation, access: effects.MemoryEffect, values: Values, lanes: list[Linear]
) -> list[Linear] | None:
    """The index operands of the op, as forms. For a vector, a lane symbol is added to the index of
    each dimension that the vector spans: the last dimensions of the memref, or those that the
    permutation map of a transfer names."""
    kind, moved, transfer = ir.MemRefType(access.value.type), access.moved, access.footprint == "transfer"
    given = list(op.operands)[access.first :]
    if "map" in op.attributes:
        indices = values.affine_map(op.attributes["map"].value, [values.linear(v) for v in given])
    else:
        indices = [values.linear(v) for v in given[: kind.rank]]
    if moved is None or not isinstance(moved, ir.VectorType) or isinstance(kind.element_type, ir.VectorType):
        return None if transfer else indices
    named = op.attributes["permutation_map"].value.results if transfer else ()
    order = [dimension_of(e) for e in named] if transfer else list(range(len(indices) - moved.rank, len(indices)))
    if not transfer and moved.rank > len(indices):
        return None  # upstream allows vectors of higher rank than the memref: then no single element is named
    there = [dimension for dimension in order if dimension is not None]
    for dimension, extent in zip(order, moved.shape, strict=True):
        if dimension is not None:
            lane = _lane(values, extent)
            indices[dimension] = indices[dimension] + lane
            if there == sorted(there):  # a mask lists the dimensions in the memref's order
                lanes.append(lane)
    return indices


def _lane(values: Values, extent: int) -> Linear:
    """A fresh symbol for any of 0 … extent-1."""
    return Linear.of(0) if extent == 1 else Linear.of(values.fresh("lane", THREAD, 0, extent - 1))


# ---- swizzles --------------------------------------------------------------------------------------------------------


def without_swizzles(accesses: Sequence[Access], exchanges: Sequence[Exchanges | None]) -> list[Access]:
    """The accesses, without the swizzle in the last subscript, for each buffer on which all
    accesses use the same swizzle. Accesses of whole rows do not depend on it."""
    swizzled = {
        access.buffer for access, mine in zip(accesses, exchanges, strict=True) if mine is not None and mine.made
    }
    found = [None if access.buffer not in swizzled else mine for access, mine in zip(accesses, exchanges, strict=True)]
    common: dict[RootBuffer, set[Swizzle]] = {}
    out = list(accesses)
    for access, mine in zip(accesses, found, strict=True):
        if not (access.agent and of_whole_rows(access)):
            here = set[Swizzle]() if access.flat or mine is None else set(mine.removed)
            common[access.buffer] = common.get(access.buffer, here) & here
    for number, mine in enumerate(found):
        access, removed = out[number], {} if mine is None else mine.removed
        if any(more != Linear.of(0) for more in removed.values()) and not common[access.buffer]:
            out[number] = replace(access, exchanged=True)
        added = [more for swizzle, more in removed.items() if swizzle in common[access.buffer]]
        if added and access.coordinates is not None and any(more != Linear.of(0) for more in added):
            out[number] = replace(access, coordinates=(*access.coordinates[:-1], access.coordinates[-1] + added[0]))
    return out


def of_whole_rows(access: Access) -> bool:
    """Whether the access touches all elements of each row that it touches."""
    shape, last = access.buffer.shape, (access.coordinates or (None,))[-1]
    if last is None or access.flat or access.sizes or not shape or shape[-1] is None:
        return False
    lanes = list(last.symbols())
    return (
        len(lanes) == 1
        and last == Linear.of(lanes[0])
        and lanes[0].kind == "lane"
        and last.bounds() == (0, shape[-1] - 1)
    )
