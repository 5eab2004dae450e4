"""Kernels as CUDA C++ text (`module.emit`), compilation without a GPU (`nvrtc`), and their calling
convention.

For each argument of the `gpu.func`, in order:

- a scalar: one parameter by value. `index` is a `long long`, `i1` a one-byte `bool`, `f16` and
`bf16` two bytes.
- a memref: a pointer to the first element of the *base* buffer (the layout's offset is not added),
aligned to at least 16 bytes; then a `long long` for each dynamic size, then one for each dynamic
stride of the layout, then one for the layout's offset if it is dynamic. Sizes and strides count
elements.
- after all arguments, a `long long` for each number of `FunctionText.reciprocals`: reciprocals of
sizes that the text divides by, and numbers of blocks (`plan/resolve.py` defines their values).

A kernel with memrefs of dynamic sizes has two texts with the same parameters except the last group:
one that is correct for all sizes, and `NAME_32` with 32-bit indices, for sizes at which 32 bits
hold every index that it computes (`FunctionText.small`). Both are for grids within the hardware's
limits. If a launch may exceed these, there is also `NAME_folded` for folded grids
(`values/blocks.py`); defining the macro `nvrtc.UNFOLDED` excludes it from compilation.

Memref arguments are distinct buffers that do not overlap (`__restrict__`), unless a launch in the
module passes one buffer twice. More than 48 KiB of shared memory is dynamic: the launch passes its
size, after the function's attribute `MAX_DYNAMIC_SHARED_SIZE_BYTES` has been raised to it.

This module, `moves` and `nvrtc` do not need MLIR, so that a runner works without it.
"""
