"""Kernels as CUDA C++ text (`module.emit`), compiled without a GPU (`nvrtc`), and how they are called.

For each argument of the `gpu.func`, in order:

- a scalar: one parameter by value. `index` is a `long long`, `i1` a one-byte `bool`, `f16` and `bf16` two bytes.
- a memref: a pointer to the buffer's first element (that of the *base* buffer: the layout's offset is not added),
  aligned to
  16 bytes at least; then a `long long` for each dynamic size, then one for each dynamic stride of the layout, then one
  for the layout's offset if that is dynamic. Sizes and strides count elements.
- behind all arguments a `long long` for each size that the text divides by (`FunctionText.reciprocals`;
  `plan/resolve.py` says what
  it holds), and for numbers of blocks that it takes.

A kernel on memrefs of open sizes has two texts with the same parameters but for the latter: one that is right for all
sizes, and `NAME_32`, whose indices have 32 bits, for those of which these hold all that it computes
(`FunctionText.small`). Both are for grids that hardware numbers as they are. Where others may be, `NAME_folded` is for
these (`values/blocks.py`), and can be left out of what is compiled: where `nvrtc.UNFOLDED` is defined.

Arguments that are memrefs are distinct buffers that do not overlap (`__restrict__`), unless a launch in the module
passes one buffer twice. More than 48 KiB of shared memory is dynamic: the launch passes its size, for which the
function's attribute `MAX_DYNAMIC_SHARED_SIZE_BYTES` must be raised first.

No MLIR is needed here, in `moves` and in `nvrtc`: a runner without it gets along.
"""
