"""Kernels called with arrays on the CPU: NumPy's, JAX's, and of anything that speaks DLPack; and what may be a program."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import weft
from weft import compiled
from weft.runtime.files.writing import keep_newest

SMALL = {"m": 24, "n": 20, "k": 12}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kernels"))
    compiled._kernels.clear()
    yield
    compiled._kernels.clear()


def operands(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((24, 12), (12, 20)))
    return a, b


def kernel(**other: Any) -> weft.Kernel:
    return weft.compile("shared", settings=SMALL, target="cpu", **other)


def code(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(weft.WeftError) as caught:
        call()
    found, *_ = caught.value.diagnostics
    return found.code, found.message


def test_numpy() -> None:
    a, b = operands()
    c = kernel()(a, b)
    assert type(c) is np.ndarray and np.allclose(c, a @ b, atol=1e-4)
    assert repr(weft.apply("shared", settings=SMALL)) == "<weft.Applied shared: 15 steps on matmul.mlir>"
    assert "Kernel shared: @matmul(A: 24x12xf32, B: 12x20xf32) -> (C: 24x20xf32)" in repr(kernel())
    assert kernel().report["target"] == "cpu" and kernel().report["steps"][0]["statement"].startswith("gemm: handle = match")
    assert "gpu.launch_func" in str(kernel().module)
    timing = kernel().bench(a, b, repeat=3)
    assert len(timing.seconds) == 3 and 0 < timing.best <= timing.median


def test_jax_arrays_come_back_as_jax_arrays_and_are_never_written() -> None:
    a, b = (jnp.asarray(x) for x in operands())
    c = kernel()(a, b)
    assert isinstance(c, jax.Array) and np.allclose(c, a @ b, atol=1e-4)
    assert code(lambda: kernel()(a, b, out=c)) == ("W0745", "`C` is written, and the array that is given for it is read-only")
    a.delete()
    assert code(lambda: kernel()(a, b))[0] == "W0740"
    assert code(lambda: jax.jit(lambda x: kernel()(x, b))(jnp.ones((24, 12))))[0] == "W0740"


class Dlpack:
    """An array of a library that nobody knows."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


def test_any_library_by_dlpack() -> None:
    a, b = operands()
    assert np.allclose(kernel()(Dlpack(a), Dlpack(b)), a @ b, atol=1e-4)
    assert code(lambda: kernel()(Dlpack(a, device=8), b)) == (
        "W0740", "a test_call.Dlpack cannot be passed as an array: it is on a device of DLPack's kind 8",
    )  # fmt: skip


class Tensor:
    """What is asked of PyTorch's tensors."""

    is_leaf = True

    def __init__(self, array: np.ndarray, kind: str = "cpu", gradient: bool = False) -> None:
        self.array, self.requires_grad = array, gradient
        self.shape, self.dtype, self.layout = array.shape, f"torch.{array.dtype}", "strided"
        self.device = types.SimpleNamespace(type=kind, index=0 if kind == "cuda" else None)

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def element_size(self) -> int:
        return self.array.itemsize

    def detach(self) -> Tensor:
        return Tensor(self.array)


Tensor.__module__ = "torch"


def test_torch_tensors_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(shape: tuple[int, ...], dtype: Any, device: str) -> Tensor:
        assert (dtype, device) == ("torch.float32", "cpu")
        return Tensor(np.empty(shape, np.float32))

    torch: Any = types.SimpleNamespace(strided="strided", is_grad_enabled=lambda: True, float32="torch.float32", empty=empty)
    monkeypatch.setitem(sys.modules, "torch", torch)
    (a, b), made = operands(), kernel()
    c = made(Tensor(a), Tensor(b))
    assert isinstance(c, Tensor) and np.allclose(c.array, a @ b, atol=1e-4)
    assert code(lambda: made(Tensor(a, gradient=True), Tensor(b))) == (
        "W0740", "a torch.Tensor cannot be passed as an array: it requires a gradient, and a kernel has none",
    )  # fmt: skip
    assert code(lambda: made(Tensor(np.asfortranarray(a)), Tensor(b))) == (
        "W0741", "`A` is not row-major: its strides are (1, 24)",
    )  # fmt: skip
    assert code(lambda: made(Tensor(a, "cuda"), Tensor(b)))[0] == "W0743"
    assert code(lambda: made(Tensor(a, "meta"), Tensor(b)))[0] == "W0740"


def test_halves_are_passed_by_their_bits() -> None:
    half = weft.compile(SCHEDULE, PROGRAM.replace("f32", "bf16"), target="cpu")
    x = np.linspace(0, 1, 32).astype(ml_dtypes.bfloat16)
    y = half(x)
    assert y.dtype == ml_dtypes.bfloat16 and np.allclose(y.astype(np.float32), np.exp(x.astype(np.float32)), rtol=0.01)
    assert np.array_equal(half(x.view(np.uint16)).view(np.uint16), y.view(np.uint16))
    j = half(jnp.asarray(x))
    assert j.dtype == jnp.bfloat16 and np.array_equal(np.asarray(j), y)


def test_what_a_cpu_has_not(tmp_path: Path) -> None:
    a, b = operands()
    assert code(lambda: kernel()(a, b, stream=0))[0] == "W0746"
    assert code(lambda: kernel().graph(a, b))[0] == "W0724"
    assert code(lambda: weft.compile("shared", target="cuda"))[0] == "W0720"
    assert code(lambda: weft.compile("shared", 3.0))[0] == "W0485"  # type: ignore[arg-type]


