"""The long form of the simulator's codes."""

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0647 a result that MLIR leaves open
    A shift by the width of the type or more, a conversion of a float (a NaN, an infinity) that the integer type does not
    have, the least integer divided by -1, 0 to a negative power, a position outside of a vector, a loop with a step that
    is not positive: what they give is not defined, and a CPU, a GPU and the simulator each give something else. It is a
    fault where such a result is needed: stored, part of an address or of a condition. One that `arith.select` leaves
    out is none.

    wrong: arith.shli %x, %n : i32 with %n = 32
    right: arith.select of %n < 32 between the shift and 0
W0648 registers that a warp group does not have, or has already
    `nvvm.setmaxregister` gives registers away (decrease), or asks for more (increase). At the beginning each thread has as
    many as there are for all of the block, in steps of 8: 168 of 384 threads, 96 of 640. Who asks for more than others give
    away waits forever (W0658).

    wrong: nvvm.setmaxregister decrease 200, in a block of 384 threads
    right: nvvm.setmaxregister decrease 24
W0649 a block that ends while its copies are under way
    The shared memory of a block is another one's as soon as it ends. Somebody must have waited for each box that is loaded into it
    (at its memory barrier), and the thread that stores one, until it is read.

    wrong: nvgpu.tma.async.store …; nvvm.cp.async.bulk.commit.group; gpu.return
    right: …; nvvm.cp.async.bulk.wait_group 0 {read}; gpu.return
W0650 a race, found by the simulator
    Two threads accessed one element, at least one of them wrote it, and nothing orders the two accesses: no barrier
    of their block that covers the memory's address space is between them, or they are in different blocks.

    wrong: store %a[%tx]; load %a[%tx + 1]
    right: store %a[%tx]; gpu.barrier; load %a[%tx + 1]
W0651 a barrier that not all threads reach
    Some threads of a block reached a barrier at which others never arrive together with them. On a GPU that hangs or
    worse. Barriers belong where all threads of the block pass: not under a condition that differs between threads,
    and not in a loop whose trip count does. The same holds for what the 32 lanes of a warp do together, shuffles and
    tensor-core instructions: a lane that is elsewhere, or that a block of another size than a multiple of 32 does not
    have, leaves undefined what the others get.

    wrong: scf.if %guard { …; gpu.barrier }
    right: scf.if %guard { … }; gpu.barrier
W0652 an access out of bounds
    An index is outside its dimension, even if the address happens to be inside the buffer. A ragged edge needs a
    guard. An index that is an input is random unless it is given: `--input ids=0:1000` says between which numbers.

    wrong: memref.store %v, %C[%row, %col]
    right: scf.if %inside { memref.store %v, %C[%row, %col] }
W0653 a read of memory that was never written
    The element has not been written since its memory was allocated. Shared memory is uninitialized at the start of
    every block, private memory at the start of every thread, temporaries until a kernel or a copy fills them.

    wrong: load %tile[0] before anything is stored there
    right: store %zero, %tile[0], then load
W0654 a vector access that is not aligned
    A vector access must start at a multiple of its size (at most 16 bytes), counted from the buffer's beginning,
    unless the op has an `alignment`.

    wrong: vector.load %A[%tx] : vector<4xf32>
    right: vector.load %A[4 * %tx] : vector<4xf32>
W0655 an integer division by zero
    An active thread divided an integer by zero; the result would be undefined.

    wrong: arith.divsi %n, %count with %count = 0
    right: guard the division, or make the divisor at least 1
W0656 an access to what an asynchronous copy is moving
    Between its start and its thread's wait a copy may read its source and write its destination at any time. Nobody may
    touch the destination then, or write the source. A wait that leaves too many groups pending, or a ring of buffers
    with a stage too few, shows as this.

    wrong: nvgpu.device_async_copy …; nvgpu.device_async_create_group; load %tile[0]
    right: …; nvgpu.device_async_wait %group; gpu.barrier; load %tile[0]
