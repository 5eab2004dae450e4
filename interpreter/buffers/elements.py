"""One iteration of an all-parallel structured op, inlined as loads, the body, and stores: scalars, or n-wide where aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Sum
from ..ir.mlir import DYNAMIC, affine, arith, ir, memref, operations, producer, vector
from ..ir.structured import ATOMIC, indexing_maps, is_parallel_op
from ..memory.strides import strided
from ..session.rewriter import describe
from .alignment import aligned_rows
from .views import base_of
from .wide_gathers import MaskedLoad, masked_loads

_KINDS = {"arith.addf": arith.AtomicRMWKind.addf, "arith.addi": arith.AtomicRMWKind.addi}


@dataclass(frozen=True)
class Combination:
    """How an op marked `weft.atomic` changes an element of its output: `element = element + input`, for one of its inputs."""

    kind: arith.AtomicRMWKind
    input: int

    @classmethod
    def of(cls, op: ir.Operation) -> Combination:
        """Raises W0397 where the body does more than that."""
        body = [o.operation for o in op.regions[0].blocks[0].operations]
        arguments = [v.arg_number for v in body[0].operands if isinstance(v, ir.BlockArgument)]
        output = len(op.operands) - 1
        adds = len(body) == 2 and body[0].name in _KINDS and output in arguments and len(set(arguments)) == 2
        if not adds or not is_parallel_op(op):
            raise fail(
                "W0397",
                f"{describe(op)} is marked `{ATOMIC}` and {'does more than add an input to its output' if not adds else 'reduces'}",
                hint="the mark is for what `fuse` makes of the sum of `split-k … atomic`",
            )
        return cls(_KINDS[body[0].name], next(n for n in arguments if n != output))


@dataclass(frozen=True)
class StructuredOp:
    """An all-parallel linalg op on memrefs, taken apart.

    Args:
        operands: inputs, then outputs; scalars (of a fill) among them.
        maps: one indexing map per operand.
        block: the body: one argument per operand, ended by `linalg.yield`.
        atomic: how it is combined with its output, where other threads do so, too.
    """

    operands: tuple[ir.Value, ...]
    maps: tuple[ir.AffineMap, ...]
    block: ir.Block
    outputs: int
    atomic: Combination | None = None

    @classmethod
    def of(cls, op: ir.Operation) -> StructuredOp:
        block = op.regions[0].blocks[0]
        terminator = list(block.operations)[-1]
        atomic = Combination.of(op) if ATOMIC in op.attributes else None
        return cls(tuple(op.operands), tuple(indexing_maps(op) or ()), block, len(terminator.operands), atomic)

    def input_numbers(self) -> range:
        return range(len(self.operands) - self.outputs)

    def output_numbers(self) -> range:
        return range(len(self.operands) - self.outputs, len(self.operands))

    def used(self, number: int) -> bool:
        """Whether the body reads this operand. What is combined atomically is read by that alone."""
        if self.atomic is not None and number in self.output_numbers():
            return False
        return any(True for _ in self.block.arguments[number].uses)

    def wide(self, number: int, lanes: int) -> bool:
        """Whether the op's last dimension walks `lanes` aligned neighbours of this operand."""
        results = list(self.maps[number].results)
        last = self.maps[number].n_dims - 1
        if not results or not all(isinstance(r, ir.AffineDimExpr) for r in results):
            return False
        positions = [r.position for r in results if isinstance(r, ir.AffineDimExpr)]
        return positions[-1] == last and last not in positions[:-1] and aligned_rows(self.operands[number], lanes)

    def lies_apart(self, number: int) -> bool:
        """Whether neighbours along the op's last dimension are no neighbours in this operand's memory."""
        kind, last = self.operands[number].type, self.maps[number].n_dims - 1
        strides, _ = strided(kind)
        axes = [a for a, r in enumerate(self.maps[number].results) if isinstance(r, ir.AffineDimExpr) and r.position == last]
        return any(strides[axis] not in (1, DYNAMIC) for axis in axes)

    def masked(self, lanes: int) -> list[MaskedLoad]:
        """The reads in the body of which `lanes` elements can be loaded at once."""
        return masked_loads(self.block, self.maps[-1].n_dims - 1, lanes)

    def gathered(self, lanes: int) -> MaskedLoad | None:
        """The masked load that the body is, if `lanes` of its elements can be loaded at once."""
        yielded = list(list(self.block.operations)[-1].operands)
        return next((load for load in self.masked(lanes) if yielded == [load.value]), None)


Address = tuple[ir.Value, Sequence[ir.Value]]
"""A buffer and the subscripts of one of its elements."""


def emit_unit(op: StructuredOp, at: Sequence[Sum], lanes: int, instead: Mapping[int, Address] | None = None) -> None:
    """Emit the iterations of a unit: `lanes` of the last dimension are one."""
    emit(op, [*at[:-1], *(index.times(lanes) for index in at[-1:])], lanes, instead)


