"""Accesses of n elements at a time: proofs of alignment; and reads under a mask, which become one
wide load under one guard, or none.

The body of an op reads `image[i, j]` if `i < rows and j < columns`, and takes another value
otherwise. Along the op's last dimension the subscript increases by one; if `columns` and the
position of each row's first element are multiples of n, the mask is uniform over n elements that
begin at a multiple of n, and their load is aligned. A delinearized index (k → kh, kw, c) increases
by one only in its last digit, if n divides that digit's size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import prod

from ...dsl.records import record
from ..indices.neighbours import Neighbours
from ..indices.values import divisible, multiples, unchanged
from ..ir.cloning import clone_with, index_dimension
from ..ir.mlir import arith, ir, maker, operations, ops_of, producer, scf, vector
from ..ir.reshapes import groups_of
from ..ir.structured import place_of
from ..mapping.mapping import DYNAMIC, subview_offsets
from ..memory.layouts import is_plain, kept_dimensions, strided
from .views import becomes_a_cast, permutation_of

_FOLDED = ("memref.cast", "memref.transpose", "memref.subview", "memref.expand_shape", "memref.collapse_shape")


def aligned_rows(memref: ir.Value, lanes: int) -> bool:
    """Whether each `memref[i, j, …, lanes * u]` is the start of `lanes` aligned, consecutive
    elements.

    Allocations and kernel arguments are assumed to be aligned to 16 bytes, as every device
    allocator and `cudaMalloc` guarantee.
    """
    if not isinstance(memref.type, ir.MemRefType) or memref.type.rank == 0:
        return False
    if strided(memref.type)[0][-1] != 1:
        return False
    with unchanged(maker(memref)):
        strides = zip(_stride_multiples(memref)[:-1], memref.type.shape[:-1], strict=True)
        if any(s % lanes for s, extent in strides if extent != 1):
            return False
        return _is_whole(memref, memref.type.rank - 1, lanes) and offset_divisible(memref, lanes)


def _stride_multiples(memref: ir.Value) -> list[int]:
    """A known divisor of each stride: a static stride itself, else a divisor of the product of
    sizes that it is; 1 where nothing is known."""
    strides, view = strided(memref.type)[0], producer(memref)
    source = [1] * len(strides)
    if DYNAMIC in strides and is_plain(memref.type):
        sizes = multiples(memref)
        source = [prod(sizes[axis + 1 :]) for axis in range(len(strides))]
    elif DYNAMIC in strides and view is not None and view.name in ("memref.cast", "memref.transpose", "memref.subview"):
        source = _stride_multiples(view.operands[0])
        if view.name == "memref.transpose":
            source = [source[axis] for axis in permutation_of(view)]
        elif view.name == "memref.subview":
            source = [source[axis] for axis in kept_dimensions(place_of(view)[1], ir.MemRefType(memref.type))]
    return [own if stride == DYNAMIC else stride for own, stride in zip(source, strides, strict=True)]


def _is_whole(memref: ir.Value, axis: int, lanes: int) -> bool:
    """Whether `lanes` adjacent elements along an axis of unit stride of a view lie along the last
    axis of the buffer that remains once the views are folded. (A column of a buffer with one
    element per row has unit stride, too, but a wide access would leave its row.)"""
    view = producer(memref)
    if view is None or view.name not in _FOLDED or becomes_a_cast(view):
        return axis == ir.MemRefType(memref.type).rank - 1
    source, kind = ir.MemRefType(view.operands[0].type), ir.MemRefType(memref.type)
    if view.name == "memref.transpose":
        return _is_whole(view.operands[0], permutation_of(view)[axis], lanes)
    if view.name == "memref.cast":
        return _is_whole(view.operands[0], axis, lanes)
    if view.name == "memref.subview":
        sizes = place_of(view)[1]
        kept = range(source.rank) if source.rank == kind.rank else [d for d, size in enumerate(sizes) if size != 1]
        seen = [d for d in range(kind.rank) if source.rank == kind.rank or kind.shape[d] != 1]
        return axis in seen and len(kept) == len(seen) and _is_whole(view.operands[0], kept[seen.index(axis)], lanes)
    groups = groups_of(view)
    if view.name == "memref.expand_shape":
        group = next(n for n, digits in enumerate(groups) if axis in digits)
        inner = groups[group][groups[group].index(axis) + 1 :]
        return all(kind.shape[d] == 1 for d in inner) and _is_whole(view.operands[0], group, lanes)
    digits = [d for d in groups[axis] if source.shape[d] != 1]
    whole = bool(digits) and multiples(view.operands[0])[digits[-1]] % lanes == 0
    return whole and _is_whole(view.operands[0], digits[-1], lanes)


def offset_divisible(memref: ir.Value, lanes: int) -> bool:
    """Whether the first element of a view is at a multiple of `lanes` elements of its buffer."""
    _, offset = strided(memref.type)
    if offset != DYNAMIC:
        return offset % lanes == 0
    owner = producer(memref)
    if owner is None:
        return False
    if owner.name in ("memref.cast", "memref.transpose", "memref.expand_shape", "memref.collapse_shape"):
        return offset_divisible(owner.operands[0], lanes)
    if owner.name != "memref.subview":
        return False
    source = owner.operands[0]
    parts = zip(subview_offsets(owner), _stride_multiples(source), strict=True)
    return offset_divisible(source, lanes) and all(
        stride % lanes == 0 or divisible(offset, lanes) for offset, stride in parts
    )


@record
class MaskedLoad:
    """A read in an op's body: `choice` is its `scf.if` (None: it always loads), `load` the load in
    the first branch, `before` the ops that compute the operands of both; `takes`: the body's
    arguments that these use, which are the same for all adjacent elements."""

    choice: ir.Operation | None
    load: ir.Operation
    before: tuple[ir.Operation, ...]
    takes: tuple[ir.Value, ...] = ()

    @property
    def value(self) -> ir.Value:
        """The value that the body uses."""
        return (self.choice or self.load).results[0]

    def emit(self, at: Sequence[ir.Value], lanes: int, known: Mapping[ir.Value, ir.Value]) -> ir.Value:
        """Emits the elements from `at` on, as a vector, at the ambient insertion point. `known`:
        values of the body's arguments."""
        kind = ir.VectorType.get([lanes], self.load.results[0].type)
        copies = dict(known)
        for op in self.before:
            if op.name == "linalg.index":
                copies[op.results[0]] = at[index_dimension(op)]
            else:
                clone_with(op, copies)
        if self.choice is None:
            image, *subscripts = [copies.get(v, v) for v in self.load.operands]
            return vector.LoadOp(kind, image, subscripts).result
        mask = copies.get(self.choice.operands[0], self.choice.operands[0])
        made = scf.IfOp(mask, [kind], has_else=True)
        for arm, block in zip(self.choice.regions, (made.then_block, made.else_block), strict=True):
            with ir.InsertionPoint(block):
                scf.YieldOp([self._arm(arm.blocks[0], copies, kind)])
        return made.results[0]

    def pieces(
        self, each: Sequence[Sequence[ir.Value]], most: int, known: Mapping[ir.Value, ir.Value]
    ) -> list[ir.Value]:
        """The elements from each given index on, in vectors of at most `most` elements."""
        n = min(len(each), most)
        return [self.emit(at, n, known) for at in each[::n]]

    def source(self, at: Sequence[ir.Value]) -> tuple[ir.Value, list[ir.Value], ir.Value | None]:
        """The buffer and the subscripts of the element at `at`, and the condition under which it is
        loaded; emitted at the insertion point."""
        copies = self.values(at)
        image, *subscripts = [copies.get(v, v) for v in self.load.operands]
        mask = None if self.choice is None else self.choice.operands[0]
        return image, subscripts, None if mask is None else copies.get(mask, mask)

    def values(self, at: Sequence[ir.Value]) -> dict[ir.Value, ir.Value]:
        """Clones, for the element at `at`, of the values that the load and its mask are computed
        from; emitted at the insertion point."""
        copies: dict[ir.Value, ir.Value] = {}
        for op in (*self.before, *(ops_of(self.load.block) if self.choice is not None else ())):
            if op == self.load:
                break
            if op.name == "linalg.index":
                copies[op.results[0]] = at[index_dimension(op)]
            else:
                clone_with(op, copies)
        return copies

    @property
    def otherwise(self) -> ir.Value | None:
        """The value in place of an element that is not loaded."""
        return None if self.choice is None else ops_of(self.choice.regions[1].blocks[0])[-1].operands[0]

    def _arm(self, block: ir.Block, copies: dict[ir.Value, ir.Value], kind: ir.VectorType) -> ir.Value:
        inside = dict(copies)
        for inner in block.operations:
            op = inner.operation
            operands = [inside.get(v, v) for v in op.operands]
            if op == self.load:
                return vector.LoadOp(kind, operands[0], operands[1:]).result
            if op.name == "scf.yield":
                return vector.BroadcastOp(kind, operands[0]).result
            clone_with(op, inside)
        raise AssertionError("an arm ends with a yield")


