"""Interchange of uniform loops with the loops over threads: if the loop over threads is the
innermost, LLVM vectorizes the sums of adjacent threads.

    for each thread: for k: sum += a[k] * b[k][thread]   →   for k: for each thread: sum[thread] +=
        a[k] * b[k][thread]

It is legal because threads may interleave in any way between two barriers: without races, no thread
accesses an element that another thread writes.
"""

from __future__ import annotations

from ...interpreter.ir.mlir import ancestors, constant_of, ir, operations, producer
from ...interpreter.memory.effects import is_pure
from ...interpreter.memory.layouts import strided
from ..form.kernel_form import axis_of
from .threads import THREAD_IDS, byte_size


def loops_in_step(kernel: ir.Operation, judge: Judge) -> list[ir.Operation]:
    """The loops of a kernel to interchange with the loops over its threads."""
    if not all(_may_cross(op, value) for op in operations(kernel) for value in op.results):
        return []
    return [loop for loop in operations(kernel, "scf.for") if judge.in_step(loop, kernel)]


class Judge:
    """Analysis of values: whether they are uniform over a block, and if not, how they change from
    thread to thread."""

    def __init__(self) -> None:
        self._varies: dict[ir.Value, bool] = {}

    def in_step(self, loop: ir.Operation, kernel: ir.Operation) -> bool:
        """Whether a loop is to be interchanged: the bounds and conditions of the loop, and of the
        control flow around it, are uniform; it carries a value, or accumulates in memory; and
        adjacent threads access adjacent elements."""
        _, *body = operations(loop)
        if any((op.regions and op.name != "scf.if") or op.name == "memref.alloca" for op in body):
            return False
        if any(isinstance(value.type, ir.VectorType) for op in body for value in (*op.operands, *op.results)):
            return False
        around = [op for op in (loop, *ancestors(loop)) if op != kernel and op not in ancestors(kernel)]
        if not all(op.name in ("scf.for", "scf.if") for op in around):
            return False
        controls = [v for op in around for v in list(op.operands)[: 3 if op.name == "scf.for" else 1]]
        if any(self.varies(value) for value in controls):
            return False
        accesses = [  # per access: op, memory, indices
            (op, *(operands := list(op.operands)[op.name == "memref.store" :])[:1], operands[1:])
            for op in body
            if op.name in ("memref.load", "memref.store")
        ]
        counter = loop.regions[0].blocks[0].arguments[0]
        carries = len(loop.results) or any(
            op.name == "memref.store" and not any(_depends(index, counter, {}) for index in indices)
            for op, _, indices in accesses
        )
        return bool(carries) and any(self._side_by_side(memory, indices) for _, memory, indices in accesses)

    def varies(self, value: ir.Value) -> bool:
        """Whether the value may differ between threads of a block."""
        if value not in self._varies:
            self._varies[value] = self._found(value)
        return self._varies[value]

    def _found(self, value: ir.Value) -> bool:
        op = producer(value)
        if op is None:
            owner = value.owner.owner.operation
            first = ir.BlockArgument(value).arg_number == 0
            if owner.name == "scf.for":
                return not first or any(self.varies(bound) for bound in list(owner.operands)[:3])
            return owner.name != "gpu.func"
        if op.name.startswith("gpu."):
            return op.name in THREAD_IDS
        return not is_pure(op) or len(op.regions) > 0 or any(self.varies(operand) for operand in op.operands)

    def _side_by_side(self, memory: ir.Value, indices: list[ir.Value]) -> bool:
        """Whether the next thread along x accesses the next element."""
        if not indices or strided(memory.type)[0][-1] != 1:
            return False
        return [self._moves(index) for index in indices] == [0] * (len(indices) - 1) + [1]

    def _moves(self, value: ir.Value) -> int | None:
        """The difference of a value between a thread and the next one along x; None if unknown."""
        if not self.varies(value):
            return 0
        op = producer(value)
        if op is None:
            return None
        if op.name == "gpu.thread_id":
            return 1 if axis_of(op) == 0 else 0
        parts = [self._moves(operand) for operand in op.operands]
        if None in parts:
            return None
        if not any(parts):
            return 0
        if op.name == "arith.addi":
            return sum(part or 0 for part in parts)
        factors = [None if self.varies(v) else constant_of(v) for v in op.operands]
        known = [factor for factor in factors if factor is not None]
        return known[0] * sum(part or 0 for part in parts) if op.name == "arith.muli" and len(known) == 1 else None


def is_cheap(op: ir.Operation, value: ir.Value) -> bool:
    """Whether each loop over threads that uses the result of an op recomputes it instead of loading
    it from an array. This holds for pure ops with a memref, index or `i1` result: LLVM could derive
    nothing about such values loaded from arrays."""
    cheap = isinstance(value.type, ir.MemRefType | ir.IndexType) or value.type == ir.IntegerType.get_signless(1)
    return cheap and is_pure(op) and not op.regions


def _may_cross(op: ir.Operation, value: ir.Value) -> bool:
    """Whether another loop over the threads can use the result of a thread's op, recomputed or
    stored."""
    if not isinstance(value.type, ir.MemRefType):
        return byte_size(value.type) is not None
    return not op.operands if op.name == "memref.alloca" else is_pure(op) and not op.regions


def _depends(value: ir.Value, counter: ir.Value, known: dict[ir.Value, bool]) -> bool:
    """Whether a value is computed from `counter`."""
    if value not in known:
        op = producer(value)
        known[value] = value == counter or any(_depends(v, counter, known) for v in (op.operands if op else ()))
    return known[value]
