"""`payload softmax(m, n, type)` and related builders: functions of each row of a matrix, computed
in f32 also for half precision elements."""

from __future__ import annotations

from typing import Any

from ..builder import OPEN, Builder, BuilderParameter, Value, named_sizes, sizes_at_run_time, tensor

TYPES = ("f16", "bf16", "f32")
LEAST = "0xFF800000"
"""-inf."""
MAPS = """\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
"""
REDUCED, EACH = 'iterator_types = ["parallel", "reduction"]', 'iterator_types = ["parallel", "parallel"]'


def in_f32(name: str, value: str, type: str) -> str:
    """The line of a body that defines `%name`, the element `%value` in f32; empty for elements of
    f32."""
    return f"    %{name} = arith.extf %{value} : {type} to f32\n" if type != "f32" else ""


def yielded(value: str, type: str) -> str:
    """The end of a body that yields the f32 value `%value` as an element."""
    if type == "f32":
        return f"    linalg.yield %{value} : f32\n"
    return f"    %element = arith.truncf %{value} : f32 to {type}\n    linalg.yield %element : {type}\n"


def wide(value: str, type: str) -> str:
    """The name of an element in f32: that of `in_f32`, or the element's own if it is f32."""
    return value if type == "f32" else f"{value}_f32"


def opened(m: Value, n: Value, x: str) -> str:
    """The lines that read open sizes and define zero and the empty tensors: `%rows` with a value
    per row, `%whole` with all elements."""
    return f"""\
{sizes_at_run_time((m, "m", "X", 0, x), (n, "n", "X", 1, x))}\
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty({named_sizes(m=m)}) : {tensor("f32", m)}
  %whole = tensor.empty({named_sizes(m=m, n=n)}) : {x}
"""


def softmax(m: Value, n: Value, type: str) -> str:
    """The MLIR text: each row's largest element, the sum of exp(x - largest), and each term divided
    by that sum."""
    x, row, a = tensor(type, m, n), tensor("f32", m), wide("a", type)
    power = f"{in_f32('a_f32', 'a', type)}    %d = arith.subf %{a}, %most : f32\n    %p = math.exp %d : f32\n"
    return f"""\
{MAPS}\
func.func @softmax(%X: {x} {{weft.name = "X"}}) -> ({x} {{weft.name = "Y"}}) {{
{opened(m, n, x)}\
  %least = arith.constant {LEAST} : f32
  %one = arith.constant 1.0 : f32
  %m0 = linalg.fill {{weft.name = "m0"}} ins(%least : f32) outs(%rows : {row}) -> {row}
  %largest = linalg.generic {{indexing_maps = [#whole, #row], {REDUCED}}}
      ins(%X : {x}) outs(%m0 : {row}) attrs = {{weft.name = "largest"}} {{
  ^bb0(%a: {type}, %most: f32):
{in_f32("a_f32", "a", type)}\
    %r = arith.maximumf %{a}, %most : f32
    linalg.yield %r : f32
  }} -> {row}
  %s0 = linalg.fill {{weft.name = "s0"}} ins(%zero : f32) outs(%rows : {row}) -> {row}
  %sum = linalg.generic {{indexing_maps = [#whole, #row, #row], {REDUCED}}}
      ins(%X, %largest : {x}, {row}) outs(%s0 : {row}) attrs = {{weft.name = "sum"}} {{
  ^bb0(%a: {type}, %most: f32, %so_far: f32):
{power}\
    %r = arith.addf %so_far, %p : f32
    linalg.yield %r : f32
  }} -> {row}
  %Y = linalg.generic {{indexing_maps = [#whole, #row, #row, #whole], {EACH}}}
      ins(%X, %largest, %sum : {x}, {row}, {row}) outs(%whole : {x}) attrs = {{weft.name = "quotients"}} {{
  ^bb0(%a: {type}, %most: f32, %all: f32, %o: {type}):
{power}\
    %share = arith.divf %one, %all : f32
    %q = arith.mulf %p, %share : f32
{yielded("q", type)}\
  }} -> {x}
  return %Y : {x}
}}
"""


def counted(n: Value) -> str:
    """The lines that define the length of a row in f32, and the epsilon that is added to a
    variance."""
    eps = "  %eps = arith.constant 1.0e-5 : f32\n"
    if n != OPEN:
        return f"{eps}  %length = arith.constant {n}.0 : f32\n"
    return f"{eps}  %integer = arith.index_cast %n : index to i64\n  %length = arith.sitofp %integer : i64 to f32\n"


