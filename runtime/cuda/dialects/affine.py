"""affine: apply, min and max, with the division and remainder of affine expressions."""

from __future__ import annotations

import re
from functools import partial, reduce

from ....interpreter.ir.affine_maps import results_of
from ....interpreter.ir.mlir import ir
from ..kernel import KernelWriter
from ..registry import writes
from ..values.expression import Expr
from ..values.integers import INDEX, add, ceil_divide, extreme, floor_divide, literal, modulo, multiply


def _operate(kernel: KernelWriter, operator: str, a: Expr, b: Expr) -> Expr:
    match operator:
        case "add":
            return add(a, b)
        case "mul":
            return multiply(a, b)
        case "mod":
            return modulo(a, b, kernel.need)
        case "floordiv":
            return floor_divide(a, b, INDEX, kernel.need)
    return ceil_divide(a, b, INDEX, kernel.need)


def _results(kernel: KernelWriter, op: ir.Operation) -> list[Expr]:
    """Of the op's map; operands that it uses more than once are named."""
    map = ir.AffineMapAttr(op.attributes["map"]).value
    text = str(map).split("->", 1)[1]
    operands = []
    for number, value in enumerate(op.operands):
        letter = f"d{number}" if number < map.n_dims else f"s{number - map.n_dims}"
        repeated = len(re.findall(rf"\b{letter}\b", text)) > 1
        operands.append(kernel.atom(value, "idx") if repeated else kernel.expr(value))
    return results_of(map, operands, literal, partial(_operate, kernel))


@writes("affine.apply")
def apply(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.bind(op.results[0], _results(kernel, op)[0])


@writes("affine.min", "affine.max")
def extremes(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.bind(op.results[0], reduce(partial(extreme, op.name[-3:]), _results(kernel, op)))
