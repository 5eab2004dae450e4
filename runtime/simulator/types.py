"""MLIR types and attributes as NumPy has them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...interpreter.ir.mlir import ir
from ..host.constants import constant_array
from ..kernel_form import refuse
from ..plan.dtypes import MOST_ELEMENTS, NUMPY


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
    if isinstance(kind, ir.VectorType):
        if any(kind.scalable_dims):
            raise refuse("W0751", f"`{kind}` is a scalable vector", op)
        if (count := math.prod(kind.shape)) > MOST_ELEMENTS:
            raise refuse("W0751", f"`{kind}` has {count} elements; a thread's vector has at most {MOST_ELEMENTS}", op)
        return element_dtype(kind.element_type, op), tuple(kind.shape)
    return element_dtype(kind, op), ()


def dense(attribute: ir.Attribute, kind: ir.Type, op: ir.Operation) -> np.ndarray:
    """The elements of a `dense<…>` attribute for a shaped type."""
    shaped: Any = kind
    found = constant_array(attribute, str(shaped.element_type))
    if found is None:
        raise refuse("W0750", "the elements of this constant cannot be read", op, hint="write it as `dense<…>`")
    return found.reshape(tuple(shaped.shape))
