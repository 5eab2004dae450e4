"""Tensor maps: what the tensor memory accelerator (TMA) knows of a tensor in global memory, of which it copies boxes.

    %map = nvgpu.tma.create.descriptor %tensor box[%rows, %columns] : memref<*xbf16>
           -> !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, 3>, swizzle = swizzle_128b, …, oob = zero, …>     (host)
    nvgpu.tma.async.load %map[%column, %row], %full[%s] to %tile                                                          (kernel)

Sizes and strides are those of the tensor that the map was made of. Coordinates stand innermost first, and may be
negative or beyond the tensor: what of the box lies outside of it is zero. Tensors begin at multiples of 16 bytes, and
    so do all of their
dimensions but the innermost; a box has at most 256 elements along each dimension.

The box lies row by row in shared memory, at a multiple of 128 bytes. In each line of 128 bytes, a swizzle exchanges
pieces of 16 by the line's number, counted from address 0 on: a box that is swizzled begins at a multiple of 8 lines,
and its rows are as long as the swizzle (or shorter).

A map of pixels (mode im2col) is one of images, NHWC or with one or three axes in the place of H and W:

    %map = nvgpu.tma.create.descriptor %images box[%pixels, %channels] {weft.im2col = {lower = …, upper = …, steps = …}}
    : … nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %from, %at, box[%c, %w, %h, %n] im2col[%s, %r]
           {mode = #nvvm.tma_load_mode<im2col>}                             (kernel; tile, map and barrier as pointers)

It loads so many pixels, so many channels of each, from the one at (n, h, w) on. They follow each other within a window:
w goes up by its step; beyond the window's upper corner it begins at the lower one again, and h goes up; then the next
image begins. So they are the places of a convolution's filter, rows of its matrix product. The offsets (r, s), a tap of
the filter, are added to each (h, w) last; what lies outside of the images then is zero: the padding, and what is behind
the last image.

nvgpu has no such load; NVVM has. The type of the map says what comes, pixels by channels; the window stands beside it:
on the op that makes the map, and on the kernel's argument.

Source: CUDA Driver API, `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`; PTX ISA, "Tensors: swizzling modes",
    "im2col mode";
upstream's `NVGPUOps.td`, `NVVMOps.td`.
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
"""Bytes of shared memory in a line; lines after which a swizzle begins again. It exchanges pieces of `limits.PIECE`
bytes."""


@record
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


WINDOW = "weft.im2col"
"""On a `MAKE`, and on the kernel's argument that is such a map: its window."""
_PARTS = ("lower", "upper", "steps")


def window_attribute(window: PixelWindow) -> ir.Attribute:
    """What stands on the op, or the argument."""
    return ir.DictAttr.get({part: ir.DenseI64ArrayAttr.get(list(getattr(window, part))) for part in _PARTS})


def window_said(said: ir.Attribute) -> PixelWindow | None:
    """The window that an attribute says; None where it says none."""
    named = {each.name: each.attr for each in said} if isinstance(said, ir.DictAttr) else {}
    parts = [named.get(part) for part in _PARTS]
    if not all(isinstance(part, ir.DenseI64ArrayAttr) for part in parts):
        return None
    return PixelWindow(*(tuple(part) for part in parts if part is not None))


def window_of_pixels(given: ir.Value) -> PixelWindow | None:
    """The window of a tensor map of pixels: what makes it says it, or the kernel of which it is an argument."""
    if isinstance(given.owner, ir.Block):
        said = dict(attributes_of(maker(given), ir.BlockArgument(given).arg_number))
    else:
        said = attributes(given.owner)
    return window_said(said[WINDOW]) if WINDOW in said else None


@record
class BoxLoad:
    """What a load copies.

    Args:
        tile: where to, a memref.
        map: of what.
        coordinates: innermost first, as `offsets`, which those of pixels have.
        predicate: whether at all.
        blocks: to which blocks of the cluster.
    """

    tile: ir.Value
    map: ir.Value
    coordinates: tuple[ir.Value, ...]
    offsets: tuple[ir.Value, ...] = ()
    predicate: ir.Value | None = None
    blocks: ir.Value | None = None


def pointed(value: ir.Value) -> ir.Value:
    """The tile or the tensor map of which a value is the pointer; any other value itself."""
    made = made_by(value, POINTER_OF)
    return value if made is None or len(made.operands) != 1 else made.operands[0]


def load_of(op: ir.Operation) -> BoxLoad | None:
    """What one of `LOADS` copies; None where it is not known what is behind its pointers, or it is another kind of
    load."""
    seen = op.opview
    if op.name == LOAD:
        return BoxLoad(
            seen.dst, seen.tensorMapDescriptor, tuple(seen.coordinates), (), seen.predicate, seen.multicastMask
        )
    to, of = (pointed(value) for value in (seen.dstMem, seen.tmaDescriptor))
    own = made_by(seen.mbar, POINTER)  # not one in another block
    known = isinstance(to.type, ir.MemRefType) and is_tensor_map(of.type) and own and made_by(own.operands[0], ADDRESS)
    im2col = "mode" in op.attributes and "<im2col>" in str(op.attributes["mode"])
    if not known or not im2col or seen.l2CacheHint is not None or "group" in op.attributes:
        return None
    offsets, predicate = tuple(seen.im2colOffsets), seen.predicate
    return BoxLoad(to, of, tuple(seen.coordinates), offsets, predicate, seen.multicastMask)


def _boxes(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """A box of a tensor, or pixels, by its map, and the tile that is all of that (of which elements outside of the
    tensor are zeroed, and not stored). Where a predicate does not hold, nothing is done."""
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
    does="one thread starts the copy of a box of a tensor, which a tensor map says, to or from shared"
    " memory "
    "(`interpreter/hardware/hopper/tensor_maps.py`)",
    since=90,
    accesses=_boxes,
)
LOAD = known(_row("nvgpu.tma.async.load", agent="load"))
STORE = known(_row("nvgpu.tma.async.store", agent="store"))
LOAD_PIXELS = known(Instruction(
    "nvvm.cp.async.bulk.tensor.shared.cluster.global", "one thread starts the copy of pixels of images, places of a"
                                                       " convolution's "
    "filter (mode im2col; `interpreter/hardware/hopper/tensor_maps.py`)", 90, agent="load", accesses=_boxes,
))  # fmt: skip
LOADS = (LOAD, LOAD_PIXELS)
_row = partial(Instruction, does="groups of a thread's stores of boxes, and waits for them", since=90, agent="store")
COMMIT = known(_row("nvvm.cp.async.bulk.commit.group", orders="commit", text="commit_stores()"))
DRAIN = known(_row("nvvm.cp.async.bulk.wait_group", orders="drain", text="wait_stores{_read}<{group}>()"))
"""Stores of a thread since its last group are a group; the thread waits until at most n of its groups are pending."""


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


def stores_may_pend(op: ir.Operation) -> int:
    """How many of its thread's last groups of stores a `DRAIN` leaves pending."""
    return ir.IntegerAttr(op.attributes["group"]).value
