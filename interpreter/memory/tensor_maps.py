"""Tensor maps: what the tensor memory accelerator (TMA) knows of a tensor in global memory, of which it copies boxes.

    %map = nvgpu.tma.create.descriptor %tensor box[%rows, %columns] : memref<*xbf16>
           -> !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, 3>, swizzle = swizzle_128b, …, oob = zero, …>     (host)
    nvgpu.tma.async.load %map[%column, %row], %full[%s] to %tile                                                          (kernel)

Sizes and strides are those of the tensor that the map was made of. Coordinates stand innermost first, and may be negative or
beyond the tensor: what of the box lies outside of it is zero. Tensors begin at multiples of 16 bytes, and so do all of their
dimensions but the innermost; a box has at most 256 elements along each dimension.

The box lies row by row in shared memory, at a multiple of 128 bytes. In each line of 128 bytes, a swizzle exchanges pieces of 16
by the line's number, counted from address 0 on: a box that is swizzled begins at a multiple of 8 lines, and its rows are as long
as the swizzle (or shorter).

Source: CUDA Driver API, `cuTensorMapEncodeTiled`; PTX ISA, "Tensors: swizzling modes"; upstream's `NVGPUOps.td`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

from ..ir.element_sizes import element_bytes
from ..ir.mlir import ir
from .limits import PIECE

MAKE, LOAD, STORE = "nvgpu.tma.create.descriptor", "nvgpu.tma.async.load", "nvgpu.tma.async.store"
PREFETCH = "nvgpu.tma.prefetch.descriptor"
COMMIT, DRAIN = "nvvm.cp.async.bulk.commit.group", "nvvm.cp.async.bulk.wait_group"
"""Stores of a thread since its last group are a group; the thread waits until at most so many of its groups are pending."""
ALL = (LOAD, STORE, COMMIT, DRAIN)
"""Those that a kernel has."""
LINE, LINES = 128, 8
"""Bytes of shared memory in a line; lines after which a swizzle begins again. It exchanges pieces of `limits.PIECE` bytes."""


@dataclass(frozen=True)
class TensorMap:
    """What the type of a tensor map says.

    Args:
        box: elements along each dimension, outermost first.
        element: their type.
        swizzle: in how many bytes of a line pieces are exchanged: 0 (none), 32, 64 or 128.
        fill: what is read outside of the tensor: `zero` or `nan`.
        plain: no interleaved layout.
        fetch: how many bytes at once L2 fetches: 0 (as many as are needed), 64, 128 or 256.
    """

    box: tuple[int, ...]
    element: ir.Type
    swizzle: int
    fill: str
    plain: bool
    fetch: int = 0

    @property
    def bytes(self) -> int:
        """What a load counts on its barrier, whether or not the box is inside of the tensor."""
        return prod(self.box) * element_bytes(self.element)

    @property
    def alignment(self) -> int:
        """What a box in shared memory begins at a multiple of, in bytes."""
        return LINE * LINES if self.swizzle else LINE


def is_tensor_map(kind: ir.Type) -> bool:
    """Whether a value of that type is a tensor map."""
    return str(kind).startswith("!nvgpu.tensormap.descriptor<")


def tensor_map(kind: ir.Type) -> TensorMap | None:
    """What a type says as that of a tensor map; None of others."""
    if not is_tensor_map(kind):
        return None
    said = str(kind)
    tensor = ir.MemRefType(ir.Type.parse(said.split("tensor = ", 1)[1].split(", swizzle = ")[0], kind.context))
    words = dict(re.findall(r"(swizzle|oob|interleave|l2promo) = (\w+)", said))
    span, fetch = (re.search(r"(\d+)b", words[key]) for key in ("swizzle", "l2promo"))
    return TensorMap(
        tuple(tensor.shape), tensor.element_type, int(span[1]) if span else 0, words["oob"], words["interleave"] == "none",
        int(fetch[1]) if fetch else 0,
    )  # fmt: skip


def exchanged(place: Any, span: int) -> Any:
    """Where a byte of shared memory lies once pieces are exchanged in spans of so many bytes (0: not at all); of many, an array."""
    return place ^ place // LINE % (span // PIECE) * PIECE if span else place


def stores_may_pend(op: ir.Operation) -> int:
    """How many of its thread's last groups of stores a `DRAIN` leaves pending."""
    return ir.IntegerAttr(op.attributes["group"]).value
