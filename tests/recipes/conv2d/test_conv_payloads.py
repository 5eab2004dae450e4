"""The convolutions that ship as payloads: what their text computes, what an array library makes of the same, and the layers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from math import prod

import numpy as np
import pytest
from convolution_oracle import bias_relu, convolved, random_sizes

from weft.dsl.diagnostics import Source
from weft.payloads.payload import parse_payload
from weft.recipes import builders
from weft.recipes.builder import Misfit, Value
from weft.recipes.conv2d import baseline
from weft.recipes.conv2d.geometry import convolutions
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.plan.signature import FunctionSignature

NAMES = ("conv2d", "conv2d_nchw", "conv2d_bias_relu")
TYPES = ("f32", "f32", "f64", "f16", "bf16")
COUNT = 300 if "WEFT_SOAK" in os.environ else 3
ALLOWED = {"f32": 1e-5, "f64": 1e-12, "f16": 1e-5, "bf16": 1e-5}
"""Half precision, too, is multiplied and summed in f32."""


def values_of(name: str, **chosen: Value) -> dict[str, Value]:
    """All parameters of a builder: those chosen, the others' defaults."""
    return {p.name: chosen.get(p.name, p.default) for p in builders()[name].parameters}


def declared(name: str, values: Mapping[str, Value]) -> FunctionSignature:
    return signature(parse_payload(Source(f"{name}.mlir", builders()[name].build(**values))), None)


def expected(name: str, arrays: Mapping[str, np.ndarray], values: Mapping[str, Value]) -> np.ndarray:
    """By plain loops."""
    steps = {step: int(values[step]) for step in ("stride", "pad", "dilation")}
    made = convolved(arrays, first=name == "conv2d_nchw", **steps)
    return bias_relu(made, arrays) if name == "conv2d_bias_relu" else made


def misfit(name: str, values: Mapping[str, Value]) -> Misfit | None:
    judge = builders()[name].misfit
    assert judge is not None
    return judge(**values)


def error(got: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.max(np.abs(got - wanted)) / max(np.max(np.abs(wanted)), 1e-30))


