"""Host rules for tensor maps: data of the plan, of which the device makes maps when a kernel is launched."""

from __future__ import annotations

from collections.abc import Sequence

from ...interpreter.hardware.hopper import warpgroups
from ...interpreter.hardware.hopper.tensor_maps import MAKE, TensorMap, window_behind
from ...interpreter.hardware.limits import PixelWindow
from ...interpreter.ir.mlir import ir, users
from ..form.group_form import expected_box
from ..form.kernel_form import refuse
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


def rounding_of(taken: ir.Value) -> str | None:
    """What products that read through a kernel's tensor map, this argument of it, make of numbers of f32: let them be rounded to
    that as they are copied."""
    described = [warpgroups.matrix(user.results[0].type) for user in users(taken) if user.name == warpgroups.DESCRIBE]
    return "tf32" if any(matrix is not None and str(matrix.element) == "tf32" for matrix in described) else None


def boxes_of(found: TensorMap, window: PixelWindow | None) -> Boxes:
    """What the plan says of a tensor map."""
    return Boxes(found.box, found.swizzle, found.fill, found.fetch, window)
