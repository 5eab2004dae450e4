"""`payload attention(b, n, m, d, type, causal)`: softmax(Q·Kᵀ / √d)·V, computed in f32, also for
half precision elements."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ..builder import Builder, BuilderParameter, Value, named_sizes, sizes_at_run_time, tensor
from ..rows.payload import LEAST, TYPES, in_f32, wide, yielded


def attention(b: Value, n: Value, m: Value, d: int, type: str, causal: int) -> str:
    """The MLIR text: a product, its scaling (and mask), the four ops of a softmax, a product."""
    q, k, o = tensor(type, b, n, d), tensor(type, b, m, d), tensor("f32", b, n, d)
    s, row = tensor("f32", b, n, m), tensor("f32", b, n)

    power = "    %x = arith.subf %a, %c : f32\n    %r = math.exp %x : f32\n"
    share = "    %r = arith.divf %a, %c : f32\n"
    a, c = wide("a", type), wide("c", type)
    a_f32, c_f32 = in_f32("a_f32", "a", type), in_f32("c_f32", "c", type)
    mask = """\
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi ule, %j, %i : index
    %r = arith.select %seen, %t, %least : f32
"""

    def over(name: str, given: str, other: str, into: str, body: str) -> str:
        return f"""\
  %{name} = linalg.generic {{indexing_maps = [#s, #row, #s], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%{given}, %{other} : {s}, {row}) outs(%{into} : {s}) attrs = {{weft.name = "{name}"}} {{
  ^bb0(%a: f32, %c: f32, %o: f32):
{body}\
    linalg.yield %r : f32
  }} -> {s}
"""

    back = (
        ""
        if type == "f32"
        else f"""\
  %like_y = tensor.empty({named_sizes(b=b, n=n)}) : {tensor(type, b, n, d)}
  %Y = linalg.generic {{indexing_maps = [#s, #s], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%O : {o}) outs(%like_y : {q}) attrs = {{weft.name = "halves"}} {{
  ^bb0(%a: f32, %o: {type}):
{yielded("a", type)}\
  }} -> {q}
"""
    )
    return f"""\
#s = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#of_q = affine_map<(b, i, j, d) -> (b, i, d)>
#of_k = affine_map<(b, i, j, d) -> (b, j, d)>
#of_s = affine_map<(b, i, j, d) -> (b, i, j)>
func.func @attention(
    %Q: {q} {{weft.name = "Q"}}, %K: {k} {{weft.name = "K"}}, %V: {k} {{weft.name = "V"}}
) -> ({q} {{weft.name = "O"}}) {{
{sizes_at_run_time((b, "b", "Q", 0, q), (n, "n", "Q", 1, q), (m, "m", "K", 1, k))}\
  %least = arith.constant {LEAST} : f32
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant -0.0 : f32
  %scale = arith.constant {1 / sqrt(d):.9e} : f32
  %rows = tensor.empty({named_sizes(b=b, n=n)}) : {row}
  %like_s = tensor.empty({named_sizes(b=b, n=n, m=m)}) : {s}
  %like_o = tensor.empty({named_sizes(b=b, n=n)}) : {o}
  %z = linalg.fill {{weft.name = "z"}} ins(%nothing : f32) outs(%like_s : {s}) -> {s}
  %products = linalg.generic {{
      indexing_maps = [#of_q, #of_k, #of_s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%Q, %K : {q}, {k}) outs(%z : {s}) attrs = {{weft.name = "products"}} {{
  ^bb0(%a: {type}, %c: {type}, %o: f32):
{a_f32}{c_f32}\
    %p = arith.mulf %{a}, %{c} : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }} -> {s}
  %scores = linalg.generic {{indexing_maps = [#s, #s], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%products : {s}) outs(%like_s : {s}) attrs = {{weft.name = "scores"}} {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
{mask if causal else ""}\
    linalg.yield {"%r" if causal else "%t"} : f32
  }} -> {s}
  %m0 = linalg.fill {{weft.name = "m0"}} ins(%least : f32) outs(%rows : {row}) -> {row}
  %largest = linalg.reduce {{ arith.maximumf }} ins(%scores : {s}) outs(%m0 : {row}) dimensions = [2] {{weft.name = "largest"}}
{over("powers", "scores", "largest", "scores", power)}\
  %s0 = linalg.fill {{weft.name = "s0"}} ins(%zero : f32) outs(%rows : {row}) -> {row}
  %sum = linalg.reduce {{ arith.addf }} ins(%powers : {s}) outs(%s0 : {row}) dimensions = [2] {{weft.name = "sum"}}
{over("shares", "powers", "sum", "like_s", share)}\
  %o0 = linalg.fill {{weft.name = "o0"}} ins(%zero : f32) outs(%like_o : {o}) -> {o}
  %O = linalg.generic {{indexing_maps = [#of_s, #of_k, #of_q], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}}
      ins(%shares, %V : {s}, {k}) outs(%o0 : {o}) attrs = {{weft.name = "out"}} {{
  ^bb0(%a: f32, %c: {type}, %o: f32):
{c_f32}\
    %p = arith.mulf %a, %{c} : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }} -> {o}
{back}\
  return {"%Y" if back else "%O"} : {q}
}}
"""


def attended(xp: Any, arrays: Any, causal: int, **_: Any) -> Any:
    """The payload's function with an array library."""
    q, k, v = arrays["Q"], arrays["K"], arrays["V"]
    scores = xp.matmul(q, k.transpose(0, 2, 1)) / sqrt(q.shape[2])
    if causal:
        scores = xp.where(xp.tri(*scores.shape[1:], dtype=bool), scores, -xp.inf)
    powers = xp.exp(scores - scores.max(2, keepdims=True))
    return xp.matmul(powers / powers.sum(2, keepdims=True), v)


BUILDERS = (
    Builder(
        "attention",
        "O = softmax(Q·Kᵀ / √d)·V of b heads, n queries, m keys",
        (
            BuilderParameter("b", "int", 8, meaning="batch × heads", axis="Q.0"),
            BuilderParameter("n", "int", 256, meaning="queries", axis="Q.1"),
            BuilderParameter("m", "int", 256, meaning="keys", axis="K.1"),
            BuilderParameter("d", "int", 64, meaning="head size"),
            BuilderParameter("type", "type", "f32", domain=TYPES, meaning="element type"),
            BuilderParameter("causal", "int", 0, minimum=0, domain=(0, 1), meaning="1: a query sees no later keys"),
        ),
        build=attention,
        operations=lambda b, n, m, d, **_: 4 * b * n * m * d,
        baseline=attended,
    ),
)
