"""The long form of the codes that the synchronization statements raise. `weft explain CODE` prints them."""

from __future__ import annotations

from ....dsl.diagnostics import explanations

CODES = explanations("""
W0601 two threads of a block conflict
    Two threads touch the same element, at least one writes it, and no barrier comes between: which one is first is up
    to the hardware. The witness names the two threads, the element, both operations and the loop iterations. RAW: a
    read that needs the write before it. WAR: a write that must wait for the read. WAW: two writes, and the last one
    wins. `carried by` a loop: the second access belongs to a later iteration of it.

    A conflict is called assumed where an index or a condition is not affine (it depends on data): then it is not
    proven that the threads meet, and not proven that they don't. `launch` takes neither: what it makes a kernel of is
    proven. Where all that is launched is one nest of mapped loops, its iterations are independent, and what is
    assumed of them is none. `launch … unproven`, or `--unproven`, takes a kernel as it is, and it is called unproven
    from then on.

    wrong: map copy to threads(*) cyclic; launch tiles
    right: map copy to threads(*) cyclic; insert-barriers; launch tiles
W0602 two blocks conflict
    Blocks run in any order, perhaps at the same time, and a barrier orders the threads of one block alone. Two blocks
    that touch an element of global memory, one of them writing, need another distribution (all accesses to the
    element in one block), or two kernels. A reduction dimension spread over blocks is the usual cause: `split-k`
    makes parts of it, which a second launch adds up, or with `atomic` the blocks themselves.
W0603 a barrier that not all threads reach
    A barrier waits for all threads of its block. Inside a condition or a loop that is not the same for all of them,
    it waits forever, or orders less than it seems to. Move it out, to where every thread passes.
W0604 a conflict where no barrier can stand
    Threads conflict inside one distributed op or loop: its iterations, spread over threads, touch the same element. A
    barrier in there would not be reached by all threads alike. Give each element one owner (map the parallel
    dimensions only), or tile so that the steps become a sequential loop with room for a barrier.
W0605 nothing to synchronize
    `insert-barriers` works on loops that are mapped and not yet launched; `verify-sync` on those and on kernels.

    wrong: tile gemm [16, 16]; insert-barriers
    right: let (tiles, mm) = tile gemm [16, 16]; map tiles to blocks(y, x); …; insert-barriers; launch tiles
W0610 a read of shared memory that nobody wrote
    Shared memory is not cleared when a block starts. A read of an element that no thread of the block has written
    before gets what an earlier block left there. Called assumed where the write or the read depends on data.
W0611 nothing to judge
    `weft verify` judges the kernels of a complete module: `gpu.launch` in a host function, `gpu.func … kernel` in a
    `gpu.module`, launched or not. A schedule is judged by `verify-sync`, a run by `weft run --target sim`.
W0612 a kernel of unknown size
    How many threads a block has decides which of them meet. It comes from the launch, from the kernel's
    `known_block_size`, or from the command line.

    wrong: weft verify kernels.mlir
    right: weft verify kernels.mlir --block 16,16,1 --grid 8,8,1
W0613 sizes that cannot be
    The launch, the kernel's attributes and the command line must agree about the sizes of blocks and grids, and a
    block has 1 to 1024 threads.
W0640 an op whose effects on memory are not known
    The race analysis reads scf, affine, memref and vector ops. A call, or an op of a lower level (nvgpu, nvvm, llvm),
    could touch any memory at any time, so nothing could be proven about the kernel. Inline the call, or analyse the
    kernel before it is lowered. Any other op that is not known is taken to touch any memory: what it could spoil is a
    conflict, called assumed.
W0641 a memory space that is not known
    Who shares a buffer is said by the memory space of its type: global memory by all threads, shared (workgroup)
    memory by those of a block, private memory by nobody. It may be spelled as gpu, nvvm or spirv do, or as LLVM's
    numbers (0 and 1 global, 3 shared, 4 constant, 5 private). Of any other, such as memory of clusters, nothing could
    be proven.

    wrong: memref<64xf32, 7>
    right: memref<64xf32, #gpu.address_space<workgroup>>
""")
