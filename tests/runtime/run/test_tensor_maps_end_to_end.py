"""A recipe of warp groups as a function of arrays, all the way: a plan, tensor maps from the driver, CuPy, the text.

CuPy and the driver are stand-ins; the kernel is the CUDA text itself, run by g++. The driver writes maps as `warp_groups.h` reads
them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from native import ByValue, run_native
from places import STAND_INS

import weft
from weft import compiled
from weft.dsl.diagnostics import WeftError
from weft.runtime.call import arrays
from weft.runtime.run import cupy_device, cupy_work

FAKE = STAND_INS / "cupy.py"
DRIVER = """
#include <cstdint>
#include <cstring>
struct Map {
  uint64_t address; uint8_t rank, item, swizzle, nan; uint32_t sizes[5]; int64_t strides[5]; uint16_t box[5];
  int16_t lower[3], upper[3]; uint16_t steps[3];
};
extern "C" int cuTensorMapEncodeTiled(void* to, int type, uint32_t rank, void* address, const uint64_t* sizes,
    const uint64_t* strides, const uint32_t* box, const uint32_t*, int, int swizzle, int, int fill) {
  const int items[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  Map map{(uint64_t)address, (uint8_t)rank, (uint8_t)items[type], (uint8_t)(swizzle ? 16 << swizzle : 0), (uint8_t)fill};
  for (uint32_t d = 0; d < rank; ++d) {  // innermost first there, outermost first here
    uint32_t at = rank - 1 - d;
    map.sizes[at] = sizes[d], map.box[at] = box[d], map.strides[at] = d ? strides[d - 1] : items[type];
  }
  std::memset(to, 0, 128);
  std::memcpy(to, &map, sizeof map);
  return 0;
}
extern "C" int cuTensorMapEncodeIm2col(void* to, int type, uint32_t rank, void* address, const uint64_t* sizes,
    const uint64_t* strides, const int* lower, const int* upper, uint32_t channels, uint32_t pixels, const uint32_t* steps, int,
    int swizzle, int fetch, int fill) {
  uint32_t none[5] = {};
  cuTensorMapEncodeTiled(to, type, rank, address, sizes, strides, none, steps, 0, swizzle, fetch, fill);
  Map map;
  std::memcpy(&map, to, sizeof map);
  map.box[0] = pixels, map.box[1] = channels;
  for (uint32_t d = 0; d < rank - 2; ++d) {
    uint32_t at = rank - 3 - d;
    map.lower[at] = lower[d], map.upper[at] = upper[d], map.steps[at] = steps[d + 1];
  }
  std::memcpy(to, &map, sizeof map);
  return 0;
}
"""
SMALL = {"m": 192, "n": 160, "k": 200, "bm": 128, "bn": 64, "stages": 2}


class Natively(dict[tuple[bytes, str], Any]):
    """For each cubin and kernel what runs its text by g++: pointers are the host's, maps are passed by value."""

    def get(self, key: tuple[bytes, str], default: Any = None) -> Any:
        text = key[0].decode().removeprefix("cubin of ")

        def run(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
            given = [ByValue(value.tobytes()) if isinstance(value, np.ndarray) else value for value in values]
            found = run_native(text, key[1], grid, block, given, "quick")
            assert not found.diverged and not found.wrong

        return None if key[1].startswith("weft_") else run

    def __contains__(self, key: object) -> bool:
        return True


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("cupy", FAKE)
    assert spec is not None and spec.loader is not None
    made: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cupy_device, "_memory", {})
    (tmp_path / "driver.cpp").write_text(DRIVER)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", tmp_path / "driver.so", tmp_path / "driver.cpp"], check=True)
    library = ctypes.CDLL(str(tmp_path / "driver.so"))
    monkeypatch.setattr(cupy_work, "driver", lambda: library)
    compiled._kernels.clear()
    arrays.library_of.cache_clear()
    spec.loader.exec_module(made)
    made.OF_TEXT = Natively()
    yield made
    compiled._kernels.clear()
    arrays.library_of.cache_clear()


def test_a_product_of_cupy_arrays(cupy: Any) -> None:
    kernel = weft.compile("hopper", settings=SMALL)
    draw = np.random.default_rng(5)
    for _ in range(2):  # other arrays, elsewhere: the maps are made anew
        a, b = (draw.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((192, 200), (200, 160)))
        c = kernel(cupy.asarray(a), cupy.asarray(b))
        np.testing.assert_array_equal(np.asarray(c), a.astype(np.float32) @ b.astype(np.float32))


def test_a_convolution_of_cupy_arrays(cupy: Any) -> None:
    sizes = {"n": 2, "h": 6, "w": 7, "c": 64, "k": 64, "stride": 2, "bm": 64, "bn": 64, "stages": 2}
    kernel = weft.compile("igemm_hopper", settings=sizes)
    draw = np.random.default_rng(6)
    image, filters = (draw.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((2, 6, 7, 64), (3, 3, 64, 64)))
    found = np.asarray(kernel(cupy.asarray(image), cupy.asarray(filters)))
    padded = np.pad(image.astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [[padded[:, r : r + 5 : 2, s : s + 7 : 2] for s in range(3)] for r in range(3)]
    np.testing.assert_array_equal(found, np.einsum("rsnhwc,rsck->nhwk", np.array(taps), filters.astype(np.float32)))


def test_a_chip_without_warp_groups(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy, "CAPABILITY", "100")
    with pytest.raises(
        WeftError, match="W0727: `matmul` takes instructions that sm_90a alone has; Fake GPU is sm_100a"
    ):
        weft.compile("hopper", settings=SMALL)(
            *(cupy.empty(shape, ml_dtypes.bfloat16) for shape in ((192, 200), (200, 160)))
        )
