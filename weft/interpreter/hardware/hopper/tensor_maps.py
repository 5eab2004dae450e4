"""Tensor maps: descriptions of tensors in global memory, by which the tensor memory accelerator
(TMA) copies boxes.

    %map = nvgpu.tma.create.descriptor %tensor box[%rows, %columns] : memref<*xbf16>
           -> !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, 3>, swizzle = swizzle_128b, …, oob = zero, …>     (host)
    nvgpu.tma.async.load %map[%column, %row], %full[%s] to %tile                                                          (kernel)

Sizes and strides are those of the tensor from which the map was made. Coordinates are given
innermost first, and may be negative or beyond the tensor: elements of the box outside of the tensor
are zero. The tensor's address, and its strides except the innermost one, are multiples of 16 bytes;
a box has at most 256 elements along each dimension.

The box is row-major in shared memory, at a multiple of 128 bytes. In each line of 128 bytes, a
swizzle permutes the pieces of 16 bytes, by the number of the line, counted from address 0. So a
swizzled box begins at a multiple of 8 lines, and its rows are as long as the swizzle, or shorter.

A map of pixels (mode im2col) describes images, NHWC or with one or three axes in the place of H and
W:

    %map = nvgpu.tma.create.descriptor %images box[%pixels, %channels] {weft.im2col = {lower = …, upper = …, steps = …}} : …
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %from, %at, box[%c, %w, %h, %n] im2col[%s, %r]
           {mode = #nvvm.tma_load_mode<im2col>}                             (kernel; tile, map and barrier as pointers)

It loads a number of consecutive pixels, beginning with the pixel at (n, h, w), and of each pixel a
number of channels. Pixels are consecutive in a window: w increases by its step; after the window's
upper corner it begins at the lower corner again, and h increases; after the last h the next image
begins. So the loaded elements are those under a convolution's filter: rows of its matrix product.
Finally the offsets (r, s) of a tap of the filter are added to each (h, w). Elements that are then
outside of the images are zero: the padding, and all elements after the last image.

Only NVVM has such a load, not nvgpu. The type of the map gives the shape of a load, pixels by
channels; the window is an attribute of the op that makes the map, and of the kernel's argument.

Source: CUDA Driver API, `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`; PTX ISA, "Tensors:
swizzling modes", "im2col mode"; upstream's `NVGPUOps.td`, `NVVMOps.td`.
"""

from __future__ import annotations

import re
from functools import partial
from math import prod

from ....dsl.records import record
from ...ir.element_sizes import element_bytes
from ...ir.functions import attributes_of, segments
from ...ir.mlir import attributes, ir, made_by, maker
from ..instructions import Instruction, MemoryEffect, known
from ..limits import PixelWindow
from .mbarriers import ADDRESS, POINTER

POINTER_OF = "builtin.unrealized_conversion_cast"
"""A tile, or a tensor map, as the pointer that `LOAD_PIXELS` takes."""
LINE, LINES = 128, 8
"""Bytes of shared memory in a line; lines after which a swizzle repeats. It permutes pieces of
`limits.PIECE` bytes."""


@record
class TensorMap:
    """The contents of a tensor map's type.

    Args:
        box: elements along each dimension, outermost first.
        element: their type.
        swizzle: the number of bytes within which pieces are permuted: 0 (none), 32, 64 or 128.
        fill: the value of elements outside of the tensor: `zero` or `nan`.
        plain: the layout is not interleaved.
        fetch: the bytes that L2 fetches at once: 0 (as many as are needed), 64, 128 or 256.
    """

    box: tuple[int, ...]
    element: ir.Type
    swizzle: int
    fill: str
    plain: bool
    fetch: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that a load counts on its barrier, whether or not the box is inside of the tensor."""
        return prod(self.box) * element_bytes(self.element)

    @property
    def alignment(self) -> int:
        """The alignment of a box in shared memory, in bytes."""
        return LINE * LINES if self.swizzle else LINE


WINDOW = "weft.im2col"
"""On a `MAKE`, and on the kernel's argument that is such a map: its window."""
_PARTS = ("lower", "upper", "steps")


def window_attribute(window: PixelWindow) -> ir.Attribute:
    """The window as the attribute of the op, or of the argument."""
    return ir.DictAttr.get({part: ir.DenseI64ArrayAttr.get(list(getattr(window, part))) for part in _PARTS})


def window_from(stated: ir.Attribute) -> PixelWindow | None:
    """The window in an attribute; None for another attribute."""
    named = {each.name: each.attr for each in stated} if isinstance(stated, ir.DictAttr) else {}
    parts = [named.get(part) for part in _PARTS]
    if not all(isinstance(part, ir.DenseI64ArrayAttr) for part in parts):
        return None
    return PixelWindow(*(tuple(part) for part in parts if part is not None))


def window_of_pixels(given: ir.Value) -> PixelWindow | None:
    """The window of a tensor map of pixels, from the attribute of the op that makes the map, or of
    the kernel's argument."""
    if isinstance(given.owner, ir.Block):
        found = dict(attributes_of(maker(given), ir.BlockArgument(given).arg_number))
    else:
        found = attributes(given.owner)
    return window_from(found[WINDOW]) if WINDOW in found else None


