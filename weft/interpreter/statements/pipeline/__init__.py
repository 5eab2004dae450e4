"""`pipeline LOOP stages n [async|producer [overlap] [registers n]]`: the next tiles are copied to
shared memory while one is computed, or out of it while the next one is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...hardware.limits import FEWEST_REGISTERS
from ...ir.element_sizes import bytes_of
from ...ir.mlir import ancestors, ir, operations
from ...session.statement import Handle, Results, Rewriter, Statement, flag, handle, integer, statement
from ..bufferize import ensure_bufferized

if TYPE_CHECKING:
    from .pipelined_copies import Pipelined
    from .rotation import Ahead

MOST_REGISTERS = 240
"""The largest register count of `setmaxnreg` here."""


@statement("pipeline")
class Pipeline(Statement):
    """Copy the next tiles to shared memory while the current one is used.

    Each shared buffer that the loop fills is doubled. The first tile is copied before the loop;
    then each iteration reads the next tile into registers, computes from one buffer, and writes the
    registers to the other. Each thread writes the elements that it has read: both follow the copy's
    map. Then one barrier per iteration is enough, and `insert-barriers` proves it. A payload with
    tensors is bufferized first.

    With `async`, tiles go to shared memory without passing through registers (`cp.async`; from
    sm_80 on). n - 1 of them are in flight while one is used; each iteration waits until its own
    tile has arrived, and starts the copies of the tile n - 1 ahead. Elements outside of a ragged
    tile are zeroed by the copies themselves. Again one barrier per iteration is enough. With
    `producer`, none is needed: a separate warp group starts the copies, and the producer and the
    others wait for each other on memory barriers.

    In a loop over `registers` with parts of a result that are copied out of shared memory in boxes,
    the parts rotate through n buffers: one is written while earlier ones are read. With `stages 2`,
    one barrier per part is enough, where one buffer needs two.

    Args:
        loop: a sequential loop with mapped copies to shared memory in it (`promote-to-shared`,
            `map`), still without barriers; stays alive, and so do the handles of the copies (the
            reads of the next tile) and of the buffers. Or a loop over `registers` that contains
            copies out of shared memory, mapped to `tma`.
        stages: the number of tiles that exist at a time: 2; with `async` as many as fit into shared
            memory. With 1 the loop stays as it is, so that a parameter can choose.
        asynchronous: `async`: asynchronous copies of 4, 8 or 16 bytes; for copies that are mapped
            to `tma`, boxes, in both directions.
        by_producer: `producer`: a separate warp group starts the copies, which are mapped to `tma`,
            and the others compute. Each tile has two memory barriers, one for its arrival, one for
            the end of all its uses, and no barrier of the block is needed: the producer runs as far
            ahead as there are tiles, and consumers do not wait for each other.
        overlap: `overlap`: products of an iteration are in flight while those of the next one
            begin, so that tensor cores do not wait for the warp group. A tile is released one
            iteration later: one more of the stages is in use.
        registers: the number of registers that a thread of the producer keeps, a multiple of 8, 24
            for one that only copies; the others share the remaining ones. Default: all threads have
            the same number.

    Returns:
        nothing.

    Errors: W0355, W0365, W0366, W0373, W0374, W0375, W0376, W0377, W0378, W0406, W0388, W0389.

    Source: CUTLASS, `docs/efficient_gemm.md`, section Pipelining: the two-stage scheme that
    predates `cp.async`, and `MmaMultistage`, and its warp-specialized kernels for Hopper; upstream
    `nvgpu.device_async_copy`, `nvgpu.mbarrier`.

    Example:
        pipeline k stages 2
        before: memref.alloc() {weft.name = "A_shared"} : memref<16x16xf32 … scf.for … linalg.copy … scf.forall
        after:  memref.alloc() {weft.name = "A_shared"} : memref<2x16x16xf32 … linalg.copy … scf.for … scf.if … linalg.copy …
            scf.forall … scf.if … linalg.copy
    """

    reach = "handles"
    late = ("promote-to-shared", "tile", "map", "mma")

    loop: Handle = handle()
    stages: int = integer(
        minimum=1,
        maximum=2,
        unless=("asynchronous", "by_producer"),
        hint="use `stages 2`: one tile in registers, two in shared memory; or `async`, which takes more stages",
    )
    asynchronous: bool = flag(written="async")
    by_producer: bool = flag(written="producer")
    overlap: bool = flag()
    registers: int | None = integer(optional=True, minimum=FEWEST_REGISTERS, maximum=MOST_REGISTERS)

    def apply(self, rewrite: Rewriter) -> Results:
        from .outgoing_tiles import goes_out
        from .pipelined_copies import find_copies
        from .rotation import rotate

        if self.registers is not None and (not self.by_producer or self.registers % 8):
            why = "is a multiple of 8" if self.by_producer else "is that of a producer's threads"
            raise rewrite.error(
                "W0373",
                f"`registers {self.registers}`: the number {why}",
                at="registers",
                hint="write `producer registers 24`",
            )
        if self.overlap and (not self.by_producer or self.stages == 1):
            stages = "takes two stages or more: products of one tile are in flight while the next tile is multiplied"
            why = stages if self.by_producer else "is of tiles that a producer brings"
            way_out = "write `stages 4 producer overlap`, or leave it out"
            raise rewrite.error("W0373", f"`overlap` {why}", at="overlap", hint=way_out)
        if self.stages == 1 and not self.by_producer:
            rewrite.remark("one stage: the loop stays as it is")
            return {}
        ensure_bufferized(rewrite)
        loop = rewrite.find(self.loop)
        if goes_out(loop):
            return self._rotate_buffers(rewrite, loop)
        found = find_copies(loop)
        how, ahead_of_time = self._way(rewrite, found)
        buffers = rotate(found, self.stages, ahead_of_time)
        self._affordable(rewrite, rewrite.find(self.loop))
        copies = "1 copy runs" if len(buffers) == 1 else f"{len(buffers)} copies run"
        ahead = "one iteration ahead" if self.stages == 2 else f"{self.stages - 1} iterations ahead"
        rewrite.remark(f"{copies} {ahead}, {how}: {_types(buffers)}")
        return {}

    def _rotate_buffers(self, rewrite: Rewriter, loop: ir.Operation) -> Results:
        """Pipelines a loop with copies out of shared memory. Raises W0366."""
        from .outgoing_tiles import rotate_buffers

        if self.by_producer or not self.asynchronous:
            why = (
                "threads that compute fill the tiles, and one of them starts"
                if self.by_producer
                else "the accelerator makes"
            )
            raise rewrite.error(
                "W0366",
                f"{why} the copies out of shared memory",
                loop,
                "`pipeline … async`",
                at="by_producer" if self.by_producer else "stages",
            )
        buffers = rotate_buffers(loop, self.stages)
        self._affordable(rewrite, rewrite.find(self.loop))
        if buffers:
            rewrite.remark(f"parts rotate through buffers: {_types(buffers)}")
        else:
            rewrite.remark("one part: the loop stays as it is")
        return {}

    def _way(self, rewrite: Rewriter, found: Pipelined) -> tuple[str, Ahead]:
        """The way in which the copies run ahead, in words, and the function that implements it.
        Raises W0366."""
        from .ring import by_producer, together
        from .rotation import asynchronously, through_registers

        if self.by_producer and not found.by_tensor_maps:
            raise rewrite.error(
                "W0366",
                "a producer starts copies that the tensor memory accelerator makes",
                found.copies[0].op,
                "`map` the copies `to tma`; or `pipeline … async`, where all threads copy",
                at="by_producer",
            )
        if found.by_tensor_maps and not (self.by_producer or self.asynchronous):
            raise rewrite.error(
                "W0366",
                "what the tensor memory accelerator copies passes through no registers",
                found.copies[0].op,
                "`pipeline … async`, or `pipeline … producer`",
                at="stages",
            )
        if self.by_producer:
            return "by a warp group of its own", lambda loop, buffers, stages, _: by_producer(
                loop, buffers, stages, self.registers, overlap=self.overlap
            )
        if self.asynchronous:
            return "asynchronously", together if found.by_tensor_maps else asynchronously
        return "through registers", through_registers

    def _affordable(self, rewrite: Rewriter, loop: ir.Operation) -> None:
        """Raises W0355 if the shared buffers of the block, which are now larger, do not fit."""
        from ...hardware.limits import MOST, block_bytes
        from ...memory.layouts import is_shared

        around = [op for op in ancestors(loop) if op.name not in ("func.func", "builtin.module")]
        kinds = [op.results[0].type for op in operations(around[-1] if around else loop, "memref.alloc")]
        total = block_bytes(bytes_of(kind) for kind in kinds if is_shared(kind))
        if total > MOST:
            raise rewrite.error(
                "W0355",
                f"with {self.stages} tiles each the shared buffers of the block take {total} bytes, and a block has at"
                f" most {MOST}",
                loop,
                "`tile` the loop with smaller steps, or take fewer `stages`",
            )


def _types(buffers: Sequence[ir.Operation]) -> str:
    return ", ".join(str(ir.MemRefType(buffer.results[0].type)) for buffer in buffers)
