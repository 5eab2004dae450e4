"""The long form of the codes that `map` and `launch` raise. `weft explain CODE` prints them."""

from __future__ import annotations

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0340 mapped twice
    A loop or an op has one map. To spread a loop over blocks and then threads, tile it twice and map each of the two
    loops.

    wrong: map tiles to blocks(y, x); map tiles to threads(y, x)
    right: let (lanes, one) = tile tile_mm [1, 1]; map lanes to threads(y: 16, x: 16)
W0341 an axis for each dimension, each once
    The first axis is for the first (slowest) dimension of the loop, and so on. A loop of two dimensions takes two
    different axes; an op takes as many as it has dimensions, or a single one for all its elements row by row.

    wrong: map tiles to blocks(x)         (a loop over rows and columns)
    right: map tiles to blocks(y, x)
W0342 the axis is taken
    A processor that a loop distributes over one axis has its place on that axis: a loop inside cannot distribute over
    it again. `threads(*)` takes all three thread axes, `grid(x)` takes blocks and threads along x. `warps` and
    `lanes` are the block's threads in another order (linear id divided by 32, and the rest), so they go with each
    other and not with threads. Loops over blocks stand outside loops over threads.
W0343 iterations that depend on each other
    A reduction's iterations update the same element, a sequential loop's take what the one before has left: two
    processors that do iteration 0 and iteration 1 at the same time would lose one of the updates. Map the parallel
    loop that `tile` makes; the sequential one stays inside, and every thread runs it.
W0344 neither a parallel loop nor an op without reductions
    `map` takes the `forall` that `tile` returns, or a structured op all of whose dimensions are parallel, such as the
    copy that `promote-to-shared` returns.
W0345 more iterations than processors
    Without a distribution word each processor gets one iteration, so there must be as many processors as iterations,
    provably. Otherwise say which iterations a processor gets.

    wrong: map lanes to threads(x: 16)            (64 iterations)
    right: map lanes to threads(x: 16) cyclic
W0346 too many threads, or blocks
    A block has at most 1024 threads, 64 of them along z; a grid has at most 65535 blocks along y and z. Give smaller
    counts and a distribution, or larger tiles.
W0347 a count or a chunk below 1
    There is at least one processor along an axis, and at least one iteration in a chunk: `block-cyclic(1)` is
    `cyclic`.
W0348 a vector that does not fit
    `vector n` makes n consecutive elements of a row one iteration: n is a power of two, divides the row's (known)
    length, and n elements are at most 128 bits, the widest access there is. It is for ops; the iterations of a loop
    are no elements.
W0349 a space that is not to be had
    `*` is every thread of a block, so it goes with `threads` alone. A number of warps that is known only at run time
    (`warps(x: ?)`) has a single axis: how it would split over two is not fixed.
W0350 the loop has no map
    A launch needs to know which processors run the loop: `map` it to blocks, to a grid, or (for a single block) to
    threads.
W0351 distributed by no map
    Every thread of the block would do the whole of it, all at the same time. Tile it and map the loop to threads, or
    map the op itself with `threads(*) cyclic`. Sequential loops need no map, what they hold does.
W0352 maps that disagree on the block's size
    All maps of a launch run on the same block of threads, so counts along the same axis must be equal. Where one loop
    has fewer iterations, give it the same count and a distribution, or map it to `threads(*)`. Maps over warps and
    lanes need a whole number of warps: `warps(x: 4)` is a block of 128 threads.
W0353 `threads(*)`, and nothing says how many
    `threads(*)` is as many threads as the launch's other maps make. In a launch that has none, give a count:
    `threads(x: 256) cyclic`.
W0354 a size that is known too late
    The number of threads of a block is part of the kernel, and the number of blocks is computed by the host before
    the launch. A loop whose trip count is only known later needs a count and a distribution: `threads(x: 128)
    cyclic`.
W0355 shared memory: too much, or of no known size
    A block has 48 KB of static shared memory: staged tiles and the temporaries that threads share count. Take smaller
    tiles. Buffers need static shapes. What a loop over threads allocates, and threads inside it share, is there once
    for each iteration: their number must be known, and the loop may not be over a grid.
W0356 tensors are left
    A kernel works on memory. `launch` bufferizes the payload by itself; an op that stays on tensors cannot be
    launched.
W0357 a write-back that no map distributes
    The copy of a temporary to global memory follows the map of the loop that fills the temporary: each thread writes
    back what it computed. Where the loop's tiles cannot be read off, or the copy permutes or repeats the elements,
    threads share it out; their number must be known then, and what is marked as a write-back must be an op without
    reductions. Where the tiles divide the result there is no such copy.
W0358 an op that has no lowering to loops
    What is left of structured ops in a thread's share becomes plain loops. This op has no such lowering upstream:
    decompose it before the launch, with `run-pass` or `transform { … }`.
W0359 not the outermost loop of a host function
    A kernel is launched by a host function, and contains everything inside the launched loop. Launch the outermost
    mapped loop.
W0360 loops over blocks that do not nest perfectly
    If a loop over blocks(y) holds a loop over blocks(x) and something else, every block along x would do the other
    thing, too. Map one loop of two dimensions to blocks(y, x), or only one of the two to blocks.
W0361 a value that no kernel takes
    Kernels take buffers, integers, floating-point numbers and indices. Anything else must be computed inside, or
    before.
W0362 a barrier in a loop over threads
    Threads that own fewer iterations would not reach it, and the block would hang. Barriers stand between the loops
    over threads; or between ops of such a loop that are mapped themselves, where it can be split: it is not when a
    value that is read in front of the barrier is used behind it.
W0363 nothing to coalesce
    `coalesce` makes one dimension of several: of a `forall` with more than one, or of parallel loops with nothing but
    index arithmetic between them, and bounds that do not depend on each other.
W0364 an order that the blocks cannot have
    `order grouped(n)` lets the blocks of a grid of two axes take its tiles in groups of n rows, for the sake of the
    L2 cache. Each block has one tile then, and the size of the grid is a number: the order is worked out by
    divisions, and only those by constants are cheap, and understood by the proof that blocks do not touch each
    other's results.
W0365 a tile that does not fit into registers on its way
    `pipeline` lets each thread keep the elements that it copies in registers while the tile before is computed. How
    many they are must be known when the kernel is built, and they must leave room to compute with. Give the copies'
    maps counts, take more threads, or smaller tiles.
W0380 an accumulator that threads share
    `promote-to-registers` gives each thread the tile that it owns. If a loop is mapped otherwise, or an op looks at
    the whole accumulator, its parts cannot live in registers. Map all loops that look at it alike, or write it back
    first.
""")
