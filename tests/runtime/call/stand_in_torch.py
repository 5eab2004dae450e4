"""As much of PyTorch as `benchmarks/evidence/pytorch.py` asks for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from convolution_oracle import convolved


class Tensors:
    """The module, on arrays of the stand-in for CuPy."""

    streams: list[int]

    def __init__(self) -> None:
        self.streams = []
        device = SimpleNamespace(
            is_available=lambda: True, ExternalStream=lambda pointer: pointer, set_stream=self.streams.append
        )
        switches = {name: SimpleNamespace(allow_tf32=True) for name in ("matmul", "cudnn")}
        self.cuda, self.cudnn = device, switches["cudnn"]
        self.backends = SimpleNamespace(cuda=SimpleNamespace(matmul=switches["matmul"]), cudnn=self.cudnn)
        self.nn = SimpleNamespace(functional=SimpleNamespace(layer_norm=self.layer_norm, conv2d=self.conv2d))
        self.channels_last = "channels last"

    def as_tensor(self, array: Any, device: str) -> Any:
        assert device == "cuda"
        return array.view(Strided)

    def softmax(self, x: Any, axis: int) -> Any:
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    def layer_norm(self, x: Any, shape: Any, gamma: Any, beta: Any, eps: float) -> Any:
        assert shape == x.shape[1:]
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * gamma + beta

    def conv2d(self, x: Any, w: Any, bias: None, stride: int, padding: int, dilation: int) -> Any:
        assert not self.cudnn.allow_tf32
        made = convolved({"X": x, "W": w}, first=True, stride=stride, pad=padding, dilation=dilation)
        return made.astype(np.float32).view(Strided)


class Strided(np.ndarray):
    """An array by PyTorch's words for views."""

    def permute(self, *axes: int) -> Any:
        return self.transpose(axes)

    def contiguous(self, memory_format: str) -> Any:
        assert memory_format == "channels last"
        return self
