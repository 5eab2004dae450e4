"""The matrix product that a convolution becomes, between its operands as matrices and its result as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import prod

from ...ir.mlir import ir, linalg, producer, tensor
from ...ir.structured import body_of, copy_marks, element_type, extents_of, generic, shape_of, yielded
from ...padding import gathers
from ...padding.gathers import clone_body
from .image import Source, collapsed, operand
from .problem import Problem


def product(op: ir.Operation, problem: Problem, source: Source) -> tuple[ir.Operation, ir.Value]:
    """Make the product in front of the convolution `op`; return it and its result in the convolution's shape."""
    image = operand(problem, source, element_type(op.operands[problem.image]))
    kernel = _filter(op, problem)
    start = matrix(op.operands[2], runs(problem))
    inputs = [image, kernel] if problem.image_is_left else [kernel, image]
    mine = (problem.image_groups, problem.filter_groups)
    order = mine if problem.image_is_left else mine[::-1]
    maps = [_map(len(problem.groups), groups) for groups in (*order, problem.result_groups)]
    plain = _is_plain(problem, maps) and _adds_products(op)
    made = (
        linalg.matmul(*inputs, outs=[start]).owner.operation
        if plain
        else _contraction(op, problem, inputs, start, maps)
    )
    return made, expanded(made.results[0], shape_of(op.results[0]), runs(problem))


def runs(problem: Problem) -> list[list[int]]:
    """The result's axes by dimension of the product."""
    numbers = count()
    return [[next(numbers) for _ in problem.groups[g].dimensions] for g in problem.result_groups]


def _filter(op: ir.Operation, problem: Problem) -> ir.Value:
    numbers = count()
    together = [[next(numbers) for _ in problem.groups[g].dimensions] for g in problem.filter_groups]
    return collapsed(op.operands[problem.filter], together)


def matrix(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """What the product starts with: a fill of its own shape, the same place where there is nothing yet, or a view of what is."""
    owner = producer(value)
    shape = [prod(extents_of(value)[a] for a in axes) for axes in together]
    if owner is not None and owner.name == "tensor.empty":
        return gathers.empty(shape, element_type(value))
    if owner is not None and owner.name == "linalg.fill":
        made = linalg.fill(owner.operands[0], outs=[gathers.empty(shape, element_type(value))])
        take_marks(owner, made.owner.operation)
        return made
    return collapsed(value, together)


def take_marks(old: ir.Operation, new: ir.Operation) -> None:
    """Handles of `old` name `new` from now on."""
    copy_marks(old, new)
    for name in [n for n in old.attributes if n.startswith("weft.")]:
        del old.attributes[name]


def expanded(value: ir.Value, shape: Sequence[int | None], together: Sequence[Sequence[int]]) -> ir.Value:
    """The product's result in the shape that the convolution's has."""
    if all(len(axes) == 1 for axes in together):
        return value
    whole = [n or 0 for n in shape]
    kind = ir.RankedTensorType.get(whole, element_type(value))
    return tensor.ExpandShapeOp(kind, value, [list(axes) for axes in together], [], whole).result


def _map(rank: int, groups: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(g) for g in groups])


def _is_plain(problem: Problem, maps: Sequence[ir.AffineMap]) -> bool:
    """Whether it is `linalg.matmul`: rows, columns, one sum, both operands row by row."""
    return len(problem.groups) == 3 and [str(m) for m in maps] == [
        "(d0, d1, d2) -> (d0, d2)",
        "(d0, d1, d2) -> (d2, d1)",
        "(d0, d1, d2) -> (d0, d1)",
    ]


_CONVERSIONS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.trunci", "arith.sitofp")
"""How `linalg.matmul` makes its inputs elements of the result's type."""


def _adds_products(op: ir.Operation) -> bool:
    """Whether the body is that of `linalg.matmul`: inputs, converted first where needed (as signed), multiplied, and added."""
    body, total = body_of(op), producer(yielded(op)[0])
    if total is None or total.name not in ("arith.addf", "arith.addi"):
        return False
    accumulator = body.arguments[2]
    term = producer(next((v for v in total.operands if v != accumulator), accumulator))
    if term is None or term.name not in ("arith.mulf", "arith.muli") or accumulator not in list(total.operands):
        return False
    converted = [(v, producer(v)) for v in term.operands]
    factors = {op.operands[0] if op is not None and op.name in _CONVERSIONS else v for v, op in converted}
    return factors == set(list(body.arguments)[:2])


def _contraction(
    op: ir.Operation, problem: Problem, inputs: Sequence[ir.Value], start: ir.Value, maps: Sequence[ir.AffineMap]
) -> ir.Operation:
    """A generic with the convolution's own body."""
    iterators = ["reduction" if g.side == "sum" else "parallel" for g in problem.groups]

    def body(own: list[ir.Value]) -> list[ir.Value]:
        exchanged = (problem.image == 0) != problem.image_is_left
        return clone_body(body_of(op), [*own[1::-1], own[2]] if exchanged else own, [])

    return generic(inputs, [start], maps, iterators, body)
