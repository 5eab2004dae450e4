"""Emits iterations of an all-parallel structured op as loads, the body, and stores: scalars, or
vectors where these are aligned. If a single thread executes the op, all of its iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..indices.arithmetic import apply_map, index_of, value_of
from ..indices.linear import Linear
from ..indices.values import unchanged
from ..ir.affine_maps import dimension_of, dimensions_of, single_dimensions
from ..ir.cloning import clone_until
from ..ir.mlir import DYNAMIC, arith, i64, ir, is_used, made_by, memref, operations, vector
from ..ir.refusing import describe
from ..ir.structured import ATOMIC, body_of, element_type, generic, indexing_maps, is_parallel_op, structure
from ..mapping.legality import MAX_VECTOR_BITS
from ..mapping.mapping import extents
from ..mapping.processors import loop_over
from ..memory.effects import is_memref
from ..memory.layouts import strided
from ..memory.views import is_own_array, root_memref
from ..reductions.identities import COMBINERS, combination
from .asynchronous_copies import ASYNCHRONOUS, CopySource, emit_copy, expect_movable, is_zero_constant, refuse_body
from .tiles import is_handed_out
from .wide_accesses import MaskedLoad, aligned_rows, masked_loads


@record
class StructuredOp:
    """An all-parallel linalg op on memrefs, decomposed.

    Args:
        operands: inputs, then outputs; including scalars (of a fill).
        maps: one indexing map per operand.
        block: the body: one argument per operand, terminated by `linalg.yield`.
        atomic: the input that is combined into its output by `memref.atomic_rmw` of the kind `by`,
            since other threads combine into the same output; None if none does.
        asynchronous: the op itself, if asynchronous copies execute it.
    """

    operands: tuple[ir.Value, ...]
    maps: tuple[ir.AffineMap, ...]
    block: ir.Block
    outputs: int
    atomic: int | None = None
    by: str = ""
    asynchronous: ir.Operation | None = None
    _wide: dict[tuple[int, int], bool] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, op: ir.Operation) -> StructuredOp:
        block = body_of(op)
        terminator = list(block.operations)[-1]
        atomic, by = _atomic_update(op) if ATOMIC in op.attributes else (None, "")
        reads = any(map(is_used, block.arguments)) or next(operations(op, "memref.load"), None) is not None
        started = (
            op if ASYNCHRONOUS in op.attributes and reads else None
        )  # otherwise it fills in the value outside of its operand
        return cls(
            tuple(op.operands), tuple(indexing_maps(op) or ()), block, len(terminator.operands), atomic, by, started
        )

    def output_numbers(self) -> range:
        return range(len(self.operands) - self.outputs, len(self.operands))

    def used(self, number: int) -> bool:
        """Whether the body reads this operand. The output of an atomic update is read only by the
        update."""
        if self.atomic is not None and number in self.output_numbers():
            return False
        return is_used(self.block.arguments[number])

    def wide(self, number: int, lanes: int) -> bool:
        """Whether `lanes` iterations of the op's last dimension access aligned, adjacent elements."""
        if (number, lanes) not in self._wide:
            walked, last = list(map(dimension_of, self.maps[number].results)), self.maps[number].n_dims - 1
            alone = None not in walked and walked[-1:] == [last] and walked.count(last) == 1
            self._wide[number, lanes] = alone and aligned_rows(self.operands[number], lanes)
        return self._wide[number, lanes]

    def at_once(self, number: int, lanes: int) -> int:
        """How many of `lanes` adjacent elements of this operand one access has: at most 16 bytes; 1
        if they are not aligned."""
        n = min(lanes, most_lanes(element_type(self.operands[number])))
        return n if n > 1 and self.wide(number, n) else 1

    def lies_apart(self, number: int) -> bool:
        """Whether adjacent iterations along the op's last dimension access elements of this operand
        that are not adjacent in memory."""
        kind, last = self.operands[number].type, self.maps[number].n_dims - 1
        strides, _ = strided(kind)
        walks = zip(self.maps[number].results, strides, strict=True)
        return any(dimension_of(e) == last and stride not in (1, DYNAMIC) for e, stride in walks)

    def masked(self, lanes: int) -> list[MaskedLoad]:
        """The reads in the body that can load `lanes` elements at once."""
        last = self.maps[-1].n_dims - 1
        along = [any(last in dimensions_of(e) for e in indexing.results) for indexing in self.maps]
        same = {
            argument for argument, moves in zip(self.block.arguments, along, strict=False) if not moves and lanes > 1
        }
        return masked_loads(self.block, last, lanes, same)

    def gathered(self, lanes: int, *, alone: bool = True) -> MaskedLoad | None:
        """The masked load that is the whole body, if it can load `lanes` elements at once; with
        `alone`, only if it also uses no operand of the op."""
        yielded = list(list(self.block.operations)[-1].operands)
        return next((one for one in self.masked(lanes) if yielded == [one.value] and not (alone and one.takes)), None)

    def copied_at_once(self, lanes: int) -> int:
        """The number of elements that one asynchronous copy moves, for an op with iterations of
        `lanes` elements."""
        whole = forwarded(self)

        def together(n: int) -> bool:
            from_there = self.gathered(n) is not None if whole is None else self.wide(whole, n)
            return from_there and self.wide(self.output_numbers().start, n)

        return next((n for n in (lanes >> s for s in range(lanes.bit_length() - 1)) if together(n)), 1)


