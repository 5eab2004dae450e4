"""`benchmarks/streams.py` without a GPU: prepared small, measured on the stand-in for CuPy whose kernels are the very text, run by
g++; then recorded, and refused where a result is wrong."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from native import run_native

from weft.runtime import cubin_cache
from weft.runtime.bundle import Bundle, read_bundle
from weft.runtime.dtypes import NUMPY, itemsize

ROOT = Path(__file__).parents[2]


def load_module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def streams() -> ModuleType:
    return load_module("streams_benchmark", ROOT / "benchmarks" / "streams.py")


@pytest.fixture(scope="module")
def folder(streams: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("streams")
    streams.prepare(made, full=3, checked=2, depth=32, launches=7)
    return made


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, folder: Path) -> ModuleType:
    made = load_module("cupy", Path(__file__).parent / "fake_cupy" / "cupy.py")
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("WEFT_CACHE_DIR", "/dev/null")
    monkeypatch.setattr(cubin_cache, "_memory", {})
    for path in folder.iterdir():
        if (path / "plan.json").exists():
            bundle = read_bundle(path)
            for kernel in bundle.plan.kernels:
                made.OF_TEXT[b"cubin of " + bundle.cuda.encode(), kernel.name] = natively(bundle, kernel.name)
    return made


def natively(bundle: Bundle, name: str) -> Callable[[Any, Any, tuple[Any, ...]], None]:
    """The kernel of the text, on arrays at the addresses that it is given."""
    params = bundle.plan.kernel(name).params

    def kernel(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        arrays = []
        for value, param in zip(values, params, strict=True):
            count = prod(n for n in param.shape or () if n is not None)
            raw = (ctypes.c_uint8 * (count * itemsize(param.dtype))).from_address(int(value))
            arrays.append(np.frombuffer(raw, NUMPY[param.dtype]))
        run_native(bundle.cuda, name, grid, block, arrays)

    return kernel


def test_from_the_bundles_to_the_record(
    streams: ModuleType,
    cupy: ModuleType,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(streams, "measure", lambda folder, plain=streams.measure: plain(folder, 1))
    assert streams.main(["measure", str(folder), "-o", str(tmp_path / "s.json")]) == 0
    measured = json.loads((tmp_path / "s.json").read_text())
    cases = {result["case"]: result for result in measured["results"]}
    assert measured["device"] == "Fake GPU" and all(result["right"] for result in cases.values())
    assert {name: (c["launches"], c["streams"]["streams"]) for name, c in cases.items()} == {
        "convolutions": (3, 2),
        "convolutions-beside": (3, 2),
        "convolutions-checked": (3, 2),
        "launches": (7, 1),
        "products": (8, 8),
    }
    assert all(c[way]["seconds"] == 0.0015 and c["serial"]["streams"] == 1 for c in cases.values() for way in streams.WAYS)
    assert cases["launches"]["bare_host_seconds"] > 0 and cases["products"]["alone"]["error"] < 1e-5
    assert cases["convolutions"]["overlap"] is not None and len(cases["convolutions"]["timeline"]) == 4
    printed = capsys.readouterr().out
    assert re.search(r"launches .* host [\d.]+ us a launch, bare [\d.]+ us", printed) and "one alone" in printed

    monkeypatch.setattr(streams, "ROOT", tmp_path)
    monkeypatch.setattr(streams, "RECORDED", tmp_path / "docs" / "streams.json")
    assert streams.main(["record", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "docs" / "streams.json").read_text()) == measured


def test_a_wrong_result_is_not_kept(
    streams: ModuleType, cupy: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written: what is there is the poison."""
    for name in ("convolutions-checked", "launches"):
        shutil.copytree(folder / name, tmp_path / name)
    bundle = read_bundle(folder / "convolutions-checked")
    last = bundle.plan.launches[-1].kernel
    cupy.OF_TEXT[b"cubin of " + bundle.cuda.encode(), last] = lambda *_: None
    monkeypatch.setattr(streams, "measure", lambda folder, plain=streams.measure: plain(folder, 1))
    assert streams.main(["measure", str(tmp_path), "-o", str(tmp_path / "s.json")]) == 1
    wrong, right = json.loads((tmp_path / "s.json").read_text())["results"]
    assert not wrong["right"] and wrong["serial"]["error"] is None and "WRONG" in streams.line(wrong)
    assert right["right"]
    assert streams.main(["record", str(tmp_path / "s.json")]) == 1


@pytest.mark.parametrize(
    ("spans", "part"),
    [
        ([(0.0, 2.0), (1.0, 3.0)], 0.5),
        ([(0.0, 4.0), (1.0, 2.0)], 1.0),
        ([(0.0, 1.0), (2.0, 3.0)], 0.0),
        ([(0.0, 0.0), (0.0, 1.0)], 0.0),
    ],
)
def test_overlap(streams: ModuleType, spans: list[tuple[float, float]], part: float) -> None:
    assert streams.overlap(spans) == part


def test_measuring_needs_no_weft() -> None:
    """At the head of the file stand NumPy and the standard library alone."""
    head = (ROOT / "benchmarks" / "streams.py").read_text().split("\nif TYPE_CHECKING")[0]
    imported = re.findall(r"^(?:import|from) (\w+)", head, re.MULTILINE)
    assert set(imported) - set(sys.stdlib_module_names) == {"numpy"}


def test_the_table_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "docs"))
    import streams_table

    empty = streams_table.rows({})
    assert [set(row[1:]) for row in empty] == [{"–"}] * 4 and "None of it is measured" in streams_table.remark({})
    way = {"seconds": 2e-5, "host_seconds": 4e-6}
    ways = dict.fromkeys(("streams", "serial_graph", "graph"), way)
    found = {"launches": 2, "overlap": 0.5, "serial": {**way, "seconds": 3e-5}, **ways}
    (_, *cells) = streams_table.rows({"products": {**found, "bare_host_seconds": 3e-6}})[2]
    assert cells == ["30.0 µs", "20.0 µs (1.50×)", "20.0 µs", "20.0 µs", "50%", "2.00 µs", "1.50 µs"]
    said = streams_table.remark({"products": {**found, "alone": way}})
    assert "alone takes 20.0 µs, all of them on their own streams 20.0 µs" in said