def masked_loads(block: ir.Block, last_dimension: int, lanes: int, same: Set[ir.Value]) -> list[MaskedLoad]:
    """The reads in a structured op's body that can load `lanes` elements at once. `same`: the
    body's arguments that are the same for all adjacent elements, such as a row that is looked up in
    a table."""
    last = tuple(
        op.results[0]
        for op in operations(block.owner.operation, "linalg.index")
        if index_dimension(op) == last_dimension
    )
    at = Neighbours(last, lanes)
    found = (_masked_load(block, inner, at, same) for inner in ops_of(block))
    return [load for load in found if load is not None]


def _masked_load(block: ir.Block, op: ir.Operation, at: Neighbours, given: Set[ir.Value]) -> MaskedLoad | None:
    if op.name == "memref.load":
        before = _made_of(block, [op], at, given)
        wide = at.lanes == 1 or (any(map(at.varies, op.operands)) and _side_by_side(op, at))
        return MaskedLoad(None, op, *before) if before is not None and wide else None
    if op.name != "scf.if" or len(op.results) != 1 or len(list(op.regions[1].blocks)) != 1:
        return None
    arms = [ops_of(region.blocks[0]) for region in op.regions]
    load = producer(arms[0][-1].operands[0])
    if load is None or load.name != "memref.load" or load not in arms[0]:
        return None
    if any(o.name in ("memref.load", "linalg.index") or o.regions for o in (*arms[0], *arms[1]) if o != load):
        return None
    before = _made_of(block, [op, *arms[0], *arms[1]], at, given)
    same = not at.varies(arms[1][-1].operands[0]) and _same_for_all(op.operands[0], at)
    wide = at.lanes == 1 or (same and _side_by_side(load, at))
    return MaskedLoad(op, load, *before) if before is not None and wide else None


