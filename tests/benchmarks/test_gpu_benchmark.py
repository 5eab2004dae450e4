"""`benchmarks/gpu.py` without a GPU: prepared small, measured on the stand-in for CuPy whose kernels are the very text, run by
g++; interrupted and resumed, and recorded into a copy of the page."""

# pyright: reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from convolution_oracle import convolved
from native import Argument, NativeMap, run_native
from places import ROOT
from stand_in_torch import Tensors
from test_memset import fake_cupy
from thinning import SOAK

from weft.runtime.files.bundle import Bundle, read_bundle
from weft.runtime.plan.dtypes import NUMPY, itemsize
from weft.runtime.plan.plan import Param
from weft.runtime.run import cupy_device, cupy_work

NAIVE = "recipes: naive m=48 n=40 k=40"
LAYER = "convolutions: resnet50.conv1 nhwc"
SOME_RECIPES = ("naive", "shared", "softmax", "layernorm")


@pytest.fixture(scope="module", autouse=True)
def path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        patch.syspath_prepend(str(ROOT / "tests" / "docs"))
        yield


@pytest.fixture(scope="module")
def gpu(path: None) -> ModuleType:
    return importlib.import_module("gpu")


@pytest.fixture(scope="module")
def folder(gpu: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All bundles in a soak; else those of some recipes, and one variant of each kind of product and convolution."""
    made = tmp_path_factory.mktemp("gpu")
    with pytest.MonkeyPatch.context() as patch:
        if not SOAK:
            preparing: Any = importlib.import_module("evidence.preparing")
            every = preparing._Writer.recipe
            patch.setattr(preparing._Writer, "recipe", lambda *of: every(*of) if of[1] in SOME_RECIPES else iter(()))
            patch.setattr(preparing, "PRODUCTS", {kind: variants[-1:] for kind, variants in preparing.PRODUCTS.items()})
            patch.setattr(preparing, "HALF", preparing.HALF[-1:])
        assert gpu.main(["prepare", "--small", str(made)]) == 0
    return made


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, folder: Path) -> ModuleType:
    """The stand-in, with the bundles' kernels, and with cuDNN."""
    made = fake_cupy(monkeypatch)
    monkeypatch.setenv("WEFT_CACHE_DIR", os.devnull)
    monkeypatch.setattr(cupy_device, "_memory", {})
    monkeypatch.setattr(cupy_work, "driver", Driver)
    for name in ("NVIDIA_TF32_OVERRIDE", "CUPY_TF32"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(importlib.import_module("evidence.contest"), "MOST_SAMPLES", 2)
    monkeypatch.setattr(importlib.import_module("evidence.concurrency"), "REPEATS", 1)
    made.KERNELS["spin"] = lambda *_: None
    for bundle in (read_bundle(path.parent) for path in folder.glob("*/plan.json")):
        for kernel in bundle.plan.kernels:
            made.OF_TEXT[key(bundle, kernel.name)] = natively(bundle, kernel.name)
    library: Any = ModuleType("cupy.cudnn")
    library.convolution_forward = convolution
    monkeypatch.setitem(sys.modules, "cupy.cudnn", library)
    return made


def convolution(
    x: Any, w: Any, bias: None, y: Any, pad: Any, stride: Any, dilation: Any, groups: int, **how: Any
) -> None:
    """What cuDNN is called with: filters stand as their count, then the axes of an image, in either layout."""
    assert (how.pop("auto_tune"), how.pop("tensor_core"), groups) == (True, "never", 1)
    first = how == {"d_layout": "NCHW", "w_layout": "NCHW"}
    assert first or how == {"d_layout": "NHWC", "w_layout": "NHWC"}
    filters = w if first else w.transpose(1, 2, 3, 0)
    y[...] = convolved({"X": x, "W": filters}, first=first, stride=stride[0], pad=pad[0], dilation=dilation[0])


def key(bundle: Bundle, kernel: str) -> tuple[bytes, str]:
    return b"cubin of " + bundle.cuda.encode(), kernel


def natively(bundle: Bundle, name: str) -> Callable[[Any, Any, tuple[Any, ...]], None]:
    """The kernel of the text, on arrays at the addresses that it is given."""
    params = next(k for k in bundle.plan.kernels if k.name == name).params

    def kernel(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        run_native(bundle.cuda, name, grid, block, list(map(passed, values, params)), mode="quick")

    return kernel


def passed(value: Any, param: Param) -> Argument:
    """An argument as the text takes it on the CPU."""
    if param.boxes is not None:
        address, rank, *words = map(int, value.view(np.uint64))
        shape = tuple(reversed(words[:rank]))
        strides = (*reversed(words[5 : 5 + rank - 1]), itemsize(param.dtype))
        raw = (ctypes.c_uint8 * (shape[0] * strides[0])).from_address(address)
        return NativeMap(np.ndarray(shape, NUMPY[param.dtype], raw, 0, strides), param.boxes)
    count = prod(n for n in param.shape or () if n is not None)
    raw = (ctypes.c_uint8 * (count * itemsize(param.dtype))).from_address(int(value))
    return np.frombuffer(raw, NUMPY[param.dtype])


class Driver:
    """A stand-in for CUDA's, whose tensor maps say what they were made of: address, rank, 5 sizes, strides."""

    @staticmethod
    def cuTensorMapEncodeTiled(made: Any, kind: Any, rank: Any, address: Any, sizes: Any, strides: Any, *_: Any) -> int:
        words = (ctypes.c_uint64 * 16).from_address(made.value)
        words[0], words[1] = address.value, rank.value
        for number in range(rank.value):
            words[2 + number] = sizes[number]
        for number in range(rank.value - 1):
            words[7 + number] = strides[number]
        return 0


def only(folder: Path, target: Path, *names: str) -> list[Bundle]:
    """A folder with some of the items; their bundles."""
    items = [one for one in json.loads((folder / "items.json").read_text()) if one["item"] in names]
    target.mkdir()
    (target / "items.json").write_text(json.dumps(items))
    bundles = [where for one in items for where in one["entries"].values()]
    for where in bundles:
        shutil.copytree(folder / where, target / where)
    return [read_bundle(target / where) for where in bundles]


def results(file: Path) -> dict[str, Any]:
    return {one["item"]: one for one in json.loads(file.read_text())["results"]}


@pytest.mark.soak
def test_from_the_schedules_to_the_page(
    gpu: ModuleType,
    cupy: ModuleType,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All of it, interrupted by Ctrl-C in its fourth item, by its budget, and to its end."""
    from evidence import contest

    out, begun = tmp_path / "out.json", []

    def stopped(item: Any, *rest: Any, plain: Callable[..., Any] = contest.measure) -> Any:
        begun.append(item["item"])
        if len(begun) == 4:
            raise KeyboardInterrupt
        return plain(item, *rest)

    monkeypatch.setattr(contest, "measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        gpu.main(["measure", str(folder), "-o", str(out)])
    assert list(results(out)) == begun[:3] and json.loads(out.read_text())["under_way"] == [begun[3]]
    watching = [one for one in threading.enumerate() if isinstance(one, threading.Timer) and not one.finished.is_set()]
    assert not watching, "nobody replaces a process that has gone on"
    assert gpu.main(["measure", str(folder), "-o", str(out), "--budget", "0"]) == 1
    assert "35 of 38 items are left" in capsys.readouterr().err
    assert gpu.main(["measure", str(folder), "-o", str(out)]) == 0
    assert begun[4:] == [*begun[4:-1], begun[3]] and len(set(begun)) == len(begun) - 1, (
        "what was interrupted comes last"
    )
    assert os.environ["NVIDIA_TF32_OVERRIDE"] == os.environ["CUPY_TF32"] == "0"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"], "nothing half written stays"

    measured = json.loads(out.read_text())
    found = results(out)
    assert (measured["device"], measured["cudnn"], measured["under_way"], len(found)) == ("Fake GPU", True, [], 38)
    for one in found.values():
        assert one["right"] and one["took"] > 0
        entries = one["entries"] if "libraries" in one else one["ways"]
        for name, who in (*one.get("libraries", {}).items(), *entries.items()):
            rounds = one.get("recipe") == "attention_tensor" or "rounded" in f"{name} {one.get('kind')}"  # powers in bf16; results
            assert who["right"] and 0 < who["seconds"] <= 0.0015
            assert who["error"] < (1e-2 if rounds else 1e-5)
    assert list(found[LAYER]["entries"]) == ["128x64", "128x128", "64x64", "split 4", "split 8"]
    assert {name: entry["temporaries"] > 0 for name, entry in found[LAYER]["entries"].items()}["split 4"]
    assert set(found[LAYER]["libraries"]) == {"library", "cudnn"} and set(found[NAIVE]["libraries"]) == {"library"}
    assert not found[NAIVE]["entries"]["naive"]["with_host"] and found[NAIVE]["operations"] == 2 * 48 * 40 * 40
    streams = {
        one["case"]: (one["launches"], one["ways"]["streams"]["streams"])
        for one in found.values()
        if one["group"] == "streams"
    }
    assert streams == {"convolutions": (3, 2), "convolutions-beside": (3, 2), "products": (8, 8), "launches": (7, 1)}
    assert found["streams: launches"]["bare_host_seconds"] > 0 and found["streams: convolutions"]["overlap"] is not None

    monkeypatch.setattr(
        importlib.import_module("tutorial_page"), "prediction", lambda number: SimpleNamespace(share=0.5)
    )
    monkeypatch.setattr(importlib.import_module("predictions"), "seconds", lambda path, settings: 2e-3)
    tables = importlib.import_module("evidence_tables")
    monkeypatch.setattr(tables, "MEASURED", tables.MEASURED)
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs" / "performance", docs / "performance")
    measured["results"][0]["right"] = False
    out.write_text(json.dumps(measured))
    assert gpu.main(["record", str(out), "--docs", str(docs)]) == 1
    assert "recipes: attention" in capsys.readouterr().err
    measured["results"][0]["right"] = True
    out.write_text(json.dumps(measured))
    assert gpu.main(["record", str(out), "--docs", str(docs)]) == 0
    page = (docs / "performance.md").read_text()
    assert "Measured on Fake GPU: 38 of 38 items right." in page
    for row in (
        "| naive | m=48 n=40 k=40 |", "| 1-naive | 50.0% | 33.5 | – |", "| rung | 48 × 40 × 24 | 24 × 24 × 24 |",
        f"| conv1 |{' 1500.0 µs (128x64) | 100% |' * 4} 1500.0 µs |", "NHWC 1.00 × im2col with cuBLAS by the defaults",
        "| f32 | 24³ | 1500.0 µs (pipelined) | 0.0 | 100% | – | 1500.0 µs (simt) | 0.0 | 100% | – |",
        "| f32, TFLOP/s | 24³ | off by |", "| conv1 | 1500.0 µs (hopper 128x128) | 100% | 1500.0 µs (tensor) | 100% |",
        "1.00 × cuDNN by the defaults, 1.00 × with the best of the settings (1 layers)",
        "| two convolutions and their sum, 1024 images | 1500.0 µs | 1500.0 µs (1.00×) |", "One of the eight products alone takes",
    ):  # fmt: skip
        assert row in page, row
    assert json.loads((docs / "performance" / "measured.json").read_text()) == measured
    tables.recorded.cache_clear()


@pytest.mark.parametrize("kind", ["idle", "half", "scaled"])
def test_a_wrong_kernel_has_no_time(gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, kind: str) -> None:
    """One does nothing, one leaves the second half as it was, one is off by a thousandth; the next item is measured."""
    (bundle, _) = only(folder, tmp_path / "some", NAIVE, "ladder: 1-naive 24x24x24")
    (kernel,) = bundle.plan.kernels
    right = cupy.OF_TEXT[key(bundle, kernel.name)]

    def wrong(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        result = np.frombuffer((ctypes.c_float * (48 * 40)).from_address(int(values[2])), np.float32)
        before = result.copy()
        if kind != "idle":
            right(grid, block, values)
        result[960 if kind == "half" else 1920 :] = before[960 if kind == "half" else 1920 :]
        result *= np.float32(1.001 if kind == "scaled" else 1)

    cupy.OF_TEXT[key(bundle, kernel.name)] = wrong
    out = tmp_path / "out.json"
    assert gpu.main(["measure", str(tmp_path / "some"), "-o", str(out)]) == 1
    first, second = results(out).values()
    assert (
        not first["right"] and "seconds" not in first["entries"]["naive"] and first["libraries"]["library"]["seconds"]
    )
    assert first["entries"]["naive"]["error"] == (pytest.approx(1e-3, rel=0.01) if kind == "scaled" else None)
    assert second["right"], "the next has its turn"


def test_a_stream_that_is_wrong(gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path) -> None:
    (bundle,) = only(folder, tmp_path / "some", "streams: launches")
    cupy.OF_TEXT[key(bundle, bundle.plan.kernels[0].name)] = lambda *_: None
    assert gpu.main(["measure", str(tmp_path / "some"), "-o", str(tmp_path / "out.json")]) == 1
    (one,) = results(tmp_path / "out.json").values()
    assert not one["right"] and one["ways"]["graph"]["error"] == pytest.approx(7 / (7 + 2), rel=1)


def test_what_fails_is_noted(
    gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text that does not compile, a bundle that is not there, a schedule that was refused; a library in TF32, and none at all."""
    some = tmp_path / "some"
    bundle, *_ = only(folder, some, NAIVE, LAYER, "streams: launches", "recipes: shared m=48 n=40 k=40")
    (bundle.path / "kernels.cu").write_text("#error no\n" + bundle.cuda)
    items = {one["item"]: one for one in json.loads((some / "items.json").read_text())}
    shutil.rmtree(some / items["streams: launches"]["entries"]["launches"])
    items["recipes: shared m=48 n=40 k=40"] |= {"entries": {}, "refused": {"shared": "W0602: no"}}
    items[LAYER] |= {"refused": {"other": "W0602: no"}}
    (some / "items.json").write_text(json.dumps(list(items.values())))

    def tf32(*arguments: Any, **how: Any) -> None:
        convolution(*arguments, **how)
        arguments[3][...] *= np.float32(1.0005)

    sys.modules["cupy.cudnn"].convolution_forward = tf32  # type: ignore[attr-defined]
    out = tmp_path / "out.json"
    assert gpu.main(["measure", str(some), "-o", str(out)]) == 1
    found = results(out)
    assert not any(one["right"] for one in found.values()) and len(found) == 4
    assert "NVRTC" in found[NAIVE]["entries"]["naive"]["failed"]
    assert (
        "W0710" in found["streams: launches"]["failed"] and "W0602" in found["recipes: shared m=48 n=40 k=40"]["failed"]
    )
    layer = found[LAYER]
    assert not layer["libraries"]["cudnn"]["right"] and layer["entries"]["other"]["failed"] == "W0602: no"
    assert layer["entries"]["64x64"]["seconds"] and "WRONG" in capsys.readouterr().out

    del sys.modules["cupy.cudnn"]
    with pytest.raises(SystemExit, match="another machine"):
        gpu.main(["measure", str(some), "-o", str(out)])
    tables = importlib.import_module("evidence_tables")
    assert tables.micro(tables.fastest(found["streams: launches"])[1]) == "failed"
    assert tables.micro(layer["libraries"]["cudnn"]) == "wrong" and tables.share(layer, "cudnn") == "–"


def test_a_library_that_fails(gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("CUDNN_STATUS_NOT_SUPPORTED")

    only(folder, tmp_path / "some", LAYER)
    sys.modules["cupy.cudnn"].convolution_forward = broken  # type: ignore[attr-defined]
    assert gpu.main(["measure", str(tmp_path / "some"), "-o", str(tmp_path / "out.json")]) == 1
    (layer,) = results(tmp_path / "out.json").values()
    assert layer["libraries"]["cudnn"]["failed"] == "RuntimeError: CUDNN_STATUS_NOT_SUPPORTED"
    assert layer["entries"]["64x64"]["seconds"]


def test_beside_pytorch(
    gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its functions of rows, on the stream of the kernels; and cuDNN by it, where CuPy has none. Wrong ones have no time."""
    softmax, norm = "recipes: softmax m=3 n=40", "recipes: layernorm m=3 n=40"
    only(folder, tmp_path / "some", softmax, norm, LAYER, LAYER.replace("nhwc", "nchw"))
    stand_in: Any = Tensors()
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    monkeypatch.delitem(sys.modules, "cupy.cudnn")
    assert gpu.main(["measure", str(tmp_path / "some"), "-o", str(tmp_path / "out.json")]) == 0
    found = results(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["cudnn"]
    for one in found.values():
        name = "cudnn" if one["layout"] else "pytorch"
        assert set(one["libraries"]) == {"library", name} and one["libraries"][name]["seconds"] > 0
    assert stand_in.streams and all(stand_in.streams)

    stand_in.softmax = lambda x, axis: x
    assert gpu.main(["measure", str(tmp_path / "some"), "-o", str(tmp_path / "again.json")]) == 1
    found = results(tmp_path / "again.json")
    assert not found[softmax]["libraries"]["pytorch"]["right"] and found[norm]["right"]
    tables = importlib.import_module("evidence_tables")
    assert tables.micro(found[softmax]["libraries"]["pytorch"]) == "wrong"


def test_a_sample_is_a_millisecond_behind_a_wait(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many calls and samples, by how long a call takes; a host that is late waits longer, and it is said if it always was."""
    from evidence import contest

    monkeypatch.setattr(contest, "MOST_SAMPLES", 25)
    device = contest.CupyDevice()
    stream = device.create_stream()

    def timed(milliseconds: float, late: int = 0) -> tuple[Any, list[int]]:
        waits: list[int] = []
        calls: list[int] = []
        cupy.KERNELS["spin"] = lambda grid, block, values: (waits.append(int(values[0])), calls.clear())
        cupy.Event.done = property(lambda _: len(waits) <= late)
        cupy.cuda.get_elapsed_time = lambda start, end: milliseconds * len(calls)
        watch = contest._Watch(device, stream, lambda: calls.append(1))
        for _ in range(watch.count):
            watch.sample()
        return watch, waits

    for milliseconds, together, count in ((0.001, 64, 25), (0.1, 10, 25), (50.0, 1, 5), (400.0, 1, 3)):
        watch, _ = timed(milliseconds)
        assert (watch.together, watch.count) == (together, count)
        assert watch.found() == {"seconds": pytest.approx(milliseconds / 1e3), "samples": count, "with_host": False}
    watch, waits = timed(400.0, late=5)
    assert waits == [10**6 * n for n in (1, 2, 4, 8, 16, 32, 32)] and watch.found()["samples"] == 2
    watch, waits = timed(400.0, late=99)
    assert waits[-1] == 64 * 10**6 and watch.found()["with_host"]


def test_a_new_process_goes_on_where_cuda_is_broken(
    gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an illegal access nothing works: what failed is noted, and the same command is given again."""
    (bundle, _) = only(folder, tmp_path / "some", NAIVE, "ladder: 1-naive 24x24x24")

    def illegal(*_: Any) -> None:
        cupy.FAIL.add("synchronize")
        raise cupy.CUDADriverError("CUDA_ERROR_ILLEGAL_ADDRESS")

    cupy.OF_TEXT[key(bundle, bundle.plan.kernels[0].name)] = illegal
    given: list[list[str]] = []

    def again(program: str, words: list[str]) -> None:
        assert program == words[0] == sys.executable and Path(words[1]).name == "gpu.py"
        cupy.FAIL.clear()
        given.append(words[2:])
        assert gpu.main(words[2:]) == 1

    monkeypatch.setattr(gpu.os, "execv", again)
    out = tmp_path / "out.json"
    gpu.main(["measure", str(tmp_path / "some"), "-o", str(out), "--budget", "100"])
    first, second = results(out).values()
    assert "W0723" in first["failed"] and second["right"] and len(given) == 1
    *words, budget, name, longest = given[0]
    assert words == ["measure", str(tmp_path / "some"), "-o", str(out), "--budget"] and 0 < float(budget) <= 100
    assert (name, longest) == ("--longest", "40")


def test_a_new_process_goes_on_where_a_kernel_does_not_end(
    gpu: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is replaced in the middle of the item, which is noted as failed."""
    from evidence import contest

    only(folder, tmp_path / "some", NAIVE, "ladder: 1-naive 24x24x24")
    replaced = threading.Event()
    given: list[list[str]] = []

    def hanging(item: Any, *_: Any) -> Any:
        assert replaced.wait(60), f"nobody gave up {item['item']}"
        raise KeyboardInterrupt  # here the process would be another one

    def again(program: str, words: list[str]) -> None:
        given.append([program, *words])
        replaced.set()

    monkeypatch.setattr(contest, "measure", hanging)
    monkeypatch.setattr(gpu.os, "execv", again)
    out = tmp_path / "out.json"
    with pytest.raises(KeyboardInterrupt):
        gpu.main(["measure", str(tmp_path / "some"), "-o", str(out), "--longest", "0.2"])
    (first,) = results(out).values()
    assert not first["right"] and first["failed"] == "it did not end in 0.2 seconds (--longest)" and first["took"] == 0.2
    assert [words[:2] for words in given] == [[sys.executable, sys.executable]] and given[0][3] == "measure"
    assert given[0][-2:] == ["--longest", "0.2"]


def test_schedules_that_are_refused_or_unknown(tmp_path: Path, path: None, capsys: pytest.CaptureFixture[str]) -> None:
    from evidence import preparing

    writer = preparing._Writer(tmp_path)
    one = writer.contest("recipes", "naive", {"a": ("naive", {"bm": 7}), "b": ("naive", {"m": 16, "n": 16, "k": 16})})
    assert (
        "W0" in one["refused"]["a"] and list(one["entries"]) == ["b"] and "refused naive a" in capsys.readouterr().err
    )
    with pytest.raises(SystemExit, match="at which sizes of matmul"):
        list(writer.recipe("naive", preparing.Extent({}, [], {}, [], ([], 8), [], [], (1, 1), 1, 1)))
    extent = preparing.full()
    assert len(extent.layers) == 23 and len(extent.rungs) == 9 and len(extent.cases) == 9
    few, many = ({"k": 64, "bm": 64, "bn": 64, **extent.layers["resnet50.conv1"], "n": n} for n in (1, 8))
    assert (
        preparing._Writer._blocks("", few) == 196 < preparing.FEW_BLOCKS < preparing._Writer._blocks("", many) == 1568
    )


@pytest.mark.parametrize(
    ("spans", "part"),
    [
        ([(0.0, 2.0), (1.0, 3.0)], 0.5),
        ([(0.0, 4.0), (1.0, 2.0)], 1.0),
        ([(0.0, 1.0), (2.0, 3.0)], 0.0),
        ([(0.0, 0.0), (0.0, 1.0)], 0.0),
    ],
)
def test_overlap(spans: list[tuple[float, float]], part: float, cupy: ModuleType) -> None:
    from evidence import concurrency

    assert concurrency.overlap(spans) == part


def test_the_machine_with_the_gpu_needs_no_weft(monkeypatch: pytest.MonkeyPatch, path: None) -> None:
    """Where it is not installed, its rooms are found in this checkout, and import no MLIR."""
    import subprocess

    code = (
        "import sys, importlib.util as u; plain = u.find_spec; u.find_spec = lambda n, *a: None if n == 'weft' else plain(n, *a)\n"
        "from evidence import measuring; measuring.find_weft(); from evidence import contest, concurrency\n"
        "assert {'mlir', 'islpy', 'lark', 'rich', 'cupy'}.isdisjoint(sys.modules), sorted(sys.modules)\n"
        "print(sys.modules['weft'].__path__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and str(ROOT / "weft") in done.stdout, done.stderr


def test_the_tables_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: None) -> None:
    tables = importlib.import_module("evidence_tables")
    monkeypatch.setattr(tables, "MEASURED", tmp_path / "none.json")
    tables.recorded.cache_clear()
    for rows, count in (
        (tables.recipes(), 26), (tables.convolutions(), 23), (tables.halves(), 23), (tables.streams(), 4), (tables.products(), 1),
        (tables.variants("f32")[1], 1),
    ):  # fmt: skip
        assert len(rows) == count and {cell for row in rows for cell in row[1:]} == {"–"}
    remarks = {tables.recipes_remark(), tables.convolutions_remark(), tables.halves_remark(), tables.streams_remark()}
    assert remarks == {tables.NOTHING}
    predictions = importlib.import_module("predictions")
    monkeypatch.setattr(predictions, "seconds", lambda path, settings: 1e-3)
    assert predictions.remark() == tables.NOTHING and {row[-1] for row in predictions.rows()} == {"–"}
    assert {row[2:] for row in predictions.group_rows()} == {("–",) * 4}
    tables.recorded.cache_clear()


def test_the_pages_name_what_is_prepared(path: None) -> None:
    """What they look up in a measurement by its name."""
    from evidence import preparing

    predictions, tutorial = (importlib.import_module(name) for name in ("predictions", "tutorial_page"))
    shown = {name for *_, found in tutorial.RECIPES if found for item, name, *_ in [found] if item.startswith("products: bf16 ")}
    shown |= {predictions.tensor_of_four_stages().name, "hopper 192, stay, cluster"}
    assert len(shown) == 3 and shown <= {name for name, *_ in preparing.PRODUCTS["bf16"]}
    assert "hopper 192, stay, cluster" in " ".join((ROOT / "docs" / "warpgroups" / "page.md").read_text().split())
    sizes = preparing.full()
    assert ("bf16", (predictions.SIZE,) * 3) in sizes.products
    assert sizes.groups == (list(predictions.WARP_GROUPS.rungs), predictions.SIZE)


def test_predictions_beside_measurements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: None) -> None:
    """A rung that is right, one that is wrong, one that was not prepared; a library that failed; an item that failed."""
    tables, predictions = (importlib.import_module(name) for name in ("evidence_tables", "predictions"))
    monkeypatch.setattr(tables, "MEASURED", tmp_path / "measured.json")
    monkeypatch.setattr(predictions, "seconds", lambda path, settings: 2e-3)
    first, second, third, *_ = (rung.path.stem for rung in predictions.warp_groups())
    wrong = {"right": False, "error": None}
    failed = {**wrong, "failed": "no"}
    libraries = {"library": {"right": True, "error": 0.0, "seconds": 1e-3}, "pytorch": failed}
    entries = {first: {"right": True, "error": 0.0, "seconds": 4e-3}, second: wrong}
    group = {"item": predictions.ITEM, "group": "warp groups", "operations": 2 * 8192**3, "entries": entries}
    product = {"group": "products", "size": "8x8x8"}
    bytes_ = {**product, "item": "products: f8E5M2 8x8x8", "kind": "f8E5M2", "entries": {"a": "001-a"}, **failed}
    doubles = {"item": "products: f64 8x8x8", "kind": "f64", "operations": 1e9, "libraries": {}, "refused": {"b": "no"}}
    made = {"a": {"right": True, "error": 1e-9, "seconds": 1e-3}, "b": failed, "c": failed}
    results = [{**group, "libraries": libraries}, bytes_, {**product, **doubles, "entries": made}]
    tables.MEASURED.write_text(json.dumps({"device": "", "cudnn": True, "results": results}))
    tables.recorded.cache_clear()
    rows = {row[0]: row[1:] for row in predictions.group_rows()}
    assert rows[first] == ("550", "274.9", "0.50", "–", "25%") and rows[second] == ("550", "wrong", "–", "–", "–")
    assert rows[third] == ("550", "–", "–", "–", "–") and "warp groups: 0.50 (1 kernels)" in predictions.remark()
    first_product, second_product = tables.products()
    assert first_product == ("f8E5M2", "8³", *["–"] * 4, "failed", "failed", "–", "–")
    assert tables.variants("f8E5M2")[1] == [("–", "–")]
    assert second_product == ("f64", "8³", *["–"] * 4, "1000.0 µs (a)", "1.0", "–", "–")
    assert tables.variants("f64")[1] == [("a", "1.0", "1.0e-09"), ("b", "–", "–"), ("c", "failed", "–")]
    tables.recorded.cache_clear()
