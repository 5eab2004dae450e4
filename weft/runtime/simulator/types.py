"""What MLIR's types are in NumPy; where an op stands."""

from __future__ import annotations

import re

import numpy as np

from ...interpreter.hardware.ampere.copies import is_token
from ...interpreter.hardware.hopper.tensor_maps import window_behind
from ...interpreter.hardware.hopper.warpgroups import accumulator, of_thread
from ...interpreter.ir.mlir import ir
from ..form.group_form import expected_box
from ..form.kernel_form import refuse, shape_of
from ..plan.dtypes import NUMPY
from .roles.boxes import BoxShape

INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)


def place(op: ir.Operation | ir.OpView) -> str:
    """`file:line:column`, or nothing where the op has no location."""
    text = str(op.operation.location)
    found = re.search(r'"([^"]*)":(\d+):(\d+)', text)
    return f"{found[1]}:{found[2]}:{found[3]}" if found else ""


def element_dtype(kind: ir.Type, op: ir.Operation | ir.OpView) -> np.dtype:
    """The NumPy type of a scalar type. Raises W0751."""
    found = NUMPY.get(str(kind))
    if found is None:
        known = ", ".join(NUMPY)
        raise refuse("W0751", f"the simulator has no numbers of type `{kind}`", op, hint=f"it knows {known}")
    return found


def value_type(kind: ir.Type, op: ir.Operation | ir.OpView) -> tuple[np.dtype, tuple[int, ...]]:
    """Element type and vector shape (empty for a scalar)."""
    if is_token(kind):
        return INT64, ()
    if (sums := accumulator(kind)) is not None:
        return element_dtype(sums.element, op), of_thread(sums)
    element, shape = shape_of(kind, op, "W0751")
    return element_dtype(element, op), shape or ()


def box_shape(given: ir.Value, op: ir.Operation) -> BoxShape:
    """What a kernel's argument says that is a tensor map."""
    said = expected_box(given, op, "W0751")
    fill = float("nan") if said.fill == "nan" else 0
    return BoxShape(said.box, element_dtype(said.element, op), said.swizzle, said.alignment, fill, window_behind(given))
