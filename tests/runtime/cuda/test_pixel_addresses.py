"""What a tensor map of pixels means to the hardware, emulated from NVIDIA's documentation: for the loads that a convolution's text
says, with the numbers that the driver is given for its map, against the matrix that the convolution is by definition.

Nothing here comes from the emitter but its text, and from the plan but what it says of the map. Sources: PTX ISA 8.8, "im2col
mode"; CUDA Driver API, `cuTensorMapEncodeIm2col`.
"""

from __future__ import annotations

import random
import re
from itertools import product

import numpy as np
import pytest

from weft.interpreter.hardware.limits import PixelWindow
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.plan.plan import TensorMapOf, integers
from weft.runtime.simulator.machine.memory import Global
from weft.runtime.simulator.roles.boxes import BoxShape, TensorBoxes

LAYERS = {
    "3x3": {"n": 2, "h": 9, "w": 7}, "stride 2": {"n": 3, "h": 9, "w": 8, "stride": 2},
    "dilation 2": {"n": 1, "h": 11, "w": 12, "dilation": 2, "pad": 2}, "unpadded": {"n": 2, "h": 9, "w": 12, "pad": 0},
    "1x1 stride 2": {"n": 2, "h": 9, "w": 9, "r": 1, "s": 1, "stride": 2, "pad": 0},
    "5x2 stride 3": {"n": 2, "h": 14, "w": 9, "r": 5, "s": 2, "stride": 3, "pad": 1},
}  # fmt: skip


def pixels(
    images: np.ndarray, window: PixelWindow, box: tuple[int, ...], at: tuple[int, ...], offsets: tuple[int, ...]
) -> np.ndarray:
    """The elements that come: `at` and `offsets` stand innermost first, as in the instruction.

    A pixel is a place of the filter's base; these go through the bounding box in steps, W first. It ends at the last element plus
    the upper corner. What is accessed lies at the offsets from there.
    """
    _, height, width, channels = images.shape
    (c, w, h, n), (right, down) = at, offsets
    (low_h, low_w), (high_h, high_w), (step_h, step_w) = window.lower, window.upper, window.steps
    assert low_w <= w <= width - 1 + high_w and low_h <= h <= height - 1 + high_h, "the base must be within the bounding box"
    assert all(0 <= offset < 256 for offset in offsets) and all(-128 <= corner < 128 for corner in (*window.lower, *window.upper))
    out = np.zeros(box, images.dtype)
    for row in range(box[0]):
        if 0 <= n < len(images) and 0 <= h + down < height and 0 <= w + right < width:
            found = images[n, h + down, w + right, c : min(c + box[1], channels)]
            out[row, : len(found)] = found
        w += step_w
        if w > width - 1 + high_w:
            w, h = low_w, h + step_h
        if h > height - 1 + high_h:
            h, n = low_h, n + 1
    return out


