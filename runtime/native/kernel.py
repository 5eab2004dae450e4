"""A kernel as a function of loops: over the blocks of the grid and, between two barriers, over the threads of the block.

All threads of a block do what stands in front of a barrier before any goes on behind it, so the kernel's body is cut at its
barriers, each piece becomes a loop over the threads, and a loop or a branch with a barrier in it goes around such pieces
(loop fission; J. A. Stratton, S. S. Stone, W. W. Hwu, "MCUDA", 2008). What a thread carries from one piece into another
stands in an array with an element per thread. Values that all threads of a block share are computed once, outside of the
loops over threads; so are the bounds and conditions around a barrier, which must be such values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...interpreter.ir import mlir
from ...interpreter.ir.mlir import ir
from ...interpreter.memory.effects import is_pure
from ...interpreter.session.rewriter import describe
from .ids import BLOCK_IDS, Triple, block_id, constant, loops
from .memory import PrivateMemory, allocated, byte_size, private_memory, spill_memory, turn_memory
from .reading import body, expect_known, first_barrier, has_barrier, is_the_same, refused, used_inside, yielded
from .thread import Thread


def serial_function(module: ir.Module, kernel: ir.Operation, name: str) -> ir.Operation:
    """A private `func.func` that does what a launch of `kernel` does.

    Its arguments: the grid's sizes x, y, z, the block's, the bytes of dynamic shared memory, and the kernel's.

    Errors: W0802 for a barrier that not certainly all threads reach, and for what threads do together otherwise.
    """
    blocks = kernel.regions[0].blocks
    if len(blocks) != 1:
        raise refused(kernel, "the kernel branches between blocks: the CPU reference reads structured control flow")
    expect_known(kernel)
    count = len(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    given = [a.type for a in blocks[0].arguments][:count]
    index = ir.IndexType.get()
    function = mlir.func.FuncOp(
        name, ir.FunctionType.get([index] * 7 + given, []), visibility="private", ip=ir.InsertionPoint.at_block_begin(module.body)
    )
    entry = function.add_entry_block()
    with ir.InsertionPoint(entry):
        arguments = list(entry.arguments)
        one = Kernel(tuple(arguments[:3]), tuple(arguments[3:6]), arguments[6])  # type: ignore[arg-type]
        one.uniform.update(zip(list(blocks[0].arguments)[:count], arguments[7:], strict=True))
        one.attributions(kernel, list(blocks[0].arguments)[count:])
        with loops(one.grid) as place:
            one.block = place
            one.sequence(body(blocks[0]), ())
        for memory in one.owned:
            mlir.memref.dealloc(memory)
        mlir.func.ReturnOp([])
    return function.operation


@dataclass
class Kernel:
    """One kernel on its way.

    Args:
        grid, block_sizes: x, y, z.
        shared_bytes: of dynamic shared memory.

    Attributes:
        uniform: by the kernel's value, the one that stands for it for a whole block.
        views: the kernel's memrefs that are made anew wherever they are needed.
        spilled: by the kernel's value, an array with an element per thread.
        private: the kernel's arrays of each thread that several pieces use.
        owned: memory to free in the end.
    """

    grid: Triple
    block_sizes: Triple
    shared_bytes: ir.Value
    block: Triple | None = None
    uniform: dict[ir.Value, ir.Value] = field(default_factory=dict)
    views: dict[ir.Value, ir.Operation] = field(default_factory=dict)
    spilled: dict[ir.Value, ir.Value] = field(default_factory=dict)
    private: dict[ir.Value, PrivateMemory] = field(default_factory=dict)
    owned: list[ir.Value] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = constant(0)  # memory is allocated in front of all loops, where this stands

    def attributions(self, kernel: ir.Operation, values: Sequence[ir.Value]) -> None:
        """The shared memory of a block, which all blocks use in turn, and each thread's own."""
        key = "workgroup_attributions"
        shared = ir.IntegerAttr(kernel.attributes[key]).value if key in kernel.attributes else 0
        for number, value in enumerate(values):
            if number < shared:
                self.uniform[value] = self._own(allocated(value.type))
            else:
                self._make_private(value, kernel)

    def _own(self, memory: ir.Value) -> ir.Value:
        self.owned.append(memory)
        return memory

    @property
    def _front(self) -> ir.InsertionPoint:
        return ir.InsertionPoint.after(self.start.owner)

    # ---- pieces between barriers ----------------------------------------------------------------------------------------

    def sequence(self, ops: Sequence[ir.Operation], stores: Sequence[tuple[ir.Value, ir.Value]]) -> None:
        """Ops of one block, done by all threads; at their end each thread stores values in its elements of arrays."""
        pending: list[ir.Operation] = []
        for op in ops:
            if has_barrier(op):
                self._cross(op, pending)
                pending = []
            elif not self._shared_by_all(op) and not self._made_anew(op):
                pending.append(op)
        self._piece(pending, stores)

    def _shared_by_all(self, op: ir.Operation) -> bool:
        """Whether the op gives all threads of a block the same; then it is done here, once."""
        if op.name in BLOCK_IDS:
            found = block_id(op, self.grid, self.block_sizes, self.place)
        elif op.name == "gpu.dynamic_shared_memory":
            found = self._dynamic_shared(op)
        elif is_the_same(op) and all(v in self.uniform for v in op.operands):
            made = op.clone()
            for i, value in enumerate(op.operands):
                made.operands[i] = self.uniform[value]
            self.uniform.update(zip(op.results, made.results, strict=True))
            return True
        else:
            return False
        self.uniform[op.results[0]] = found
        return True

    def _dynamic_shared(self, op: ir.Operation) -> ir.Value:
        with self._front:
            return self._own(allocated(op.results[0].type, [self.shared_bytes]))

    def _made_anew(self, op: ir.Operation) -> bool:
        """A view of a thread's: no array could hold it, and making it costs nothing."""
        if not (is_pure(op) and isinstance(op.results[0].type, ir.MemRefType)):
            return False
        self.views.update(dict.fromkeys(op.results, op))
        return True

    @property
    def place(self) -> Triple:
        if self.block is None:
            raise RuntimeError("no block before the loops over the grid")
        return self.block

    def _piece(self, ops: Sequence[ir.Operation], stores: Sequence[tuple[ir.Value, ir.Value]]) -> None:
        """A loop over the threads, each of which does `ops` and then stores."""
        if not ops and not stores:
            return
        inside = set(ops)
        for op in ops:
            if op.name == "memref.alloca" and not used_inside(op.results[0], inside):
                self._make_private(op.results[0], op)
        kept = [r for op in ops for r in op.results if r not in self.private and not used_inside(r, inside)]
        for value in kept:
            self._spill(value)
        with loops(self.block_sizes) as thread:
            self._thread(thread, ops, kept, stores)

    def _thread(
        self,
        thread: Triple,
        ops: Sequence[ir.Operation],
        kept: Sequence[ir.Value],
        stores: Sequence[tuple[ir.Value, ir.Value]],
    ) -> None:
        one = Thread(self, thread)
        for op in ops:
            if not (op.name == "memref.alloca" and op.results[0] in self.private):
                one.do(op)
        at = list(reversed(thread))
        for value in kept:
            mlir.memref.store(one.value(value), self.spilled[value], at)
        for value, array in [(one.value(value), array) for value, array in stores]:
            mlir.memref.store(value, array, at)

    def _spill(self, value: ir.Value) -> ir.Value:
        if value not in self.spilled:
            if byte_size(value.type) is None:
                op = value.owner.owner if isinstance(value.owner, ir.Block) else value.owner
                raise refused(op.operation, f"a {value.type} of each thread is used behind a barrier: no array can hold it")
            with self._front:
                self.spilled[value] = self._own(spill_memory(value.type, self.block_sizes))
        return self.spilled[value]

    def _make_private(self, value: ir.Value, op: ir.Operation) -> None:
        with self._front:
            made = private_memory(value.type, self.block_sizes)
        if made is None:
            raise refused(op, f"each thread's own {value.type} is used across barriers, and its size is not known")
        self._own(made.memory)
        self.private[value] = made

    def taken_in_turn(self, op: ir.Operation) -> ir.Value:
        """An array of each thread's that one piece alone uses: one is enough for all of them."""
        if len(op.operands):
            raise refused(op, "each thread has an array of its own whose size is not constant")
        with self._front:
            return turn_memory(op.results[0].type, self.owned)

    # ---- barriers -------------------------------------------------------------------------------------------------------

    def _cross(self, op: ir.Operation, pending: Sequence[ir.Operation]) -> None:
        """An op with a barrier in it, after the `pending` ones."""
        if op.name == "gpu.barrier":
            self._piece(pending, ())
        elif op.name == "scf.for":
            self._loop(op, pending)
        elif op.name == "scf.if":
            self._branch(op, pending)
        else:
            message = f"a barrier in {describe(op)}: the CPU reference follows barriers in scf.for and scf.if"
            raise refused(first_barrier(op), message)

    def _loop(self, op: ir.Operation, pending: Sequence[ir.Operation]) -> None:
        operands, block = list(op.operands), op.regions[0].blocks[0]
        bounds = [self._for_all(v, op, "bounds") for v in operands[:3]]
        carried = list(block.arguments)[1:]
        arrays = [self._spill(v) for v in carried]
        self.spilled.update(zip(op.results, arrays, strict=True))
        self._piece(pending, list(zip(operands[3:], arrays, strict=True)))
        made = mlir.scf.ForOp(*bounds)
        with ir.InsertionPoint(made.body):
            self.uniform[block.arguments[0]] = made.induction_variable
            self.sequence(body(block), list(zip(yielded(block), arrays, strict=True)))
            mlir.scf.YieldOp([])

    def _branch(self, op: ir.Operation, pending: Sequence[ir.Operation]) -> None:
        condition = self._for_all(op.operands[0], op, "condition")
        arrays = [self._spill(v) for v in op.results]
        self._piece(pending, ())
        arms = [list(region.blocks) for region in op.regions]
        made = mlir.scf.IfOp(condition, has_else=bool(arms[1]))
        for arm, target in zip(arms, (made.regions[0], made.regions[1]), strict=True):
            for block in arm:
                with ir.InsertionPoint(target.blocks[0]):
                    self.sequence(body(block), list(zip(yielded(block), arrays, strict=True)))
                    mlir.scf.YieldOp([])

    def _for_all(self, value: ir.Value, op: ir.Operation, what: str) -> ir.Value:
        if value not in self.uniform:
            raise refused(
                first_barrier(op),
                f"a barrier in {describe(op)}, whose {what} may differ from thread to thread: the CPU reference cannot tell "
                "that all threads reach it",
            )
        return self.uniform[value]
