"""The long form of the codes that statements and the session raise. `weft explain CODE` prints them."""

from __future__ import annotations

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0310 the op of a handle is gone
    A handle is a tag on an op of the payload. A rewrite that was not asked to keep the op (`run-pass "canonicalize"`
    on a loop of one iteration, `transform { … }`) may have removed or duplicated it. Match the op again, or do the
    rewrite before the handle is made.
W0311 upstream refuses a transformation
    The statement is carried out by an op of MLIR's transform dialect, and that op reported a failure; its own words
    are in the notes. The session is as it was before the statement.
W0312 a pass pipeline fails
    `run-pass` takes what `mlir-opt --pass-pipeline` takes, without the outer `builtin.module(…)`: `run-pass
    "func.func(linalg-generalize-named-ops)"`. The pipeline did not parse, or a pass in it failed.
W0313 a statement left IR that does not verify
    This is a defect in Weft, not in the schedule: please report it with the schedule and the payload. The session is
    as it was before the statement.
W0320 not a structured op
    Tiling, interchange and promotion work on structured (linalg) ops, whose iteration space is known. Loops are
    mapped with `map`; a fused op keeps its handle.
W0322 a ragged tile of a dynamic extent
    Filling up a tile needs to know how much is missing when the schedule is applied. Leave dynamic dimensions whole
    with `_`, or give the payload static shapes.
W0323 more tile sizes than dimensions
    `tile op [16, 16]`: at most one size per dimension of the op, in its order; `_`, 0 or a missing one leaves a
    dimension alone.
W0324 no dimension is tiled
    Every size is `_` or 0, so that the statement would do nothing.
W0325 ragged tiles need tensors
    On memrefs a tile that sticks out of its buffer cannot be filled up. Tile before `bufferize`; payloads written on
    memrefs are raised to tensors where they are straight lines of linalg ops.
W0326 the loop does not read what the producer produces
    `fuse` moves a producer to where a loop reads slices of its result. Tile the consumer and fuse into that loop; to
    fuse into an inner loop, fuse into the outer one first.
W0327 fusing on memrefs
    Fusion follows values. On memrefs there are none, only memory. Fuse before `bufferize`.
W0328 not a loop
    `fuse P into L` needs a loop that `tile` returned.
W0330 no such operand
    Operands are called `lhs`, `rhs`, `acc` on contractions and `in0`…, `out0`… elsewhere; `weft statements` lists
    them.
W0331 not an input
    Only inputs are staged in shared memory; outputs are written where they are.
W0332 a tile without a static shape
    Shared memory is allocated when the kernel is written, so that the tile's shape must be known: tile with static
    sizes.
W0333 no tile to stage
    The op stands in no loop; `tile` it first, so that its operand is a tile.
W0334 nothing to transpose
    `transpose` exchanges the two innermost dimensions of a tile.
W0335 more shared memory than a block may have
    A block has at most 227 KiB of shared memory on the largest GPUs. Stage smaller tiles, or pad less.
W0336 upstream cannot bufferize
    One-shot bufferization refused an op; its own words are in the notes.
W0337 not a permutation
    `interchange op [1, 0, 2]` names each old dimension once, in the new order.
W0338 an op without iterations
    One of the op's dimensions has size 0: it computes nothing, and no kernel is made of it. Take it out of the
    payload, or leave it alone.
W0339 upstream's own printing
    `transform.print` writes to the process's standard output, which holds the module (`weft apply`) or the JSON
    object (`weft run --json`). `print` is Weft's: it goes to the report, and to stderr.
W0370 not a sequential loop
    `unroll` takes a loop whose iterations follow each other: over a reduction, over the steps of a tile. Parallel
    loops are mapped; whatever of their iterations one thread gets is unrolled by the compiler where it must be. A
    loop is unrolled once.
W0371 a loop that cannot be unrolled whole
    How many iterations it has is known only at run time, or they are so many that the compiler would take minutes
    over the copies. `unroll loop by 4` makes four copies of the body.
W0372 an unroll factor that does not fit
    `unroll loop by n` takes n from 2 to the number of iterations; `unroll loop` takes all of them.
W0373 a number of registers that no thread can have
    `launch loop max-registers n` tells the compiler how many registers a thread may take. It gives 24 to 255 to each
    thread (fewer it does not try, whatever it is told), and 65,536 to all threads of a block together, handed out to
    warps in steps of 8 a thread.
W0374 not a sequential loop of the block
    `pipeline` lets the copies of a sequential loop run one iteration ahead of its computation. The loop stands in the
    loop over blocks, holds the copies that all threads do together, and has a step that is a number: what `tile`
    makes of a reduction.
W0375 nothing to do ahead
    No op in the loop fills a shared buffer. `promote-to-shared` the operands of the op in the loop, `map` the copies,
    and then `pipeline` the loop.
