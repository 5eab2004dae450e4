"""Indices that are taken apart in loops: counted along, hoisted or divided, the digits are the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import prod

import numpy as np
import pytest

from weft.interpreter import mlir
from weft.interpreter.distribution.counters import carry_digits, split_sums, unroll_divisions
from weft.interpreter.mlir import ir
from weft.runtime.reference import reference

DELINEARIZE = "affine.delinearize_index"


@dataclass(frozen=True)
class Case:
    """`for i: for k = low to high step step: for j: digits of factor·k + inner·j + given(i) + constant`."""

    basis: tuple[int, ...]
    low: int
    high: int
    step: int
    factor: int
    inner: int
    rows: int
    given: str
    constant: int
    guarded: bool = False
    """Under a condition: not in the last iteration, as a pipelined loop reads the next tile."""

    @property
    def trips(self) -> range:
        return range(self.low, self.high, self.step)

    def index(self, i: int, k: int, j: int) -> int:
        return self.factor * k + self.inner * j + {"i": i, "i mod 4 * 4": i % 4 * 4, "i * 7": i * 7}[self.given] + self.constant


OUTER = 9


def random_case(seed: int) -> Case:
    draw = random.Random(seed)
    basis = tuple(draw.choice([1, 2, 3, 4, 5, 7, 8, 14, 16]) for _ in range(draw.randint(1, 3)))
    step = draw.choice([1, 2, 3, 4, 8, 10, 16])
    low = draw.choice([0, 0, 0, step, 3])
    high = low + step * draw.randint(0, 9) - draw.choice([0, 0, 1])
    return Case(
        basis, low, max(high, low), step, draw.choice([1, 1, 2, 3]), draw.choice([0, 1, 4, 64]), draw.choice([1, 2, 9]),
        draw.choice(["i", "i mod 4 * 4", "i * 7"]), draw.choice([0, 0, 1, 5, 16]), draw.random() < 0.3,
    )  # fmt: skip


def text(case: Case) -> str:
    digits = len(case.basis) + 1
    shape = f"{OUTER}x{max(len(case.trips), 1)}x{case.rows}x{digits}xi32"
    types = ", ".join(["index"] * digits)
    guard, end = ("scf.if %more {", "}") if case.guarded else ("", "")
    stores = "\n".join(
        f"%s{n} = arith.index_cast %d#{n} : index to i32\n%p{n} = arith.constant {n} : index\n"
        f"memref.store %s{n}, %out[%i, %t, %j, %p{n}] : memref<{shape}>"
        for n in range(digits)
    )
    return f"""
func.func @main(%out: memref<{shape}> {{weft.name = "out"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outer = arith.constant {OUTER} : index
  %rows = arith.constant {case.rows} : index
  %low = arith.constant {case.low} : index
  %high = arith.constant {case.high} : index
  %step = arith.constant {case.step} : index
  scf.for %i = %c0 to %outer step %c1 {{
    scf.for %k = %low to %high step %step {{
      %t = affine.apply affine_map<(k) -> ((k - {case.low}) floordiv {case.step})>(%k)
      %next = arith.addi %k, %step : index
      %more = arith.cmpi slt, %next, %high : index
      {guard}
      scf.for %j = %c0 to %rows step %c1 {{
        %x = affine.apply affine_map<(i, k, j) -> (k * {case.factor} + {case.given} + j * {case.inner} + {case.constant})>
             (%i, %k, %j)
        %d:{digits} = affine.delinearize_index %x into {case.basis if digits > 2 else f"({case.basis[0]})"} : {types}
{stores}
      }}
      {end}
    }}
  }}
  return
}}
"""


def lowered(case: Case) -> tuple[ir.Module, bool]:
    """The module as a kernel's is lowered, and whether an index is still taken apart in the loop over k."""
    module = mlir.parse(text(case), mlir.context())
    function = next(iter(mlir.operations(module.operation, "func.func")))
    with module.context, ir.Location.unknown():
        unroll_divisions(function)
        split_sums(function)
    mlir.run_passes(module, "func.func(cse,loop-invariant-code-motion)")
    function = next(iter(mlir.operations(module.operation, "func.func")))
    with module.context, ir.Location.unknown():
        carry_digits(function)
    assert module.operation.verify()
    inside = any(_depth(op) > 1 for op in mlir.operations(module.operation, DELINEARIZE))
    mlir.run_passes(module, "func.func(affine-expand-index-ops-as-affine)")
    return module, inside


def _depth(op: ir.Operation) -> int:
    parent, depth = op.parent, 0
    while parent is not None:
        depth += parent.operation.name == "scf.for"
        parent = parent.operation.parent
    return depth


def expected(case: Case) -> np.ndarray:
    sizes = [prod(case.basis[n:]) for n in range(len(case.basis) + 1)]
    found = np.full((OUTER, max(len(case.trips), 1), case.rows, len(sizes)), -1, np.int32)
    for i, (t, k), j in ((i, tk, j) for i in range(OUTER) for tk in enumerate(case.trips) for j in range(case.rows)):
        if case.guarded and k + case.step >= case.high:
            continue
        x = case.index(i, k, j)
        found[i, t, j] = [x // sizes[0], *(x // size % n for size, n in zip(sizes[1:], case.basis, strict=True))]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_digits_are_the_same(seed: int) -> None:
    case = random_case(seed)
    module, _ = lowered(case)
    want = expected(case)
    start = np.full(want.shape, -1, np.int32)
    got = reference(module, "main", {"out": start}).get("out", start)  # of a loop without iterations nothing is left
    assert np.array_equal(got, want), case


def test_what_a_loop_counts_is_not_divided() -> None:
    counted = 0
    for seed in range(60):
        case = random_case(seed)
        if len(case.trips) > 1 and case.rows <= 8:
            assert not lowered(case)[1], case
            counted += 1
    assert counted > 20


def counters(case: Case) -> list[str]:
    """What the loop over k says of its iteration arguments."""
    module, _ = lowered(case)
    loops = [op for op in mlir.operations(module.operation, "scf.for") if "weft.counters" in op.attributes]
    return [str(a) for op in loops for a in ir.ArrayAttr(op.attributes["weft.counters"])]


def test_uniform_digits_are_shared_and_what_does_not_move_is_not_carried() -> None:
    base = Case((3, 64), 0, 576, 16, 1, 0, 1, "i mod 4 * 4", 0)
    assert counters(base) == [
        '{below = 4 : i64, name = "digit"}',
        '{below = 3 : i64, name = "digit"}',
        '{below = 64 : i64, multiple = 16 : i64, name = "digit"}',
    ]
    one_tap_a_step = Case((3, 16), 0, 144, 16, 1, 0, 1, "i mod 4 * 4", 0)
    assert len(counters(one_tap_a_step)) == 2  # the channel stays what the thread copies
