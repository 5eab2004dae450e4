"""Payloads that normalize rows, and schedules in which a row stays with a block or a warp from its one read to its one write."""

from __future__ import annotations

MAPS = "#whole = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (i)>\n#column = affine_map<(i, j) -> (j)>\n"


def softmax(m: int, n: int, kind: str = "f32") -> str:
    x, row = f"tensor<{m}x{n}x{kind}>", f"tensor<{m}x{kind}>"
    least = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}[kind]

    def over(name: str, given: str, other: str, body: str) -> str:
        return f"""\
  %{name} = linalg.generic {{indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}}
      ins(%{given}, %{other} : {x}, {row}) outs(%f : {x}) {{
  ^bb0(%a: {kind}, %b: {kind}, %o: {kind}):
{body}
    linalg.yield %r : {kind}
  }} -> {x}
"""

    return f"""{MAPS}func.func @softmax(%x: {x}) -> {x} {{
  %least = arith.constant {least} : {kind}
  %zero = arith.constant 0.0 : {kind}
  %e = tensor.empty() : {row}
  %f = tensor.empty() : {x}
  %m0 = linalg.fill ins(%least : {kind}) outs(%e : {row}) -> {row}
  %m = linalg.reduce {{ arith.maximumf }} ins(%x : {x}) outs(%m0 : {row}) dimensions = [1]
{over("p", "x", "m", f"    %d = arith.subf %a, %b : {kind}" + chr(10) + f"    %r = math.exp %d : {kind}")}\
  %s0 = linalg.fill ins(%zero : {kind}) outs(%e : {row}) -> {row}
  %s = linalg.reduce {{ arith.addf }} ins(%p : {x}) outs(%s0 : {row}) dimensions = [1]
{over("y", "p", "s", f"    %r = arith.divf %a, %b : {kind}")}\
  return %y : {x}
}}
"""


def layernorm(m: int, n: int, kind: str = "f32") -> str:
    x, row, column = f"tensor<{m}x{n}x{kind}>", f"tensor<{m}x{kind}>", f"tensor<{n}x{kind}>"
    return f"""{MAPS}func.func @layernorm(%x: {x}, %gamma: {column}, %beta: {column}) -> {x} {{
  %zero = arith.constant 0.0 : {kind}
  %n = arith.constant {n}.0 : {kind}
  %eps = arith.constant 1.0e-5 : {kind}
  %e = tensor.empty() : {row}
  %f = tensor.empty() : {x}
  %s0 = linalg.fill ins(%zero : {kind}) outs(%e : {row}) -> {row}
  %s = linalg.reduce {{ arith.addf }} ins(%x : {x}) outs(%s0 : {row}) dimensions = [1]
  %v = linalg.generic {{indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %s : {x}, {row}) outs(%s0 : {row}) {{
  ^bb0(%a: {kind}, %sum: {kind}, %b: {kind}):
    %mean = arith.divf %sum, %n : {kind}
    %d = arith.subf %a, %mean : {kind}
    %d2 = arith.mulf %d, %d : {kind}
    %r = arith.addf %d2, %b : {kind}
    linalg.yield %r : {kind}
  }} -> {row}
  %y = linalg.generic {{indexing_maps = [#whole, #row, #row, #column, #column, #whole], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s, %v, %gamma, %beta : {x}, {row}, {row}, {column}, {column}) outs(%f : {x}) {{
  ^bb0(%a: {kind}, %sum: {kind}, %var: {kind}, %g: {kind}, %be: {kind}, %o: {kind}):
    %mean = arith.divf %sum, %n : {kind}
    %d = arith.subf %a, %mean : {kind}
    %vn = arith.divf %var, %n : {kind}
    %ve = arith.addf %vn, %eps : {kind}
    %i = math.rsqrt %ve : {kind}
    %t = arith.mulf %d, %i : {kind}
    %u = arith.mulf %t, %g : {kind}
    %r = arith.addf %u, %be : {kind}
    linalg.yield %r : {kind}
  }} -> {x}
  return %y : {x}
}}
"""


PARTS = {
    "softmax": (
        {"largest": "linalg.reduce #0", "exp": "linalg.generic #0", "sum": "linalg.reduce #1", "last": "linalg.generic #1"},
        2,
    ),
    "layernorm": ({"sum": "linalg.reduce #0", "variance": "linalg.generic #0", "last": "linalg.generic #1"}, 1),
}


def scheduled(payload: str, rows: int, space: str, how: str) -> str:
    """The statements: blocks of so many rows; `space` is `lanes`, a warp for each row, or `threads(…)`, all of them for each."""
    ops, fills = PARTS[payload]
    first, *_ = ops
    lines = [f"let {name} = match {what}" for name, what in ops.items()]
    lines += [f"let f{n} = match linalg.fill #{n}" for n in range(fills)]
    inside = [*reversed(list(ops)[:-1])]
    fused = [*inside, *(f"f{n}" for n in range(fills))]
    lines += [f"let (blocks, row) = tile last [{rows}, _]", *(f"fuse {name} into blocks" for name in fused)]
    lines += ["map blocks to blocks(x)"]
    one = "row"
    if space == "lanes":
        lines += ["let (warps, one) = tile row [1, _]", *(f"fuse {name} into warps" for name in fused)]
        lines += ["map warps to warps(x)"]
        one = "one"
    lines += [f"promote-to-registers {first}.in0"]
    lines += [f"map {name} to {space} {how}" for name in (*list(ops)[:-1], one)]
    return "\n".join([*lines, "insert-barriers", "verify-sync", "launch blocks"])


PAYLOADS = {"softmax": softmax, "layernorm": layernorm}
