"""`benchmarks/ladder.py` on a stand-in for CuPy: what it compiles, launches, checks, times, writes and refuses."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
M, N, K = 48, 40, 24
Kernel = Callable[[Any, Any, tuple[Any, ...]], None]


def load_module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = load_module("cupy", Path(__file__).parent / "fake_cupy" / "cupy.py")
    monkeypatch.setitem(sys.modules, "cupy", made)
    made.KERNELS["matmul"] = multiply()
    return made


@pytest.fixture
def ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = load_module("ladder", ROOT / "benchmarks" / "ladder.py")
    monkeypatch.setenv("CUPY_TF32", "1")
    return made


def array(pointer: Any, *shape: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_float * math.prod(shape)).from_address(int(pointer))).reshape(shape)


def multiply(m: int = M, n: int = N, k: int = K, rows: int = M, scale: float = 1.0) -> Kernel:
    """A kernel that computes some rows of the product, times something."""

    def kernel(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        a, b, c = values
        array(c, m, n)[:rows] = (array(a, m, k) @ array(b, k, n) * np.float32(scale))[:rows]

    return kernel


def a_kernel(**changed: Any) -> dict[str, Any]:
    return {
        "rung": "a-rung", "m": M, "n": N, "k": K, "kernel": "matmul", "grid": [3, 2, 1], "block": [16, 16, 1], "options": ["--x"],
        "text": "a text", **changed,
    }  # fmt: skip


def launches(cupy: ModuleType) -> list[tuple[Any, ...]]:
    return [entry for entry in cupy.LOG if entry[0] == "launch"]


def test_a_right_kernel_is_timed(ladder: ModuleType, cupy: ModuleType) -> None:
    (result,) = ladder.measure([a_kernel()], cupy)["results"]
    assert result["right"] and result["error"] < 1e-6 and result["case"] == f"{M}x{N}x{K}"
    assert result["seconds"] == result["cublas_seconds"] == 0.0015 and result["of_cublas"] == 1
    assert result["tflops"] == pytest.approx(2 * M * N * K / 0.0015 / 1e12)
    assert set(launches(cupy)) == {("launch", "matmul", (3, 2, 1), (16, 16, 1), 0)}
    assert ("compile", ("--gpu-architecture=sm_90a", "--x")) in cupy.LOG
    assert len(launches(cupy)) == 1 + 2 + ladder.MOST_SAMPLES, (
        "checked, warmed up twice, and 0.5 s of samples of 1.5 ms"
    )


def test_samples_are_a_millisecond_and_half_a_second(ladder: ModuleType, cupy: ModuleType) -> None:
    def calls(milliseconds: float) -> int:
        made: list[int] = []
        counted = 0

        def elapsed(start: Any, end: Any) -> float:
            nonlocal counted
            counted, before = len(made), counted
            return milliseconds * (counted - before - (before == 0))

        cupy.cuda.get_elapsed_time = elapsed
        times = ladder.samples(cupy, lambda: made.append(1), cupy.cuda.Stream(non_blocking=True))
        assert times == pytest.approx([milliseconds / 1e3] * len(times))
        return len(times)

    assert [calls(ms) for ms in (0.01, 1.0, 20.0, 400.0)] == [50, 50, 25, 3]


@pytest.mark.parametrize(
    ("kernel", "error"),
    [(multiply(scale=1.001), 0.001), (multiply(rows=M - 1), None), (lambda grid, block, values: None, None)],
    ids=["inexact", "a row is not written", "nothing is written"],
)
def test_a_wrong_kernel_has_no_time(ladder: ModuleType, cupy: ModuleType, kernel: Kernel, error: float | None) -> None:
    cupy.KERNELS["matmul"] = kernel
    (result,) = ladder.measure([a_kernel()], cupy)["results"]
    assert not result["right"] and "seconds" not in result and "WRONG" in ladder.line(result)
    assert result["error"] == (None if error is None else pytest.approx(error, rel=0.01))


def test_what_was_there_before_is_no_result(ladder: ModuleType, cupy: ModuleType) -> None:
    """The output of the rung before must not pass for that of one that does nothing."""
    runs = iter([multiply()] * 53)
    cupy.KERNELS["matmul"] = lambda *launch: next(runs, lambda *_: None)(*launch)
    first, second = ladder.measure([a_kernel(), a_kernel(rung="idle")], cupy)["results"]
    assert first["right"] and not second["right"]


def test_a_text_that_does_not_compile(ladder: ModuleType, cupy: ModuleType) -> None:
    (result,) = ladder.measure([a_kernel(text="#error no")], cupy)["results"]
    assert not result["right"] and "NVRTC_ERROR" in ladder.line(result)


def test_a_library_in_tf32_is_noticed(ladder: ModuleType, cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def tf32(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        cut = [(np.array(x).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b)]
        return np.matmul(cut[0], cut[1], out=out)

    monkeypatch.setattr(cupy, "matmul", tf32)
    with pytest.raises(SystemExit, match="TF32"):
        ladder.measure([a_kernel()], cupy)


def test_from_schedule_to_page(
    ladder: ModuleType,
    cupy: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """prepare, measure and record, as `docs/performance.md` says."""
    import os

    monkeypatch.setattr(ladder, "prepare", lambda schedules, plain=ladder.prepare: plain(schedules[:2], [(M, N, K)]))
    assert ladder.main(["prepare", str(tmp_path / "kernels")]) == 0
    first, second = json.loads((tmp_path / "kernels" / "kernels.json").read_text())
    assert (first["rung"], first["block"], first["grid"]) == ("1-naive", [32, 8, 1], [2, 5, 1])
    assert first["text"] != second["text"] and "matmul(" in first["text"] and "--fmad=true" in first["options"]

    assert ladder.main(["measure", str(tmp_path / "kernels"), "-o", str(tmp_path / "ladder.json")]) == 0
    assert os.environ["CUPY_TF32"] == "0"
    assert re.search(r"1-naive +48x40x24 .*TFLOP/s +cuBLAS .* of it", capsys.readouterr().out)
    measured = json.loads((tmp_path / "ladder.json").read_text())
    assert measured["device"] == "Fake GPU" and [r["rung"] for r in measured["results"]] == ["1-naive", "2-coalesced"]

    monkeypatch.setattr(ladder, "ROOT", tmp_path)
    monkeypatch.setattr(ladder, "RECORDED", tmp_path / "docs" / "h200.json")
    assert ladder.main(["record", str(tmp_path / "ladder.json")]) == 0
    assert json.loads((tmp_path / "docs" / "h200.json").read_text()) == measured

    cupy.KERNELS["matmul"] = multiply(scale=2)
    assert ladder.main(["measure", str(tmp_path / "kernels"), "-o", str(tmp_path / "ladder.json")]) == 1
    assert ladder.main(["record", str(tmp_path / "ladder.json")]) == 1
    assert json.loads((tmp_path / "docs" / "h200.json").read_text()) == measured, "a wrong run is not kept"


def test_without_a_folder_it_prepares_by_itself(
    ladder: ModuleType, cupy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder, "prepare", lambda schedules: [a_kernel(rung=Path(s).stem) for s in schedules])
    assert ladder.main(["measure", "-o", str(tmp_path / "ladder.json")]) == 0


def test_measuring_needs_no_weft() -> None:
    """At the head of the file stand NumPy and the standard library alone."""
    head = (ROOT / "benchmarks" / "ladder.py").read_text().split("\ndef ")[0]
    imported = re.findall(r"^(?:import|from) (\w+)", head, re.MULTILINE)
    assert set(imported) - set(sys.stdlib_module_names) == {"numpy"}