W0376 a shared buffer that is not filled by one mapped copy
    `pipeline` takes a copy apart: a thread reads its elements of the next tile into registers, and writes them later.
    So each buffer has one op that fills it, directly in the loop, distributed by a map of its own, element by
    element.

    wrong: let (a, copy_a) = promote-to-shared step.lhs; pipeline k stages 2
    right: let (a, copy_a) = promote-to-shared step.lhs; map copy_a to threads(*) cyclic; pipeline k stages 2
W0377 a shared buffer that the loop does not have to itself
    With two tiles in turn, the content of a buffer means something only within the iteration that has it. Here the
    buffer is used outside the loop, or an iteration reads what the one before has copied.
W0378 the loop writes what its copies read
    The tile of the next iteration is read before this one is through. If this iteration writes there, it would read
    old values. Buffers that are different arguments are taken as different memory.
W0379 stages that are not there
    `stages 2`: one tile in shared memory is computed from, the next one is on its way through registers to the other.
    More tiles need asynchronous copies, which are not supported yet. `stages 1` leaves the loop as it is.
W0381 nothing accumulates there
    `promote-to-registers` keeps an operand that the op writes (`acc` of a contraction, `out0` elsewhere). Inputs are
    staged by `promote-to-shared`, or loaded into registers by `vectorize`.
W0382 no sequential loop around the op
    The accumulator stays in registers while a sequential loop (`scf.for`) runs, and the op must stand in it: name the
    loop that `tile` made of the reduction.
W0383 an accumulator that moves
    In each iteration of the loop a thread would accumulate into other elements, so that nothing stays in its
    registers. Name an inner loop.
W0384 looked at in another way
    While the accumulator is in registers, its buffer is out of date, and something else in the loop looks at it.
W0385 nobody owns a part of it
    An accumulator is kept by the thread that owns its tile, so the op must stand in a loop over threads (or warps and
    lanes) that takes tiles of the operand.
W0386 registers of no known number
    What a thread keeps in registers must have a static shape.
W0387 more than a thread's registers hold
    A thread has at most 255 registers of 4 bytes, and the accumulator is not all it needs. Take smaller tiles per
    thread.
W0388 barriers in a loop that is to be pipelined
    Barriers were placed for the copies as they were; with two tiles in turn, fewer are needed, elsewhere. Say
    `pipeline` first and `insert-barriers` afterwards.
W0389 pipelined already
    The copies of this loop run one iteration ahead already.
W0390 nothing to vectorize
    `vectorize` takes a structured op that one thread does alone. A copy or an op that is mapped itself takes `vector
    n` on its map instead.
W0391 no thread does it alone
    `vectorize` is for the op in a loop over threads. Tile the op, and map the loop to threads.
W0392 fragments of no known size
    A fragment is an array in registers: its tile needs a static shape.
W0393 more fragments than registers
    The tiles of the op do not fit a thread's 255 registers. Tile the reduction by 1 first: then a step needs a column
    of one operand and a row of the other.
W0394 in registers already
    All operands of the op are a thread's own: there is nothing to load or store.
W0395 kept in registers already
    An earlier `promote-to-registers` keeps this operand while that loop runs: nothing is left to do.
W0396 an op that reads what it writes
    Two operands are views of one buffer, one is read and the other written, and not element by element in the same
    place. The op calls its iterations parallel, but its result depends on their order, which tiles, threads and
    copies change.
W0397 an atomic op that does more than add
    An op marked `weft.atomic` adds one input to its output, in a body of one `arith.addf` or `arith.addi`: that
    becomes a `memref.atomic_rmw` per element. `fuse` makes such ops of the sum of `split-k … atomic`.
W0398 a memref whose layout has no strides
    Weft finds an element of a memref by an offset and one stride per dimension. A layout such as `affine_map<(i) ->
    (i floordiv 4, i mod 4)>` has none. Write it as `strided<[8, 1]>`, or have upstream take it out:
    `normalize-memrefs` puts the map into the indices of each access.
W0399 elements that are no numbers
    A ragged tile, a padding or a split sum needs numbers of the operand's element type: what is read outside of it,
    or what a sum starts with. Weft has numbers of the integer and floating-point types, and of `index`; elements of
    other types (`complex<f32>`, vectors, types of other dialects) can be tiled where the tile sizes divide.
W0401 nothing matches
    No op of that name stands where the search looked. The notes list what is there. Use `match?` for an op that may
    be absent: statements on an absent handle do nothing.
W0402 too few matches
    `match op #n` counts from 0 in the order of the text.
W0403 several ops match
    `match` means exactly one op. Pick one with `#n`, look in one function with `in @f`, narrow the search with `where
    "attribute" = "value"`, or take all of them with `match*` and walk over them with `foreach`.
W0404 no such function
    The payload has no function of that name; the notes list those it has.
""")
