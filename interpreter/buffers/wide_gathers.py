"""Reads under a mask, n elements at a time: one guard (or none) and one n-wide load, where all n elements are inside together.

The body of an op reads `image[i, j]` where `i < rows and j < columns`, and takes something else outside. Along the op's last
dimension the subscript goes up by one; if `columns` and each row's first element are multiples of n, the mask says the same of n
elements that begin at a multiple of n, and their load is aligned. An index that is taken apart (k → kh, kw, c) goes up by one in
its last digit alone, where n divides that digit's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..indices.arithmetic import known
from ..ir.mlir import arith, ir, operations, producer, scf, vector
from ..launch.reshapes import DELINEARIZE
from .alignment import aligned_rows, divisible


@dataclass(frozen=True)
class MaskedLoad:
    """A read in an op's body: `choice` is its `scf.if` (None: it always loads), `load` the load in the first arm, `before` the ops
    that both are made of, `last` the last dimension's index, as often as the body asks for it."""

    choice: ir.Operation | None
    load: ir.Operation
    before: tuple[ir.Operation, ...]
    last: tuple[ir.Value, ...]

    @property
    def value(self) -> ir.Value:
        """What the body goes on with."""
        return (self.choice or self.load).results[0]

    def emit(self, at: Sequence[ir.Value], lanes: int) -> ir.Value:
        """The elements from `at` on, as a vector; emitted at the ambient insertion point."""
        kind = ir.VectorType.get([lanes], self.load.results[0].type)
        copies: dict[ir.Value, ir.Value] = {}
        for op in self.before:
            if op.name == "linalg.index":
                copies[op.results[0]] = at[ir.IntegerAttr(op.attributes["dim"]).value]
            else:
                _clone(op, copies)
        if self.choice is None:
            image, *subscripts = [copies.get(v, v) for v in self.load.operands]
            return vector.LoadOp(kind, image, subscripts).result
        mask = copies.get(self.choice.operands[0], self.choice.operands[0])
        made = scf.IfOp(mask, [kind], has_else=True)
        for arm, block in zip(self.choice.regions, (made.then_block, made.else_block), strict=True):
            with ir.InsertionPoint(block):
                scf.YieldOp([self._arm(arm.blocks[0], copies, kind)])
        return made.results[0]

    def _arm(self, block: ir.Block, copies: dict[ir.Value, ir.Value], kind: ir.VectorType) -> ir.Value:
        inside = dict(copies)
        for inner in block.operations:
            op = inner.operation
            operands = [inside.get(v, v) for v in op.operands]
            if op == self.load:
                return vector.LoadOp(kind, operands[0], operands[1:]).result
            if op.name == "scf.yield":
                return vector.BroadcastOp(kind, operands[0]).result
            _clone(op, inside)
        raise AssertionError("an arm ends with a yield")


def masked_loads(block: ir.Block, last_dimension: int, lanes: int) -> list[MaskedLoad]:
    """The reads in a structured op's body of which `lanes` elements can be loaded at once."""
    last = tuple(
        op.results[0]
        for op in operations(block.owner.operation, "linalg.index")
        if ir.IntegerAttr(op.attributes["dim"]).value == last_dimension
    )
    found = (_masked_load(block, inner.operation, last, lanes) for inner in block.operations)
    return [load for load in found if load is not None]


def _masked_load(block: ir.Block, op: ir.Operation, last: tuple[ir.Value, ...], lanes: int) -> MaskedLoad | None:
    if op.name == "memref.load":
        before = _made_of(block, [op])
        plain = None if before is None else MaskedLoad(None, op, before, last)
        return plain if plain is not None and any(_varies(s, last) for s in op.operands) and _neighbours(plain, lanes) else None
    if op.name != "scf.if" or len(op.results) != 1 or len(list(op.regions[1].blocks)) != 1:
        return None
    arms = [[inner.operation for inner in region.blocks[0].operations] for region in op.regions]
    load = producer(arms[0][-1].operands[0])
    if load is None or load.name != "memref.load" or load not in arms[0]:
        return None
    if any(o.name in ("memref.load", "linalg.index") or o.regions for o in (*arms[0], *arms[1]) if o != load):
        return None
    before = _made_of(block, [op, *arms[0], *arms[1]])
    if before is None:
        return None
    outside, mask = arms[1][-1].operands[0], op.operands[0]
    same = not _varies(outside, last) and _same_for_all(mask, last, lanes)
    found = MaskedLoad(op, load, before, last)
    return found if same and _neighbours(found, lanes) else None


def _made_of(block: ir.Block, ops: Sequence[ir.Operation]) -> tuple[ir.Operation, ...] | None:
    """The ops of the body whose results these ops take, in their order; None where one of them reads memory or an operand."""
    needed: set[ir.Operation] = set()
    waiting = [value for op in ops for value in op.operands]
    while waiting:
        value = waiting.pop()
        op = producer(value)
        if op is None and value.owner == block:
            return None
        if op is None or op.block != block or op in needed:
            continue
        if op.regions or op.name == "memref.load":
            return None
        needed.add(op)
        waiting += op.operands
    return tuple(inner.operation for inner in block.operations if inner.operation in needed)


