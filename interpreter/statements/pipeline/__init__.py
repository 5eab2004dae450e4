"""`pipeline LOOP stages 2`: copy the next tile to shared memory while this one is computed."""

from __future__ import annotations

from ...ir.mlir import ancestors, ir, operations
from ...memory.layouts import bytes_of
from ...session.statement import Handle, Results, Rewriter, Statement, handle, integer, statement
from ..bufferize import ensure_bufferized


@statement("pipeline")
class Pipeline(Statement):
    """Copy the next tile to shared memory while the current one is used.

    Each shared buffer that the loop fills is doubled. The first tile is copied before the loop; then each iteration reads the tile
    of the next one into registers, computes from one buffer, and writes the registers to the other. A thread writes what it has
    read: both follow the copy's map. Then one barrier per iteration is enough, and `insert-barriers` proves it. Bufferizes first
    where the payload still has tensors.

    Args:
        loop: a sequential loop with mapped copies to shared memory in it (`promote-to-shared`, `map`), before there are barriers
            in it; stays alive, and so do the handles of the copies (the reads of the next tile) and of the buffers.
        stages: the number of tiles that exist at a time: 2. With 1 the loop stays as it is, so that a parameter can choose.
            More need asynchronous copies, which are not supported.

    Returns:
        nothing.

    Errors:
        W0355: the buffers take more shared memory than a block has.
        W0365: a register stage that does not fit into registers (at `launch`).
            With `pipeline` each thread keeps the elements that it copies in registers while the previous tile is used.
            Their number must be known when the kernel is built, and they must leave registers for the computation. Give
            the copies' maps counts, use more threads, or smaller tiles.
        W0374: not a sequential loop of the block.
            `pipeline` makes the copies of a sequential loop run one iteration ahead of its computation. The loop must
            be inside the loop over blocks, contain the copies that all threads execute together, and have a constant
            step: `tile` makes such a loop of a reduction.
        W0375: nothing in the loop fills a shared buffer.
            No op in the loop fills a shared buffer. Use `promote-to-shared` on the operands of the op in the loop,
            `map` the copies, and then `pipeline` the loop.
        W0376: a shared buffer that is not filled by one mapped copy.
            `pipeline` splits a copy: a thread reads its elements of the next tile into registers, and writes them
            later. So each buffer must be filled by one op, directly in the loop, with its own map, element by element.

            wrong: let (a, copy_a) = promote-to-shared step.lhs; pipeline k stages 2
            right: let (a, copy_a) = promote-to-shared step.lhs; map copy_a to threads(*) cyclic; pipeline k stages 2
        W0377: a shared buffer that is used outside the loop, or read before it is filled.
            With two alternating tiles, the content of a buffer is only valid within its iteration. Here the buffer is
            used outside the loop, or an iteration reads what the previous one has copied.
        W0378: the loop writes what its copies read.
            The tile of the next iteration is read before the current one is finished. If the current iteration writes
            there, old values would be read. Buffers that are different arguments are assumed to be distinct memory.
        W0388: the loop already contains barriers.
            The barriers were placed for the original copies; with two alternating tiles fewer are needed, at other
            places. Use `pipeline` first and `insert-barriers` afterwards.
        W0389: the loop is pipelined already.
            The copies of this loop already run one iteration ahead.

    Source: CUTLASS, `docs/efficient_gemm.md`, section Pipelining; the two-stage scheme that predates `cp.async`.

    Example:
        pipeline k stages 2
        before: memref.alloc() {weft.name = "A_shared"} : memref<16x16xf32 … scf.for … linalg.copy … scf.forall
        after:  memref.alloc() {weft.name = "A_shared"} : memref<2x16x16xf32 … linalg.copy … scf.for … scf.if … linalg.copy …
            scf.forall … scf.if … linalg.copy
    """

    reach = "handles"

    loop: Handle = handle()
    stages: int = integer(minimum=1, maximum=2, hint="use `stages 2`: one tile in registers, two in shared memory")

    def apply(self, rewrite: Rewriter) -> Results:
        from .found import find_copies
        from .rotation import rotate

        if self.stages == 1:
            rewrite.remark("one stage: the loop stays as it is")
            return {}
        ensure_bufferized(rewrite)
        loop = rewrite.find(self.loop)
        found = find_copies(loop)
        buffers = rotate(found)
        self._affordable(rewrite, rewrite.find(self.loop))
        names = ", ".join(str(ir.MemRefType(b.results[0].type)) for b in buffers)
        copies = "1 copy runs" if len(buffers) == 1 else f"{len(buffers)} copies run"
        rewrite.remark(f"{copies} one iteration ahead, through registers: {names}")
        return {}

    def _affordable(self, rewrite: Rewriter, loop: ir.Operation) -> None:
        """W0355: the block's shared buffers, now that there are more of them."""
        from ...memory.layouts import is_shared
        from ...memory.limits import MOST, block_bytes

        around = [op for op in ancestors(loop) if op.name not in ("func.func", "builtin.module")]
        kinds = [op.results[0].type for op in operations(around[-1] if around else loop, "memref.alloc")]
        total = block_bytes(bytes_of(kind) for kind in kinds if is_shared(kind))
        if total > MOST:
            raise rewrite.error(
                "W0355",
                f"with two tiles each the shared buffers of the block take {total} bytes, and a block has at most {MOST}",
                loop,
                "tile the loop with smaller steps",
            )
