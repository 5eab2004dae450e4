"""Random convolutions through `as-gemm` alone: the module then computes, on the CPU, what plain loops over the taps do."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from convolution_oracle import bias_relu, convolved, random_sizes

import weft
from weft.recipes import builders
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature

COUNT = 500 if "WEFT_SOAK" in os.environ else 2
OPS = {"conv2d": "nhwc_hwcf", "conv2d_nchw": "nchw_fchw", "conv2d_bias_relu": "nhwc_hwcf"}
EDGES = (
    {"k": 1, "residual": 1},  # a bias of one element
    {"n": 1, "h": 1, "w": 1, "pad": 1},  # a result of one column
    {"c": 1, "k": 1, "r": 1, "s": 1},
    {"n": 1, "h": 3, "w": 3, "r": 3, "s": 3, "pad": 0, "k": 1},  # one product of two vectors
)


def expect_right(folder: Path, name: str, sizes: dict[str, int], dtype: str, seed: int) -> None:
    values = {p.name: sizes.get(p.name, p.default) for p in builders()[name].parameters} | {"type": dtype}
    given = ", ".join(f"{n} = {v}" for n, v in values.items())
    schedule = f"schedule s() {{\n  let conv = match linalg.conv_2d_{OPS[name]}\n  let gemm = as-gemm conv\n}}\n"
    (folder / "s.weft").write_text(f"payload {name}({given})\n\n{schedule}")
    done = weft.apply(folder / "s.weft")
    assert "linalg.conv" not in done.text and "tensor.pad" not in done.text
    arrays = random_inputs(signature(done.payload, None), seed)
    got = reference(done.module, None, arrays)["Y"]
    steps = {step: int(values[step]) for step in ("stride", "pad", "dilation")}
    wanted = convolved(arrays, first=name == "conv2d_nchw", **steps)
    wanted = bias_relu(wanted, arrays) if name == "conv2d_bias_relu" else wanted
    assert got.shape == wanted.shape
    assert np.max(np.abs(got - wanted)) <= (1e-12 if dtype == "f64" else 1e-5) * max(np.max(np.abs(wanted)), 1e-30), values


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_sizes(seed: int, tmp_path: Path) -> None:
    name, dtype = list(OPS)[seed % 3], ("f32", "f64", "f16", "bf16")[seed // 3 % 4]
    expect_right(tmp_path, name, random_sizes(1000 + seed) | {"residual": seed % 2}, dtype, seed)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("edge", EDGES, ids=str)
def test_sizes_of_one(name: str, edge: dict[str, int], tmp_path: Path) -> None:
    expect_right(tmp_path, name, {"c": 3, "h": 5, "w": 6, "k": 4, **edge}, "f32", 1)
