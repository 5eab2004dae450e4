"""The long form of the codes that `weft verify` and the reading of kernels raise. `weft explain CODE` prints them."""

from __future__ import annotations

from ....dsl.diagnostics import explanations

CODES = explanations("""
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
W0641 a memory space that is not known
    Who shares a buffer is said by the memory space of its type: global memory by all threads, shared (workgroup)
    memory by those of a block, private memory by nobody. It may be spelled as gpu, nvvm or spirv do, or as LLVM's
    numbers (0 and 1 global, 3 shared, 4 constant, 5 private). Of any other, such as memory of clusters, nothing could
    be proven.

    wrong: memref<64xf32, 7>
    right: memref<64xf32, #gpu.address_space<workgroup>>
""")
