"""The parameter `rounded = 1`: a result in half precision from sums in f32."""

from __future__ import annotations

from .builder import BuilderParameter, Misfit, Value

HALVES = ("f16", "bf16")

ROUNDED = BuilderParameter(
    "rounded", "int", 0, 0, domain=(0, 1), meaning="1: the result has the operands' type, f16 or bf16"
)


def misfit(type: Value, rounded: Value, **_: Value) -> Misfit | None:
    """The inconsistency of a rounded result with a type that is not half precision."""
    if not rounded or type in HALVES:
        return None
    reason = f"sums of products of {type} are not rounded to it"
    return Misfit(("rounded", "type"), reason, f"`rounded = 1` goes with {' and '.join(HALVES)}")


def rounding(value: str, result: str, rank: int, sums: str, type: str, tensors: tuple[str, str], sizes: str) -> str:
    """Lines that round `%value` to `%result`.

    Args:
        rank: the rank of both.
        sums, type: the element types of `%value` and `%result`.
        tensors: their tensor types.
        sizes: the operands of a `tensor.empty` of their shape.
    """
    all = ", ".join(f"d{axis}" for axis in range(rank))
    parallel = ", ".join(['"parallel"'] * rank)
    return f"""\
  %place = tensor.empty({sizes}) : {tensors[1]}
  %{result} = linalg.generic {{indexing_maps = [affine_map<({all}) -> ({all})>, affine_map<({all}) -> ({all})>],
      iterator_types = [{parallel}]}} ins(%{value} : {tensors[0]}) outs(%place : {tensors[1]})
      attrs = {{weft.name = "rounded"}} {{
  ^bb0(%sum: {sums}, %out: {type}):
    %rounded = arith.truncf %sum : {sums} to {type}
    linalg.yield %rounded : {type}
  }} -> {tensors[1]}
"""
