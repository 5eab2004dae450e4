"""Shared buffers as swizzle-wide panels, each filled by one or more boxes of the tensor memory
accelerator."""

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
    """The type of a tensor map of boxes of the given sizes. `swizzle`: the span of the swizzle in
    bytes (0: none); `fetch`: bytes that L2 fetches at once (0: as many as are needed)."""
    space = f"memref<{'x'.join(map(str, box))}x{element}, #gpu.address_space<workgroup>>"
    how, l2 = f"swizzle_{swizzle}b" if swizzle else "none", f"l2promo_{fetch}b" if fetch else "none"
    return ir.Type.parse(
        f"!nvgpu.tensormap.descriptor<tensor = {space}, swizzle = {how}, l2promo = {l2}, oob = zero, interleave = none>"
    )


@record
class Box:
    """The box of a tensor that a copy reads or writes.

    Args:
        tensor: one of the kernel's arguments.
        starts: the box's first element along each axis.
        sizes: elements along each axis.
        ends: along each axis, the extent at which the tensor ends for this copy, if that is not its
            size; else None.
        row: the axis along which the rows of the tile lie.
        pixels: for a load of pixels, its images, window and tap; `sizes` are then the number of
            pixels and the number of channels.
    """

    tensor: ir.Value
    starts: tuple[Linear, ...]
    sizes: tuple[int, ...]
    ends: tuple[End, ...]
    row: int = 0
    pixels: Pixels | None = None

    @property
    def window(self) -> PixelWindow | None:
        """The window of a load of pixels; None for others."""
        return None if self.pixels is None else self.pixels.window

    def at(self, row: Linear) -> list[Linear]:
        """The coordinates of the box that begins at that row of the tile, emitted at the insertion
        point."""
        if self.pixels is not None:
            return list(self.pixels.first(row))
        starts = list(self.starts)
        starts[self.row] = starts[self.row] + row
        return starts


@record
class Panels:
    """A shared buffer that boxes of one tensor map fill.

    Args:
        buffer: the memory, `… x panels x rows x columns of a panel`; without the axis of panels if
            a row is a single panel.
        map: the tensor map, an argument of the kernel.
        filled_by: the box that the map loads.
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
        """The part of a panel from a row on, as a memref of rank `rank`, emitted at the insertion
        point."""
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
        """A tensor map that describes the layout of a matrix of `rows` rows and `panels` panels:
        each of its boxes is a panel. It differs from the map that loads the matrix if blocks of a
        cluster load parts of panels."""
        box, high = self.filled_by, ir.MemRefType(self.buffer.type).shape[-2]
        part = box.sizes[box.row]
        if part == high or (panels == 1 and rows <= part):
            return self.map
        sizes = [*self.box.box]
        sizes[box.row] = high
        kind = map_type(sizes, self.box.element, self.box.swizzle)
        return self.kernel.tensor_map(box.tensor, kind, box.ends, box.window)
