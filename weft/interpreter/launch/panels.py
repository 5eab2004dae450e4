"""Shared buffers that the tensor memory accelerator fills: panels, each as many bytes wide as the swizzle, of a box or
several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...dsl.records import record
from ..hardware.hopper.tensor_maps import TensorMap, tensor_map
from ..hardware.limits import PixelWindow
from ..indices.arithmetic import Bound
from ..indices.linear import Linear
from ..ir.mlir import ir
from ..memory.layouts import subview
from ..outlining.host_maps import End
from ..outlining.kernel import Outlined
from .pixels import Pixels


def map_type(box: Sequence[int], element: ir.Type, swizzle: int, fetch: int = 128) -> ir.Type:
    """A tensor map of boxes of these sizes, of lines in which pieces are exchanged in spans of so many bytes (0: are
    not), of which L2 fetches so many bytes at once (0: as many as are needed)."""
    space = f"memref<{'x'.join(map(str, box))}x{element}, #gpu.address_space<workgroup>>"
    how, l2 = f"swizzle_{swizzle}b" if swizzle else "none", f"l2promo_{fetch}b" if fetch else "none"
    return ir.Type.parse(
        f"!nvgpu.tensormap.descriptor<tensor = {space}, swizzle = {how}, l2promo = {l2}, oob = zero, interleave = none>"
    )


@record
class Box:
    """What a copy takes.

    Args:
        tensor: one of the kernel's arguments.
        starts: where it begins along each axis.
        sizes: how many elements along each.
        ends: how long the tensor is for it.
        row: the axis along which rows of the tile lie.
        pixels: of pixels, what they are; `sizes` are then how many of them, and how many channels.
    """

    tensor: ir.Value
    starts: tuple[Linear, ...]
    sizes: tuple[int, ...]
    ends: tuple[End, ...]
    row: int = 0
    pixels: Pixels | None = None

    @property
    def window(self) -> PixelWindow | None:
        """Of pixels, where they lie."""
        return None if self.pixels is None else self.pixels.window

    def at(self, row: Linear) -> list[Linear]:
        """Where it begins from that row of the tile on, at the insertion point."""
        if self.pixels is not None:
            return list(self.pixels.first(row))
        starts = list(self.starts)
        starts[self.row] = starts[self.row] + row
        return starts


@record
class Panels:
    """A shared buffer that boxes of one tensor map fill.

    Args:
        buffer: its memory, `… x panels x rows x columns of a panel`, or without panels where a row is one.
        map: the kernel's argument.
        filled_by: what it is a map of.
    """

    buffer: ir.Value
    map: ir.Value
    kernel: Outlined
    filled_by: Box

    @cached_property
    def box(self) -> TensorMap:
        found = tensor_map(self.map.type)
        assert found is not None
        return found

    def at(self, lead: Sequence[Bound], row: Bound, rows: int, panel: Bound, rank: int = 2) -> ir.Value:
        """The part of a panel from a row on, at the insertion point, as a memref of so many dimensions."""
        kind = ir.MemRefType(self.buffer.type)
        width, high = self.box.box[-1], kind.shape[-2]
        several = kind.rank - len(lead) == 3
        offsets = [*lead, *[panel] * several, row, 0]
        sizes = [*[1] * (len(lead) + several), rows, width]
        shape = [*[1] * (rank - 2), rows, width]
        strides = [*[high * width] * (rank - 2), width, 1]
        layout = ir.StridedLayoutAttr.get(0, strides)
        old = ir.MemRefType.get(shape, kind.element_type, layout, kind.memory_space)
        return subview(self.buffer, [offsets, sizes, [1] * kind.rank], old)

    def describing(self, rows: int, panels: int) -> ir.Value:
        """A map that says how a matrix of so many rows of so many panels lies there: its boxes, one behind the other,
        are panels. Where blocks of a cluster load parts of them, that is another one than what loads them."""
        box, high = self.filled_by, ir.MemRefType(self.buffer.type).shape[-2]
        part = box.sizes[box.row]
        if part == high or (panels == 1 and rows <= part):
            return self.map
        sizes = [*self.box.box]
        sizes[box.row] = high
        kind = map_type(sizes, self.box.element, self.box.swizzle)
        return self.kernel.tensor_map(box.tensor, kind, box.ends, box.window)
