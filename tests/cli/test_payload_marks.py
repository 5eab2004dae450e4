"""Payloads may not bring marks that statements set."""

from __future__ import annotations

import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.payloads.payload import parse_module, parse_payload

OP = """func.func @f(%x: memref<8xf32> {{weft.name = "x"}}) {{
  %c = arith.constant 1.0 : f32
  linalg.fill {marks} ins(%c : f32) outs(%x : memref<8xf32>)
  return
}}
"""


@pytest.mark.parametrize("marks", ["{weft.map = 3}", "{weft.h1}", "{weft.gather}"])
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
