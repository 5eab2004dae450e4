"""`payload softmax(m, n, type)` and its kin: what is computed of each row of a matrix, in f32 where elements are halves."""

from __future__ import annotations

from typing import Any

from ..builder import Builder, BuilderParameter, Value, named_sizes, sizes_at_run_time, tensor

ACCUMULATOR = {"f16": "f32", "bf16": "f32", "f32": "f32"}
"""Element type → the type that is computed in."""
LEAST = "0xFF800000"
"""-inf."""


def softmax(m: Value, n: Value, type: str) -> str:
    """The MLIR text: each row's largest element, the sum of exp(x - largest), and its terms as shares of it."""
    wide = ACCUMULATOR[type]
    x, row = tensor(type, m, n), tensor(wide, m)
    a = "%a" if type == wide else "%e"
    to = f"    %e = arith.extf %a : {type} to {wide}\n" if type != wide else ""
    back = f"    %r = arith.truncf %q : {wide} to {type}\n" if type != wide else ""
    power = f"{to}    %d = arith.subf {a}, %most : {wide}\n    %p = math.exp %d : {wide}\n"
    return f"""\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%X: {x} {{weft.name = "X"}}) -> ({x} {{weft.name = "Y"}}) {{
{sizes_at_run_time((m, "m", "X", 0, x), (n, "n", "X", 1, x))}\
  %least = arith.constant {LEAST} : {wide}
  %zero = arith.constant 0.0 : {wide}
  %one = arith.constant 1.0 : {wide}
  %rows = tensor.empty({named_sizes(m=m)}) : {row}
  %whole = tensor.empty({named_sizes(m=m, n=n)}) : {x}
  %m0 = linalg.fill ins(%least : {wide}) outs(%rows : {row}) -> {row}
  %largest = linalg.generic {{indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%X : {x}) outs(%m0 : {row}) {{
  ^bb0(%a: {type}, %most: {wide}):
{to}\
    %r = arith.maximumf {a}, %most : {wide}
    linalg.yield %r : {wide}
  }} -> {row}
  %s0 = linalg.fill ins(%zero : {wide}) outs(%rows : {row}) -> {row}
  %sum = linalg.generic {{indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%X, %largest : {x}, {row}) outs(%s0 : {row}) {{
  ^bb0(%a: {type}, %most: {wide}, %so_far: {wide}):
{power}\
    %r = arith.addf %so_far, %p : {wide}
    linalg.yield %r : {wide}
  }} -> {row}
  %Y = linalg.generic {{indexing_maps = [#whole, #row, #row, #whole], iterator_types = ["parallel", "parallel"]}}
      ins(%X, %largest, %sum : {x}, {row}, {row}) outs(%whole : {x}) {{
  ^bb0(%a: {type}, %most: {wide}, %all: {wide}, %o: {type}):
{power}\
    %share = arith.divf %one, %all : {wide}
    %q = arith.mulf %p, %share : {wide}
{back}\
    linalg.yield {"%r" if back else "%q"} : {type}
  }} -> {x}
  return %Y : {x}
}}
"""


def softmaxed(xp: Any, arrays: Any, **_: Any) -> Any:
    """The same with an array library."""
    x = arrays["X"]
    powers = xp.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def sizes(m: int, n: int) -> tuple[BuilderParameter, ...]:
    return (
        BuilderParameter("m", "int", m, meaning="rows", axis="X.0"),
        BuilderParameter("n", "int", n, meaning="elements of a row", axis="X.1"),
        BuilderParameter("type", "type", "f32", domain=tuple(ACCUMULATOR), meaning="element type of X and Y"),
    )


BUILDERS = (
    Builder(
        "softmax",
        "Y = softmax of each row of X, m rows of n",
        sizes(64, 4096),
        build=softmax,
        operations=lambda m, n, **_: 5 * m * n,
        baseline=softmaxed,
    ),
)
