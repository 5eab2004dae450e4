"""One piece of a kernel as one thread does it, inside the loops over the threads of a block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...interpreter.ir import mlir
from ...interpreter.ir.mlir import ir
from .ids import BLOCK_IDS, THREAD_IDS, Triple, block_id, linear_thread, thread_id

if TYPE_CHECKING:
    from .kernel import Kernel


@dataclass
class Thread:
    """One piece as one thread does it: the kernel's values, and those that stand for them here."""

    kernel: Kernel
    place: Triple
    values: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def do(self, op: ir.Operation) -> None:
        """Do `op`, with all that is in its regions."""
        if op.name in THREAD_IDS:
            self.values[op.results[0]] = self._id(op)
            return
        if op.name == "memref.alloca":
            self.values[op.results[0]] = self.kernel.taken_in_turn(op)
            return
        inner = {v for o in mlir.operations(op) if o != op for v in o.results} | {
            a for o in mlir.operations(op) for region in o.regions for block in region.blocks for a in block.arguments
        }
        outer = {v for o in mlir.operations(op) for v in o.operands if v not in inner}
        known = {v: self.value(v) for v in outer}
        made = op.clone()
        for each in mlir.operations(made):
            for i, operand in enumerate(each.operands):
                if operand in known:
                    each.operands[i] = known[operand]
        for each in mlir.operations(made, "memref.alloca"):
            each.results[0].replace_all_uses_with(self.kernel.taken_in_turn(each))
            each.erase()
        for each in mlir.operations(made, *THREAD_IDS, *BLOCK_IDS):
            with ir.InsertionPoint(each):
                each.results[0].replace_all_uses_with(self._id(each))
            each.erase()
        self.values.update(zip(op.results, made.results, strict=True))

    def value(self, value: ir.Value) -> ir.Value:
        """What stands for a value of the kernel, made here if need be."""
        kernel = self.kernel
        if value in self.values:
            return self.values[value]
        if value in kernel.uniform:
            return kernel.uniform[value]
        if value in kernel.private:
            found = kernel.private[value].of(linear_thread(self.place, kernel.block_sizes))
        elif value in kernel.views:
            self.do(kernel.views[value])
            return self.values[value]
        else:
            found = mlir.memref.load(kernel.spilled[value], list(reversed(self.place)))
        self.values[value] = found
        return found

    def _id(self, op: ir.Operation) -> ir.Value:
        kernel = self.kernel
        if op.name in THREAD_IDS:
            return thread_id(op, self.place, kernel.block_sizes, kernel.place)
        return block_id(op, kernel.grid, kernel.block_sizes, kernel.place)
