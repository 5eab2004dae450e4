"""Index sums are written in one form: remainders and quotients that composing maps took apart come back, and nothing changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft.interpreter.indices.indices import share_indices
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.reference.reference import reference

SIZE = 150
FORMS = {
    "x * 4 - x floordiv 4 * 16": "x mod 4 * 4",
    "x - x mod 32": "x floordiv 32 * 32",
    "y * 7 + x * 3 - (x mod 8) * 3": "y * 7 + x floordiv 8 * 24",
    "x - x mod 32 - ((x floordiv 32) floordiv 2) * 64": "(x floordiv 32) mod 2 * 32",
    "x * 8 - x mod 32": "x * 8 - x mod 32",  # seven are left over: no shorter
    "(x + y) mod 4 - x - y": "(x + y) floordiv 4 * -4",
    "x - (x + y) mod 4": "x - (x + y) mod 4",
}


def text(expression: str) -> str:
    return f"""
func.func @main(%out: memref<{SIZE}x{SIZE}xi32> {{weft.name = "out"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {SIZE} : index
  scf.for %x = %c0 to %n step %c1 {{
    scf.for %y = %c0 to %n step %c1 {{
      %r = affine.apply affine_map<(x, y) -> ({expression})>(%x, %y)
      %v = arith.index_cast %r : index to i32
      memref.store %v, %out[%x, %y] : memref<{SIZE}x{SIZE}xi32>
    }}
  }}
  return
}}
"""


def shared(expression: str) -> ir.Module:
    module = mlir.parse(text(expression), mlir.context())
    with module.context, ir.Location.unknown():
        share_indices(next(iter(mlir.operations(module.operation, "func.func"))))
    assert module.operation.verify()
    return module


def values(module: ir.Module) -> np.ndarray:
    return reference(module, "main", {"out": np.full((SIZE, SIZE), -1, np.int32)})["out"]


@pytest.mark.parametrize("expression", FORMS)
def test_the_form(expression: str) -> None:
    got, want = shared(expression), shared(FORMS[expression])
    assert str(got) == str(want)
    assert np.array_equal(values(got), values(mlir.parse(text(expression), mlir.context())))


@pytest.mark.parametrize("seed", range(20))
def test_random_sums_are_the_same(seed: int) -> None:
    draw = random.Random(seed)
    sums: list[str] = []
    for _ in range(draw.randint(2, 6)):
        inner = draw.choice(["x", "x", "x", "y", "(x + y)", "(x floordiv 4)"])
        b, a = draw.choice([2, 4, 8, 32]), draw.choice([1, 1, 2, 3, 4, 8, 32])
        term = draw.choice([inner, f"{inner} mod {b}", f"({inner} floordiv {b}) * {b}"])
        sums.append(f"{draw.choice('+-')} ({term}) * {a}")
    expression = "0 " + " ".join(sums)
    before = mlir.parse(text(expression), mlir.context())
    assert np.array_equal(values(shared(expression)), values(before))