def normalized(m: Value, n: Value, type: str, rows: str, mean: str) -> str:
    """The last op: (x - mean) · 1 / sqrt(variance + eps) · gamma + beta for each element x.

    Args:
        rows: the SSA names of two values per row, from which the mean and the variance are
            computed.
        mean: the line of the body that computes `%mean` from `%first`, the first of them.
    """
    x, row, column = tensor(type, m, n), tensor("f32", m), tensor(type, n)
    return f"""\
  %Y = linalg.generic {{indexing_maps = [#whole, #row, #row, #column, #column, #whole], {EACH}}}
      ins(%X, {rows}, %gamma, %beta : {x}, {row}, {row}, {column}, {column}) outs(%whole : {x})
      attrs = {{weft.name = "normalized"}} {{
  ^bb0(%a: {type}, %first: f32, %deviation: f32, %g: {type}, %b: {type}, %o: {type}):
{mean}{in_f32("a_f32", "a", type)}{in_f32("g_f32", "g", type)}{in_f32("b_f32", "b", type)}\
    %d = arith.subf %{wide("a", type)}, %mean : f32
    %v = arith.divf %deviation, %length : f32
    %e = arith.addf %v, %eps : f32
    %i = math.rsqrt %e : f32
    %t = arith.mulf %d, %i : f32
    %u = arith.mulf %t, %{wide("g", type)} : f32
    %r = arith.addf %u, %{wide("b", type)} : f32
{yielded("r", type)}\
  }} -> {x}
  return %Y : {x}
}}
"""


def normalization(name: str, m: Value, n: Value, type: str) -> str:
    """The beginning of the text of a normalization."""
    x, column = tensor(type, m, n), tensor(type, n)
    arguments = [
        f'%{v}: {kind} {{weft.name = "{v.capitalize()}"}}'
        for v, kind in (("X", x), ("gamma", column), ("beta", column))
    ]
    return f"""\
{MAPS}\
func.func @{name}({", ".join(arguments)}) -> ({x} {{weft.name = "Y"}}) {{
{opened(m, n, x)}{counted(n)}\
  %s0 = linalg.fill {{weft.name = "s0"}} ins(%zero : f32) outs(%rows : {tensor("f32", m)}) -> {tensor("f32", m)}
"""


def layernorm(m: Value, n: Value, type: str) -> str:
    """The MLIR text: the sum of a row, the sum of (x - mean)², and the normalized elements."""
    x, row, a = tensor(type, m, n), tensor("f32", m), wide("a", type)
    mean = "    %mean = arith.divf %first, %length : f32\n"
    return f"""\
{normalization("layernorm", m, n, type)}\
  %sum = linalg.generic {{indexing_maps = [#whole, #row], {REDUCED}}}
      ins(%X : {x}) outs(%s0 : {row}) attrs = {{weft.name = "sum"}} {{
  ^bb0(%a: {type}, %so_far: f32):
{in_f32("a_f32", "a", type)}\
    %r = arith.addf %so_far, %{a} : f32
    linalg.yield %r : f32
  }} -> {row}
  %squares = linalg.generic {{indexing_maps = [#whole, #row, #row], {REDUCED}}}
      ins(%X, %sum : {x}, {row}) outs(%s0 : {row}) attrs = {{weft.name = "squares"}} {{
  ^bb0(%a: {type}, %first: f32, %so_far: f32):
{mean}{in_f32("a_f32", "a", type)}\
    %d = arith.subf %{a}, %mean : f32
    %d2 = arith.mulf %d, %d : f32
    %r = arith.addf %so_far, %d2 : f32
    linalg.yield %r : f32
  }} -> {row}
{normalized(m, n, type, "%sum, %squares", mean)}"""


def layernorm_welford(m: Value, n: Value, type: str) -> str:
    """The MLIR text with Welford's recurrence: count, mean and squared differences of a row in one
    reduction."""
    x, row, a = tensor(type, m, n), tensor("f32", m), wide("a", type)
    return f"""\
{normalization("layernorm_welford", m, n, type)}\
  %one = arith.constant 1.0 : f32
  %w:3 = linalg.generic {{indexing_maps = [#whole, #row, #row, #row], {REDUCED}}}
      ins(%X : {x}) outs(%s0, %s0, %s0 : {row}, {row}, {row}) attrs = {{weft.name = "moments"}} {{
  ^bb0(%a: {type}, %count: f32, %mean: f32, %so_far: f32):
{in_f32("a_f32", "a", type)}\
    %more = arith.addf %count, %one : f32
    %d = arith.subf %{a}, %mean : f32
    %share = arith.divf %one, %more : f32
    %step = arith.mulf %d, %share : f32
    %next = arith.addf %mean, %step : f32
    %after = arith.subf %{a}, %next : f32
    %d2 = arith.mulf %d, %after : f32
    %sum = arith.addf %so_far, %d2 : f32
    linalg.yield %more, %next, %sum : f32, f32, f32
  }} -> ({row}, {row}, {row})
{normalized(m, n, type, "%w#1, %w#2", "").replace("%first", "%mean")}"""