W0657 what ordinary stores wrote is accessed asynchronously without a fence
    The tensor memory accelerator and products of warp groups access shared memory through the async proxy. What a thread wrote
    there by ordinary stores they read, or write again, behind a fence of that thread, and a barrier behind the fence.

    wrong: store %v, %tile[%tx]; gpu.barrier; nvgpu.tma.async.store %tile to %map[…]
    right: store %v, %tile[%tx]; nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}; gpu.barrier; nvgpu.tma.async.store …
W0658 threads that wait for each other forever
    Nobody in the block can go on. The report says who waits for which phase of which memory barrier, and how many
    arrivals and bytes are missing there.

    wrong: a consumer that does not arrive at `empty` behind its last read of a stage
    right: nvgpu.mbarrier.arrive %empty[%s] in each iteration
W0659 a memory barrier that is not used as it must be
    A barrier is initialized once, by one thread, behind which are a fence and a barrier of the block, before anybody uses it.
    In a phase as many threads arrive as it was initialized for; as many bytes come as were expected; who waits for a phase
    looks before the next one is over, too; and who arrives knows that the phase before is over.

    wrong: nvgpu.mbarrier.arrive.expect_tx %full[%s], %bytes with fewer bytes than the copies have
    right: the bytes of all copies that complete on the barrier in this phase
W0750 an op that the simulator does not know
    The simulator runs gpu, scf, affine, arith, math, memref and vector ops inside a `gpu.func`, nvgpu's asynchronous
    copies and products, memory barriers and boxes of tensors. Others must be lowered first, and a few forms of known
    ops are refused too.

    wrong: linalg.matmul inside a gpu.func
    right: the loops that it stands for
W0751 a type that the simulator does not support
    It supports f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1, index, fixed-size vectors of them, and memrefs
    of scalars with a strided layout.

    wrong: memref<16xi4>
    right: memref<16xi8>
W0752 arguments that do not match the kernel
    Their number, an element type, a shape or the layout differs from what the kernel declares.

    wrong: a float64 array for memref<16xf32>
    right: array.astype(numpy.float32)
W0753 a launch size that does not fit the kernel
    A block has 1 to 1024 threads, and a kernel with `known_block_size` or `known_grid_size` runs only with that size.

    wrong: 32 x 64 threads
    right: 32 x 32 threads
W0754 arguments that overlap partly
    Two arguments share memory but are not windows of the same type into one array, so it is not known which of their
    elements are the same.

    wrong: an f32 and an i32 view of the same bytes
    right: two views of one f32 array, or separate arrays
W0755 a memref that differs between threads
    A memref chosen by `select`, `if` or a loop must be the same for all threads that execute together.

    wrong: arith.select %thread_dependent, %bufA, %bufB : memref<…>
    right: select the index, or branch and access each buffer in its arm
W0756 a loop that does not seem to end
    A `while` ran for so many iterations that the simulation was aborted.

    wrong: scf.while whose condition stays true
    right: a condition that the body makes false
W0757 more barriers than a race check can count
    Each access is recorded as one 64-bit number: how many barriers its thread has passed, its block, its thread, its
    place in the kernel. A launch of very many blocks leaves too few bits for the barriers.

    wrong: 2^31 blocks of 1024 threads with 10,000 barriers each, checked for races
    right: the same kernel on a smaller problem
W0758 memory used after it was freed
    A plan copied, freed or launched on an allocation that had already been freed.

    wrong: free %tmp; launch @k(%tmp)
    right: launch @k(%tmp); free %tmp
W0759 a kernel that the module does not have
    The plan names a kernel by its symbol, and the loaded module has no kernel of that name.

    wrong: a plan.json of another build beside this module.mlir
    right: build the bundle again
W0760 a launch whose simulation would take too long
    The simulator runs every thread of every block. After a second it estimates how long the complete grid will take,
    and refuses the launch if that is more than ten minutes; loops that run for that long are aborted.
    `WEFT_SIM_SECONDS` sets another limit; 0 means none.

    wrong:  weft run naive --set m=16384 --set n=16384 --set k=16384 --target sim
    right:  weft run naive --set m=256 --set n=256 --set k=256 --target sim
    right:  WEFT_SIM_SECONDS=0 weft run naive … --target sim
""")
