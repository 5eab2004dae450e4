"""f8E4M3FN and f8E5M2: their numbers, with and without `ml_dtypes`; extended and moved on every device, and not calculated with."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from native_device import NativeDevice

import weft
from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, applied, planned
from weft.runtime.call.arrays import ArrayLayout
from weft.runtime.call.binding import misfits
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import read_npz, write_npz
from weft.runtime.host.functions import signature
from weft.runtime.plan import dtypes
from weft.runtime.plan.signature import Argument
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

KINDS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
BYTES = np.arange(256, dtype=np.uint8)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_bytes(kind: str) -> None:
    assert np.array_equal(dtypes.widen(BYTES, kind), BYTES.view(KINDS[kind]).astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_without_ml_dtypes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of all sizes, those halfway between two, and what is not finite."""
    draw = np.random.default_rng(1)
    known = np.unique(dtypes.widen(BYTES, kind))
    known = known[np.isfinite(known)]
    numbers = draw.standard_normal(20_000) * 10 ** draw.uniform(-7, 7, 20_000)
    halfway, others = (known[1:] + known[:-1]) / 2, [np.inf, -np.inf, np.nan, 0.0, -0.0]
    numbers = np.concatenate([numbers, known, halfway, others]).astype(np.float32)
    monkeypatch.setattr(dtypes, "NUMPY", {kind: np.dtype(np.uint8)})
    found = dtypes.narrow(numbers, kind)
    assert found.dtype == np.uint8
    assert np.array_equal(dtypes.widen(found, kind), numbers.astype(KINDS[kind]).astype(np.float32), equal_nan=True)


PAYLOAD = """
#i = affine_map<(d0) -> (d0)>
func.func @extend(%x: tensor<256x{kind}>) -> (tensor<256xf32>, tensor<256x{kind}>) {{
  %e = tensor.empty() : tensor<256xf32>
  %f = tensor.empty() : tensor<256x{kind}>
  %one = arith.constant 1.5 : {kind}
  %zero = arith.constant 0.0 : f32
  %r:2 = linalg.generic {{indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}} ins(%x : tensor<256x{kind}>)
      outs(%e, %f : tensor<256xf32>, tensor<256x{kind}>) {{
  ^bb0(%a: {kind}, %o: f32, %p: {kind}):
    %w = arith.extf %a : {kind} to f32
    %n = arith.cmpf olt, %w, %zero : f32
    %s = arith.select %n, %one, %a : {kind}
    linalg.yield %w, %s : f32, {kind}
  }} -> (tensor<256xf32>, tensor<256x{kind}>)
  return %r#0, %r#1 : tensor<256xf32>, tensor<256x{kind}>
}}
"""
SCHEDULE = """
payload "x.mlir"
schedule extend() {
  let op = match linalg.generic
  map op to grid(x) vector 4
  launch op
}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_extended_and_moved(kind: str, tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(PAYLOAD.format(kind=kind))
    (tmp_path / "x.weft").write_text(SCHEDULE)
    done = planned(applied(Choice(str(tmp_path / "x.weft")).open()))
    x = BYTES.view(KINDS[kind])
    wide = x.astype(np.float32)
    moved = np.where(wide < 0, np.float32(1.5), wide)
    found = [reference(done.applied.payload, None, {"x": x})]
    for device in (SimDevice(), NativeDevice()):
        text = done.cuda if device.wants == "cuda" else done.applied.located_text
        found.append(run_plan(done.plan, device, {"x": x}, text=text).outputs)
    for first, second in (outputs.values() for outputs in found):
        assert np.array_equal(first, wide, equal_nan=True)
        assert np.array_equal(second.astype(np.float32), moved, equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_files(kind: str, tmp_path: Path) -> None:
    """Their bits stand there."""
    (tmp_path / "x.mlir").write_text(PAYLOAD.format(kind=kind))
    (tmp_path / "x.weft").write_text(SCHEDULE)
    payload = applied(Choice(str(tmp_path / "x.weft")).open()).payload
    write_npz(tmp_path / "x.npz", {"x": BYTES.view(KINDS[kind])})
    with np.load(tmp_path / "x.npz") as file:
        assert file["x"].dtype == np.uint8
    read = read_npz(tmp_path / "x.npz", signature(payload))["x"]
    assert read.dtype == KINDS[kind] and (read.view(np.uint8) == BYTES).all()


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_libraries(kind: str) -> None:
    """As such, or as their bits: CuPy has no other arrays of them."""

    def wrong(wanted: str, element: type) -> list[str]:
        found = ArrayLayout(np.dtype(element), (2, 8), (8, 1), 1, None)
        return [d.code for d in misfits(Argument("x", wanted, (2, 8), "input"), found, written=False, device=None)]

    assert not wrong(kind, KINDS[kind]) and not wrong(kind, np.uint8)
    assert wrong("i8", np.uint8) == wrong(kind, np.int8) == wrong("i8", KINDS[kind]) == ["W0717"]


def test_what_a_cpu_has_not() -> None:
    with pytest.raises(WeftError, match=r"W0725: on the CPU there is no `arith\.\w+` of f8E5M2, which is moved"):
        weft.compile(SCHEDULE, PAYLOAD.format(kind="f8E5M2"), target="cpu")
