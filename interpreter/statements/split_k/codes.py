"""The long form of what `split-k` refuses."""

from __future__ import annotations

from ....dsl.diagnostics import explanations

CODES = explanations("""
W0450 no sum to cut
    `split-k` takes an op whose body adds one term to its one result: a matrix product, a convolution behind
    `as-gemm`, a `linalg.generic` or `linalg.reduce` that adds up inputs, products, or exp(x). A maximum or a product
    of all elements is no sum. The result has to be indexed with the op's parallel dimensions alone.
W0451 summed over several dimensions
    The op has to be summed over exactly one dimension, which is cut. `as-gemm` makes one of a convolution's several.
W0452 a sum of dynamic extent
    The length of a part, and the size of the buffer that holds the partial sums, are computed when the schedule is
    applied. Give the payload static shapes.
W0453 an impossible number of parts
    A sum is cut into 2 parts or more, and each of them has at least one summand. `by n` rounds a part's length up to
    a multiple of n, so that fewer parts may be left than asked for, but not just one.
W0454 a sum on memrefs
    A payload written on memrefs is raised to tensors where its function is a straight line of linalg ops on whole
    buffers or windows of them. This one is not, or was bufferized by an earlier statement, or a buffer's type has a
    layout, which no tensor has. Use `split-k` before `bufferize`, and `memref.subview` for windows.

    wrong:  %x: memref<16x16xf32, strided<[20, 1]>>
    right:  %b: memref<16x20xf32>, and in the function %x = memref.subview %b[0, 0] [16, 16] [1, 1]
W0455 a body that reads memory
    The body of the op reads a tensor by itself (`tensor.extract`), at places that no indexing map bounds. Where the
    last part is shorter than the others, such a read would leave its tensor. Choose a number of parts that divides
    the sum.
W0456 a sum inside of a loop
    The partial sums need a buffer of their own that all parts share, and an op behind them that adds them up: two
    launches. Inside of a loop that is no longer possible. Use `split-k` before `tile`.
W0457 no atomic addition of this type
    GPUs add atomically to elements of f32, f64, i32 and i64. An atomic addition in f16 or bf16 would round once per
    part. Without `atomic` a second launch adds the parts up, in any type.
W0458 an atomic sum that can't be fused
    The sum of `split-k … atomic` is fused into the loop over the tiles of the parts: a `forall` that `tile` made, one
    part to an iteration, with the zeros that `split-k` returned fused into it before, and nothing else that reads the
    partial sums. What the sum starts from, a fill say, is not fused into that loop: it is mapped and launched on its
    own, before. A sum that is to be tiled, or launched on its own, is one without `atomic`.
    right: let (part, zeros, sum) = split-k gemm 4 atomic
           let (tiles, one) = tile part [1, 16, 16]
           fuse zeros into tiles
           fuse sum into tiles
""")
