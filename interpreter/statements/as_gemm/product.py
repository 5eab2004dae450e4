"""The matrix product that a convolution becomes, between its operands as matrices and its result as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import prod

from ...ir.cloning import clone_body
from ...ir.mlir import ir, linalg, made_by, tensor
from ...ir.structured import body_of, element_type, extents_of, generic, move_marks, shape_of
from ...padding import gathers
from ...padding.identities import combination
from .image import ImageSource, collapsed, operand
from .problem import Problem


def product(op: ir.Operation, problem: Problem, source: ImageSource) -> tuple[ir.Operation, ir.Value]:
    """Make the product in front of the convolution `op`; return it and its result in the convolution's shape."""
    image = operand(problem, source, element_type(op.operands[problem.image]))
    numbers = count()
    together = [[next(numbers) for _ in problem.groups[g].dimensions] for g in problem.filter_groups]
    kernel = collapsed(op.operands[problem.filter], together)
    start = matrix(op.operands[2], runs(problem))
    inputs = [image, kernel] if problem.image_is_left else [kernel, image]
    mine = (problem.image_groups, problem.filter_groups)
    order = mine if problem.image_is_left else mine[::-1]
    whole = ir.AffineMap.get_identity(len(problem.groups))
    maps = [whole.get_submap(list(groups)) for groups in (*order, problem.result_groups)]
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


def matrix(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """What the product starts with: a fill of its own shape, the same place where there is nothing yet, or a view of what is."""
    shape = [prod(extents_of(value)[a] for a in axes) for axes in together]
    fill = made_by(value, "linalg.fill")
    if fill is None and not gathers.is_empty(value):
        return collapsed(value, together)
    empty = gathers.empty(shape, element_type(value))
    if fill is None:
        return empty
    made = linalg.fill(fill.operands[0], outs=[empty])
    move_marks(fill, made.owner.operation)
    return made


def expanded(value: ir.Value, shape: Sequence[int | None], together: Sequence[Sequence[int]]) -> ir.Value:
    """The product's result in the shape that the convolution's has."""
    if all(len(axes) == 1 for axes in together):
        return value
    whole = [n or 0 for n in shape]
    kind = ir.RankedTensorType.get(whole, element_type(value))
    return tensor.ExpandShapeOp(kind, value, [list(axes) for axes in together], [], whole).result


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
    found = combination(op)
    term = None if found is None else made_by(found.term, "arith.mulf", "arith.muli")
    if found is None or term is None or found.combiner not in ("arith.addf", "arith.addi"):
        return False
    converted = [(v, made_by(v, *_CONVERSIONS)) for v in term.operands]
    return {v if op is None else op.operands[0] for v, op in converted} == set(list(body_of(op).arguments)[:2])


def _contraction(
    op: ir.Operation, problem: Problem, inputs: Sequence[ir.Value], start: ir.Value, maps: Sequence[ir.AffineMap]
) -> ir.Operation:
    """A generic with the convolution's own body."""
    iterators = ["reduction" if g.side == "sum" else "parallel" for g in problem.groups]

    def body(own: list[ir.Value]) -> list[ir.Value]:
        exchanged = (problem.image == 0) != problem.image_is_left
        return clone_body(body_of(op), [*own[1::-1], own[2]] if exchanged else own)

    return generic(inputs, [start], maps, iterators, body)
