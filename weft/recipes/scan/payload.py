"""`payload scan(n, type)`: the prefix sums of an array."""

from __future__ import annotations

from ..builder import Builder, Value, named_sizes, sizes_at_run_time, tensor
from ..rows.payload import in_f32, parameters, wide


def scan(n: Value, type: str) -> str:
    """The MLIR text: a reduction that also writes, for each element, the sum up to it."""
    x, total = tensor(type, n), tensor("f32")
    element = "s" if type == "f32" else "element"
    rounded = "" if type == "f32" else f"    %element = arith.truncf %s : f32 to {type}\n"
    return f"""\
#each = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
func.func @scan(%X: {x} {{weft.name = "X"}}) -> ({x} {{weft.name = "Y"}}) {{
{sizes_at_run_time((n, "n", "X", 0, x))}\
  %zero = arith.constant 0.0 : f32
  %one = tensor.empty() : {total}
  %whole = tensor.empty({named_sizes(n=n)}) : {x}
  %s0 = linalg.fill {{weft.name = "s0"}} ins(%zero : f32) outs(%one : {total}) -> {total}
  %sum, %Y = linalg.generic {{indexing_maps = [#each, #one, #each], iterator_types = ["reduction"]}}
      ins(%X : {x}) outs(%s0, %whole : {total}, {x}) attrs = {{weft.name = "scan"}} {{
  ^bb0(%a: {type}, %so_far: f32, %y: {type}):
{in_f32("a_f32", "a", type)}\
    %s = arith.addf %so_far, %{wide("a", type)} : f32
{rounded}\
    linalg.yield %s, %{element} : f32, {type}
  }} -> ({total}, {x})
  return %Y : {x}
}}
"""


BUILDERS = (
    Builder(
        "scan",
        "Y[i] = the sum of the elements of X from the first to X[i]",
        parameters("X and Y", n=1 << 20),
        build=scan,
        operations=lambda n, **_: n,
        baseline=lambda xp, arrays, **_: xp.cumsum(arrays["X"], dtype=xp.float32).astype(arrays["X"].dtype),
    ),
)
