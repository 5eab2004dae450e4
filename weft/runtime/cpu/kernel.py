"""A kernel as loops: a loop over a range of the grid's blocks, and in it, between two barriers,
loops over the threads of the block.

All threads of a block complete the ops before a barrier before any thread starts an op after it. So
the kernel's body is cut at its barriers, and each piece becomes a loop over the threads. A loop or
branch that contains a barrier surrounds such pieces (loop fission; J. A. Stratton, S. S. Stone, W.
W. Hwu, "MCUDA", 2008). The ops are moved unchanged. If a later piece uses a value of a thread, the
value is stored in an array with one element per thread. Uniform values are computed once, outside
the loops over threads. The bounds and conditions around a barrier must be uniform.

A piece with a collective op of warps is a loop over the warps, cut into loops over the lanes. The
bounds and conditions around such an op are those of the warp's first lane, since the op requires a
converged warp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile

from ...interpreter.ir.functions import inputs_of, sizes_of, workgroup_buffers
from ...interpreter.ir.mlir import DYNAMIC, ancestors, func, i64, ir, is_within, memref, operations, ops_of, scf
from ...interpreter.memory.effects import is_pure
from . import threads
from .interchange import is_cheap
from .limits import EDGE, OF_WARPS, NotLoopsError, controls, ends_piece, expect_loop_or_branch, expect_loops, mark_edges
from .threads import BLOCK_IDS, THREAD_IDS, Triple, allocated, block_range, constant, known_or, loops, placeholders
from .warps import COLLECTIVES, Collective, get, put

KEEP = "weft.keep"
"""Op: stores, per thread, the first half of its operands in the second half, arrays with an element
per thread."""
SHARED = "weft.shared"
"""Mark of an allocation of constant size that all threads of a block share."""

LEADING = 9
"""Number of arguments of a function of loops before those of the kernel."""
SERIAL = "weft.serial"
"""Mark of such a function."""


def serial_function(module: ir.Module, kernel: ir.Operation, name: str) -> func.FuncOp:
    """Creates a private `func.func` that executes a range of the blocks of a launch, and moves the
    ops of `kernel` into it.

    Its arguments are the number of the first block (x fastest), and the number after the last one;
    the sizes x, y, z of the grid, then of the block; the bytes of dynamic shared memory; then the
    kernel's arguments. Each call allocates the memory of blocks and threads.

    Raises `NotLoopsError` for a barrier that some threads may not reach, and for collective ops
    that loops cannot express.
    """
    if len(kernel.regions[0].blocks) != 1:
        raise NotLoopsError(kernel, "the kernel branches between blocks: on the CPU control flow has to be structured")
    expect_loops(kernel)
    count, body = inputs_of(kernel), kernel.regions[0].blocks[0]
    kind = ir.FunctionType.get([ir.IndexType.get()] * LEADING + [a.type for a in body.arguments][:count], [])
    function = func.FuncOp(name, kind, visibility="private", ip=ir.InsertionPoint.at_block_begin(module.body))
    function.operation.attributes[SERIAL] = ir.UnitAttr.get()
    entry = function.add_entry_block()
    with ir.InsertionPoint(entry):
        arguments = list(entry.arguments)
        grid = known_or(sizes_of(kernel, "known_grid_size"), arguments[2:5])
        block = known_or(sizes_of(kernel, "known_block_size"), arguments[5:8])
        one = NativeKernel(kernel, block)
        one.uniform.update((*arguments, *grid, *block))
        for old, new in zip(body.arguments, arguments[LEADING:], strict=False):
            old.replace_all_uses_with(new)
        one.prepare(module)
        one.attributions(body.arguments[count:])
        with block_range(arguments[0], arguments[1], grid) as place:
            one.uniform.update(place)
            one.blocks(grid, arguments[8], place)
            one.sequence(body)
        for memory in one.owned:
            memref.dealloc(memory)
        func.ReturnOp([])
    return function


class NativeKernel:
    """The state of the conversion of one kernel.

    Args:
        kernel: the `gpu.func`.
        threads: the sizes of a block: x, y, z.

    Attributes:
        uniform: the values that are the same for all threads of a block.
        loop: the loop over threads that is being written.
        first: the first thread of the current warp, inside a loop over warps; else None.
        owned: memory to free at the end.
    """

    def __init__(self, kernel: ir.Operation, threads: Triple) -> None:
        self.kernel, self.threads = kernel, threads
        self.place: Triple
        self.start = constant(0)  # memory is allocated after this constant, before all loops
        self.uniform: set[ir.Value] = {self.start}
        self.loop, self.first = kernel, None
        self.owned: list[ir.Value] = []
        self.collectives: list[Collective] = []
        mark_edges(kernel)

    @property
    def _front(self) -> ir.InsertionPoint:
        return ir.InsertionPoint.after(self.start.owner)

    def _own(self, memory: ir.Value) -> ir.Value:
        self.owned.append(memory)
        return memory

    def attributions(self, values: Sequence[ir.Value]) -> None:
        """Allocates a block's shared memory, which all blocks reuse, and the private memory of each
        thread."""
        shared = workgroup_buffers(self.kernel)
        for value in values[:shared]:
            with self._front:
                self._share(value, self._own(allocated(value.type)))
        for value in values[shared:]:
            self._make_private(value, self.kernel)

    def blocks(self, grid: Triple, shared_bytes: ir.Value, place: Triple) -> None:
        """Replaces the ops with one value for the whole block at `place`: block ids, and
        allocations of shared memory."""
        self.place = place
        for op in operations(self.kernel, *BLOCK_IDS, "gpu.dynamic_shared_memory", "memref.alloc", "memref.alloca"):
            if op.name in BLOCK_IDS:
                found = threads.block_id(op, grid, self.threads, place)
            elif op.name.startswith("gpu.") or SHARED in op.attributes:
                with self._front:
                    sizes = [shared_bytes] if op.name.startswith("gpu.") else []
                    found = self._own(allocated(op.results[0].type, sizes))
            else:
                continue
            self._share(op.results[0], found)
            op.erase()

    def _share(self, value: ir.Value, found: ir.Value) -> None:
        value.replace_all_uses_with(found)
        self.uniform.add(found)

    # ---- what outlives a piece -------------------------------------------------------------------

    def prepare(self, module: ir.Module) -> None:
        """Puts the operands and results of collective ops of warps into arrays, and also the values
        that control flow around edges (barriers and collective ops) carries."""
        for op in operations(self.kernel):
            if EDGE not in op.attributes or op.name in ("gpu.barrier", "gpu.func"):
                continue
            if op.name in COLLECTIVES:
                self._prepare_collective(op, module)
                continue
            expect_loop_or_branch(op)
            arrays = [self._array(v) for v in op.results]
            carried = dict(zip(op.results, arrays, strict=True))
            blocks = [block for region in op.regions for block in region.blocks]
            for block in blocks:
                self._keep(block.operations[-1].operation, 0, arrays)
            if op.name == "scf.for":
                self._keep(op, 3, arrays)
                carried.update(zip(list(blocks[0].arguments)[1:], arrays, strict=True))
            for value, array in carried.items():
                self._at(list(value.uses), partial(self._element, array))

    def _prepare_collective(self, op: ir.Operation, module: ir.Module) -> None:
        count = threads.known_count(self.threads)
        if count is not None and count % threads.WARP:
            raise NotLoopsError(
                op, f"a block of {count} threads has a warp that is not whole: `{op.name}` is done by whole warps"
            )
        with self._front:
            found = Collective(op, module, self.threads, self.owned)
        op.attributes[OF_WARPS] = i64(len(self.collectives))
        self.collectives.append(found)
        for value, array in zip(op.results, found.made, strict=False):
            make = partial(lambda kind, array: get(kind, array, self._number(placeholders())), value.type, array)
            self._at(list(value.uses), make)
        self._keep(op, 0, found.given)

    def _number(self, thread: Triple) -> ir.Value:
        return threads.linear_thread(thread, self.threads)

    def _keep(self, op: ir.Operation, first: int, arrays: Sequence[ir.Value]) -> None:
        """Emits, before `op`, a store of each thread's operands from `first` on, and replaces these
        operands of `op`."""
        if arrays:
            with ir.InsertionPoint(op):
                ir.Operation.create(KEEP, operands=[*op.operands[first:], *arrays])
        for number in range(first, len(op.operands)):
            op.operands[number] = self.start

    def _array(self, value: ir.Value) -> ir.Value:
        """An array with one element of `value`'s type for each thread of a block, indexed z, y, x."""
        if threads.byte_size(value.type) is None:
            owner = value.owner.owner if isinstance(value.owner, ir.Block) else value.owner
            message = f"a {value.type} of each thread is used after a barrier: no array can hold it"
            raise NotLoopsError(owner.operation, message)
        with self._front:
            kind = ir.MemRefType.get([DYNAMIC] * 3, value.type)
            return self._own(allocated(kind, list(reversed(self.threads))))

    def _element(self, array: ir.Value) -> ir.Value:
        """Loads the thread's element of an array with an element for each thread."""
        return memref.load(array, list(reversed(placeholders())))

    def _make_private(self, value: ir.Value, op: ir.Operation) -> None:
        """Allocates the private arrays of all threads as one buffer; each use of the array becomes
        a view of the thread's part."""
        with self._front:
            made = threads.private_memory(value.type, self.threads)
        if made is None:
            message = f"each thread's own {value.type} is used across barriers, and its size is not known"
            raise NotLoopsError(op, message)
        memory, array_of = made
        self._own(memory)
        self._at(list(value.uses), lambda: array_of(self._number(placeholders())))

    def _at(self, uses: Sequence[ir.OpOperand], make: Callable[[], ir.Value]) -> None:
        """Replaces each use of a value by one that `make` builds, directly before the op of the
        piece that contains the use."""
        found: dict[ir.Operation, list[ir.OpOperand]] = {}
        for use in uses:
            around = (use.owner.operation, *ancestors(use.owner.operation))
            anchor = next(op for op in around if EDGE in op.parent.attributes or op.parent == self.loop)
            found.setdefault(anchor, []).append(use)
        for anchor, group in found.items():
            with ir.InsertionPoint(anchor):
                made = make()
            for use in group:
                use.owner.operation.operands[use.operand_number] = made

    # ---- pieces between barriers -----------------------------------------------------------------

    def sequence(self, block: ir.Block, stop: ir.Operation | None = None) -> None:
        """Moves the ops of a block of ops, up to `stop`, to the insertion point, as pieces: loops
        over all threads, or over the lanes of a warp."""
        stop = stop or ops_of(block)[-1]
        while ops := list(takewhile(lambda op: op != stop, ops_of(block))):
            in_warp = self.first is not None
            cut = next((number for number, op in enumerate(ops) if ends_piece(op, in_warp=in_warp)), len(ops))
            own = self._without_shared(ops[:cut])
            edge = ops[cut] if cut < len(ops) else None
            given = [] if edge is None else controls(edge, self.uniform)
            if not in_warp and any(OF_WARPS in op.attributes for op in own):
                with threads.warps(self.threads) as self.first:
                    self.uniform.add(self.first)
                    self.sequence(block, edge or stop)
                self.first = None
            elif own:
                self._piece(own)
            if edge is not None:
                self._cross(edge, given)
                edge.erase()

    def _without_shared(self, ops: Sequence[ir.Operation]) -> list[ir.Operation]:
        """Hoists uniform pure ops out of the piece; returns the other ops."""
        own: list[ir.Operation] = []
        for op in ops:
            if is_pure(op) and op.name not in THREAD_IDS and all(v in self.uniform for v in op.operands):
                _move(op)
                self.uniform.update(op.results)
            else:
                own.append(op)
        return own

    def _piece(self, own: Sequence[ir.Operation]) -> None:
        """Emits a loop over the threads, or over the lanes of a warp, with these ops as its
        body."""
        around = loops(self.threads) if self.first is None else threads.lanes(self.first, self.threads)
        with around as thread:
            for op in own:
                _move(op)
            self.loop = own[0].parent.operation
            for op in reversed(own):
                self._let_out(op, thread)
            for op in operations(self.loop, "memref.alloca", KEEP, *THREAD_IDS):
                with ir.InsertionPoint(op):
                    self._done_by(op, thread)
                op.erase()

    def _let_out(self, op: ir.Operation, thread: Triple) -> None:
        """Makes the results of an op available in later pieces: in an array with an element per
        thread, or, for a view or an index, by a clone of the op."""
        for number, value in enumerate(op.results):
            uses = [use for use in value.uses if not is_within(use.owner.operation, self.loop)]
            if not uses:
                continue
            if op.name == "memref.alloca":
                self._make_private(value, op)
            elif op.name in THREAD_IDS or is_cheap(op, value):
                self._at(uses, lambda number=number: op.clone().results[number])
            else:
                array = self._array(value)
                with ir.InsertionPoint.after(op):
                    memref.store(value, array, list(reversed(thread)))
                self._at(uses, partial(self._element, array))

    def _done_by(self, op: ir.Operation, thread: Triple) -> None:
        """Emits, inside the loop over threads, the ops that replace an op of the piece."""
        if op.name == KEEP:
            half = len(op.operands) // 2
            for value, array in zip(op.operands[:half], op.operands[half:], strict=True):
                if ir.MemRefType(array.type).rank == 1:
                    put(value, array, self._number(thread))
                else:
                    memref.store(value, array, list(reversed(thread)))
        elif op.name in THREAD_IDS:
            op.results[0].replace_all_uses_with(threads.thread_id(op, thread, self.threads, self.place))
        elif list(op.results[0].uses):
            # a private array used in one piece only: all threads can reuse one allocation
            if len(op.operands):
                raise NotLoopsError(op, "each thread has a private array of dynamic size")
            with self._front:
                op.results[0].replace_all_uses_with(threads.turn_memory(op.results[0].type, self.owned))

    # ---- edges -----------------------------------------------------------------------------------

    def _cross(self, op: ir.Operation, given: Sequence[ir.Value]) -> None:
        """Emits an edge: nothing for a barrier; a collective op of a warp; or a loop or branch
        around pieces.

        Args:
            given: the uniform operands that control how often `op` is executed, from `controls`.
        """
        if op.name in COLLECTIVES:
            number = ir.IntegerAttr(op.attributes[OF_WARPS]).value
            if (made := self.collectives[number].of_warp(self.first)) is not None:
                self._share(op.results[0], made)
        elif op.name == "scf.for":
            block = op.regions[0].blocks[0]
            made = scf.ForOp(*given)
            self._share(block.arguments[0], made.induction_variable)
            self._inside(made.body, block)
        elif op.name == "scf.if":
            arms = [list(region.blocks) for region in op.regions]
            made = scf.IfOp(given[0], has_else=bool(arms[1]))
            for arm, target in zip(arms, (made.regions[0], made.regions[1]), strict=True):
                for block in arm:
                    self._inside(target.blocks[0], block)

    def _inside(self, target: ir.Block, block: ir.Block) -> None:
        with ir.InsertionPoint(target):
            self.sequence(block)
            scf.YieldOp([])


def _move(op: ir.Operation) -> None:
    op.detach_from_parent()
    ir.InsertionPoint.current.insert(op)
