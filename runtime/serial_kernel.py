"""A kernel as a function of loops: over the blocks of the grid and, between two barriers, over the threads of the block.

All threads of a block do what stands in front of a barrier before any goes on behind it, so the kernel's body is cut at its
barriers, each piece becomes a loop over the threads, and a loop or a branch with a barrier in it goes around such pieces
(loop fission; J. A. Stratton, S. S. Stone, W. W. Hwu, "MCUDA", 2008). What a thread carries from one piece into another
stands in an array with an element per thread. Values that all threads of a block share are computed once, outside of the
loops over threads; so are the bounds and conditions around a barrier, which must be such values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..dsl.diagnostics import Diagnostic, WeftError
from ..interpreter import mlir
from ..interpreter.mlir import ir
from ..interpreter.rewriter import describe
from .functions import VIEWS
from .serial_ids import BLOCK_IDS, THREAD_IDS, Triple, block_id, constant, linear_thread, thread_id
from .serial_memory import PrivateMemory, allocated, byte_size, private_memory, spill_memory, turn_memory

WAY_OUT = "run without a reference: --reference none"
PURE = ("arith.", "math.", "index.", "ub.")
"""Ops of these dialects, and views, give the same from the same operands whenever they are done."""


def serial_function(module: ir.Module, kernel: ir.Operation, name: str) -> ir.Operation:
    """A private `func.func` that does what a launch of `kernel` does.

    Its arguments: the grid's sizes x, y, z, the block's, the bytes of dynamic shared memory, and the kernel's.

    Errors: W0802 for a barrier that not certainly all threads reach, and for what threads do together otherwise.
    """
    blocks = kernel.regions[0].blocks
    if len(blocks) != 1:
        raise _refused(kernel, "the kernel branches between blocks: the CPU reference reads structured control flow")
    _expect_known(kernel)
    count = len(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    given = [a.type for a in blocks[0].arguments][:count]
    index = ir.IndexType.get()
    function = mlir.func.FuncOp(
        name, ir.FunctionType.get([index] * 7 + given, []), visibility="private", ip=ir.InsertionPoint.at_block_begin(module.body)
    )
    entry = function.add_entry_block()
    with ir.InsertionPoint(entry):
        arguments = list(entry.arguments)
        one = _Kernel(tuple(arguments[:3]), tuple(arguments[3:6]), arguments[6])  # type: ignore[arg-type]
        one.uniform.update(zip(list(blocks[0].arguments)[:count], arguments[7:], strict=True))
        one.attributions(kernel, list(blocks[0].arguments)[count:])
        with _loops(one.grid) as place:
            one.block = place
            one.sequence(_body(blocks[0]), ())
        for memory in one.owned:
            mlir.memref.dealloc(memory)
        mlir.func.ReturnOp([])
    return function.operation


KNOWN_GPU_OPS = {*BLOCK_IDS, *THREAD_IDS, "gpu.barrier", "gpu.return", "gpu.terminator", "gpu.dynamic_shared_memory"}


def _expect_known(kernel: ir.Operation) -> None:
    for op in mlir.operations(kernel):
        dialect = op.name.partition(".")[0]
        if op is not kernel and dialect == "gpu" and op.name not in KNOWN_GPU_OPS and op.name != "gpu.func":
            raise _refused(op, f"the CPU reference does one thread after the other; `{op.name}` is done by several together")
        if dialect in ("nvgpu", "nvvm", "rocdl", "amdgpu"):
            raise _refused(op, f"the CPU reference cannot do `{op.name}`, an op of one kind of GPU")
        if op.name in ("func.call", "func.call_indirect"):
            raise _refused(op, "the kernel calls a function: inline it, or the CPU reference cannot run it")


@dataclass
class _Kernel:
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
            found = block_id(op, self.grid, self.block_sizes, self._block)
        elif op.name == "gpu.dynamic_shared_memory":
            found = self._dynamic_shared(op)
        elif _pure(op) and all(v in self.uniform for v in op.operands):
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
        if not (_pure(op) and op.results and isinstance(op.results[0].type, ir.MemRefType)):
            return False
        self.views.update(dict.fromkeys(op.results, op))
        return True

    @property
    def _block(self) -> Triple:
        if self.block is None:
            raise RuntimeError("no block before the loops over the grid")
        return self.block

    def _piece(self, ops: Sequence[ir.Operation], stores: Sequence[tuple[ir.Value, ir.Value]]) -> None:
        """A loop over the threads, each of which does `ops` and then stores."""
        if not ops and not stores:
            return
        inside = set(ops)
        for op in ops:
            if op.name == "memref.alloca" and not _used_inside(op.results[0], inside):
                self._make_private(op.results[0], op)
        kept = [r for op in ops for r in op.results if r not in self.private and not _used_inside(r, inside)]
        for value in kept:
            self._spill(value)
        with _loops(self.block_sizes) as thread:
            self._thread(thread, ops, kept, stores)

    def _is_private(self, op: ir.Operation) -> bool:
        return op.results[0] in self.private

    def _thread(
        self,
        thread: Triple,
        ops: Sequence[ir.Operation],
        kept: Sequence[ir.Value],
        stores: Sequence[tuple[ir.Value, ir.Value]],
    ) -> None:
        one = _Thread(self, thread)
        for op in ops:
            if not (op.name == "memref.alloca" and self._is_private(op)):
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
                raise _refused(op.operation, f"a {value.type} of each thread is used behind a barrier: no array can hold it")
            with self._front:
                self.spilled[value] = self._own(spill_memory(value.type, self.block_sizes))
        return self.spilled[value]

    def _make_private(self, value: ir.Value, op: ir.Operation) -> None:
        with self._front:
            made = private_memory(value.type, self.block_sizes)
        if made is None:
            raise _refused(op, f"each thread's own {value.type} is used across barriers, and its size is not known")
        self._own(made.memory)
        self.private[value] = made

    def taken_in_turn(self, op: ir.Operation) -> ir.Value:
        """An array of each thread's that one piece alone uses: one is enough for all of them."""
        if len(op.operands):
            raise _refused(op, "each thread has an array of its own whose size is not constant")
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
            raise _refused(_barrier(op), f"a barrier in {describe(op)}: the CPU reference follows barriers in scf.for and scf.if")

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
            self.sequence(_body(block), list(zip(_yielded(block), arrays, strict=True)))
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
                    self.sequence(_body(block), list(zip(_yielded(block), arrays, strict=True)))
                    mlir.scf.YieldOp([])

    def _for_all(self, value: ir.Value, op: ir.Operation, what: str) -> ir.Value:
        if value not in self.uniform:
            raise _refused(
                _barrier(op),
                f"a barrier in {describe(op)}, whose {what} may differ from thread to thread: the CPU reference cannot tell "
                "that all threads reach it",
            )
        return self.uniform[value]