def _neighbours(gather: MaskedLoad, lanes: int) -> bool:
    """Whether `lanes` elements from a multiple of `lanes` on lie side by side in the image, aligned."""
    image, *subscripts = list(gather.load.operands)
    if not isinstance(image.type, ir.MemRefType) or not subscripts or not aligned_rows(image, lanes):
        return False
    return all(_steady(s, gather.last, lanes) for s in subscripts[:-1]) and _aligned_step(subscripts[-1], gather.last, lanes)


def _varies(value: ir.Value, last: tuple[ir.Value, ...]) -> bool:
    """Whether the value depends on the last dimension's index."""
    if value in last:
        return True
    op = producer(value)
    return op is not None and any(_varies(operand, last) for operand in op.operands)


def _steady(value: ir.Value, last: tuple[ir.Value, ...], lanes: int) -> bool:
    """Whether the value is the same for `lanes` elements from a multiple of `lanes` on."""
    if not _varies(value, last):
        return True
    op = producer(value)
    if op is None or value in last:
        return False
    if op.name == DELINEARIZE:
        return value != op.results[len(op.results) - 1] and _whole_digits(op, last, lanes)
    return op.name in ("affine.apply", "arith.addi", "arith.subi", "arith.muli") and all(
        _steady(operand, last, lanes) for operand in op.operands
    )


def _whole_digits(op: ir.Operation, last: tuple[ir.Value, ...], lanes: int) -> bool:
    """Whether an index that is taken apart goes up by one from a multiple of `lanes` on, and its last digit is as large as that."""
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    return len(op.operands) == 1 and static[-1] % lanes == 0 and _aligned_step(op.operands[0], last, lanes)


def _aligned_step(value: ir.Value, last: tuple[ir.Value, ...], lanes: int) -> bool:
    """Whether the value goes up by one with the index, from a multiple of `lanes` wherever the index is one."""
    if value in last:
        return True
    op = producer(value)
    if op is None:
        return False
    if op.name == DELINEARIZE:
        return value == op.results[len(op.results) - 1] and _whole_digits(op, last, lanes)
    if op.name == "affine.apply":
        mapping = ir.AffineMapAttr(op.attributes["map"]).value
        position = [n for n, operand in enumerate(op.operands) if not _steady(operand, last, lanes)]
        if len(position) != 1 or not _aligned_step(op.operands[position[0]], last, lanes):
            return False
        at = position[0]
        wanted = ir.AffineExpr.get_dim(at) if at < mapping.n_dims else ir.AffineExpr.get_symbol(at - mapping.n_dims)
        summands = _summands(mapping.results[0])
        others = [s for s in summands if s != wanted]
        if len(others) != len(summands) - 1 or any(_mentions(s, wanted) for s in others):
            return False
    elif op.name != "arith.addi" or not _one_steps(op.operands, last, lanes):
        return False
    return divisible(value, lanes, last)


def _one_steps(operands: Sequence[ir.Value], last: tuple[ir.Value, ...], lanes: int) -> bool:
    moving = [o for o in operands if not _steady(o, last, lanes)]
    return len(moving) == 1 and _aligned_step(moving[0], last, lanes)


def _summands(expression: ir.AffineExpr) -> list[ir.AffineExpr]:
    if isinstance(expression, ir.AffineAddExpr):
        return [*_summands(expression.lhs), *_summands(expression.rhs)]
    return [expression]


def _mentions(expression: ir.AffineExpr, wanted: ir.AffineExpr) -> bool:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _mentions(expression.lhs, wanted) or _mentions(expression.rhs, wanted)
    return expression == wanted


def _same_for_all(mask: ir.Value, last: tuple[ir.Value, ...], lanes: int) -> bool:
    """Whether the mask is the same for `lanes` elements from a multiple of `lanes` on."""
    if _steady(mask, last, lanes):
        return True
    op = producer(mask)
    if op is None:
        return False
    if op.name == "arith.andi":
        return all(_same_for_all(part, last, lanes) for part in op.operands)
    if op.name != "arith.cmpi":
        return False
    if all(_steady(operand, last, lanes) for operand in op.operands):
        return True
    predicate = arith.CmpIPredicate(ir.IntegerAttr(op.attributes["predicate"]).value)
    if predicate not in (arith.CmpIPredicate.slt, arith.CmpIPredicate.sge):
        return False
    bound = known(op.operands[1])
    return isinstance(bound, int) and bound % lanes == 0 and _aligned_step(op.operands[0], last, lanes)


def _clone(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    copy = op.clone(ir.InsertionPoint.current).operation
    for position, operand in enumerate(copy.operands):
        if operand in copies:
            copy.operands[position] = copies[operand]
    copies.update(zip(op.results, copy.results, strict=True))
