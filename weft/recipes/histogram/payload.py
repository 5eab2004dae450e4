"""`payload histogram(n, bins)`: the number of occurrences of each integer."""

from __future__ import annotations

from typing import Any

from ..builder import OPEN, Builder, BuilderParameter, Value


def histogram(n: Value, bins: int) -> str:
    """The MLIR text: H[x] is incremented for each x of X in 0 … bins - 1; other values are not
    counted."""
    x, h = f"memref<{n}xi32>", f"memref<{bins}xi32>"
    size = f"memref.dim %X, %first : {x}" if n == OPEN else f"arith.constant {n} : index"
    return f"""\
func.func @histogram(%X: {x} {{weft.name = "X"}}, %H: {h} {{weft.name = "H"}}) {{
  %first = arith.constant 0 : index
  %next = arith.constant 1 : index
  %n = {size}
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bins = arith.constant {bins} : i32
  linalg.fill {{weft.name = "init"}} ins(%zero : i32) outs(%H : {h})
  scf.parallel (%i) = (%first) to (%n) step (%next) {{
    %v = memref.load %X[%i] : {x}
    %counts = arith.cmpi ult, %v, %bins : i32
    scf.if %counts {{
      %bin = arith.index_castui %v : i32 to index
      memref.atomic_rmw addi %one, %H[%bin] : (i32, {h}) -> i32
    }}
    scf.reduce
  }}
  return
}}
"""


def counted(xp: Any, arrays: Any, bins: int, **_: Any) -> Any:
    """The payload's function with an array library."""
    x = arrays["X"].astype(xp.int32)
    return xp.bincount(x[(x >= 0) & (x < bins)], minlength=bins).astype(xp.int32)


BUILDERS = (
    Builder(
        "histogram",
        "H[b] = how many elements of X are b, for b in 0 … bins - 1",
        (
            BuilderParameter("n", "int", 1 << 20, meaning="elements", axis="X.0"),
            BuilderParameter("bins", "int", 256, maximum=58112, meaning="numbers that are counted"),
        ),
        build=histogram,
        operations=lambda n, **_: n,
        baseline=counted,
    ),
)
