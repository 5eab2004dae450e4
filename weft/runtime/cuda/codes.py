"""The W05xx codes, explained."""

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0501 the CUDA emitter does not know this op
    A kernel contains an operation that the emitter cannot express in CUDA C++. It never guesses. Lower the op first
    (`run-pass`, `transform { … }`) to scf, affine, arith, math, memref, vector or gpu ops.

    wrong:  linalg.matmul inside a gpu.func
    right:  the loops that `launch` makes of it
W0502 a type without a CUDA C++ counterpart
    Kernels use f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32, i64 and index, and memrefs and vectors of these.

    wrong:  memref<16xi7>
    right:  memref<16xi8>
W0503 a form of an op that the CUDA emitter does not know
    The op is known, but this use of it is not: the message says which part. Examples: a masked vector.transfer_read,
    a vector element at a dynamic position, a memref carried by a loop.

    wrong:  vector.transfer_read … {in_bounds = [false]}
    right:  a tile size that divides, or a guard around it
W0504 a kernel with unstructured control flow
    The text of a kernel is made from scf and affine regions. A gpu.func with several basic blocks (cf.br) has no such
    form.

    wrong:  cf.cond_br in a gpu.func
    right:  scf.if, scf.for, scf.while (run `lift-cf-to-scf`)
W0505 NVRTC is missing, or rejects the text
    Compiling a kernel without a GPU needs the wheel `nvidia-cuda-nvrtc`: `pip install 'weft-gpu[predict]'` brings it,
    and the disassembler. If the compiler itself reports errors, its log is in the notes.
W0506 a kernel needs more shared memory than a GPU has
    The buffers in workgroup memory exceed 227 KiB, the most that any GPU gives to one block.

    wrong:  128x512 tiles of f32 for both operands
    right:  a smaller tile along the reduction
W0507 a constant that is too large for the text
    Constants of a kernel (memref.global) are written into the text as initializers, up to 65,536 elements. Pass
    larger ones as an argument of the function.
W0509 no kernel of this name
    `weft emit FILE --kernel NAME` prints one of the kernels that the schedule makes. The notes list them; a kernel is
    named after the payload's function, a second one of it with `_1`.

    wrong:  weft emit concurrent_convs --kernel test
    right:  weft emit concurrent_convs --kernel test_parallel_1
""")
