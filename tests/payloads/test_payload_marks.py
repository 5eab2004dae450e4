"""Payloads may not bring marks that statements set."""

from __future__ import annotations

import re

import pytest

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.payloads.payload import parse_module, parse_payload
from weft.verify import verify_source

OP = """func.func @f(%x: memref<8xf32> {{weft.name = "x"}}) {{
  %c = arith.constant 1.0 : f32
  linalg.fill {marks} ins(%c : f32) outs(%x : memref<8xf32>)
  return
}}
"""


@pytest.mark.parametrize("marks", ["{weft.map = 3}", "{weft.h1}", "{weft.gather}", '{weft.as_type = "tf32"}'])
def test_refused(marks: str) -> None:
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", OP.format(marks=marks)))
    assert caught.value.diagnostics[0].code == "W0489"


@pytest.mark.parametrize(
    "marks",
    ["{weft.name = 3 : i32}", "{weft.name}", '{weft.unroll = "2"}', "{weft.unroll = 0 : i64}", "{weft.max_registers = [1]}"],
)
def test_a_mark_of_a_finished_module_says_what_it_has_to(marks: str) -> None:
    with pytest.raises(WeftError, match=r"W0489: linalg.fill at p.mlir:3:3 bears"):
        parse_payload(Source("p.mlir", OP.format(marks=marks)))


KERNEL = """gpu.module @k {{
  gpu.func @f(%x: memref<8xf32> {{weft.name = {name}}}) workgroup(%s: memref<8xf32, 3>) kernel
      attributes {{workgroup_attrib_attrs = [{{weft.name = {shared}}}]}} {{
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(("name", "shared", "refused"), [('"x"', '"s"', False), ("3", '"s"', True), ('"x"', "[]", True)])
def test_names_of_arguments_and_shared_buffers_are_texts(name: str, shared: str, refused: bool) -> None:
    source = Source("k.mlir", KERNEL.format(name=name, shared=shared))
    if not refused:
        parse_module(source)
        return
    with pytest.raises(WeftError, match=r"W0489: gpu.func .* has to be a text"):
        parse_module(source)


def test_names_are_fine() -> None:
    parse_payload(Source("p.mlir", OP.format(marks="{mine = 1 : i64}")))


FINISHED = """gpu.module @k {{
  gpu.func @f(%x: memref<1xf32>) kernel attributes {{weft.unproven = {unproven}, known_block_size = array<i32: 32, 1, 1>}} {{
    %c = arith.constant 1.0 : f32
    %zero = arith.constant 0 : index
    memref.store %c, %x[%zero] : memref<1xf32>
    gpu.return
  }}
}}
func.func @host() attributes {{weft.streams = {streams}}} {{
  return
}}
"""


@pytest.mark.parametrize(("streams", "unproven", "refused"), [
    ("1 : i64", '"two threads conflict"', False), ("0 : i64", '"two threads conflict"', True), ("1 : i64", "3 : i32", True),
])  # fmt: skip
def test_what_a_finished_module_bears_is_read_again(streams: str, unproven: str, refused: bool) -> None:
    """And the mark of a kernel that is not proven says nothing to `verify`, which judges anew: one that has it and is right is."""
    source = Source("k.mlir", FINISHED.format(streams=streams, unproven=unproven))
    if refused:
        with pytest.raises(WeftError, match="W0489"):
            parse_module(source)
        return
    parse_payload(source)
    assert [d.code for d in verify_source(source).diagnostics] == ["W0601"]
    right = Source("k.mlir", source.text.replace("32, 1, 1", "1, 1, 1"))
    assert verify_source(right).ok


@pytest.mark.parametrize("as_type", ["tf32", "3xtf32", "bf16x3"])
def test_what_products_round_to_is_read_again(as_type: str) -> None:
    pad = 8 if as_type == "bf16x3" else 4
    settings = {"m": 64, "n": 64, "k": 32, "type": "f32", "as_type": as_type, "bm": 32, "bn": 32, "pad": pad}
    text = weft.apply("tensor", settings=settings).text
    assert f'weft.as_type = "{as_type}"' in text and verify_source(Source("k.mlir", text)).ok
    with pytest.raises(WeftError, match=r"W0489: nvgpu.mma.sync .* has to be one of tf32, 3xtf32, bf16x3"):
        parse_module(Source("k.mlir", text.replace(f'weft.as_type = "{as_type}"', 'weft.as_type = "f64"')))


def test_the_windows_of_tensor_maps_are_read_again() -> None:
    settings = {"n": 1, "h": 7, "w": 7, "c": 64, "k": 64, "bm": 64, "bn": 64, "stages": 2}
    text = weft.apply("igemm_hopper", settings=settings).text
    assert text.count("weft.im2col = {lower = array<i64: -1, -1>") == 2 and verify_source(Source("k.mlir", text)).ok
    for right, wrong in (("steps = array<i64: 1, 1>", "steps = array<i64: 1>"), ("lower = array<i64: -1", "lower = array<i32: -1")):
        for number in (0, 1):  # on the op, on the kernel's argument
            at = [part.start() for part in re.finditer(re.escape(right), text)][number]
            broken = f"{text[:at]}{wrong}{text[at + len(right) :]}"
            with pytest.raises(WeftError, match=r"W0489: .* has to be `lower`, `upper` and `steps`"):
                parse_module(Source("k.mlir", broken))


SIZES = "func.func @f(%x: memref<?x4xf32> {{weft.multiples = {0}}}, %n: index) {{\n  return\n}}\n"


@pytest.mark.parametrize("wrong", ["3 : i64", "array<i64: 4>", "array<i64: 0, 1>", "array<i32: 4, 1>", '"4, 1"'])
def test_multiples_of_sizes_are_numbers_for_each_axis(wrong: str) -> None:
    with pytest.raises(WeftError, match=r"W0489: func.func .* has to be a number for each axis"):
        parse_payload(Source("p.mlir", SIZES.format(wrong)))


def test_multiples_of_sizes_may_be_stated() -> None:
    parse_payload(Source("p.mlir", SIZES.format("array<i64: 4, 1>")))
