"""Host rules for tensor maps: data of the plan, of which the device makes maps when a kernel is launched."""

from __future__ import annotations

from collections.abc import Sequence

from ...interpreter.ir.mlir import ir
from ...interpreter.memory.limits import PixelWindow
from ...interpreter.memory.tensor_maps import MAKE, TensorMap, window_behind
from ..group_form import expected_box
from ..kernel_form import refuse
from ..plan.plan import Boxes, TensorMapOf
from .program import Host, HostValue, rule


@rule(MAKE)
def _make(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    found, seen, window = expected_box(op.results[0], op, "W0731"), op.opview, window_behind(op.results[0])
    given = tuple(host.number(value, op, "a size of a box") for value in seen.boxDimensions)
    view = host.view(seen.tensor, op)
    if given != found.box or len(view.shape) != (len(found.box) if window is None else window.rank):
        boxes = f"boxes of {list(given)}, of a tensor of {len(view.shape)} dimensions"
        raise refuse("W0731", f"`{op.name}` of {boxes}; its type says {list(found.box)}", op)
    return [TensorMapOf(view, boxes_of(found, window))]


def boxes_of(found: TensorMap, window: PixelWindow | None) -> Boxes:
    """What the plan says of a tensor map."""
    return Boxes(found.box, found.swizzle, found.fill, found.fetch, window)