def emit(op: StructuredOp, indices: Sequence[Sum], lanes: int = 1, instead: Mapping[int, Address] | None = None) -> None:
    """Emit the `lanes` iterations from `indices` on along the last dimension: loads, the body, stores; n-wide on every side that
    is aligned.

    `instead`: where the first of an operand's elements really is; the others follow it.
    """
    start, elsewhere = [i.emit() for i in indices], instead or {}
    each = [start] if lanes == 1 else [[*start[:-1], (indices[-1] + Sum(lane)).emit()] for lane in range(lanes)]

    def wide(number: int) -> bool:
        return lanes > 1 and (number in elsewhere or op.wide(number, lanes))

    def address(number: int, at: Sequence[ir.Value] = start) -> Address:
        return elsewhere.get(number) or (op.operands[number], _subscripts(op, number, at))

    def load(number: int, at: Sequence[ir.Value]) -> ir.Value:
        operand = op.operands[number]
        return memref.LoadOp(*address(number, at)).result if isinstance(operand.type, ir.MemRefType) else operand

    def load_vector(number: int) -> ir.Value:
        buffer, subscripts = address(number)
        kind = ir.VectorType.get([lanes], ir.MemRefType(buffer.type).element_type)
        return vector.LoadOp(kind, buffer, subscripts).result

    if op.atomic is not None:
        summand, target = op.atomic.input, op.output_numbers().start
        whole = load_vector(summand) if wide(summand) else None
        for e, at in enumerate(each):
            value = load(summand, at) if whole is None else _extract(whole, e)
            memref.AtomicRMWOp(op.atomic.kind, value, *address(target, at))
        return
    outputs, forwarded = op.output_numbers(), _forwarded(op)
    gathered = op.gathered(lanes) if lanes > 1 else None
    if gathered is not None or (forwarded is not None and wide(forwarded)):
        whole = gathered.emit(start, lanes) if gathered is not None else load_vector(forwarded or 0)
        if wide(outputs.start):
            vector.StoreOp(whole, *address(outputs.start))
            return
        for e, at in enumerate(each):
            memref.StoreOp(_extract(whole, e), *address(outputs.start, at))
        return
    # an array of the thread's own has no addresses: an element is read when it is computed with, and written when it is computed
    own = {n for n, operand in enumerate(op.operands) if _in_registers(operand)}
    used = [n for n in range(len(op.operands)) if op.used(n)]
    loaded = {n: load_vector(n) for n in used if wide(n) and n not in own}
    read = {masked.value: masked.emit(start, lanes) for masked in (op.masked(lanes) if lanes > 1 else ())}
    results: list[list[ir.Value]] = []
    for e, at in enumerate(each):
        arguments = {n: _extract(loaded[n], e) if n in loaded else load(n, at) for n in used}
        results.append(_body(op, at, arguments, {value: _extract(whole, e) for value, whole in read.items()}))
        for number, result in zip(outputs, results[-1], strict=True):
            if number in own:
                memref.StoreOp(result, *address(number, at))
    for number, parts in zip(outputs, zip(*results, strict=True), strict=True):
        if wide(number) and number not in own:
            vector.StoreOp(vector.FromElementsOp(ir.VectorType.get([lanes], parts[0].type), parts).result, *address(number))
        elif number not in own:
            for part, at in zip(parts, each, strict=True):
                memref.StoreOp(part, *address(number, at))


def _in_registers(operand: ir.Value) -> bool:
    """Whether an operand is (a view of) an array of the thread's own."""
    base = base_of(operand)
    made = None if base is None else producer(base)
    return made is not None and made.name == "memref.alloca"


def _forwarded(op: StructuredOp) -> int | None:
    """The operand that the body yields untouched as its only result (a copy), if it is one."""
    first = next(iter(op.block.operations))
    if op.outputs != 1 or first.operation.name != "linalg.yield":
        return None
    yielded = first.operands[0]
    return yielded.arg_number if isinstance(yielded, ir.BlockArgument) and yielded.owner == op.block else None


def _extract(whole: ir.Value, lane: int) -> ir.Value:
    return vector.ExtractOp(whole, [], [lane]).result


def _subscripts(op: StructuredOp, number: int, at: Sequence[ir.Value]) -> list[ir.Value]:
    """The operand's indexing map, applied to the iteration's indices."""
    indexing = op.maps[number]

    def subscript(e: ir.AffineExpr) -> ir.Value:
        if isinstance(e, ir.AffineDimExpr):
            return at[e.position]
        return affine.AffineApplyOp(ir.AffineMap.get(indexing.n_dims, 0, [e]), list(at)).result

    return [subscript(e) for e in indexing.results]


def _body(
    op: StructuredOp, at: Sequence[ir.Value], arguments: dict[int, ir.Value], known: Mapping[ir.Value, ir.Value]
) -> list[ir.Value]:
    """Clone the body with its arguments and `linalg.index`es replaced; the values that it yields. `known`: of ops that are done."""
    copies: dict[ir.Value, ir.Value] = {op.block.arguments[n]: v for n, v in arguments.items()} | dict(known)
    for inner in op.block.operations:
        operation = inner.operation
        if operation.results and operation.results[0] in copies:
            continue
        if operation.name == "linalg.yield":
            return [copies.get(v, v) for v in operation.operands]
        if operation.name == "linalg.index":
            copies[operation.results[0]] = at[ir.IntegerAttr(operation.attributes["dim"]).value]
            continue
        copy = operation.clone(ir.InsertionPoint.current)
        for nested in operations(copy):
            for position, operand in enumerate(nested.operands):
                if operand in copies:
                    nested.operands[position] = copies[operand]
        copies.update(zip(operation.results, copy.operation.results, strict=True))
    return []
