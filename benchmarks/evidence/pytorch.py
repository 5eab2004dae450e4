"""The same by PyTorch's own functions and by Triton, on the very arrays and the same stream, where they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

EPSILON = 1e-5
"""What `payload layernorm` adds to a variance."""

HALF = ("f16", "bf16")

Run = Callable[[], Any]
Arrays = Mapping[str, Any]
Values = Mapping[str, Any]


def library(name: str = "torch") -> Any:
    """The module, or None: it is not installed, or finds no GPU."""
    try:
        torch = importlib.import_module("torch")
        return importlib.import_module(name) if torch.cuda.is_available() else None
    except ImportError:
        return None


def _softmax(torch: Any, t: Arrays, values: Values) -> Any:
    return torch.softmax(t["X"], 1)


def _layernorm(torch: Any, t: Arrays, values: Values) -> Any:
    return torch.nn.functional.layer_norm(t["X"], t["X"].shape[1:], t["Gamma"], t["Beta"], EPSILON)


def _argmax(torch: Any, t: Arrays, values: Values) -> Any:
    return tuple(torch.max(t["X"], 1))


def _sum(torch: Any, t: Arrays, values: Values) -> Any:
    return torch.sum(t["X"])


def _attention(torch: Any, t: Arrays, values: Values) -> Any:
    """Of all heads as one batch."""
    heads = (t[name][None] for name in "QKV")
    return torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=bool(values["causal"]))[0]


def _matmul(torch: Any, t: Arrays, values: Values) -> Any:
    """The product of half precision as Weft has it, with a result in f32, or rounded."""
    if values["rounded"]:
        return torch.mm(t["A"], t["B"])
    return torch.mm(t["A"], t["B"], out_dtype=torch.float32)


FUNCTIONS: Mapping[str, Callable[[Any, Arrays, Values], Any]] = {
    "softmax": _softmax, "layernorm": _layernorm, "layernorm_welford": _layernorm, "argmax": _argmax, "sum": _sum,
    "attention": _attention, "matmul": _matmul,
}  # fmt: skip
"""By builder: what PyTorch has for it."""


def function(builder: str, arrays: Arrays, values: Values) -> Run | None:
    """PyTorch's function for a payload, in f32 without TF32; None without PyTorch, or where it has none or CuPy calls the same."""
    if builder not in FUNCTIONS or (builder == "matmul" and values["type"] not in HALF) or (torch := _ready()) is None:
        return None
    tensors = _tensors(torch, arrays, values.get("type"))
    return lambda: FUNCTIONS[builder](torch, tensors, values)


def product(arrays: Arrays, values: Values) -> Run | None:
    """cuBLAS by PyTorch for half precision, with a result in half precision, as its published figures are; None for others."""
    if values["type"] not in HALF or (torch := _ready()) is None:
        return None
    tensors = _tensors(torch, arrays, values["type"])
    result = torch.empty((tensors["A"].shape[0], tensors["B"].shape[1]), dtype=tensors["A"].dtype, device="cuda")
    return lambda: torch.mm(tensors["A"], tensors["B"], out=result)


def numbers(result: Any) -> tuple[Any, bool]:
    """A result as an array that CuPy takes, and whether it was of half precision."""
    half = str(getattr(result, "dtype", "")) in ("torch.bfloat16", "torch.float16")
    return (result.float() if half else result), half


def kernel(builder: str, arrays: Arrays) -> Run | None:
    """Triton's way to write it: one program for each row. None without Triton, or where no kernel is here."""
    if builder not in ("softmax", "layernorm", "layernorm_welford") or library("triton") is None:
        return None
    from . import row_kernels  # imports Triton

    torch = _ready()
    tensors = _tensors(torch, arrays)
    result = torch.empty_like(tensors["X"])
    return lambda: row_kernels.launch(builder, tensors, result, EPSILON)


def convolution(arrays: Arrays, values: Values, layout: str) -> Run | None:
    """cuDNN by PyTorch, by the fastest of its algorithms: a result in `layout`, of images and filters in it."""
    if (torch := _ready()) is None:
        return None
    x, w = (_tensors(torch, arrays, values["type"])[name] for name in "XW")
    if layout == "nhwc":  # views: PyTorch has the axes of NCHW in any case, and goes by the strides
        x, w = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    steps = {"stride": values["stride"], "padding": values["pad"], "dilation": values["dilation"]}

    def run() -> Any:
        y = torch.nn.functional.conv2d(x, w, None, **steps)
        return y.permute(0, 2, 3, 1) if layout == "nhwc" else y

    return run


def _tensors(torch: Any, arrays: Arrays, type: str | None = None) -> Arrays:
    """The arrays as PyTorch's, without a copy. Bits of bf16 are numbers there."""
    made = {name: torch.as_tensor(array, device="cuda") for name, array in arrays.items()}
    if type != "bf16":
        return made
    return {name: one.view(torch.bfloat16) if arrays[name].dtype == "int16" else one for name, one in made.items()}


def _ready() -> Any:
    """PyTorch on CuPy's stream, with f32 as it is."""
    if (torch := library()) is None:
        return None
    cupy = importlib.import_module("cupy")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.cuda.set_stream(torch.cuda.ExternalStream(cupy.cuda.get_current_stream().ptr))
    return torch
