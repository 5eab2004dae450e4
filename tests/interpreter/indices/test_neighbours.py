"""Neighbours of an index: what a loop carries, and is made of what it carries, is not taken for the same of all."""

from __future__ import annotations

import pytest
from contexts import one_context

from weft.interpreter.indices.neighbours import Neighbours
from weft.interpreter.ir.mlir import ir, operations, parse

TEXT = """
func.func @f(%i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %d = arith.addi %a, %c1 : index
    %e = arith.addi %d, %WHAT : index
    scf.yield %e : index
  }
  return
}
"""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
@pytest.mark.parametrize(("what", "varies"), [("i", True), ("n", False)])
def test_values_that_go_round(what: str, varies: bool, order: tuple[int, ...]) -> None:
    module = parse(TEXT.replace("WHAT", what), one_context())
    function, loop = (next(operations(module.operation, name)) for name in ("func.func", "scf.for"))
    carried = loop.regions[0].blocks[0].arguments[1]
    values: list[ir.Value] = [carried, *(op.results[0] for op in operations(loop, "arith.addi"))]
    near = Neighbours([function.regions[0].blocks[0].arguments[0]], 4)
    found = {number: near.varies(values[number]) for number in order}
    assert set(found.values()) == {varies}
    assert all(near.steady(value) != varies for value in values)
