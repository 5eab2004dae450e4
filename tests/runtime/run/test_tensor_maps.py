"""Tensor maps in plans, and as the driver makes them: against a stand-in for the driver that writes down what it is asked."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from contexts import one_context
from hopper import Product
from places import STAND_INS

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import parse
from weft.runtime.cuda.module import emit
from weft.runtime.devices.device import DeviceView, MappedView
from weft.runtime.files.bundle import check_text
from weft.runtime.host.host import make_plan
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Boxes, BufferView, Launch, Plan, TensorMapOf
from weft.runtime.plan.resolve import resolve
from weft.runtime.run import cupy_device, cupy_work
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.cupy_work import Adopted, PassedMap, encoded

STUB = """
#include <cstdint>
extern "C" int cuTensorMapEncodeTiled(uint64_t* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
    const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave, int swizzle, int fetch, int fill) {
  if ((uint64_t)map % 64 || interleave || rank > 2) return 1;
  for (uint32_t d = 0; d < rank; ++d) if (steps[d] != 1) return 1;
  uint64_t said[16] = {(uint64_t)type, rank, (uint64_t)address, sizes[0], rank > 1 ? sizes[1] : 0, rank > 1 ? strides[0] : 0,
      box[0], rank > 1 ? box[1] : 0, (uint64_t)swizzle, (uint64_t)fetch, (uint64_t)fill};
  for (int i = 0; i < 16; ++i) map[i] = said[i];
  return 0;
}
"""
FAKE = STAND_INS / "cupy.py"


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.cpp").write_text(STUB)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / "driver.so", folder / "driver.cpp"], check=True)
    return ctypes.CDLL(str(folder / "driver.so"))


@pytest.fixture
def driver(stub: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_work, "driver", lambda: stub)


def plan_of(product: Product) -> Plan:
    return make_plan(parse(product.ring(), one_context()))


def launch_of(plan: Plan) -> Launch:
    (step,) = plan.launches
    return step


# ---- in the plan ---------------------------------------------------------------------------------------------------------


def test_a_plan_says_what_the_maps_are_of() -> None:
    plan = plan_of(Product())
    whole = Boxes((128, 64), 128, "zero", 128)
    assert launch_of(plan).args[0] == TensorMapOf(BufferView("A", 0, (256, 256), (256, 1)), whole)
    assert plan.kernels[0].params[0].boxes == whole and plan.kernels[0].params[1].dtype == "bf16"
    assert plan.kernels[0].requires == "sm_90a" and plan.kernels[0].shared_bytes == 4 * (128 * 64 + 64 * 256) * 2 + 64
    assert [b.role for b in plan.buffers] == ["input", "input", "inout"]
    assert load(dump(plan)) == plan


def test_what_products_read_as_tf32_is_rounded_as_it_is_copied(driver: None) -> None:
    """They would cut off the digits that tf32 has not."""
    plan = load(dump(plan_of(Product(type="f32", by_rows=False, bk=32))))
    rounded = Boxes((128, 32), 128, "zero", 128, rounded="tf32")
    assert plan.rounded == "tf32" and plan.kernels[0].params[0].boxes == rounded
    given = launch_of(plan).args[0]
    assert isinstance(given, TensorMapOf) and given.layout == rounded
    tensor = replace(mapped().tensor, dtype="f32", shape=(100, 72), strides=(72, 1))
    assert [encoded(MappedView(tensor, one), 4096)[0] for one in (rounded, replace(rounded, rounded=None))] == [11, 7]


def test_the_text_takes_what_the_plan_passes() -> None:
    plan = plan_of(Product())
    check_text(plan.kernels[0], emit(parse(Product().ring(), one_context())), "kernels.cu")


def test_sizes_that_are_known_at_run_time_alone() -> None:
    plan = load(dump(plan_of(Product(open_sizes=True))))
    fixed = resolve(plan, {"A": (256, 264), "B": (264, 512), "C": (256, 512)}, {})
    (a, b, _) = launch_of(fixed).args
    assert isinstance(a, TensorMapOf) and isinstance(b, TensorMapOf)
    assert (a.tensor.shape, a.tensor.strides, b.tensor.shape) == ((256, 264), (264, 1), (264, 512))
    with pytest.raises(
        WeftError, match=r"W0748: .*strides\[0\]: `A` has rows 514 bytes apart, which is not a multiple of 16"
    ):
        resolve(plan, {"A": (256, 257), "B": (257, 512), "C": (256, 512)}, {})
    with pytest.raises(WeftError, match=r"W0748: .*shape\[0\]: `A` has 0 elements there"):
        resolve(plan, {"A": (0, 256), "B": (256, 512), "C": (0, 512)}, {})


LAYOUTS: list[tuple[dict[str, Any], str]] = [
    ({"rounded": "tf32"}, "W0703.*a copy does not round bf16 to `tf32`"),
    ({"box": [128, 512]}, "W0703.*1 to 256 elements"), ({"box": [128]}, "W0748.*2 dimensions, and boxes of 1"),
    ({"box": [128, 4]}, "W0703.*8 bytes, which are not a multiple of 16"), ({"swizzle": 48}, "W0703.*48 is none of 0, 32"),
    ({"box": [128, 128]}, "W0703.*rows of 256 bytes, which are more than its swizzle of 128"), ({"fill": "one"}, "W0703.*`one`"),
    ({"fetch": 1}, "W0703.*1 is none of"), ({"box": []}, "W0703.*1 to 5 dimensions"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), LAYOUTS)
def test_boxes_that_there_are_not(change: dict[str, Any], message: str) -> None:
    document = json.loads(dump(plan_of(Product())))
    for place in (document["steps"][0]["args"][0]["layout"], document["kernels"][0]["params"][0]["boxes"]):
        place.update(change)
    with pytest.raises(WeftError, match=message):
        load(json.dumps(document))


def test_arguments_that_do_not_fit() -> None:
    plan = plan_of(Product())
    step = launch_of(plan)
    (a, b, c) = step.args
    assert isinstance(a, TensorMapOf)
    for wrong in ((b, b, c), (a.tensor, b, c), (a, b, a)):
        broken = replace(plan, steps=(replace(step, args=wrong),))
        with pytest.raises(WeftError, match="W0705"):
            load(dump(broken))
    window = replace(a, tensor=replace(a.tensor, offset=4, shape=(255, 256)))
    with pytest.raises(WeftError, match=r"W0748: .*offset: it begins 8 bytes into `A`"):
        load(dump(replace(plan, steps=(replace(step, args=(window, b, c)),))))
    document = json.loads(dump(plan))
    del document["steps"][0]["args"][0]["layout"]
    with pytest.raises(WeftError, match=r"W0700.*the key `layout` is missing"):
        load(json.dumps(document))


def test_boxes_other_than_the_type_says() -> None:
    text = Product().ring().replace("box[%ra, %ca]", "box[%ca, %ca]")
    with pytest.raises(
        WeftError, match=r"W0731: .*boxes of \[64, 64\], of a tensor of 2 dimensions; its type states \[128, 64\]"
    ):
        make_plan(parse(text, one_context()))


# ---- as the driver makes them ----------------------------------------------------------------------------------------------


def mapped(offset: int = 0, address: int = 4096) -> MappedView:
    tensor = DeviceView(Adopted(address, 1 << 20), "A", "bf16", offset, (100, 72), (80, 1))
    return MappedView(tensor, Boxes((64, 32), 64, "nan", 256))


def test_what_the_driver_is_asked(driver: None) -> None:
    made = encoded(mapped(8), 4096)
    assert made.nbytes == 128 and made.ctypes.data % 64 == 0
    assert list(made[:11]) == [9, 2, 4096 + 16, 72, 100, 160, 32, 64, 2, 3, 1]


def test_memory_that_moves(driver: None) -> None:
    arg = mapped()
    passed = PassedMap(arg)
    assert passed.passed is passed.passed and passed.passed.view(np.uint64)[2] == 4096
    arg.tensor.memory.address = 8192
    assert passed.passed.view(np.uint64)[2] == 8192


def test_what_the_driver_would_refuse(driver: None) -> None:
    with pytest.raises(WeftError, match="W0748: `A` begins at 0x1008, which is not a multiple of 16"):
        encoded(mapped(), 4104)
    three = replace(mapped().tensor, shape=(1, 1, 8), strides=(8, 8, 1))
    said = r"W0723: making a tensor map of boxes of \[1, 1, 8\] of `A` \(1x1x8 bf16 at 0x1000\): CUDA's error 1"
    with pytest.raises(WeftError, match=said):
        encoded(MappedView(three, Boxes((1, 1, 8))), 4096)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("cupy", FAKE)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cupy_device, "_memory", {})
    spec.loader.exec_module(made)
    yield made


def test_kernels_are_passed_the_map_itself(cupy: Any, driver: None) -> None:
    plan, given = plan_of(Product()), []
    cupy.KERNELS["product"] = lambda grid, block, values: given.append(values)
    device = CupyDevice()
    device.load("text", plan.kernels)
    memory = [device.alloc(name, "bf16", 1 << 18) for name in "ABC"]
    views = [DeviceView(m, n, "bf16", 0, (256, 512), (512, 1)) for m, n in zip(memory, "ABC", strict=True)]
    args = [
        MappedView(view, param.boxes)
        for view, param in zip(views[:2], plan.kernels[0].params, strict=False)
        if param.boxes
    ]
    device.launcher(plan.kernels[0], (2, 2, 1), (384, 1, 1), 0, [*args, views[2]], cupy.Stream(non_blocking=True))()
    ((a, b, c),) = given
    assert [type(x) for x in (a, b, c)] == [np.ndarray, np.ndarray, np.uint64]
    assert [a.size, b.size] == [1, 1], "CuPy passes no array of several elements by value"
    assert [int(x) for x in (a.view(np.uint64)[2], b.view(np.uint64)[2], c)] == [m.address for m in memory]
