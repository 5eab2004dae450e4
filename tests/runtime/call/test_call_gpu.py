"""Kernels called with arrays on a stand-in for CuPy, whose kernels are the CUDA text itself, run by g++."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from native import run_native
from places import ROOT, STAND_INS

import weft
from weft import compiled
from weft.runtime.call import arrays
from weft.runtime.cuda.nvrtc import compile_options
from weft.runtime.run import cupy_device

FAKE = STAND_INS / "cupy.py"
SMALL = {"m": 24, "n": 20, "k": 12}


class Natively(dict[tuple[bytes, str], Any]):
    """For each cubin and kernel what runs its text by g++: pointers are the host's."""

    def get(self, key: tuple[bytes, str], default: Any = None) -> Callable[[Any, Any, tuple[Any, ...]], None] | None:
        text = key[0].decode().removeprefix("cubin of ")
        if key[1].startswith("weft_"):
            return None

        def run(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
            assert not run_native(text, key[1], grid, block, values, "quick").diverged

        return run

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
    compiled._kernels.clear()
    arrays.library_of.cache_clear()
    spec.loader.exec_module(made)
    made.OF_TEXT = Natively()
    yield made
    compiled._kernels.clear()
    arrays.library_of.cache_clear()


def operands(cupy: Any, m: int, n: int, k: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    return tuple(cupy.asarray(generator.standard_normal(shape).astype(np.float32)) for shape in ((m, k), (k, n)))  # type: ignore[return-value]


def close(got: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(got, np.asarray(a) @ np.asarray(b), atol=1e-4))


def test_a_recipe_is_a_function_of_cupy_arrays(cupy: Any) -> None:
    kernel = weft.compile("shared", settings=SMALL)
    a, b = operands(cupy, 24, 20, 12)
    c = kernel(a, b)
    assert type(c) is cupy.Array and close(c, a, b)
    assert kernel.report["target"] == "cuda" and "__global__" in kernel.text
    into = cupy.empty((24, 20), np.float32)
    assert kernel(a, b, out=into) is into and close(into, a, b)
    assert close(kernel(B=b, A=a), a, b)
    assert cupy.ON[-1] == 0
    kernel(a, b, stream=77)
    assert cupy.ON[-1] == 77


def test_numpy_arrays_are_copied_there_and_back(cupy: Any) -> None:
    kernel = weft.compile("naive", settings=SMALL)
    a, b = (np.asarray(x) for x in operands(cupy, 24, 20, 12))
    c = kernel(a, b)
    assert type(c) is np.ndarray and close(c, a, b)
    into = np.empty((24, 20), np.float32)
    assert kernel(a, b, out=into) is into and close(into, a, b)
    with pytest.raises(weft.WeftError, match=r"`C` is 24x21xf32, expected 24x20xf32"):
        kernel(a, b, out=np.empty((24, 21), np.float32))


SUM = """
func.func @scaled(%x: memref<64xf32>, %s: f32, %y: memref<64xf32>, %z: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]} ins(%x, %s : memref<64xf32>, f32) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %c : f32
    linalg.yield %n : f32
  }
  %e = tensor.empty() : tensor<64xf32>
  %p = linalg.exp ins(%z : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %q = linalg.negf ins(%p : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %p, %q : tensor<64xf32>, tensor<64xf32>
}
"""
EACH = """schedule each() {
  let scale = match linalg.generic
  let exp = match linalg.exp
  let neg = match linalg.negf
  map scale to grid(x: 64)
  launch scale
  map exp to grid(x: 64)
  launch exp
  map neg to grid(x: 64)
  launch neg
}
"""


CHAIN = """
func.func @chain(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %p = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%y : tensor<64xf32>) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %q = linalg.exp ins(%n : tensor<64xf32>) outs(%g : tensor<64xf32>) -> tensor<64xf32>
  %h = tensor.empty() : tensor<64xf32>
  %r = linalg.sub ins(%q, %p : tensor<64xf32>, tensor<64xf32>) outs(%h : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
FORKED = """schedule forked() {
  let first = match linalg.exp #0
  let second = match linalg.exp #1
  let neg = match linalg.negf
  let sub = match linalg.sub
  map first to grid(x: 64)
  launch first
  map neg to grid(x: 64)
  launch neg
  map second to grid(x: 64)
  launch second
  map sub to grid(x: 64)
  launch sub
  async-fork
}
"""


def arguments(make: Callable[[np.ndarray], Any] = np.copy) -> tuple[Any, ...]:
    generator = np.random.default_rng(1)
    x, y, z = (make(generator.standard_normal(64).astype(np.float32)) for _ in range(3))
    return x, 2.5, y, z


def test_scalars_arguments_in_place_and_several_results(cupy: Any) -> None:
    kernel = weft.compile(EACH, SUM)
    x, s, y, z = arguments(cupy.asarray)
    expected = np.array(y + s * x)
    p, q = kernel(x, s, y, z)
    assert np.array_equal(y, expected) and np.allclose(p, np.exp(z), rtol=1e-5) and np.array_equal(q, -np.array(p))
    kernel(x, s=np.float32(-2.5), y=y, z=z, out=(p, q))
    assert np.allclose(y, expected - np.float32(2.5) * np.array(x), atol=1e-6)
    assert len(kernel._ready) == 1, "a number is given at each launch"
    graph = kernel.graph(x, 3, y, z)
    y[...] = 0
    graph()
    assert np.allclose(y, 3 * np.array(x))
    x, s, y, z = arguments()
    expected = y + np.float32(s) * x
    p, q = kernel(x, s, y, z)
    assert np.array_equal(y, expected) and np.array_equal(q, -p)


def code(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(weft.WeftError) as caught:
        call()
    found, *_ = caught.value.diagnostics
    return found.code, found.message


def test_what_does_not_fit_is_refused_before_anything_runs(cupy: Any) -> None:
    kernel = weft.compile("naive", settings=SMALL)
    a, b = operands(cupy, 24, 20, 12)
    into = cupy.empty((24, 20), np.float32)
    launched = len(cupy.ON)
    wide = cupy.asarray(np.zeros((24, 24), np.float32))
    assert code(lambda: kernel(a)) == ("W0716", "@matmul takes 2 arguments: missing `B`")
    assert code(lambda: kernel(a, b, a)) == ("W0716", "@matmul takes 2 arguments: 3 are given")
    assert code(lambda: kernel(a, A=a, b=b))[1].endswith("unknown `b`; given twice `A`; missing `B`")
    assert code(lambda: kernel(b, b)) == ("W0717", "`A` is 12x20xf32, expected 24x12xf32")
    assert code(lambda: kernel(a.astype(np.float64), b)) == ("W0717", "`A` is 24x12xf64, expected 24x12xf32")
    assert code(lambda: kernel(wide[:, ::2], b)) == ("W0741", "`A` is not row-major: its strides are (96, 8)")
    assert code(lambda: kernel(np.asarray(a), b)) == (
        "W0743", "`A` is in the host's memory, and the kernel runs on arrays in CUDA device 0",
    )  # fmt: skip
    assert code(lambda: kernel(3.0, b))[0] == "W0740"
    assert code(lambda: kernel(None, b))[0] == "W0740"
    assert code(lambda: kernel(a, b, stream="fast"))[0] == "W0746"
    assert code(lambda: kernel(a, b, out=(into, into))) == ("W0716", "`out` has 2 arrays, and @matmul has 1 results")
    room = cupy.asarray(np.zeros(24 * 12 + 1, np.float32))
    assert code(lambda: kernel(room[1:].reshape(24, 12), b))[0] == "W0742"
    room = cupy.asarray(np.zeros(24 * 20, np.float32))
    assert code(lambda: kernel(room[: 24 * 12].reshape(24, 12), b, out=room.reshape(24, 20))) == (
        "W0744", "`C`, which the kernel writes, overlaps `A`",
    )  # fmt: skip
    frozen = np.zeros((24, 20), np.float32)
    frozen.flags.writeable = False
    assert code(lambda: kernel(np.asarray(a), np.asarray(b), out=frozen))[0] == "W0745"
    cupy.DEVICE[0] = 1
    elsewhere = "`A` is in CUDA device 1, and the kernel runs on arrays in CUDA device 0"
    assert code(lambda: kernel(a, b)) == ("W0743", elsewhere)
    assert len(cupy.ON) == launched


class Interface:
    """What another library shows of an array on the device."""

    def __init__(self, array: Any, **other: Any) -> None:
        self.array = array
        shown = {"shape": array.shape, "typestr": "<f4", "data": (array.data.ptr, False), "strides": None, "version": 3}
        self.__cuda_array_interface__ = shown | other


def test_arrays_of_other_libraries_by_the_interface(cupy: Any) -> None:
    kernel = weft.compile("naive", settings=SMALL)
    a, b = operands(cupy, 24, 20, 12)
    into = cupy.empty((24, 20), np.float32)
    kernel(Interface(a), Interface(b), out=Interface(into))
    assert close(into, a, b)
    assert code(lambda: kernel(Interface(a, data=(0, False)), b)) == ("W0740", "`A` has elements, and a null pointer")
    assert code(lambda: kernel(a, b, out=Interface(into, data=(into.data.ptr, True))))[0] == "W0745"


def test_nothing_is_allocated_after_the_first_call_but_results(cupy: Any) -> None:
    kernel = weft.compile(FORKED, CHAIN)
    x, _, y, _ = arguments(cupy.asarray)
    result = kernel(x, y, stream=5)
    assert len({s.stream for s in kernel.plan.steps}) == 2
    live, made, empties = dict(cupy.LIVE), dict(cupy.MADE), len([e for e in cupy.LOG if e[0] == "empty"])
    for _ in range(3):
        y[...] = np.asarray(y) + 1
        kernel(x, y, out=result, stream=5)
    assert np.allclose(result, -np.exp(x) + np.exp(-np.asarray(y)), rtol=1e-5)
    assert (live, made) == (cupy.LIVE, cupy.MADE) and live["bytes"] > 0
    assert len([e for e in cupy.LOG if e[0] == "empty"]) == empties


def test_threads_call_one_kernel_at_the_same_time(cupy: Any) -> None:
    kernel = weft.compile("naive", settings=SMALL)
    pairs = [tuple(cupy.asarray(np.asarray(x) * (i + 1)) for x in operands(cupy, 24, 20, 12)) for i in range(6)]
    made: dict[int, Any] = {}
    threads = [threading.Thread(target=lambda i=i, p=p: made.update({i: kernel(*p)})) for i, p in enumerate(pairs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6 and all(close(made[i], *pair) for i, pair in enumerate(pairs))


def test_a_graph_is_captured_once_and_replayed(cupy: Any) -> None:
    kernel = weft.compile("shared", settings=SMALL)
    a, b = operands(cupy, 24, 20, 12)
    replay = kernel.graph(a, b)
    a[...] = 2 * np.asarray(a)
    assert replay() is replay.results and close(replay.results, a, b)
    assert cupy.LOG[-2][0] == "graph launch" or ("graph launch",) in cupy.LOG
    assert kernel.bench(a, b, repeat=3).seconds == (0.0015,) * 3


def test_a_kernel_is_compiled_once(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = weft.compile("naive", settings=SMALL)
    assert weft.compile("naive", settings=SMALL) is first
    assert weft.compile("naive", settings=SMALL | {"m": 25}) is not first
    compiled._kernels.clear()
    monkeypatch.setattr("weft.pipeline.applied", lambda recipe: pytest.fail("it is on disk"))
    again = weft.compile("naive", settings=SMALL)
    assert again is not first and again.report == first.report and again.text == first.text


def test_a_damaged_file_is_made_anew(cupy: Any, tmp_path: Path) -> None:
    first = weft.compile("naive", settings=SMALL)
    for file in (tmp_path / "cache" / "programs").glob("*/kernels.cu"):
        file.write_text(file.read_text().replace("+", "-"))
    compiled._kernels.clear()
    assert weft.compile("naive", settings=SMALL).text == first.text


def test_a_bundle_is_a_function_too(cupy: Any, tmp_path: Path) -> None:
    weft.build(EACH, tmp_path / "each", payload=SUM)
    kernel = weft.load_bundle(tmp_path / "each")
    x, s, y, z = arguments(cupy.asarray)
    expected = np.array(y + s * x)
    kernel(x, s, y, z)
    assert np.array_equal(y, expected)


def test_the_page_with_cupy(cupy: Any) -> None:
    page = ROOT / "docs" / "kernels.md"
    blocks = [part.split("```")[0] for part in page.read_text().split("```python gpu\n")[1:]]
    (block,) = (b for b in blocks if "import cupy" in b)
    exec(compile(block, str(page), "exec"), {})
    for other in blocks:
        compile(other, str(page), "exec")


def test_a_bundle_by_hand(cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's block for `cupy.RawModule`, on the page's bundle, with the options that Weft has."""
    page = ROOT / "docs" / "running.md"
    (block,) = (part.split("```")[0] for part in page.read_text().split("```python gpu\n")[1:])
    monkeypatch.chdir(tmp_path)
    for name in ("relu.mlir", "relu.weft"):
        (tmp_path / name).write_text(page.read_text().split(f"`{name}`:\n\n```")[1].split("\n", 1)[1].split("```")[0])
    weft.build("relu.weft", "bundle")
    exec(compile(block, str(page), "exec"), {})
    ((_, options),) = (entry for entry in cupy.LOG if entry[0] == "compile")
    assert options == ("--gpu-architecture=sm_90a", *compile_options())