def matrix(images: np.ndarray, layer: dict[str, int]) -> np.ndarray:
    """The rows n·oh·ow and columns kh·kw·c of a convolution, by definition."""
    usual = {"r": 3, "s": 3, "stride": 1, "pad": 1, "dilation": 1}
    r, s, stride, pad, far = (layer.get(name, number) for name, number in usual.items())
    padded = np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    spans = ((size - far * (taps - 1) - 1) // stride for size, taps in zip(padded.shape[1:3], (r, s), strict=True))
    rows, columns = (span + 1 for span in spans)
    taps = [
        padded[:, kh * far :, kw * far :][:, : (rows - 1) * stride + 1 : stride, : (columns - 1) * stride + 1 : stride]
        for kh in range(r) for kw in range(s)
    ]  # fmt: skip
    return np.stack(taps, axis=3).reshape(len(images) * rows * columns, -1)


def made(layer: dict[str, int]) -> Planned:
    settings = {"c": 128, "k": 64, "bm": 64, "bn": 64, "bk": 64, "stages": 2, **layer}
    return planned(applied(Choice("igemm_hopper", None, {name: str(value) for name, value in settings.items()}).open()))


def loads(text: str, blocks: tuple[int, int], k: int) -> tuple[list[int], list[int]]:
    """Coordinates and offsets of the load of pixels of a block in an iteration: the text's own formulas, evaluated."""
    names: dict[str, int] = {"bx": blocks[0], "by": blocks[1]}
    scope = {"min": min, "max": max}
    told = re.search(r"load_pixels_4d\(&X_shared\[[^,]*, X_map, &full\[\w+\], ((?:.|\n)*?)\);", text)
    assert told is not None
    for line in text[: told.start()].splitlines():
        counted = re.match(r"\s*for \(int (\w+) = ", line)
        defined = re.match(r"\s*const int (\w+) = (.*);", line)
        if counted is not None:
            names[counted[1]] = k
        elif defined is not None and "threadIdx" not in defined[2] and "blockIdx" not in defined[2]:
            words = set(re.findall(r"[A-Za-z_]\w*", defined[2])) - scope.keys()
            if words <= names.keys():
                names[defined[1]] = eval(defined[2].replace("/", "//"), scope, names)
    parts = [part.strip().removeprefix("(unsigned short)") for part in told[1].split(",")]
    numbers = [eval(part.replace("/", "//"), scope, names) for part in parts]
    return numbers[:4], numbers[4:]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", LAYERS)
def test_a_step_loads_the_rows_of_the_matrix(name: str) -> None:
    layer = LAYERS[name]
    done = made(layer)
    (step,) = done.plan.launches
    told = step.args[0]
    assert isinstance(told, TensorMapOf) and told.layout.window is not None
    random_ = np.random.default_rng(7)
    images = random_.integers(1, 9999, integers(told.tensor.shape)).astype(np.int64)
    whole = matrix(images, layer)
    for by, k in product(range(-(-len(whole) // 64)), range(0, whole.shape[1], 64)):
        at, offsets = loads(done.cuda, (0, by), k)
        found = pixels(images, told.layout.window, told.layout.box, tuple(at), tuple(offsets))
        wanted = np.zeros((64, 64), np.int64)
        rows = whole[by * 64 : by * 64 + 64, k : k + 64]
        wanted[: len(rows)] = rows
        np.testing.assert_array_equal(found, wanted)


def test_the_simulator_walks_as_the_hardware_does() -> None:
    """Random windows, first pixels and distances; swizzled as a box."""
    draw = random.Random(5)
    for _ in range(200):
        shape = (draw.randrange(1, 4), draw.randrange(1, 9), draw.randrange(1, 9), 24)
        images = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
        lower = (draw.randrange(-3, 3), draw.randrange(-3, 3))
        upper = tuple(max(draw.randrange(-3, 3), low - size + 1) for low, size in zip(lower, shape[1:3], strict=True))
        window = PixelWindow(lower, upper, (draw.randrange(1, 4), draw.randrange(1, 4)))
        box = (draw.randrange(1, 40), 8)
        h, w = (draw.randrange(low, size + high) for low, high, size in zip(lower, upper, shape[1:3], strict=True))
        at, offsets = (draw.randrange(0, 24, 8), w, h, draw.randrange(shape[0])), (draw.randrange(5), draw.randrange(5))
        memory = Global([], images.reshape(-1), None)
        strides = tuple(n // 4 for n in images.strides)
        boxes = TensorBoxes(BoxShape(box, images.dtype, 0, 128, 0.0, window), memory, 0, shape, strides)
        is_pixel = (w - lower[1]) % window.steps[1] == 0 and (h - lower[0]) % window.steps[0] == 0
        assert (boxes.wrong(at, offsets) is None) == is_pixel
        if is_pixel:
            flat, there = boxes.at(at, offsets)
            found = np.where(there, images.reshape(-1).take(flat, mode="clip"), 0).reshape(box)
            np.testing.assert_array_equal(found, pixels(images, window, box, at, offsets))
            outside = (at[0], w, h + shape[1] + upper[0] - h, at[3])
            assert "outside of the window" in (boxes.wrong(outside, offsets) or "")
            assert "away" in (boxes.wrong(at, (0, 256)) or "")


def test_the_examples_of_the_ptx_isa() -> None:
    """Figures "im2col mode example 1" and "2": the first pixel is the last one of its row, so that the second begins the next."""
    images = np.arange(1, 1 + 2 * 14 * 9 * 64).reshape(2, 14, 9, 64)
    first = pixels(images, PixelWindow((-1, -1), (-1, -1), (1, 1)), (64, 8), (7, 7, 4, 0), (0, 0))
    np.testing.assert_array_equal(first[0], images[0, 4, 7, 7:15])
    assert not first[1].any()  # at -1
    np.testing.assert_array_equal(first[2:10], images[0, 5, :8, 7:15])
    second = pixels(images, PixelWindow((0, 0), (-2, -2), (1, 1)), (64, 8), (7, 6, 4, 0), (2, 2))
    np.testing.assert_array_equal(second[0], images[0, 6, 8, 7:15])
    np.testing.assert_array_equal(second[1:8], images[0, 7, 2:9, 7:15])