def argmax(m: Value, n: Value, type: str) -> str:
    """The MLIR text: each row's largest element and its index; of equal elements, the first."""
    x, best, place, a = tensor(type, m, n), tensor("f32", m), tensor("i32", m), wide("a", type)
    return f"""\
{MAPS}\
func.func @argmax(%X: {x} {{weft.name = "X"}}) -> ({best} {{weft.name = "largest"}}, {place} {{weft.name = "index"}}) {{
{sizes_at_run_time((m, "m", "X", 0, x))}\
  %least = arith.constant {LEAST} : f32
  %first = arith.constant 0 : i32
  %values = tensor.empty({named_sizes(m=m)}) : {best}
  %places = tensor.empty({named_sizes(m=m)}) : {place}
  %v0 = linalg.fill {{weft.name = "v0"}} ins(%least : f32) outs(%values : {best}) -> {best}
  %p0 = linalg.fill {{weft.name = "p0"}} ins(%first : i32) outs(%places : {place}) -> {place}
  %r:2 = linalg.generic {{indexing_maps = [#whole, #row, #row], {REDUCED}}}
      ins(%X : {x}) outs(%v0, %p0 : {best}, {place}) attrs = {{weft.name = "argmax"}} {{
  ^bb0(%a: {type}, %best: f32, %at: i32):
{in_f32("a_f32", "a", type)}\
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %{a}, %best : f32
    %v = arith.select %more, %{a}, %best : f32
    %p = arith.select %more, %here, %at : i32
    linalg.yield %v, %p : f32, i32
  }} -> ({best}, {place})
  return %r#0, %r#1 : {best}, {place}
}}
"""


def total(n: Value, type: str) -> str:
    """The MLIR text: the sum of all elements, a tensor of rank 0."""
    x, y = tensor(type, n), tensor("f32")
    return f"""\
func.func @sum(%X: {x} {{weft.name = "X"}}) -> ({y} {{weft.name = "sum"}}) {{
  %zero = arith.constant 0.0 : f32
  %one = tensor.empty() : {y}
  %s0 = linalg.fill {{weft.name = "s0"}} ins(%zero : f32) outs(%one : {y}) -> {y}
  %sum = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}}
      ins(%X : {x}) outs(%s0 : {y}) attrs = {{weft.name = "sum"}} {{
  ^bb0(%a: {type}, %so_far: f32):
{in_f32("a_f32", "a", type)}\
    %r = arith.addf %so_far, %{wide("a", type)} : f32
    linalg.yield %r : f32
  }} -> {y}
  return %sum : {y}
}}
"""


def softmaxed(xp: Any, arrays: Any, **_: Any) -> Any:
    """Softmax with an array library."""
    x = arrays["X"]
    powers = xp.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def layernormed(xp: Any, arrays: Any, **_: Any) -> Any:
    """Layer norm with an array library."""
    x = arrays["X"]
    from_mean = x - x.mean(1, keepdims=True)
    return from_mean / xp.sqrt((from_mean**2).mean(1, keepdims=True) + 1e-5) * arrays["Gamma"] + arrays["Beta"]


def parameters(type: str, **sizes: int) -> tuple[BuilderParameter, ...]:
    """The parameters for the sizes of X and its element type. `type`: the description of the
    latter."""
    meaning = {"m": "rows", "n": "elements of a row"} if "m" in sizes else {"n": "elements"}
    axes = [
        BuilderParameter(name, "int", size, meaning=meaning[name], axis=f"X.{axis}")
        for axis, (name, size) in enumerate(sizes.items())
    ]
    return (*axes, BuilderParameter("type", "type", "f32", domain=TYPES, meaning=f"element type of {type}"))


BUILDERS = (
    Builder(
        "softmax",
        "Y = softmax of each row of X, m rows of n",
        parameters("X and Y", m=64, n=4096),
        build=softmax,
        operations=lambda m, n, **_: 5 * m * n,
        baseline=softmaxed,
    ),
    Builder(
        "layernorm",
        "Y = layer norm of each row of X, m rows of n, by its mean and then its variance",
        parameters("X, Gamma, Beta and Y", m=64, n=4096),
        build=layernorm,
        operations=lambda m, n, **_: 8 * m * n,
        baseline=layernormed,
    ),
    Builder(
        "layernorm_welford",
        "the same by Welford's recurrence, in one pass",
        parameters("X, Gamma, Beta and Y", m=64, n=4096),
        build=layernorm_welford,
        operations=lambda m, n, **_: 11 * m * n,
        baseline=layernormed,
    ),
    Builder(
        "argmax",
        "the largest element of each row of X, and the index of the first that is as large",
        parameters("X", m=64, n=4096),
        build=argmax,
        operations=lambda m, n, **_: m * n,
        baseline=lambda xp, arrays, **_: (arrays["X"].max(1), arrays["X"].argmax(1)),
    ),
    Builder(
        "sum",
        "the sum of all n elements of X, a single number",
        parameters("X", n=1_000_000),
        build=total,
        operations=lambda n, **_: n,
        baseline=lambda xp, arrays, **_: arrays["X"].sum(),
    ),
)