Address = tuple["ir.Value", Sequence["ir.Value"]]
"""A buffer and the subscripts of one of its elements."""


def emit_unit(op: StructuredOp, at: Sequence[Linear], lanes: int, instead: Mapping[int, Address] | None = None) -> None:
    """Emits the iterations of a unit: a unit is `lanes` iterations of the last dimension."""
    emit(op, [*at[:-1], *(index * lanes for index in at[-1:])], lanes, instead)


def emit(
    op: StructuredOp, indices: Sequence[Linear], lanes: int = 1, instead: Mapping[int, Address] | None = None
) -> None:
    """Emits the `lanes` iterations from `indices` on along the last dimension: loads, the body,
    stores; An operand that is aligned is accessed `lanes` elements at a time; in several accesses
    if these are too wide for one.

    `instead`: for operands that are stored in another place, the address of the first element; the
    other elements follow it.
    """
    start, elsewhere = [value_of(i) for i in indices], instead or {}
    each = [start]

    def at_once(number: int) -> int:
        if number in elsewhere:
            return min(lanes, most_lanes(element_type(op.operands[number])))
        return op.at_once(number, lanes) if is_memref(op.operands[number]) else 1

    def address(number: int, e: int = 0) -> Address:
        if number not in elsewhere:
            return op.operands[number], apply_map(op.maps[number], each[e])
        buffer, subscripts = elsewhere[number]
        return buffer, [*subscripts[:-1], value_of(index_of(subscripts[-1]) + e)] if e else subscripts

    def load(number: int, e: int) -> ir.Value:
        operand = op.operands[number]
        return memref.LoadOp(*address(number, e)).result if is_memref(operand) else operand

    def load_vector(number: int, e: int = 0) -> ir.Value:
        buffer, subscripts = address(number, e)
        kind = ir.VectorType.get([at_once(number)], ir.MemRefType(buffer.type).element_type)
        return vector.LoadOp(kind, buffer, subscripts).result

    def whole(number: int) -> bool:
        return at_once(number) == lanes > 1

    def taken() -> ir.Value:
        return load_vector(copied or 0) if gathered is None else gathered.emit(start, lanes, given(gathered))

    def given(masked: MaskedLoad) -> dict[ir.Value, ir.Value]:
        return {argument: load(ir.BlockArgument(argument).arg_number, 0) for argument in masked.takes}

    outputs, copied = op.output_numbers(), forwarded(op)
    gathered = op.gathered(lanes, alone=op.asynchronous is not None) if lanes > 1 else None
    moves = (
        op.asynchronous is None
        and op.atomic is None
        and (gathered is not None or (copied is not None and whole(copied)))
    )
    if moves and whole(outputs.start):
        vector.StoreOp(taken(), *address(outputs.start))
        return
    each += ([*start[:-1], value_of(indices[-1] + lane)] for lane in range(1, lanes))
    if op.asynchronous is not None:
        n = op.copied_at_once(lanes)
        for e in range(0, lanes, n):
            emit_copy(_source(op, op.asynchronous, each[e], n), *address(outputs.start, e), n)
        return
    if op.atomic is not None:
        together = load_vector(op.atomic) if whole(op.atomic) else None
        for e in range(lanes):
            value = load(op.atomic, e) if together is None else _extract(together, e)
            memref.AtomicRMWOp(arith.AtomicRMWKind[op.by], value, *address(outputs.start, e))
        return
    if moves:
        together = taken()
        for e in range(lanes):
            memref.StoreOp(_extract(together, e), *address(outputs.start, e))
        return
    # a thread-private array has no addresses: each element is read when it is used, and written when it is
    # computed
    own = {n for n, operand in enumerate(op.operands) if is_own_array(operand)}
    used = [n for n in range(len(op.operands)) if op.used(n)]
    loaded = {
        n: [load_vector(n, e) for e in range(0, lanes, at_once(n))] for n in used if at_once(n) > 1 and n not in own
    }
    wide = op.masked(lanes) if lanes > 1 else ()
    read = {masked.value: masked.pieces(each, most_lanes(masked.value.type), given(masked)) for masked in wide}
    results: list[list[ir.Value]] = []
    for e, at in enumerate(each):
        arguments = {n: _element(loaded[n], lanes, e) if n in loaded else load(n, e) for n in used}
        copies = {op.block.arguments[n]: v for n, v in arguments.items()}
        copies |= {value: _element(pieces, lanes, e) for value, pieces in read.items()}
        results.append(clone_until(op.block, copies, at))
        for number, result in zip(outputs, results[-1], strict=True):
            if number in own:
                memref.StoreOp(result, *address(number, e))
    for number, parts in zip(outputs, zip(*results, strict=True), strict=True):
        n = at_once(number)
        for e in range(0, lanes, n) if number not in own else ():
            if n > 1:
                joined = vector.FromElementsOp(ir.VectorType.get([n], parts[0].type), parts[e : e + n]).result
                vector.StoreOp(joined, *address(number, e))
            else:
                memref.StoreOp(parts[e], *address(number, e))