@dataclass
class _Thread:
    """One piece as one thread does it: the kernel's values, and those that stand for them here."""

    kernel: _Kernel
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
            return thread_id(op, self.place, kernel.block_sizes, kernel._block)
        return block_id(op, kernel.grid, kernel.block_sizes, kernel._block)


# ---- reading a kernel -----------------------------------------------------------------------------------------------


def has_barrier(op: ir.Operation) -> bool:
    return any(True for _ in mlir.operations(op, "gpu.barrier"))


def _barrier(op: ir.Operation) -> ir.Operation:
    return next(mlir.operations(op, "gpu.barrier"))


def _pure(op: ir.Operation) -> bool:
    return op.name.startswith(PURE) or op.name in VIEWS - {"memref.reshape"} or op.name in ("memref.dim", "memref.get_global")


def _body(block: ir.Block) -> list[ir.Operation]:
    """All but the terminator."""
    return [op.operation for op in block.operations][:-1]


def _yielded(block: ir.Block) -> list[ir.Value]:
    return list(block.operations[len(block.operations) - 1].operation.operands)


def _used_inside(value: ir.Value, ops: set[ir.Operation]) -> bool:
    """Whether only `ops`, and what is in them, use the value."""
    return all(_holder(use.owner.operation, ops) for use in value.uses)


def _holder(op: ir.Operation, ops: set[ir.Operation]) -> bool:
    each: ir.Operation | None = op
    while each is not None and each not in ops:
        each = each.parent.operation if each.parent is not None and each.name != "gpu.func" else None
    return each is not None


@contextmanager
def _loops(sizes: Triple) -> Iterator[Triple]:
    """Loops over x, y, z, x innermost; gives the variables x, y, z inside of them."""
    zero, one = constant(0), constant(1)
    around = ir.InsertionPoint.current
    made = [mlir.scf.ForOp(zero, sizes[2], one, ip=around)]
    for size in (sizes[1], sizes[0]):
        with ir.InsertionPoint(made[-1].body):
            made.append(mlir.scf.ForOp(zero, size, one))
            mlir.scf.YieldOp([])
    with ir.InsertionPoint(made[-1].body):
        z, y, x = (loop.induction_variable for loop in made)
        yield x, y, z
        mlir.scf.YieldOp([])


def _refused(op: ir.Operation, message: str) -> WeftError:
    return WeftError(Diagnostic("W0802", message, hint=WAY_OUT, payload=describe(op)))
