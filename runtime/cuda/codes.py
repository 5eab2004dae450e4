"""The W05xx codes, explained."""

from __future__ import annotations

from ...dsl.diagnostics import Explanation

CODES: dict[str, Explanation] = {
    "W0501": Explanation(
        "the CUDA emitter does not know this op",
        "A kernel contains an operation for which no CUDA C++ is written. The emitter never guesses.\n"
        "Lower the op first (`run-pass`, `transform { … }`) to scf, affine, arith, math, memref, vector or gpu ops.\n\n"
        "wrong:  linalg.matmul inside a gpu.func\nright:  the loops that `launch` makes of it",
    ),
    "W0502": Explanation(
        "a type without a CUDA C++ counterpart",
        "Kernels hold f64, f32, f16, bf16, i1, i8, i16, i32, i64 and index, memrefs and vectors of these.\n\n"
        "wrong:  memref<16xi7>\nright:  memref<16xi8>",
    ),
    "W0503": Explanation(
        "a form of an op that the CUDA emitter does not know",
        "The op is known, this use of it isn't: the message says which part. Examples: a masked vector.transfer_read, a vector\n"
        "element at a dynamic position, a memref carried by a loop.\n\n"
        "wrong:  vector.transfer_read … {in_bounds = [false]}\nright:  a tile size that divides, or a guard around it",
    ),
    "W0504": Explanation(
        "a kernel with unstructured control flow",
        "The text of a kernel is made from scf and affine regions. A gpu.func with several blocks (cf.br) has no such form.\n\n"
        "wrong:  cf.cond_br in a gpu.func\nright:  scf.if, scf.for, scf.while (run `lift-cf-to-scf`)",
    ),
    "W0505": Explanation(
        "NVRTC is missing, or refuses the text",
        "Compiling a kernel without a GPU needs the wheel `nvidia-cuda-nvrtc` (`pip install nvidia-cuda-nvrtc`). If the compiler\n"
        "itself complains, its log is in the notes.",
    ),
    "W0506": Explanation(
        "a kernel needs more shared memory than a chip has",
        "The buffers in workgroup memory exceed 227 KiB, the most that any chip gives to one block.\n\n"
        "wrong:  128x512 tiles of f32 for both operands\nright:  a smaller tile along the reduction",
    ),
    "W0507": Explanation(
        "a constant that is too large for the text",
        "Constants of a kernel (memref.global) are written into the text as initializers, up to 65,536 elements. Pass larger ones\n"
        "as an argument of the function.",
    ),
}