def _element(pieces: Sequence[ir.Value], lanes: int, e: int) -> ir.Value:
    """Element `e` of `lanes` elements that were loaded in several pieces."""
    n = lanes // len(pieces)
    return _extract(pieces[e // n], e % n)


def _source(op: StructuredOp, copy: ir.Operation, at: Sequence[ir.Value], n: int) -> CopySource:
    """The source of an asynchronous copy of n elements from `at` on. Raises W0366 if the op does
    more than copy."""
    copied, target = forwarded(op), op.operands[op.output_numbers().start]
    expect_movable(copy, ir.MemRefType(target.type).element_type, n)
    if copied is not None:
        buffer = op.operands[copied]
        if not is_memref(buffer):
            raise refuse_body(copy, "fills in a value")
        return CopySource(buffer, tuple(apply_map(op.maps[copied], at)), None)
    gathered = op.gathered(n)
    if gathered is None:
        raise refuse_body(copy, "computes what it writes")
    if gathered.otherwise is not None and not is_zero_constant(gathered.otherwise):
        raise refuse_body(copy, "fills in another value than zero outside of the operand")
    buffer, subscripts, mask = gathered.source(at)
    return CopySource(buffer, tuple(subscripts), mask)


_WORDS = {op: word for word, op in COMBINERS.items()} | {"arith.subf": "addf", "arith.subi": "addi"}


def atomic_word(combiner: str) -> str:
    """The kind of `memref.atomic_rmw` that combines partial results of a reduction by this op:
    partial results of a difference are added."""
    return _WORDS[combiner]


def _atomic_update(op: ir.Operation) -> tuple[int, str]:
    """The input that an op marked `weft.atomic` combines into its output, element by element, and
    the kind of update. Raises W0397 if the op does more than that."""
    found = combination(op)
    term = None if found is None else found.term
    by = next((word for word, combiner in COMBINERS.items() if found is not None and combiner == found.combiner), None)
    if by is None or term is None or not isinstance(term, ir.BlockArgument) or not is_parallel_op(op):
        alone = by is not None and isinstance(term, ir.BlockArgument)
        raise fail(
            "W0397",
            f"{describe(op)} is marked `{ATOMIC}` and"
            f" {'reduces' if alone else 'does more than combine an input with its output'}",
            "`fuse` the sum of `split-k … atomic` into the loop over the tiles of its parts, or leave `atomic` out",
        )
    return term.arg_number, by


def forwarded(op: StructuredOp) -> int | None:
    """The operand that the body yields unchanged as its only result (a copy); None for another
    body."""
    first = next(iter(op.block.operations))
    if op.outputs != 1 or first.operation.name != "linalg.yield":
        return None
    yielded = first.operands[0]
    return yielded.arg_number if isinstance(yielded, ir.BlockArgument) and yielded.owner == op.block else None


def _extract(whole: ir.Value, lane: int) -> ir.Value:
    return vector.ExtractOp(whole, [], [lane]).result


VECTOR = "weft.vector"
"""On an op without a map: the most elements of one of its accesses."""


def is_per_thread(op: ir.Operation) -> bool:
    """Whether one thread executes the whole op, in wide or atomic accesses."""
    marked = VECTOR in op.attributes or ATOMIC in op.attributes
    return marked and op.name.startswith("linalg.") and "weft.map" not in op.attributes


def goes_along(op: ir.Operation) -> bool:
    """Whether an op accesses each element of its result once, and all operands in the order of its
    own dimensions. Then it gains nothing from elements in registers, and its accesses are as
    wide as memory allows."""
    if not is_parallel_op(op):
        return False
    return all(place == sorted(place) for place in map(single_dimensions, structure(op).maps))


def widest(op: ir.Operation, structured: StructuredOp | None = None) -> int:
    """The number of elements in one access of memory by the op, for at least one operand: 1 if no
    alignment is proven, or no wider access is requested. `structured`: the op, decomposed."""
    if VECTOR not in op.attributes:
        return 1
    structured = structured or StructuredOp.of(op)
    space = structure(op).extents
    last = space[-1] if space else None
    lanes = ir.IntegerAttr(op.attributes[VECTOR]).value
    written = structured.output_numbers()
    numbers = [n for n, v in enumerate(structured.operands) if in_memory(v) and (n in written or structured.used(n))]
    with unchanged(op):
        while lanes > 1:
            wide = any(structured.wide(n, lanes) for n in numbers) or structured.masked(lanes)
            if last is not None and last % lanes == 0 and wide:
                return lanes
            lanes //= 2
    return 1


def in_memory(operand: ir.Value) -> bool:
    """Whether an operand is, or will be, in shared or global memory, and not in a thread-private
    array."""
    base = root_memref(operand)
    if not isinstance(base.type, ir.MemRefType):
        return False
    if is_handed_out(base):
        return True
    allocated = made_by(base, "memref.alloc") is not None and base.type.memory_space is not None
    return allocated or isinstance(base.owner, ir.Block)


def do_per_thread(op: ir.Operation) -> None:
    """Emits all iterations of an op at the insertion point, for the current thread."""
    structured = StructuredOp.of(op)
    lanes = widest(op, structured)
    space = extents(op)
    units = [*space[:-1], last // lanes if isinstance(last := space[-1], int) else last] if space else []

    def nest(at: tuple[Linear, ...]) -> None:
        if len(at) < len(units):
            return loop_over(units[len(at)], lambda e: nest((*at, e)))
        return emit_unit(structured, at, lanes)

    nest(())


def copy_per_thread(source: ir.Value, target: ir.Value, maps: Sequence[ir.AffineMap] | None = None) -> ir.Operation:
    """Emits a copy by a single thread at the insertion point, as wide as alignment allows.

    `maps`: of source and target, identities if not given.
    """
    kind = ir.MemRefType(source.type)
    maps = maps or [ir.AffineMap.get_identity(kind.rank)] * 2
    op = generic([source], [target], maps, ["parallel"] * maps[0].n_dims, lambda own: own[:1])
    op.attributes[VECTOR] = i64(most_lanes(kind.element_type))
    return op


def most_lanes(kind: ir.Type) -> int:
    """The number of elements in the widest access."""
    return max(MAX_VECTOR_BITS // max(getattr(kind, "width", 64), 8), 1)
