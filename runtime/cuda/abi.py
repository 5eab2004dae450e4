"""How a kernel is called: the argument list of the emitted text. No MLIR here; the runner needs only this.

For each argument of the `gpu.func`, in order:

- a scalar: one parameter by value. `index` is a `long long`, `i1` a one-byte `bool`, `f16` and `bf16` two bytes.
- a memref: a pointer to the buffer's first element (that of the *base* buffer: the layout's offset is not added), aligned to
  16 bytes at least; then a `long long` for each dynamic size, then one for each dynamic stride of the layout, then one for
  the layout's offset if that is dynamic. Sizes and strides count elements.

Arguments that are memrefs are distinct buffers that do not overlap (`__restrict__`), unless the kernel's `overlapping`
says otherwise. A launch passes `dynamic_shared_bytes` of dynamic shared memory; above 48 KiB the function's attribute
`MAX_DYNAMIC_SHARED_SIZE_BYTES` must be raised to it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ParameterKind = Literal["pointer", "scalar", "size", "stride", "offset"]

STATIC_SHARED_LIMIT = 48 * 1024
SHARED_LIMIT = 227 * 1024
POINTER_ALIGNMENT = 16


@dataclass(frozen=True)
class Parameter:
    """One parameter of the emitted function.

    Args:
        kind: what it is of its `gpu.func` argument.
        argument: the number of that argument.
        name: in the text.
        dtype: element type of a pointer, type of a scalar; `i64` for sizes, strides and offsets.
        axis: the dimension of a size or a stride.
        written: the kernel may write through this pointer.
    """

    kind: ParameterKind
    argument: int
    name: str
    dtype: str
    axis: int | None = None
    written: bool = False


@dataclass(frozen=True)
class KernelSignature:
    """What a launch needs to know of a kernel. `block` and `grid` are None where they are not fixed."""

    name: str
    parameters: tuple[Parameter, ...]
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    static_shared_bytes: int = 0
    dynamic_shared_bytes: int = 0
