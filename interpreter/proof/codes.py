"""What `weft verify` and the reading of kernels refuse, in long form. `weft explain CODE` prints it."""

from __future__ import annotations

from ...dsl.diagnostics import explanations

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
W0620 a token is never waited for
    A token stands for work that is under way on a stream. One that nothing uses leaves it open when the work is done:
    its results may be read too early, and the stream is never given back.

    wrong: %t = gpu.launch_func async … ; return
    right: %t = gpu.launch_func async … ; gpu.wait [%t]; return
W0621 a stream would leak
    A root or a join (`gpu.wait async`) that nothing uses, or a token that is used in one arm of a branch alone, or in
    a loop that may not run: on some path nobody gives its stream back.

    wrong: scf.if %c { gpu.wait [%t] }
    right: scf.if %c { … }; gpu.wait [%t]
W0622 a fork that is not explicit
    A token becomes a stream, and what waits for it goes on that stream. A second user needs a stream of its own: an
    explicit `gpu.wait async`. Lowerings assume this (upstream's does not check it) and are wrong otherwise.

    wrong: %a = gpu.launch_func async [%t] …; %b = gpu.launch_func async [%t] …
    right: %f = gpu.wait async [%t]; %a = gpu.launch_func async [%t] …; %b = gpu.launch_func async [%f] …
W0623 a token is waited for twice
    A blocking `gpu.wait` destroys the streams of its tokens. Waiting for the same one again, or for a token from
    further up the same stream, destroys it twice.

    wrong: gpu.wait [%t]; gpu.wait [%t]
    right: gpu.wait [%t]
W0624 a stream is destroyed while it is in use
    A blocking `gpu.wait` destroys the stream of its token. An operation that was put on that stream may still run, or
    is put on it afterwards.

    wrong: %b = gpu.launch_func async [%a] …; gpu.wait [%a]
    right: %b = gpu.launch_func async [%a] …; gpu.wait [%b]
W0625 a synchronous operation with async dependencies
    An operation without `async` makes no token: what comes after it on the stream has nothing to wait for. Make it
    asynchronous, or block before it.

    wrong: gpu.launch_func [%t] @k::@f …
    right: %u = gpu.launch_func async [%t] @k::@f …
W0626 a launch of a kernel that is not there
    The launch names a `gpu.module` and a `gpu.func` in it. The module has to hold both: what the kernel does to
    memory is read from its body.
W0627 arguments that do not fit the kernel
    A launch passes as many values as the kernel has arguments, of the same types. A `memref.cast` makes a type fit.
W0628 tokens that wait for each other
    A token that is used before it is made, or a circle of tokens: nothing in it could ever start. In a loop, carry
    the token: `scf.for … iter_args(%s = %t)`.

    wrong: %t = gpu.wait async [%u]; %u = gpu.launch_func async [%t] …
    right: %t = gpu.wait async; %u = gpu.launch_func async [%t] …
W0629 two operations on a buffer that nothing orders
    Launches, copies, allocations and frees on different tokens may run at the same time, in any order. Two that touch
    the same elements, one of them writing, need an edge: the second has to wait, through tokens or a blocking wait,
    for the first. RAW: a read that needs the write before it. WAR: a write that must wait for the read. WAW: two
    writes, and the last one wins. What each of them touches is compared as a set of elements: launches that walk the
    even and the odd elements of one buffer need no edge; nor do atomic updates that do the same, and whose old values
    nobody looks at. Called assumed where it is not known whether the memory is the same, or which elements are
    touched.

    Of the pairs that are unordered those are shown whose edges order all others too. `async-fork` puts the edges.
W0630 the host touches memory that a launch still uses
    An asynchronous operation goes on while the host does. A load, a copy or a synchronous operation of the host on
    the same buffer needs a blocking wait before it.

    wrong: %t = gpu.launch_func async …; memref.load %C[…]
    right: %t = gpu.launch_func async …; gpu.wait [%t]; memref.load %C[…]
W0631 a use after free
    The memory was given back before this operation. Free it after its last use.
W0632 a double free
    Memory is freed once. In a loop: a buffer that was allocated outside of it is freed in each iteration.
W0633 a free of memory that is in use
    Nothing says that the operation is done when the memory is freed: the free has to wait for its token (or, where it
    is a free of the host's, come after a blocking wait).

    wrong: %b = gpu.launch_func async [%a] …; memref.dealloc %m
    right: %b = gpu.launch_func async [%a] …; %c = gpu.dealloc async [%b] %m
W0634 an order that cannot be followed
    The proof follows tokens through straight code, `scf.for`, `affine.for`, `scf.if` and calls that can be inlined.
    Through anything else (`cf` branches, `scf.while`, `async.execute`, a caller's stream, a call without a body or an
    access through a pointer while launches are under way) it is not known what waits for what, so the module is not
    called right.
W0641 a memory space that is not known
    Who shares a buffer is said by the memory space of its type: global memory by all threads, shared (workgroup)
    memory by those of a block, private memory by nobody. It may be spelled as gpu, nvvm or spirv do, or as LLVM's
    numbers (0 and 1 global, 3 shared, 4 constant, 5 private). Of any other, such as memory of clusters, nothing could
    be proven.

    wrong: memref<64xf32, 7>
    right: memref<64xf32, #gpu.address_space<workgroup>>
""")
