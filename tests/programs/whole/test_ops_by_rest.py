"""Single ops at whose sizes `weft:rest` takes a recipe or several elements a thread: the rule that it takes, proven and right."""

from __future__ import annotations

import pytest

from weft import api
from weft.execution import run_applied
from weft.pipeline import applied
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.run.execution import RunOptions


def function(arguments: dict[str, str], result: str, body: str) -> str:
    named = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    start = f"  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : {result}\n"
    start += f"  %i = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}\n"
    return f"func.func @f({named}) -> {result} {{\n{start}{body}\n  return %r : {result}\n}}\n"


def product(name: str, a: str, b: str, c: str, how: str = "") -> str:
    a, b, c = (f"tensor<{shape}xf32>" for shape in (a, b, c))
    return function({"a": a, "b": b}, c, f"  %r = {name} {how} ins(%a, %b : {a}, {b}) outs(%i : {c}) -> {c}")


def elements(shape: str) -> str:
    kind = f"tensor<{shape}xf32>"
    return function({"x": kind}, kind, f"  %r = linalg.exp ins(%x : {kind}) outs(%e : {kind}) -> {kind}")


def rows(shape: str, result: str) -> str:
    x, y = f"tensor<{shape}xf32>", f"tensor<{result}xf32>"
    last = len(shape.split("x")) - 1
    return function(
        {"x": x}, y, f"  %r = linalg.reduce {{ arith.addf }} ins(%x : {x}) outs(%i : {y}) dimensions = [{last}]"
    )


CASES = {
    "few tiles: parts of the sum": (product("linalg.matmul", "40x1100", "1100x72", "40x72"), "tensor_split_k", {}),
    "few tiles, no tensor cores": (
        product("linalg.matmul", "40x1100", "1100x72", "40x72"),
        "simt_split_k",
        {"units": "simt"},
    ),
    "small tiles": (product("linalg.matmul", "200x140", "140x136", "200x136"), "tensor", {"blocks": "4"}),
    "small tiles, no tensor cores": (
        product("linalg.matmul", "200x140", "140x136", "200x136"),
        "simt",
        {"blocks": "4", "units": "simt"},
    ),
    "large tiles": (product("linalg.matmul", "260x136", "136x260", "260x260"), "tensor", {"blocks": "1"}),
    "large tiles, no tensor cores": (
        product("linalg.matmul", "260x136", "136x260", "260x260"),
        "simt",
        {"blocks": "1", "units": "simt"},
    ),
    "a batch": (product("linalg.batch_matmul", "3x70x64", "3x64x90", "3x70x90"), "batched", {"large": "100000"}),
    "images in parts": (
        product("linalg.conv_2d_nchw_fchw", "2x40x9x9", "70x40x3x3", "2x70x7x7"),
        "in_parts",
        {"deep": "1000000"},
    ),
    "pixels in parts": (
        product("linalg.conv_2d_nhwc_hwcf", "2x9x9x40", "3x3x40x70", "2x7x7x70"),
        "in_parts",
        {"deep": "1000000"},
    ),
    "few filters": (
        product("linalg.conv_2d_nchw_fchw", "1x20x18x18", "64x20x3x3", "1x64x16x16"),
        "igemm_nchw",
        {"deep": "1000000", "blocks": "4", "units": "simt"},
    ),
    "images by tensor cores": (
        product("linalg.conv_2d_nchw_fchw", "1x20x18x18", "64x20x3x3", "1x64x16x16"),
        "igemm_tensor_nchw",
        {"deep": "1000000", "blocks": "4"},
    ),
    "pixels by tensor cores": (
        product("linalg.conv_2d_nhwc_hwcf", "1x18x18x20", "3x3x20x64", "1x16x16x64"),
        "igemm_tensor",
        {"deep": "1000000", "blocks": "4"},
    ),
    "16 bytes a thread": (elements("6x5x8"), "by_vectors", {}),
    "an element a thread": (elements("6x5x7"), "by_threads", {}),
    "several elements a thread": (elements("70x35x7"), "by_threads", {"several": "2", "threads": "128"}),
    "a warp a row": (rows("5x8x130", "5x8"), "rest", {}),
    "a warp a row, ragged": (rows("35x130", "35"), "rest", {}),
    "rows that no block shares": (rows("5x7x130", "5x7"), "by_blocks", {}),
    "a block a row": (rows("6x1300", "6"), "by_blocks", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule(case: str) -> None:
    text, rule, settings = CASES[case]
    done = applied(api.load(None, payload=text, settings=settings))
    assert done.unproven == []
    assert not done.assumed, done.assumed
    launched = {step.calls[-1:] for step in done.session.steps if step.keyword in ("map", "launch")}
    assert (rule,) in launched or (rule == "rest" and () in launched), launched
    report = run_applied(done, None, RunOptions("cpu"), CpuDevice()).report
    assert report.ok, report