def _made_of(
    block: ir.Block, ops: Sequence[ir.Operation], at: Neighbours, given: Set[ir.Value]
) -> tuple[tuple[ir.Operation, ...], tuple[ir.Value, ...]] | None:
    """The ops of the body on which these ops depend, in order, and the arguments that they use.
    None if an argument differs between adjacent elements, or an op reads memory separately for each
    element."""
    needed: set[ir.Operation] = set()
    taken: dict[ir.Value, None] = {}
    waiting = [value for op in ops for value in op.operands]
    while waiting:
        value = waiting.pop()
        op = producer(value)
        if op is None and value.owner == block:
            if value not in given:
                return None
            taken[value] = None
        if op is None or op.block != block or op in needed:
            continue
        if (op.regions or op.name == "memref.load") and not _same(op, at):
            return None
        needed.add(op)
        waiting += (operand for inner in operations(op) for operand in inner.operands)
    return tuple(inner for inner in ops_of(block) if inner in needed), (*taken,)


def _same(op: ir.Operation, at: Neighbours) -> bool:
    """Whether a load, or an `scf.if`, has the same result for all adjacent elements."""
    inside = list(operations(op))
    plain = all(
        one.name != "linalg.index" and (not one.regions or (one == op and op.name == "scf.if")) for one in inside
    )
    return plain and at.lanes > 1 and not any(at.varies(operand) for one in inside for operand in one.operands)


def _side_by_side(load: ir.Operation, at: Neighbours) -> bool:
    """Whether adjacent iterations load elements that are adjacent in the image, and aligned."""
    image, *subscripts = list(load.operands)
    aligned = bool(subscripts) and aligned_rows(image, at.lanes)
    return aligned and all(map(at.steady, subscripts[:-1])) and at.steps(subscripts[-1])


def _same_for_all(mask: ir.Value, at: Neighbours) -> bool:
    """Whether the mask is the same for all adjacent elements."""
    op = producer(mask)
    if not at.varies(mask) or op is None:
        return not at.varies(mask)
    if op.name == "arith.andi":
        return all(_same_for_all(part, at) for part in op.operands)
    if op.name != "arith.cmpi":
        return False
    if all(map(at.steady, op.operands)):
        return True
    kinds = arith.CmpIPredicate
    whole = divisible(op.operands[1], at.lanes) and at.steps(op.operands[0])
    return whole and kinds(ir.IntegerAttr(op.attributes["predicate"]).value) in (kinds.slt, kinds.ult, kinds.sge)
