"""A convolution by cuDNN, where CuPy has it: in fp32, in the layout of the kernels, by the fastest of its algorithms."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def library() -> Any:
    """`cupy.cudnn`, or None: CuPy is built without it, or cuDNN is not installed."""
    try:
        return importlib.import_module("cupy.cudnn")
    except ImportError:
        return None


def convolution(
    cupy: Any, arrays: Mapping[str, Any], values: Mapping[str, Any], layout: str, shape: tuple[int, ...]
) -> Callable[[], Any] | None:
    """What computes it, into the same array each time; None without cuDNN."""
    if (found := library()) is None:
        return None
    filters = arrays["W"] if layout == "nchw" else cupy.ascontiguousarray(arrays["W"].transpose(3, 0, 1, 2))
    result = cupy.empty(shape, "float32")
    pad, stride, dilation = ((values[name],) * 2 for name in ("pad", "stride", "dilation"))
    order = {"d_layout": layout.upper(), "w_layout": layout.upper()}

    def run() -> Any:
        found.convolution_forward(
            arrays["X"], filters, None, result, pad, stride, dilation, 1, auto_tune=True, tensor_core="never", **order
        )
        return result

    return run
