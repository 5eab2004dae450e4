"""Payloads may not bring marks that statements set."""

from __future__ import annotations

import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.payload import parse_payload

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


def test_names_are_fine() -> None:
    parse_payload(Source("p.mlir", OP.format(marks="{mine = 1 : i64}")))
