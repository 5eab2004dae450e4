"""`benchmarks/convolutions.py` without a GPU: small layers prepared, measured on the stand-in for CuPy whose kernels are the very
text, run by g++, beside NumPy in PyTorch's place; then recorded, and refused where a result is wrong."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from convolution_oracle import convolved
from native import run_native

from weft.pipeline import Planned

ROOT = Path(__file__).parents[2]
LAYERS = {
    "resnet50.small": {"c": 4, "h": 7, "w": 6, "k": 8, "r": 3, "s": 3, "stride": 2, "pad": 1, "dilation": 1},
    "resnet50.one": {"c": 40, "h": 5, "w": 5, "k": 12, "r": 1, "s": 1, "stride": 1, "pad": 0, "dilation": 1},
}


def load_module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return load_module("convolutions_benchmark", ROOT / "benchmarks" / "convolutions.py")


@pytest.fixture(scope="module")
def prepared(bench: ModuleType) -> tuple[list[dict[str, Any]], dict[tuple[str, str], list[int]]]:
    """The kernels, and how many elements each parameter of each has."""
    import weft.pipeline

    counts: dict[tuple[str, str], list[int]] = {}

    def noted(applied: Any, plain: Callable[[Any], Planned] = weft.pipeline.planned) -> Planned:
        made = plain(applied)
        for kernel in made.plan.kernels:
            counts[made.cuda, kernel.name] = [prod(int(n or 0) for n in param.shape or ()) for param in kernel.params]
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weft.pipeline, "planned", noted)
        small = {"tm": "4", "bm": "64", "bn": "64"}
        patch.setattr(bench, "VARIANTS", {
            "nhwc": (("64x64", "igemm", small), ("split 2", "igemm_split_k", {"parts": "2", **small})),
            "nchw": (("64x64", "igemm_nchw", small),),
        })  # fmt: skip
        return bench.prepare(LAYERS, batch=2), counts


class NumpyLayer:
    """What PyTorch does on a GPU, done by NumPy on the host."""

    off = 0.0
    """What is added to the library's result."""

    def __init__(self, sizes: Mapping[str, Any], layout: str, stream: Any) -> None:
        n, c, h, w, k, r, s = (sizes[name] for name in "nchwkrs")
        rng = np.random.default_rng(n + c)
        first = layout == "nchw"
        shapes = {"X": (n, c, h, w) if first else (n, h, w, c), "W": (k, c, r, s) if first else (r, s, c, k)}
        self.arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
        steps = {name: sizes[name] for name in ("stride", "pad", "dilation")}
        self.expected = convolved(self.arrays, first=first, **steps)
        self.arrays["Y"] = np.zeros(self.expected.shape, np.float32)
        self.explicit_bytes = 4 * n * prod(self.expected.shape[2:] if first else self.expected.shape[1:3]) * r * s * c
        self.temporaries: list[np.ndarray] = []
        self.called: list[str] = []

    def address(self, name: str) -> int:
        return self.arrays[name].ctypes.data

    def poisoned(self, size: int) -> int:
        self.temporaries.append(np.zeros(size // 4, np.float32))
        return self.temporaries[-1].ctypes.data

    def poison(self) -> None:
        for array in (self.arrays["Y"], *self.temporaries):
            array.fill(math.nan)

    def error(self) -> float:
        difference = float(np.abs(self.arrays["Y"] - self.expected).max() / np.abs(self.expected).max())
        return difference if math.isfinite(difference) else math.inf

    def cudnn(self) -> None:
        self.called.append("cudnn")

    def explicit(self) -> None:
        self.called.append("explicit")

    def captured(self, function: Callable[[], object], count: int) -> Callable[[], object]:
        return lambda: [function() for _ in range(count)]

    def library_errors(self) -> dict[str, float]:
        return {"cudnn": self.off, "explicit": self.off}


@pytest.fixture
def cupy(
    monkeypatch: pytest.MonkeyPatch, bench: ModuleType, prepared: tuple[list[dict[str, Any]], dict[tuple[str, str], list[int]]]
) -> ModuleType:
    made = load_module("cupy", Path(__file__).parent / "fake_cupy" / "cupy.py")
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(bench, "ROUNDS", 2)
    monkeypatch.setattr(bench, "FEWEST", 2)
    for (text, kernel), counts in prepared[1].items():
        made.OF_TEXT[b"cubin of " + text.encode(), kernel] = natively(text, kernel, counts)
    return made


def natively(text: str, name: str, counts: list[int]) -> Callable[[Any, Any, tuple[Any, ...]], None]:
    """The kernel of the text, on arrays of f32 at the addresses that it is given."""

    def kernel(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        arrays = [
            np.ctypeslib.as_array((ctypes.c_float * count).from_address(int(value)))
            for value, count in zip(values, counts, strict=True)
        ]
        run_native(text, name, grid, block, arrays)

    return kernel


def test_from_the_kernels_to_the_record(
    bench: ModuleType,
    prepared: tuple[list[dict[str, Any]], Any],
    cupy: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernels = prepared[0]
    assert [(p["layer"][9:], p["layout"], p["variant"], len(p["launches"])) for p in kernels] == [
        ("small", "nhwc", "64x64", 1), ("small", "nhwc", "split 2", 2), ("small", "nchw", "64x64", 1),
        ("one", "nhwc", "64x64", 1), ("one", "nhwc", "split 2", 2), ("one", "nchw", "64x64", 1),
    ]  # fmt: skip
    assert [bool(p["temporaries"]) for p in kernels] == [False, True, False] * 2
    monkeypatch.setattr(bench, "TorchLayer", NumpyLayer)
    monkeypatch.setattr(bench.measure, "__defaults__", (NumpyLayer,))
    (tmp_path / "kernels.json").write_text(json.dumps(kernels))
    assert bench.main(["measure", str(tmp_path), "-o", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"us \((?:64x64|split 2)\) +cuDNN +[\d.]+, +[\d.]+% of its speed +im2col", printed)) == 4
    measured = json.loads((tmp_path / "out.json").read_text())
    assert measured["device"] == "Fake GPU" and len(measured["results"]) == 4
    for result in measured["results"]:
        assert result["right"] and result["cudnn"]["seconds"] == result["explicit"]["seconds"] == 0.00075
        assert all(one["error"] < 1e-6 and one["seconds"] > 0 for one in result["variants"].values())
    assert measured["results"][0]["explicit_bytes"] == 2 * 4 * 3 * 9 * 4 * 4
    assert ("compile", ("--gpu-architecture=sm_90a", *kernels[0]["options"])) in cupy.LOG

    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "RECORDED", tmp_path / "docs" / "h200.json")
    assert bench.main(["record", str(tmp_path / "out.json")]) == 0
    assert json.loads((tmp_path / "docs" / "h200.json").read_text()) == measured
    measured["results"][1]["right"] = False
    (tmp_path / "out.json").write_text(json.dumps(measured))
    assert bench.main(["record", str(tmp_path / "out.json")]) == 1
    assert json.loads((tmp_path / "docs" / "h200.json").read_text())["results"][1]["right"], "a wrong run is not kept"


def test_they_take_turns(
    bench: ModuleType, prepared: tuple[list[dict[str, Any]], Any], cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[NumpyLayer] = []

    def make(sizes: Mapping[str, Any], layout: str, stream: Any) -> NumpyLayer:
        made.append(NumpyLayer(sizes, layout, stream))
        return made[-1]

    bench.measure(prepared[0][:2], cupy, make)
    (layer,) = made
    assert layer.called == ["cudnn"] * 4 + ["explicit"] * 4 + ["cudnn", "cudnn", "explicit", "explicit"] * 2


@pytest.mark.parametrize("wrong", [lambda *_: None, "half"])
def test_a_wrong_kernel_has_no_time(
    wrong: Any, bench: ModuleType, prepared: tuple[list[dict[str, Any]], Any], cupy: ModuleType
) -> None:
    """One that does nothing, though the variant before it wrote the right result; one that leaves the second half."""
    one = prepared[0][0]
    key = (b"cubin of " + one["text"].encode(), one["launches"][0]["kernel"])
    right = cupy.OF_TEXT[key]

    def half(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        """The first half of the result is right, the second is as it was."""
        result = (ctypes.c_float * (2 * 4 * 3 * 8)).from_address(int(values[2]))
        before = result[96:]
        right(grid, block, values)
        result[96:] = before

    idle = {**one, "variant": "idle", "text": "an idle text"}
    cupy.OF_TEXT[b"cubin of an idle text", key[1]] = half if wrong == "half" else wrong
    (result,) = bench.measure([one, idle], cupy, NumpyLayer)["results"]
    assert not result["right"] and result["variants"]["64x64"]["right"]
    assert not result["variants"]["idle"]["right"] and "seconds" not in result["variants"]["idle"]
    assert result["variants"]["idle"]["error"] is None and "idle: WRONG" in bench.line(result)


def test_a_text_that_does_not_compile(bench: ModuleType, prepared: tuple[list[dict[str, Any]], Any], cupy: ModuleType) -> None:
    (result,) = bench.measure([{**prepared[0][0], "text": "#error no"}], cupy, NumpyLayer)["results"]
    assert not result["right"] and "does not compile: NVRTC_ERROR" in bench.line(result)


def test_a_library_in_tf32_is_noticed(bench: ModuleType, prepared: tuple[list[dict[str, Any]], Any], cupy: ModuleType) -> None:
    class Rounded(NumpyLayer):
        off = 3e-4

    with pytest.raises(SystemExit, match="TF32"):
        bench.measure(prepared[0][:1], cupy, Rounded)


def test_sums_are_split_where_blocks_are_few(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def emitted(recipe: str, settings: Mapping[str, str]) -> dict[str, Any]:
        asked.append((recipe, settings["h"]))
        return {"launches": [{"grid": [1, int(settings["h"]), 1]}]}

    monkeypatch.setattr(bench, "_emitted", emitted)
    bench.prepare({"few": {"h": bench.FEW_BLOCKS - 1}, "many": {"h": bench.FEW_BLOCKS}})
    assert asked.count(("igemm_split_k", str(bench.FEW_BLOCKS - 1))) == 2
    assert ("igemm_split_k", str(bench.FEW_BLOCKS)) not in asked and ("igemm_nchw", str(bench.FEW_BLOCKS)) in asked


def test_an_unknown_layer(bench: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"resnet50\.conv9"):
        bench.main(["prepare", str(tmp_path / "kernels"), "resnet50.conv9"])
    assert not (tmp_path / "kernels").exists()


def test_the_machine_with_the_gpu_needs_numpy_alone_to_start() -> None:
    head = (ROOT / "benchmarks" / "convolutions.py").read_text()
    imported = re.findall(r"^(?:import|from) (\w+)", head, re.MULTILINE)
    assert set(imported) - set(sys.stdlib_module_names) == {"numpy"}


def test_the_table_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "docs"))
    import convolutions_table as page

    assert {cell for row in page.rows({}) for cell in row[1:]} == {"–"} and "None of it" in page.remark({})
    assert len(page.rows({})) == 23
    one = {"cudnn": {"seconds": 8e-6}, "explicit": {"seconds": 3e-5}, "explicit_bytes": 3 * 2**20,
           "variants": {"a": {"seconds": 2e-5}, "b": {"seconds": 1e-5}}}  # fmt: skip
    found = {("resnet50.conv1", layout): one for layout in page.LAYOUTS}
    assert page.rows(found)[0] == ("conv1", "10.0 µs (b)", "80%", "10.0 µs (b)", "80%", "30.0 µs", "3.0 MiB")
    assert page.remark(found) == (
        "In the geometric mean over all layers: NHWC 80% of cuDNN's speed and 3.00 times that of im2col with cuBLAS, "
        "NCHW 80% of cuDNN's speed and 3.00 times that of im2col with cuBLAS."
    )
