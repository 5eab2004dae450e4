"""`payload matmul(m, n, k, type, rounded)`: C = A·B on tensors: a `linalg.fill` with zero, a
`linalg.matmul` and, if C has the operands' type, a rounding."""

from __future__ import annotations

from ..builder import Builder, BuilderParameter, Value, named_sizes, sizes_at_run_time, tensor
from ..rounded import ROUNDED, misfit, rounding

ACCUMULATOR = {
    "f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "f8E4M3FN": "f32", "f8E5M2": "f32", "i8": "i32", "i32": "i32",
    "i64": "i64",
}  # fmt: skip
"""Element type of the operands → of the result. Half precision and bytes accumulate in a wider
type, as in tensor cores."""


def matmul(m: Value, n: Value, k: Value, type: str, rounded: int = 0) -> str:
    """The MLIR text of an m×k by k×n product with operands, and if `rounded` also a result, of
    element type `type`."""
    accumulator = ACCUMULATOR[type]
    zero = "0.0" if accumulator.startswith("f") else "0"
    a, b, c = tensor(type, m, k), tensor(type, k, n), tensor(accumulator, m, n)
    result = tensor(type, m, n) if rounded else c
    sizes, name = named_sizes(m=m, n=n), "sums" if rounded else "C"
    last = rounding(name, "C", 2, accumulator, type, (c, result), sizes) if rounded else ""
    return f"""\
func.func @matmul(%A: {a} {{weft.name = "A"}}, %B: {b} {{weft.name = "B"}}) -> ({result} {{weft.name = "C"}}) {{
{sizes_at_run_time((m, "m", "A", 0, a), (n, "n", "B", 1, b))}\
  %zero = arith.constant {zero} : {accumulator}
  %empty = tensor.empty({sizes}) : {c}
  %init = linalg.fill {{weft.name = "init"}} ins(%zero : {accumulator}) outs(%empty : {c}) -> {c}
  %{name} = linalg.matmul {{weft.name = "product"}} ins(%A, %B : {a}, {b}) outs(%init : {c}) -> {c}
{last}\
  return %C : {result}
}}
"""


BUILDERS = (
    Builder(
        "matmul",
        "C = A·B, A of m×k, B of k×n",
        (
            BuilderParameter("m", "int", 512, meaning="rows of A and C", axis="A.0"),
            BuilderParameter("n", "int", 512, meaning="columns of B and C", axis="B.1"),
            BuilderParameter("k", "int", 512, meaning="columns of A, rows of B", axis="A.1"),
            BuilderParameter("type", "type", "f32", domain=tuple(ACCUMULATOR), meaning="element type of A and B"),
            ROUNDED,
        ),
        build=matmul,
        operations=lambda m, n, k, **_: 2 * m * n * k,
        baseline=lambda xp, arrays, **_: xp.matmul(arrays["A"], arrays["B"]),
        misfit=misfit,
    ),
)