SCHEDULE = """
schedule mine(rows: int = 4) {
  let op = match linalg.exp
  let init = match? linalg.fill
  let (tiles, one) = tile op [rows]
  fuse init into tiles
  map tiles to grid(x: 8)
  launch tiles
}
"""
PROGRAM = """
func.func @exp(%x: tensor<32xf32>) -> tensor<32xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %y = linalg.exp ins(%x : tensor<32xf32>) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}
"""


def test_programs_as_text_as_a_module_and_as_a_function() -> None:
    from weft.interpreter.ir import mlir

    x = np.linspace(0, 1, 32, dtype=np.float32)

    def built() -> Any:
        return mlir.parse(PROGRAM, mlir.context())

    for program in (PROGRAM, built(), built):
        made = weft.compile(SCHEDULE, program, settings={"rows": 4}, target="cpu")
        assert np.allclose(made(x), np.exp(x))
    product, sizes = SCHEDULE.replace("linalg.exp", "linalg.matmul"), dict.fromkeys("mnk", 8)
    renamed = weft.compile(product, "matmul", settings=sizes, target="cpu")
    a, b = np.eye(8, dtype=np.float32), np.arange(64, dtype=np.float32).reshape(8, 8)
    assert np.array_equal(renamed(a, b), b)


def test_a_kernel_outlives_what_made_it(tmp_path: Path) -> None:
    weft.build("shared", tmp_path / "bundle", settings=SMALL)
    loaded = weft.load_bundle(tmp_path / "bundle", target="cpu")
    for file in (tmp_path / "bundle").iterdir():
        file.unlink()
    compiled._kernels.clear()
    a, b = operands()
    assert np.allclose(loaded(a, b), a @ b, atol=1e-4)


def test_torch_op_says_what_is_missing() -> None:
    assert code(lambda: weft.torch_op(kernel(), "mine::matmul"))[0] == "W0747"


class Fresh(Dlpack):
    """What it exports is a copy that nobody else has."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.copy().__dlpack__()


def test_what_is_exported_for_a_call_stays_until_it_is_done() -> None:
    made, x = weft.compile(SCHEDULE, PROGRAM, target="cpu"), np.linspace(0, 1, 32, dtype=np.float32)
    assert all(np.allclose(made(Fresh(x)), np.exp(x)) for _ in range(50))


SCALED = """
func.func @scaled(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x, %s : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %z = linalg.exp ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
"""
TWO = """schedule two() {
  let d = match linalg.generic
  let (t, one) = tile d [64]
  map t to grid(x: 64) cyclic
  launch t
  let e = match linalg.exp
  let (u, other) = tile e [64]
  map u to grid(x: 64) cyclic
  launch u
}
"""


def test_layouts_and_numbers_come_and_go_while_threads_call() -> None:
    kernel = weft.compile(TWO, SCALED, target="cpu")
    wrong: list[int] = []

    def calls(seed: int) -> None:
        draw = np.random.default_rng(seed)
        for _ in range(120):
            x, s = draw.random(int(draw.integers(1, 200)), np.float32), float(draw.integers(1, 300))
            if not np.allclose(kernel(x, s), np.exp(x / np.float32(s)), rtol=1e-5):
                wrong.append(len(x))

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    one = np.ones(3, np.float32)
    assert (kernel(one, 0.0) == np.inf).all() and (kernel(one, -0.0) == 0).all()
    assert code(lambda: kernel(one, 10**400))[0] == "W0717"
    before = [layout for layout in kernel._ready if layout[0][0] == one.shape]
    assert all(np.allclose(kernel(one, s), np.exp(1 / s), rtol=1e-5) for s in (2.0, 0.5, 2, np.float32(4)))
    assert [layout for layout in kernel._ready if layout[0][0] == one.shape] == before, "a number of a kernel's prepares nothing"
    assert code(lambda: kernel(one, 1.0, out=()))[0] == "W0716"
    assert code(lambda: weft.compile(TWO, SCALED, target="gpu"))[0] == "W0720"  # type: ignore[arg-type]


def test_programs_on_disk_are_those_that_were_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "MOST_ON_DISK", 2)
    programs, key = tmp_path / "programs", dict[int, str]()
    for m in (4, 8, 4, 12):
        compiled._kernels.clear()
        before = set(programs.iterdir()) if programs.exists() else set()
        weft.compile("naive", settings={"m": m, "n": 8, "k": 8}, target="cpu")
        for path in set(programs.iterdir()) - before:
            key[m] = path.stem
        for old in key.values():
            for path in programs.glob(f"{old}*"):
                seconds = path.stat().st_mtime - 10
                os.utime(path, (seconds, seconds))
    assert {path.stem for path in programs.iterdir()} == {key[4], key[12]}
    assert len(list(programs.iterdir())) == 4, "a folder and a file of each"


def test_what_is_no_entry_of_the_cache_stays(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / (str(number) * 64)).write_text("")
        os.utime(tmp_path / (str(number) * 64), (number, number))
    (tmp_path / "notes.txt").write_text("mine")
    keep_newest(tmp_path, 2)
    assert sorted(path.name[:2] for path in tmp_path.iterdir()) == ["33", "44", "no"]


def test_a_list_is_told_how_it_becomes_an_array() -> None:
    a, b = operands()
    with pytest.raises(weft.WeftError) as caught:
        kernel()(a.tolist(), b)
    (found,) = caught.value.diagnostics
    assert found.code == "W0740" and "numpy.asarray(x, numpy.float32)" in (found.hint or "")
    assert np.allclose(kernel()(np.asarray(a.tolist(), np.float32), b), a @ b, atol=1e-4)
