"""MLIR types and attributes as NumPy has them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...interpreter.ir.mlir import ir
from ..host.constants import constant_array
from ..kernel_form import refuse, shape_of
from ..plan.dtypes import NUMPY


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
    element, shape = shape_of(kind, op, "W0751")
    return element_dtype(element, op), shape or ()


def dense(attribute: ir.Attribute, kind: ir.Type, op: ir.Operation) -> np.ndarray:
    """The elements of a `dense<…>` attribute for a shaped type."""
    shaped: Any = kind
    found = constant_array(attribute, str(shaped.element_type))
    if found is None:
        raise refuse("W0750", "the elements of this constant cannot be read", op, hint="write it as `dense<…>`")
    return found.reshape(tuple(shaped.shape))
