"""What `weft verify` and the reading of kernels refuse, in long form. `weft explain CODE` prints it."""

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0611 nothing to verify
    `weft verify` checks the kernels of a complete module: `gpu.launch` in a host function, `gpu.func … kernel` in a
    `gpu.module`, launched or not. A schedule is checked by `verify-sync`, a run by `weft run --target sim`.
W0612 a kernel of unknown size
    Which threads can conflict depends on the number of threads in a block. It comes from the launch, from the
    kernel's `known_block_size`, or from the command line.

    wrong: weft verify kernels.mlir
    right: weft verify kernels.mlir --block 16,16,1 --grid 8,8,1
W0613 inconsistent or impossible sizes
    The launch, the kernel's attributes and the command line must agree on the sizes of blocks and grids, and a block
    has 1 to 1024 threads.
W0614 a combination of other parts than those that are stated
    A reduction or scan that processors share states whose parts make the result of each of them (`weft.participants` on what holds
    a thread's part, made by the maps). The kernel is followed from there, for all threads of a block: through shuffles, shared
    memory and combining ops to where the result is used. There it has to be made of the parts of exactly these threads, each once,
    beginning with the combiner's identity; and a thread that combines it with what its result was before has stored that, too. The
    witness names a thread, and a part that it lacks or has too many. It is no race, so barriers do not help: the kernel would
    compute another number than the payload says.

    wrong: sums over threads(x) of a row for each threads(y), whose warps add up all rows
    right: map row to threads(x: 1)
W0620 a token is never waited for
    A token represents work in progress on a stream. If nothing uses the token, nothing waits for that work: its
    results may be read too early, and the stream is never released.

    wrong: %t = gpu.launch_func async … ; return
    right: %t = gpu.launch_func async … ; gpu.wait [%t]; return
W0621 a stream would leak
    A root or a join (`gpu.wait async`) is unused, or a token is used in only one arm of a branch, or in a loop that
    may not run: on some path its stream is never released.

    wrong: scf.if %c { gpu.wait [%t] }
    right: scf.if %c { … }; gpu.wait [%t]
W0622 a fork that is not explicit
    A token becomes a stream, and what waits for it runs on that stream. A second user needs its own stream: an
    explicit `gpu.wait async`. Lowerings assume this (upstream's does not check it) and are wrong otherwise.

    wrong: %a = gpu.launch_func async [%t] …; %b = gpu.launch_func async [%t] …
    right: %f = gpu.wait async [%t]; %a = gpu.launch_func async [%t] …; %b = gpu.launch_func async [%f] …
W0623 a token is waited for twice
    A blocking `gpu.wait` destroys the streams of its tokens. Waiting for the same one again, or for an earlier token
    of the same stream, destroys the stream twice.

    wrong: gpu.wait [%t]; gpu.wait [%t]
    right: gpu.wait [%t]
W0624 a stream is destroyed while it is in use
    A blocking `gpu.wait` destroys the stream of its token. An operation on that stream may still be running, or is
    put on it afterwards.

    wrong: %b = gpu.launch_func async [%a] …; gpu.wait [%a]
    right: %b = gpu.launch_func async [%a] …; gpu.wait [%b]
W0625 a synchronous operation with async dependencies
    An operation without `async` makes no token: later operations on the stream have nothing to wait for. Make it
    asynchronous, or block before it.

    wrong: gpu.launch_func [%t] @k::@f …
    right: %u = gpu.launch_func async [%t] @k::@f …
W0626 a launch of a kernel that does not exist
    The launch names a `gpu.module` and a `gpu.func` in it. The module must contain both: how the kernel accesses
    memory is derived from its body.
W0627 arguments that do not match the kernel
    A launch passes as many values as the kernel has arguments, of the same types. A `memref.cast` can change a type.
W0628 tokens that wait for each other
    A token is used before it is defined, or tokens form a cycle: none of their operations could ever start. In a
    loop, carry the token: `scf.for … iter_args(%s = %t)`.

    wrong: %t = gpu.wait async [%u]; %u = gpu.launch_func async [%t] …
    right: %t = gpu.wait async; %u = gpu.launch_func async [%t] …
W0629 two unordered operations on a buffer
    Launches, copies, allocations and frees on different tokens may run at the same time, in any order. Two that
    access the same elements, at least one of them writing, need an edge: the second must wait for the first, through
    tokens or a blocking wait. RAW: a read that needs the write before it. WAR: a write that must wait for the read.
    WAW: two writes, and the last one wins. What each of them accesses is compared as a set of elements: launches that
    access the even and the odd elements of one buffer need no edge; nor do atomic updates of the same kind whose old
    values are not used. A conflict is called assumed where it is not known whether the memory is the same, or which
    elements are accessed.

    Of the unordered pairs, only those are shown whose edges would order all others too. `async-fork` creates the
    edges.
W0630 the host accesses memory that a launch still uses
    An asynchronous operation runs while the host continues. A load, a copy or a synchronous operation of the host on
    the same buffer needs a blocking wait before it.

    wrong: %t = gpu.launch_func async …; memref.load %C[…]
    right: %t = gpu.launch_func async …; gpu.wait [%t]; memref.load %C[…]
W0631 a use after free
    The memory was freed before this operation. Free it after its last use.
W0632 a double free
    Memory is freed once. In a loop: a buffer that was allocated outside it is freed in each iteration.
W0633 a free of memory that is in use
    Nothing ensures that the operation is done when the memory is freed: the free must wait for its token (or, if the
    host frees it, come after a blocking wait).

    wrong: %b = gpu.launch_func async [%a] …; memref.dealloc %m
    right: %b = gpu.launch_func async [%a] …; %c = gpu.dealloc async [%b] %m
W0634 an order that cannot be followed
    The proof follows tokens through straight-line code, `scf.for`, `affine.for`, `scf.if` and calls that can be
    inlined. Through anything else (`cf` branches, `scf.while`, `async.execute`, a caller's stream, a call without a
    body or an access through a pointer while launches are running) the order is not known, so the module is not
    accepted.
W0641 a memory space that is not known
    The memory space of a buffer's type determines which threads share it: global memory is shared by all threads,
    shared (workgroup) memory by those of a block, private memory is not shared. It may be written as in gpu, nvvm or
    spirv, or as LLVM's numbers (0 and 1 global, 3 shared, 4 constant, 5 private). About any other, such as cluster
    memory, nothing can be proven.

    wrong: memref<64xf32, 7>
    right: memref<64xf32, #gpu.address_space<workgroup>>
W0660 another number of arrivals than a memory barrier was made for
    `nvgpu.mbarrier.init` says how many arrivals end a phase. Each thread that executes `arrive` or
    `arrive.expect_tx` is one of them. With more than that in a phase, the last ones count in the next phase; with
    fewer, the phase never ends (W0665).

    wrong: init %empty[%s], %c1, and a thread of each of two warp groups arrives
    right: init %empty[%s], %c2
W0661 another number of bytes than a phase expects
    `arrive.expect_tx` says how many bytes are to come before the phase ends. A load brings the bytes of its whole
    box, also where that reaches beyond the tensor, and counts on the barrier that it names. If fewer bytes come,
    the phase never ends; if more do, it ends when not all of them are there. A phase can miss 1048575 bytes at most.
W0662 a parity that does not say which phase is meant
    A wait ends when the phase under way has another parity than the one that it is given. The phases of a barrier are
    numbered from 0: the n-th use of a barrier waits for the parity n mod 2; who fills a stage waits for the phase
    before, and so goes on at once the first time. That works where the barrier is at most one phase ahead of who
    waits: each thread has to wait for each phase, and the phase behind must not be able to end before the wait has
    seen its own end.

    wrong: %phase = i mod 2, on a ring of four barriers
    right: %phase = (i div 4) mod 2
W0663 an arrival that may come too early
    An arrival counts in the phase that is under way. If nothing says that the phase before its own is over (a wait by
    its thread, or by one that it waited for), it may count there: that phase ends too early, and its own never does.
W0664 a memory barrier that is used before it is initialized
    One thread initializes each barrier, once. `nvvm.fence.mbarrier.init` behind that lets the tensor memory
    accelerator see it, and a `gpu.barrier` all threads of the block. Those of other blocks of the cluster see it when all
    have met since: `nvvm.cluster.arrive` and `nvvm.cluster.wait`. There are as many blocks as the cluster has: a mask of a
    load, or an arrival, for another one is a mistake.
W0665 a wait without an end
    The phase that is waited for never ends, because too few threads arrive in it or too few bytes come; or what would
    end it comes behind waits that need each other in a circle, where a lane that took one branch of an `if` goes on
    with its warp alone. The note says who waits for what. A load that nobody waits for is reported with the same code:
    the block may end while it is under way.
W0666 ordinary stores that are accessed asynchronously without a fence
    Tensor cores (`nvgpu.warpgroup.mma`) and the tensor memory accelerator access shared memory in a way of their own.
    What a thread has stored there is seen by them behind `nvvm.fence.proxy` of that thread, in front of the barrier
    that orders the two.

    wrong: memref.store …; gpu.barrier; nvgpu.warpgroup.mma …
    right: memref.store …; nvvm.fence.proxy {kind = async.shared}; gpu.barrier; nvgpu.warpgroup.mma …
W0667 an asynchronous access that meets another one
    A load of the tensor memory accelerator writes its tile until the phase of its barrier is over; a product of a warp
    group reads both matrices until it has been waited for. Each other access of these elements comes before it begins,
    or behind a wait that has seen its end, by the same thread or by one that then arrived where the other one waits.
    The note shows two executions that nothing orders.
W0668 memory barriers that are not understood
    Which phase an op on a memory barrier is of must follow from the iterations around it: the number of the barrier
    is `i mod n` in a ring of n, or constant, its parity that of `i div n`, and `i` counts the iterations of one loop
    or of nested ones of known sizes. Of anything else nothing is proven.
W0669 a block that ends before another one is done with it
    Blocks of a cluster arrive at each other's memory barriers, which are gone when their block has ended. A thread of
    that block has to know of each such arrival before it ends: by a wait for the phase that it is of, or by a meeting
    of all threads of the cluster behind it.

    wrong: nvvm.mbarrier.arrive %there; gpu.return
    right: nvvm.mbarrier.arrive %there; nvvm.cluster.arrive; nvvm.cluster.wait; gpu.return
W0670 registers that warp groups may wait for forever
    `nvvm.setmaxregister` gives registers of a warp group away (decrease), or asks for more, and waits until they are free
    (increase). At the beginning each thread has as many as there are for all threads of the block, in steps of 8: 168 of
    384, 96 of 640. The sum may not be more than that, and nobody may give some away behind something for which one is
    needed that has asked for them.

    wrong: decrease 24 of 128 threads, increase 120 of 512
    right: decrease 24 of 128 threads, increase 112 of 512
""")