@pytest.mark.parametrize("seed", range(COUNT))
def test_the_text_and_the_library_compute_what_plain_loops_do(seed: int) -> None:
    name, dtype = NAMES[seed % len(NAMES)], TYPES[seed // len(NAMES) % len(TYPES)]
    builder, values = builders()[name], values_of(name, **random_sizes(seed), type=dtype, residual=seed % 2)
    payload = parse_payload(Source(f"{name}.mlir", builder.build(**values)))
    arrays = random_inputs(signature(payload, None), seed)
    wanted = expected(name, arrays, values)
    got = reference(payload, None, arrays)["Y"]
    library = builder.baseline(np, arrays, **values)
    assert got.shape == wanted.shape == library.shape, values
    assert got.dtype == library.dtype == (np.float64 if dtype == "f64" else np.float32)
    assert error(got, wanted) <= ALLOWED[dtype], values
    assert error(library, wanted) <= ALLOWED[dtype], values


def test_the_library_takes_some_images_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        values = values_of(name, n=5, h=9, w=8, residual=1)
        arrays = random_inputs(declared(name, values), 1)
        monkeypatch.setattr(baseline, "MOST", 2 * 9 * 8 * 3 * 3 * 16)  # two images and two and one
        assert error(builders()[name].baseline(np, arrays, **values), expected(name, arrays, values)) <= 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_arguments_have_the_names_and_shapes_that_a_user_expects(name: str) -> None:
    values = values_of(name, n=2, c=3, h=11, w=9, k=5, r=4, s=2, stride=2, pad=1, dilation=2, type="f16", residual=1)
    wanted = {
        "conv2d": ["X: 2x11x9x3xf16", "W: 4x2x3x5xf16", "Y: 2x4x5x5xf32"],
        "conv2d_nchw": ["X: 2x3x11x9xf16", "W: 5x3x4x2xf16", "Y: 2x5x4x5xf32"],
        "conv2d_bias_relu": [
            "X: 2x11x9x3xf16", "W: 4x2x3x5xf16", "bias: 5xf32", "residual: 2x4x5x5xf32", "Y: 2x4x5x5xf32",
        ],
    }  # fmt: skip
    found = declared(name, values)
    assert [str(a) for a in (*found.arguments, *found.results)] == wanted[name]


def test_only_what_is_asked_for_stands_in_the_text() -> None:
    plain = builders()["conv2d_bias_relu"].build(**values_of("conv2d_bias_relu", pad=0))
    assert "tensor.pad" not in plain and "residual" not in plain
    assert builders()["conv2d"].build(**values_of("conv2d")).count("tensor.pad") == 1


# ---- sizes that don't go together --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "blamed", "reason"),
    [
        ({"r": 19}, "r", "the filter has 19 rows; the padded image has 16 + 2·1 = 18"),
        ({"s": 7, "dilation": 4, "pad": 0}, "s", "the filter has 7 columns, 4 apart, and spans 25; the image has 16"),
        ({"w": 1, "pad": 0}, "s", "the filter has 3 columns; the image has 1"),
        (dict.fromkeys("nchw", 2**31 - 1), "n", "the padded image would have"),
        ({"k": 2**30, "c": 2**30, "r": 4, "s": 4}, "k", "the filters would have 18,446,744,073,709,551,616 elements: more than"),
        ({"h": 2**20, "w": 2**20, "c": 1, "k": 2**30}, "n", "the result would have 1,180,591,620,717,411,303,424 elements"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_a_misfit_says_why(name: str, chosen: dict[str, int], blamed: str, reason: str) -> None:
    found = misfit(name, values_of(name, **chosen))
    assert found is not None and found.parameters[0] == blamed and found.reason.startswith(reason), found


def test_what_just_fits_is_none() -> None:
    for chosen in ({}, {"r": 18, "s": 18}, {"h": 1, "w": 1}, {"r": 9, "dilation": 2, "pad": 1}, {"stride": 100}):
        values = values_of("conv2d", **chosen)
        assert misfit("conv2d", values) is None
        assert declared("conv2d", values).results[0].shape is not None


# ---- layers ------------------------------------------------------------------------------------------------------------------


@cache
def shapes(layer: str) -> tuple[int, ...]:
    """Of a layer's result, as MLIR has it, one image."""
    values = values_of("conv2d", **builders()["conv2d"].layers[layer])
    return tuple(s or 0 for s in declared("conv2d", values).results[0].shape or ())


def multiplications(layer: Mapping[str, int]) -> int:
    operations = builders()["conv2d"].operations(**values_of("conv2d", **layer))
    assert operations % 2 == 0
    return operations // 2


def test_resnet_50_is_the_network_that_everybody_counts() -> None:
    """53 convolutions with 23,454,912 weights and 4,087,136,256 multiplications. torchvision says 25,557,032 parameters and
    4.09 GFLOPS for its `resnet50`: those of the classifier (2,048 · 1,000 + 1,000) and of the batch norms (2 for each
    filter) are the rest."""
    every = dict(convolutions())
    filters = sum(layer["k"] for layer in every.values())
    weights = sum(layer["k"] * layer["c"] * layer["r"] * layer["s"] for layer in every.values())
    assert len(every) == 53
    assert weights == 23_454_912
    assert weights + 2 * filters + 2048 * 1000 + 1000 == 25_557_032
    assert sum(map(multiplications, every.values())) == 4_087_136_256
    assert round((4_087_136_256 + 2048 * 1000) / 1e9, 2) == 4.09


def test_the_layers_are_its_convolutions_each_once() -> None:
    layers = {name.removeprefix("resnet50."): layer for name, layer in builders()["conv2d"].layers.items()}
    every = dict(convolutions())
    assert len(layers) == 23
    assert all(every[name] == layer for name, layer in layers.items())
    assert {tuple(layer.items()) for layer in every.values()} == {tuple(layer.items()) for layer in layers.values()}


RESULTS = {
    "conv1": (112, 64), "layer1.0.conv1": (56, 64), "layer1.0.conv2": (56, 64), "layer1.0.conv3": (56, 256),
    "layer1.1.conv1": (56, 64), "layer2.0.conv1": (56, 128), "layer2.0.conv2": (28, 128), "layer2.0.conv3": (28, 512),
    "layer2.0.downsample.0": (28, 512), "layer2.1.conv1": (28, 128), "layer2.1.conv2": (28, 128), "layer3.0.conv1": (28, 256),
    "layer3.0.conv2": (14, 256), "layer3.0.conv3": (14, 1024), "layer3.0.downsample.0": (14, 1024), "layer3.1.conv1": (14, 256),
    "layer3.1.conv2": (14, 256), "layer4.0.conv1": (14, 512), "layer4.0.conv2": (7, 512), "layer4.0.conv3": (7, 2048),
    "layer4.0.downsample.0": (7, 2048), "layer4.1.conv1": (7, 512), "layer4.1.conv2": (7, 512),
}  # fmt: skip
"""Rows and channels of each layer's result, from the published network."""


def test_the_results_have_the_sizes_of_the_network() -> None:
    assert list(RESULTS) == [name.removeprefix("resnet50.") for name in builders()["conv2d"].layers]
    for name, (size, filters) in RESULTS.items():
        assert shapes(f"resnet50.{name}") == (1, size, size, filters), name
        layer = builders()["conv2d"].layers[f"resnet50.{name}"]
        taps = 7 if name == "conv1" else 3 if name.endswith("conv2") else 1
        assert layer["r"] == layer["s"] == taps
        assert multiplications(layer) == prod((size, size, filters, taps, taps, layer["c"]))


@pytest.mark.parametrize("name", NAMES)
def test_every_builder_of_convolutions_has_the_layers_and_takes_each(name: str) -> None:
    builder = builders()[name]
    assert builder.layers == builders()["conv2d"].layers
    for layer in builder.layers.values():
        values = values_of(name, **layer, n=8)
        assert misfit(name, values) is None
        assert declared(name, values).results[0].shape is not None
