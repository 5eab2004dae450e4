"""`vectorize OP`: each thread loads and stores an op's tiles in wide accesses, and computes in
registers."""

from __future__ import annotations

from ...ir.mlir import i64, ir, operations
from ...ir.structured import is_read, is_structured, operand_names, segments
from ...memory.effects import is_memref
from ...session.statement import Handle, Results, Rewriter, Statement, handle, statement
from ...tensors.levels import refuse_overlap
from ..bufferize import ensure_bufferized


@statement("vectorize")
class Vectorize(Statement):
    """Make each thread load and store an op's tiles in wide accesses, and compute in registers.

    Each operand in shared or global memory gets a fragment: a thread-private array that holds its
    tile, in the order of the tile's elements in memory. It is loaded before the op, and stored
    after it if the op writes it, in accesses of up to 16 bytes where the alignment is proven, and
    element by element otherwise; the step's report states which. A temporary of the block that a
    mapped op also reads or writes gets one as well: `launch` puts the temporary into shared memory.
    Operands that are already in registers (an accumulator of `promote-to-registers`) stay as they
    are. A payload with tensors is bufferized first.

    An op that uses each element once (bias, residual, ReLU after a product) has nothing to keep in
    a fragment: the op itself is executed up to 16 bytes at a time. The same holds for masked reads
    in its body, if the mask is proven to be the same for an entire access, and for the copy that
    writes back a ragged tile of its results.

    Args:
        target: a structured op on a static tile, in a loop over threads; stays alive.

    Returns:
        nothing.

    Errors: W0390, W0391, W0332, W0393, W0394, W0396.

    Source: register tiles of SGEMM kernels (CUTLASS, "efficient GEMM"); upstream
    `transform.structured.vectorize` makes SSA vectors of the entire tile instead, from which no
    readable text can be made.

    Example:
        vectorize micro
        before: linalg.matmul ins(
        after:  memref.alloc() {weft.name = "A_frag"} : memref<4xf32> … weft.vector = 4 … linalg.matmul
    """

    reach = "handles"

    target: Handle = handle()

    def apply(self, rewrite: Rewriter) -> Results:
        from ...buffers.elements import goes_along
        from ...buffers.tiles import is_handed_out, thread_nest
        from ...buffers.views import in_own_array
        from .fragments import fragment

        ensure_bufferized(rewrite)
        op = rewrite.find(self.target)
        if not is_structured(op) or "weft.map" in op.attributes:
            mapped = "weft.map" in op.attributes
            what = "this op is mapped: its map determines the width"
            other = f"`vectorize` takes a structured (linalg) op, and this is {op.name}"
            hint = "`map … vector n`" if mapped else None
            raise rewrite.error("W0390", what if mapped else other, op, hint)
        if not thread_nest(op):
            raise rewrite.error(
                "W0391",
                "the op is in no loop over threads, so that no thread executes it alone",
                op,
                "tile it, and map the loop to threads; or `map` the op with `vector n`",
            )
        refuse_overlap(rewrite, op, "target")
        for kind in (ir.MemRefType(v.type) for v in op.operands if is_memref(v)):
            if not kind.has_static_shape:
                what = f"a tile of type {kind} has no static shape"
                raise rewrite.error("W0332", what, op, "`tile` with static sizes")
        if goes_along(op):
            self._mark(rewrite, op)
            return {}
        inputs, names = segments(op)[0], operand_names(op)
        numbers = [
            n
            for n, v in enumerate(op.operands)  # a scalar in memory has no neighbours
            if is_memref(v) and ir.MemRefType(v.type).rank and (not in_own_array(v) or is_handed_out(v))
        ]
        if not numbers:
            masked = any(operations(op, "memref.load"))
            what = "its reads are masked, in its body" if masked else "every operand is in registers already"
            hint = "`promote-to-shared` the inputs of ragged tiles: then the copies are masked" if masked else None
            raise rewrite.error("W0394", what, op, hint)
        self._check_room(rewrite, op, numbers)
        for number in numbers:
            reads = is_read(op, number)
            rewrite.remark(
                fragment(op, number, read=number < inputs or reads, written=number >= inputs, name=names[number])
            )
        if any(operations(op, "memref.load")):
            rewrite.remark("what the op reads under a mask stays in its body, element by element")
        return {}

    @staticmethod
    def _mark(rewrite: Rewriter, op: ir.Operation) -> None:
        from ...buffers.elements import VECTOR, StructuredOp, in_memory, most_lanes, widest

        structured, names = StructuredOp.of(op), operand_names(op)
        kinds = [ir.MemRefType(v.type).element_type for v in op.operands if is_memref(v)]
        most = min(most_lanes(kind) for kind in kinds)
        op.attributes[VECTOR] = i64(most)
        lanes = widest(op)
        for number, operand in enumerate(op.operands):
            if in_memory(operand):
                written = number in structured.output_numbers()
                atomic = written and structured.atomic is not None
                wide = lanes > 1 and structured.wide(number, lanes) and not atomic
                what = "combined into atomically," if atomic else "stored" if written else "loaded"
                many = f"{lanes} elements at once" if wide else "element by element"
                rewrite.remark(f"{names[number]}: {what} {many}")
        masked = sum(1 for _ in operations(op, "memref.load"))
        if masked:
            wide = len(structured.masked(lanes)) if lanes > 1 else 0
            few = f"{wide} of {masked} reads {lanes} elements at once" if wide else "element by element"
            rewrite.remark(f"what is in the op's body: {few}")

    @staticmethod
    def _check_room(rewrite: Rewriter, op: ir.Operation, numbers: list[int]) -> None:
        from ...ir.element_sizes import MOST_REGISTERS, registers_of

        kinds = [ir.MemRefType(op.operands[number].type) for number in numbers]
        total = sum(registers_of(kind) for kind in kinds)
        if total > MOST_REGISTERS:
            shapes = ", ".join("x".join(map(str, kind.shape)) for kind in kinds)
            raise rewrite.error(
                "W0393", f"the fragments take {total} registers, and a thread has at most {MOST_REGISTERS}", op,
                "`tile` the reduction by 1 first, `tile … [_, _, 1]`, or take smaller tiles",
                notes=(f"tiles of {shapes}",),
            )  # fmt: skip
