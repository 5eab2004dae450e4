"""`0 <= x && x < n` is one unsigned comparison, where both must hold and n is a number; the condition stays the same."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from weft.interpreter.indices.comparisons import join_bounds
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.reference.reference import reference

LOW, SIZE = -4, 12
X0 = "%a = arith.cmpi sge, %x, %c0 : index"
XN = "%b = arith.cmpi slt, %x, %c5 : index"
Y0 = "%c = arith.cmpi sge, %y, %c0 : index"
YN = "%d = arith.cmpi slt, %y, %c3 : index"
CASES = {
    # name: the body, which makes %r; the predicates that are left
    "a pair": (f"{X0}\n{XN}\n%r = arith.andi %a, %b : i1", ["ult"]),
    "the other way round": (f"{XN}\n{X0}\n%r = arith.andi %b, %a : i1", ["ult"]),
    "two dimensions, a chain": (
        f"{X0}\n{XN}\n%1 = arith.andi %a, %b : i1\n{Y0}\n%2 = arith.andi %1, %c : i1\n{YN}\n%r = arith.andi %2, %d : i1",
        ["ult", "ult"],
    ),
    "apart in a tree": (
        f"{X0}\n{XN}\n{Y0}\n{YN}\n%1 = arith.andi %a, %d : i1\n%2 = arith.andi %b, %c : i1\n%r = arith.andi %1, %2 : i1",
        ["ult", "ult"],
    ),
    "a bound of its own stays": (f"{X0}\n{XN}\n{YN}\n%1 = arith.andi %a, %d : i1\n%r = arith.andi %1, %b : i1", ["slt", "ult"]),
    "one that is asked for elsewhere stays, too": (
        f"{X0}\n{XN}\n%1 = arith.andi %a, %b : i1\n%no = arith.constant false\n%r = arith.select %b, %1, %no : i1", ["slt", "ult"]
    ),
    "two indices": (f"{X0}\n{YN}\n%r = arith.andi %a, %d : i1", ["sge", "slt"]),
    "either": (f"{X0}\n{XN}\n%r = arith.ori %a, %b : i1", ["sge", "slt"]),
    "from one on": (
        "%a = arith.cmpi sge, %x, %c3 : index\n%b = arith.cmpi slt, %x, %c5 : index\n%r = arith.andi %a, %b : i1", ["sge", "slt"]
    ),
    "below a negative number": (
        f"{X0}\n%m = arith.constant -2 : index\n%b = arith.cmpi slt, %x, %m : index\n%r = arith.andi %a, %b : i1", ["sge", "slt"]
    ),
    "below zero": (f"{X0}\n%b = arith.cmpi slt, %x, %c0 : index\n%r = arith.andi %a, %b : i1", ["ult"]),
    "below what is known at run time": (
        f"{X0}\n%b = arith.cmpi slt, %x, %y : index\n%r = arith.andi %a, %b : i1", ["sge", "slt"]
    ),
    "as large at most": (f"{X0}\n%b = arith.cmpi sle, %x, %c5 : index\n%r = arith.andi %a, %b : i1", ["sge", "sle"]),
}  # fmt: skip
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def text(body: str) -> str:
    """The condition for all x and y from LOW on."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3, 5, SIZE))
    return f"""
func.func @main(%out: memref<{SIZE}x{SIZE}xi32> {{weft.name = "out"}}) {{
  {constants}
  %low = arith.constant {LOW} : index
  scf.for %i = %c0 to %c{SIZE} step %c1 {{
    %x = arith.addi %i, %low : index
    scf.for %j = %c0 to %c{SIZE} step %c1 {{
      %y = arith.addi %j, %low : index
      {body}
      %v = arith.extui %r : i1 to i32
      memref.store %v, %out[%i, %j] : memref<{SIZE}x{SIZE}xi32>
    }}
  }}
  return
}}
"""


def joined(body: str) -> ir.Module:
    module = mlir.parse(text(body), mlir.context())
    with module.context, ir.Location.unknown():
        join_bounds(next(iter(mlir.operations(module.operation, "func.func"))))
    assert module.operation.verify()
    return module


@pytest.mark.parametrize("name", CASES)
def test_what_is_left(name: str) -> None:
    body, left = CASES[name]
    module = joined(body)
    found = mlir.operations(module.operation, "arith.cmpi")
    assert sorted(PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value] for op in found) == left


@pytest.mark.parametrize("name", CASES)
def test_the_condition_is_the_same(name: str) -> None:
    before = mlir.parse(text(CASES[name][0]), mlir.context())
    start = np.full((SIZE, SIZE), -1, np.int32)
    want, got = (reference(m, "main", {"out": start})["out"] for m in (before, joined(CASES[name][0])))
    assert set(np.unique(want)) <= {0, 1}
    if name == "two dimensions, a chain":
        numbers = range(LOW, LOW + SIZE)
        assert want.ravel().tolist() == [int(0 <= x < 5 and 0 <= y < 3) for x, y in product(numbers, numbers)]
    assert np.array_equal(got, want)
