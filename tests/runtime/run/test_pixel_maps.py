"""Tensor maps of pixels in plans, and what the driver is asked for them: against a stand-in that writes it down."""

from __future__ import annotations

import ctypes
import json
import subprocess
from typing import Any

import pytest

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.limits import PixelWindow
from weft.pipeline import Choice, applied, planned
from weft.runtime.devices.device import DeviceView, MappedView
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Boxes, BufferView, Plan, TensorMapOf
from weft.runtime.plan.resolve import resolve
from weft.runtime.run import cupy_work
from weft.runtime.run.cupy_work import Adopted, encoded

STUB = """
#include <cstdint>
extern "C" int cuTensorMapEncodeIm2col(uint64_t* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
    const uint64_t* strides, const int* lower, const int* upper, uint32_t channels, uint32_t pixels, const uint32_t* steps,
    int interleave, int swizzle, int fetch, int fill) {
  if ((uint64_t)map % 64 || interleave || fill || rank != 4 || steps[0] != 1 || steps[3] != 1) return 1;
  uint64_t corners = 0;
  for (int d = 0; d < 2; ++d) corners |= (uint64_t)(uint8_t)lower[d] << 8 * d | (uint64_t)(uint8_t)upper[d] << (16 + 8 * d);
  uint64_t said[16] = {(uint64_t)type, (uint64_t)address, sizes[0], sizes[1], sizes[2], sizes[3], strides[0], strides[1],
      strides[2], corners, channels, pixels, steps[1], steps[2], (uint64_t)swizzle, (uint64_t)fetch};
  for (int i = 0; i < 16; ++i) map[i] = said[i];
  return 0;
}
"""
WINDOW = PixelWindow((-1, -2), (-3, 1), (2, 1))


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.cpp").write_text(STUB)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / "driver.so", folder / "driver.cpp"], check=True)
    return ctypes.CDLL(str(folder / "driver.so"))


def mapped(fill: str = "zero") -> MappedView:
    tensor = DeviceView(Adopted(4096, 1 << 20), "X", "bf16", 8, (2, 11, 13, 72), (11 * 13 * 80, 13 * 80, 80, 1))
    return MappedView(tensor, Boxes((512, 64), 128, fill, 128, WINDOW))


def test_what_the_driver_is_asked(stub: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_work, "driver", lambda: stub)
    made = [int(word) for word in encoded(mapped(), 4096)]
    assert made[:9] == [9, 4096 + 16, 72, 13, 11, 2, 160, 160 * 13, 160 * 13 * 11]
    assert made[9].to_bytes(8, "little")[:4] == bytes(n & 255 for n in (-2, -1, 1, -3))
    assert made[10:] == [64, 512, 1, 2, 3, 2]
    with pytest.raises(WeftError, match=r"W0723: making a tensor map of pixels by channels of \[512, 64\] in PixelWindow.*error 1"):
        encoded(mapped("nan"), 4096)


def plan(**settings: object) -> Plan:
    chosen = {"n": 2, "h": 9, "w": 11, "c": 64, "k": 64, "bm": 64, "bn": 64, "stages": 2, **settings}
    return planned(applied(Choice("igemm_hopper", None, {name: str(value) for name, value in chosen.items()}).open())).plan


def test_a_plan_says_where_the_pixels_are() -> None:
    made = plan(stride=2)
    images, filters, _ = made.launches[0].args
    layout = Boxes((64, 64), 128, "zero", 128, PixelWindow((-1, -1), (-1, -1), (2, 2)))
    assert images == TensorMapOf(BufferView("X", 0, (2, 9, 11, 64), (6336, 704, 64, 1)), layout)
    assert isinstance(filters, TensorMapOf)
    assert filters.tensor == BufferView("W", 0, (576, 64), (64, 1)) and filters.layout.window is None
    assert made.kernels[0].params[0].boxes == layout and [b.role for b in made.buffers] == ["input", "input", "output"]
    assert load(dump(made)) == made


def test_sizes_that_a_run_brings() -> None:
    made = load(dump(plan(n="?", h="?", w="?")))
    resolve(made, {"X": (1, 9, 9, 64), "W": (3, 3, 64, 64), "Y": (1, 9, 9, 64)}, {})
    document = json.loads(dump(made))
    for place in _layouts(document):
        place["window"]["upper"] = [-20, -1]
    with pytest.raises(WeftError, match=r"W0748: .*shape\[1\]: `X` has 9 elements there, and no pixel lies in its window"):
        resolve(load(json.dumps(document)), {"X": (1, 9, 9, 64), "W": (3, 3, 64, 64), "Y": (1, 9, 9, 64)}, {})


def _layouts(document: dict[str, Any]) -> list[dict[str, Any]]:
    args = [arg["layout"] for step in document["steps"] for arg in step.get("args", ()) if "window" in arg.get("layout", {})]
    params = [param["boxes"] for kernel in document["kernels"] for param in kernel["params"] if "window" in param.get("boxes", {})]
    return [*args, *params]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"window": {"lower": [-129, 0], "upper": [0, 0], "steps": [1, 1]}}, "W0703.*corner at -129, where those of 4 dimensions"),
    ({"window": {"lower": [0, 0], "upper": [0, 128], "steps": [1, 1]}}, "W0703.*corner at 128"),
    ({"window": {"lower": [0, 0], "upper": [0, 0], "steps": [1, 9]}}, "W0703.*pixels 9 apart"),
    ({"window": {"lower": [0], "upper": [0, 0], "steps": [1, 1]}}, "W0703.*1, 2 and 2 axes"),
    ({"window": {"lower": [0], "upper": [0], "steps": [1]}}, "W0748.*4 dimensions, and a window of images with 3"),
    ({"window": {"lower": [-20, 0], "upper": [-31, 0], "steps": [1, 1]}}, "W0748.*no pixel lies in its window"),
    ({"box": [1025, 64]}, "W0703.*1025 pixels at a time"), ({"box": [64, 257]}, "W0703.*1 to 256 channels"),
    ({"box": [64, 128]}, "W0703.*rows of 256 bytes"), ({"box": [1, 64, 64]}, "W0703.*pixels, and 1 to 256"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_maps_that_there_are_not(change: dict[str, Any], message: str) -> None:
    document = json.loads(dump(plan()))
    for place in _layouts(document):
        place.update(change)
    with pytest.raises(WeftError, match=message):
        load(json.dumps(document))
