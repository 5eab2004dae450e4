"""What a prediction says of a kernel that does little of what it executes, or little at all: useful work, and a launch's time."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from weft import cli
from weft.execution import predicted
from weft.payloads.payload import parse_payload
from weft.payloads.work import operations_of
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.prediction import predict

H200 = CHIPS["h200"]
VECTOR = {"m": "1", "n": "4096", "k": "4096"}


@cache
def made(name: str, **settings: object) -> Planned:
    return planned(applied(Choice(name, None, {key: str(value) for key, value in settings.items()}).open()))


# ---- the payload's own count ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["simt", "hopper", "igemm", "igemm_nchw", "softmax", "sum", "scan"])
def test_a_payload_counts_as_its_builder_does(recipe: str) -> None:
    opened = Choice(recipe).open()
    assert opened.file.payload is not None and opened.file.payload.builder is not None
    said = builders()[opened.file.payload.builder].operations(**opened.payload_values)
    assert operations_of(parse_payload(opened.payload), None, {}) == said > 0


def test_sizes_that_are_open_are_those_of_the_arguments() -> None:
    opened = Choice("simt", None, dict.fromkeys("mnk", "?")).open()
    payload = parse_payload(opened.payload)
    assert operations_of(payload, None, {"A": (7, 5), "B": (5, 3), "C": (7, 3)}) == 2 * 7 * 5 * 3
    assert operations_of(payload, None, {}) is None


LOOPS = """
func.func @loops(%x: memref<6x10xf32>, %n: index) {{
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 6 {{
    affine.for %j = {low} to {high} step 3 {{
      %v = affine.load %x[%i, %j] : memref<6x10xf32>
      %p = arith.mulf %v, %v : f32
      %s = arith.addf %p, %v : f32
      %f = arith.cmpf ogt, %s, %z : f32
      %o = arith.select %f, %s, %z : f32
      affine.store %o, %x[%i, %j] : memref<6x10xf32>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(("low", "high", "count"), [
    ("0", "10", 6 * 4 * 2), ("1", "10", 6 * 3 * 2), ("0", "%n", None), ("affine_map<(d0) -> (d0)>(%i)", "10", None),
])  # fmt: skip
def test_loops_count_as_often_as_they_run(low: str, high: str, count: int | None) -> None:
    """Comparisons and choices are no operations; where data or other loops decide how often, nobody guesses."""
    from weft.dsl.diagnostics import Source

    module = parse_payload(Source("p.mlir", LOOPS.format(low=low, high=high)))
    assert operations_of(module, None, {}) == count


MATMUL = "linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>"
ARGUMENTS = "%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x4xf32>"
UPDATE = "%u = memref.atomic_rmw {} %v, %x[%i] : (f32, memref<6xf32>) -> f32"


def body(text: str) -> str:
    return f"func.func @f(%x: memref<6xf32>, %v: f32, %w: vector<8xf32>, %t: tensor<7x5xf32>) {{\n{text}\n  return\n}}"


@pytest.mark.parametrize(("text", "count"), [
    (f"func.func private @g({ARGUMENTS}) -> tensor<8x4xf32> {{\n %r = {MATMUL}\n return %r : tensor<8x4xf32>\n}}\n"
     f"func.func @f({ARGUMENTS}) -> tensor<8x4xf32> {{\n %r = func.call @g(%a, %b, %c) : "
     "(tensor<8x16xf32>, tensor<16x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>\n return %r : tensor<8x4xf32>\n}", 1024),
    (body(f"affine.for %i = 0 to 6 {{\n{UPDATE.format('addf')}\n}}"), 6),
    (body(f"affine.for %i = 0 to 6 {{\n{UPDATE.format('maximumf')}\n}}"), 0),
    (body("%r = vector.fma %w, %w, %w : vector<8xf32>"), 16),
    (body("%r = vector.reduction <add>, %w : vector<8xf32> into f32"), None),
    (body("%r = linalg.softmax dimension(1) ins(%t : tensor<7x5xf32>) outs(%t : tensor<7x5xf32>) -> tensor<7x5xf32>"), None),
    ("func.func private @g(%x: f32) -> f32\nfunc.func @f(%x: f32) -> f32 {\n %y = func.call @g(%x) : (f32) -> f32\n"
     " return %y : f32\n}",
     None),
    ("func.func @f(%x: f32, %c: i1) -> f32 {\n cf.cond_br %c, ^a, ^b\n^a:\n %y = arith.addf %x, %x : f32\n cf.br ^b\n^b:\n"
     " return %x : f32\n}", None),
], ids=["called", "updated", "chosen", "vectors", "reduced", "softmax", "elsewhere", "branches"])  # fmt: skip
def test_what_is_not_counted_is_not_none(text: str, count: int | None) -> None:
    """An op that nobody counts makes the whole unknown: taken for nothing, all that a kernel does would be padding."""
    from weft.dsl.diagnostics import Source

    assert operations_of(parse_payload(Source("p.mlir", text)), "f", {}) == count


def test_padding_is_no_work(capsys: pytest.CaptureFixture[str]) -> None:
    """A matrix times a vector, by tiles of 128 rows: 127 of 128 products are of padding."""
    whole = predicted(made("simt", **VECTOR), "h200")
    (kernel,) = whole.kernels
    work = 2 * 4096 * 4096
    assert whole.work == kernel.work == work and kernel.flops == pytest.approx(128 * work, rel=0.01)
    assert kernel.rate == whole.rate == work / kernel.seconds < 0.3e12 and kernel.beside == pytest.approx(127 / 128, abs=1e-3)
    words = ["run", "simt", "--predict", *(word for axis, size in VECTOR.items() for word in ("--set", f"{axis}={size}"))]
    assert cli.run(words) == 0
    shown = capsys.readouterr().err
    assert f"{kernel.rate / 1e12:.2f} TFLOP/s ({kernel.share:.1%} of the peak)" in shown.splitlines()[0]
    assert "of the payload" in shown and "padding" in shown and "99.2%" in shown
    assert cli.run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (told,) = found["kernels"]
    assert found["work"] == work and told["flops_per_second"] == found["flops_per_second"] == pytest.approx(kernel.rate)


def test_a_whole_tile_has_no_row_for_padding(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "simt", "--predict", "--set", "m=256", "--set", "n=256", "--set", "k=256"]) == 0
    assert "padding" not in capsys.readouterr().err


def test_where_nobody_knows_the_work_no_rate_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Bounds of a convolution's window depend on where it is; of two kernels that share the work neither has a rate of its own."""
    assert cli.run(["run", "concurrent_convs", "--predict", "--set", "batch=1"]) == 0
    assert "TFLOP/s" not in capsys.readouterr().err
    whole = predicted(made("simt_split_k", m=256, n=256, k=256), "h200")
    assert [kernel.work for kernel in whole.kernels] == [None, None] and whole.work == 2 * 256**3
    assert [one["flops_per_second"] for one in whole.to_json()["kernels"]] == [None, None] and whole.rate


# ---- what a launch costs -------------------------------------------------------------------------------------------------------


def test_each_launch_takes_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    plan = made("sum", n=4096)
    found, free = (predict(plan.plan, plan.cuda, chip) for chip in (H200, replace(H200, launch=0.0)))
    assert len(found.kernels) == 2
    assert found.seconds - free.seconds == pytest.approx(2 * H200.launch) and found.seconds < 2 * free.seconds + 2 * H200.launch
    for kernel in found.kernels:
        assert kernel.limit == "beginning and ending the launch"
        assert kernel.issue[kernel.limit] == pytest.approx(H200.launch / kernel.seconds)
    assert 2.5e-6 < found.seconds < 5.5e-6, "3.8 µs were measured"


def test_dram_is_what_is_reached() -> None:
    """The rows are read and written once."""
    (kernel,) = predicted(made("softmax", m=8192, n=8192), "h200").kernels
    assert kernel.limit == "DRAM" and kernel.seconds == pytest.approx(2 * 8192 * 8192 * 4 / (0.84 * 4.8e12) + H200.launch, rel=0.01)