@record
class BoxLoad:
    """The operands of a load.

    Args:
        tile: the target, a memref.
        map: the tensor map of the source.
        coordinates: the first element, innermost axis first; so are `offsets`, which only loads of
            pixels have.
        predicate: the condition under which it is executed.
        blocks: the multicast mask of blocks of the cluster.
    """

    tile: ir.Value
    map: ir.Value
    coordinates: tuple[ir.Value, ...]
    offsets: tuple[ir.Value, ...] = ()
    predicate: ir.Value | None = None
    blocks: ir.Value | None = None


def pointed(value: ir.Value) -> ir.Value:
    """The tile or the tensor map from which a pointer was made; any other value unchanged."""
    made = made_by(value, POINTER_OF)
    return value if made is None or len(made.operands) != 1 else made.operands[0]


def load_of(op: ir.Operation) -> BoxLoad | None:
    """The operands of one of `LOADS`; None if it is not known what its pointers point to, or for
    another kind of load."""
    seen = op.opview
    if op.name == LOAD:
        return BoxLoad(
            seen.dst, seen.tensorMapDescriptor, tuple(seen.coordinates), (), seen.predicate, seen.multicastMask
        )
    to, of = (pointed(value) for value in (seen.dstMem, seen.tmaDescriptor))
    own = made_by(seen.mbar, POINTER)  # not a barrier in another block
    known = isinstance(to.type, ir.MemRefType) and is_tensor_map(of.type) and own and made_by(own.operands[0], ADDRESS)
    im2col = "mode" in op.attributes and "<im2col>" in str(op.attributes["mode"])
    if not known or not im2col or seen.l2CacheHint is not None or "group" in op.attributes:
        return None
    offsets, predicate = tuple(seen.im2colOffsets), seen.predicate
    return BoxLoad(to, of, tuple(seen.coordinates), offsets, predicate, seen.multicastMask)


def _boxes(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """The accesses of a copy by a tensor map: a box of a tensor, or pixels, and the whole tile
    (elements outside of the tensor are zeroed, or not stored). Nothing is accessed if a predicate
    is false."""
    always = not len(segments(op)[-1])
    if op.name != STORE:
        load = load_of(op)
        if load is None:
            return None
        return MemoryEffect("write", load.tile, certain=always), MemoryEffect(
            "read", load.map, "anywhere", certain=False
        )
    tile, box = list(op.operands)[:2]
    return MemoryEffect("read", tile, certain=always), MemoryEffect("write", box, "anywhere", certain=False)


MAKE = known(Instruction("nvgpu.tma.create.descriptor", shows="same"))
PREFETCH = known(Instruction("nvgpu.tma.prefetch.descriptor"))
known(Instruction("nvgpu.tma.fence.descriptor", orders="fence"))
_row = partial(
    Instruction,
    does="one thread starts the copy of a box of a tensor, by a tensor map, to or from shared memory "
    "(`interpreter/hardware/hopper/tensor_maps.py`)",
    since=90,
    accesses=_boxes,
)
LOAD = known(_row("nvgpu.tma.async.load", agent="load"))
STORE = known(_row("nvgpu.tma.async.store", agent="store"))
LOAD_PIXELS = known(Instruction(
    "nvvm.cp.async.bulk.tensor.shared.cluster.global",
    "one thread starts the copy of pixels of images, the elements under a convolution's filter (mode"
    " im2col; `interpreter/hardware/hopper/tensor_maps.py`)", 90, agent="load", accesses=_boxes,
))  # fmt: skip
LOADS = (LOAD, LOAD_PIXELS)
_row = partial(Instruction, does="groups of a thread's stores of boxes, and waits for these", since=90, agent="store")
COMMIT = known(_row("nvvm.cp.async.bulk.commit.group", orders="commit", text="commit_stores()"))
DRAIN = known(_row("nvvm.cp.async.bulk.wait_group", orders="drain", text="wait_stores{_read}<{group}>()"))
"""Stores of a thread since its last commit form a group; the thread waits until at most n of its
groups are pending."""


def is_tensor_map(kind: ir.Type) -> bool:
    """Whether a value of that type is a tensor map."""
    return str(kind).startswith("!nvgpu.tensormap.descriptor<")


def tensor_map(kind: ir.Type) -> TensorMap | None:
    """The tensor map of a type; None for other types."""
    if not is_tensor_map(kind):
        return None
    text = str(kind)
    tensor = ir.MemRefType(ir.Type.parse(text.split("tensor = ", 1)[1].split(", swizzle = ")[0], kind.context))
    words = dict(re.findall(r"(swizzle|oob|interleave|l2promo) = (\w+)", text))
    span, fetch = (re.search(r"(\d+)b", words[key]) for key in ("swizzle", "l2promo"))
    return TensorMap(
        tuple(tensor.shape), tensor.element_type, int(span[1]) if span else 0, words["oob"], words["interleave"] == "none",
        int(fetch[1]) if fetch else 0,
    )  # fmt: skip


def stores_may_pend(op: ir.Operation) -> int:
    """The number of newest groups of stores of its thread that a `DRAIN` leaves pending."""
    return ir.IntegerAttr(op.attributes["group"]).value
