"""Recipes with sizes that are known at run time only, changed before the kernel is made: too few tiles, parts or steps, digits by
another size, elements of another row. What is still proven computes the same at every size."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from coverage_mutations import CHANGES, changing, copies, mutants, opened

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.session.session import Session
from weft.pipeline import Applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import integral_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
FEW = 2
"""Mutants of a program in `make test`."""


def _moved(op: ir.Operation, operand: int, by: int) -> bool:
    with mlir.ahead_of(op):
        constant = mlir.arith.ConstantOp(ir.IndexType.get(), by).result
        op.operands[operand] = mlir.arith.AddIOp(op.operands[operand], constant).result
    return True


def _is_open(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IndexType) and mlir.constant_of(value) is None


def _fewer(op: ir.Operation) -> bool:
    """The last tile, block, part or step is not there."""
    if op.name == "scf.for" and _is_open(op.operands[1]):
        return _moved(op, 1, -1)
    return op.name == "scf.forall" and len(op.operands) > 0 and _is_open(op.operands[0]) and _moved(op, 0, -1)


def _radix(op: ir.Operation) -> bool:
    """A number is taken apart by another size."""
    return op.name == "affine.delinearize_index" and len(op.operands) > 1 and _moved(op, len(op.operands) - 1, 1)


def _start(op: ir.Operation) -> bool:
    """A part of a tensor begins with the next row, or column."""
    sizes = [n for n, value in enumerate(op.operands) if n and _is_open(value)] if op.name == "memref.subview" else []
    return bool(sizes) and _moved(op, sizes[0], 1)


def _share(op: ir.Operation) -> bool:
    """A share of what processors take is shorter than it has to be."""
    if op.name != "affine.apply":
        return False
    mapping = ir.AffineMapAttr(op.attributes["map"]).value
    (result,) = mapping.results
    if not isinstance(result, ir.AffineCeilDivExpr):
        return False
    op.attributes["map"] = ir.AffineMapAttr.get(ir.AffineMap.get(mapping.n_dims, mapping.n_symbols, [
        ir.AffineExpr.get_floor_div(result.lhs, result.rhs)
    ]))  # fmt: skip
    return True


OPEN_CHANGES = {
    "a step fewer": _fewer, "another radix": _radix, "the next row": _start, "rounded down": _share, **CHANGES,
}  # fmt: skip
PROGRAMS = {
    "igemm": ({"n": "?", "h": "?", "w": "?", "c": "?", "k": "?"}, {"X": (2, 9, 11, 4), "W": (3, 3, 4, 8)}),
    "igemm_split_k": ({"n": "?", "h": "?", "w": "?", "c": "?"}, {"X": (2, 5, 7, 8), "W": (3, 3, 8, 64)}),
    "simt_split_k": ({"m": "?", "n": "?", "k": "?"}, {"A": (5, 132), "B": (132, 8)}),
}  # fmt: skip


OFTEN = ["simt_split_k"]


@pytest.mark.parametrize("name", PROGRAMS if SOAK else OFTEN)
def test_what_is_proven_of_open_sizes_is_equal(name: str) -> None:
    settings, sizes = PROGRAMS[name]
    session, done = opened(name, settings)
    found = expect_equal(session, done, [sizes], random.Random(name))
    assert found or not SOAK


def expect_equal(session: Session, done: Applied, sizes: Sequence[Mapping[str, tuple[int, ...]]], order: random.Random) -> int:
    """Of mutants, and of the session itself, what is proven is equal at all of some sizes of the arguments. Returns how many are
    neither."""
    named = signature(done.payload)
    given = [replace(named, arguments=tuple(replace(a, shape=each[a.name]) for a in named.arguments)) for each in sizes]
    inputs = [integral_inputs(each, 3, seed=1) for each in given]
    expected = [reference(done.payload, named.entry, each) for each in inputs]
    kinds = list(OPEN_CHANGES.items())
    order.shuffle(kinds)
    most = None if SOAK else 1
    made = ((*each, None) for what, change in kinds for each in islice(mutants(session, {what: change}, order), most))
    moved = copies(session)
    order.shuffle(moved)
    chosen = [*made, *moved] if SOAK else [*islice(made, FEW), *moved[:FEW]]
    found = 0
    for where, mutant, place in [("", session.fork(unproven=True), None), *chosen]:
        try:
            with changing(place):
                mutant.run()
            one = planned(Applied(done.recipe, done.payload, mutant))
            results = [run_plan(one.plan, SimDevice(), each, text=one.applied.text) for each in inputs]
        except (WeftError, LookupError):  # no place, or refused
            assert where
            continue
        said = [line for step in mutant.steps for line in step.remarks if line.startswith("combination ")]
        proven = any(" once (" in line for line in said) and all(line.startswith("combination proven") for line in said)
        proven = proven and not one.applied.unproven
        pairs = zip(results, expected, strict=True)
        equal = all(compare(named, result.outputs, wanted).ok for result, wanted in pairs)
        assert equal or not proven, f"{where}: proven, and other values: {said}"
        assert where or (equal and proven), said
        found += not proven and not equal
    return found


def reduction(kind: str, x: str, result: str, body: str, axes: str = "(d0)", iterators: str = '["parallel", "reduction"]') -> str:
    """A reduction of `x` into an argument."""
    return f"""
func.func @f(%x: tensor<{x}x{kind}>, %i: tensor<{result}x{kind}>) -> tensor<{result}x{kind}> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> {axes}>],
    iterator_types = {iterators}}} ins(%x : tensor<{x}x{kind}>) outs(%i : tensor<{result}x{kind}>) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %n = {body} %o, %a : {kind}
    linalg.yield %n : {kind}
  }} -> tensor<{result}x{kind}>
  return %r : tensor<{result}x{kind}>
}}"""


ROWS = """
func.func @f(%x: tensor<12x32x?xi32>, %i: tensor<12x32xi32>) -> tensor<12x32xi32> {
  %r = linalg.reduce {arith.ori} ins(%x : tensor<12x32x?xi32>) outs(%i : tensor<12x32xi32>) dimensions = [2]
  return %r : tensor<12x32xi32>
}"""
FILLED = """
func.func @f(%x: tensor<8x?xi1>) -> (tensor<8xi1>, tensor<8xi1>) {
  %yes = arith.constant true
  %e = tensor.empty() : tensor<8xi1>
  %i = linalg.fill ins(%yes : i1) outs(%e : tensor<8xi1>) -> tensor<8xi1>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
    affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x?xi1>) outs(%i, %i : tensor<8xi1>, tensor<8xi1>) {
  ^bb0(%a: i1, %o: i1, %p: i1):
    %n = arith.andi %o, %a : i1
    %m = arith.xori %p, %a : i1
    linalg.yield %n, %m : i1, i1
  } -> (tensor<8xi1>, tensor<8xi1>)
  return %r#0, %r#1 : tensor<8xi1>, tensor<8xi1>
}"""
CASES: dict[str, tuple[str, str, list[dict[str, tuple[int, ...]]]]] = {
    "written back in a loop of the reduction": (reduction("i32", "7x?", "7", "arith.maxsi"), """
  let t1 = tile g [1, _]
  map t1.loop to blocks(x)
  let t2 = tile t1.op [_, 16]
  let t3 = tile t2.op [5, _]
  map t3.loop to warps(x: 1) block-cyclic(2)
  map t3.op to lanes block-cyclic(2)
  insert-barriers
  launch t1.loop""", [{"x": (7, 0), "i": (7,)}, {"x": (7, 37), "i": (7,)}]),
    "copied by digits of a ragged tile": (ROWS, """
  let t1 = tile g [_, 5, _]
  map t1.loop to blocks(x)
  let t2 = tile t1.op [_, 8, _]
  map t2.loop to registers
  map t2.op to threads(x: 3) cyclic
  insert-barriers
  launch t1.loop""", [{"x": (12, 32, 0), "i": (12, 32)}, {"x": (12, 32, 3), "i": (12, 32)}]),
    "in rows that threads may not have": (reduction("i32", "?x64", "?", "arith.maxsi"), """
  let t1 = tile g [1, _]
  map t1.loop to threads(y: 4) block-cyclic(3)
  map t1.op to threads(x: 64) cyclic
  insert-barriers
  launch t1.loop""", [{"x": (0, 64), "i": (0,)}, {"x": (17, 64), "i": (17,)}]),
    "in blocks beside threads of another axis": (
        reduction("i32", "?x2", "2", "arith.subi", "(d1)", '["reduction", "parallel"]'), """
  let t1 = tile g [_, 5]
  map t1.loop to blocks(x: 8) cyclic
  let t2 = tile t1.op [_, 1]
  map t2.loop to threads(y: 4) cyclic
  map t2.op to threads(x: 16) block
  insert-barriers
  launch t1.loop""", [{"x": (0, 2), "i": (2,)}, {"x": (19, 2), "i": (2,)}]),
    "from copies of what a launch has left": (FILLED, """
  let fills = match* linalg.fill
  foreach q in fills {
    map q to grid(x)
    launch q
  }
  map g to threads(y: 4) cyclic
  insert-barriers
  launch g""", [{"x": (8, 0)}, {"x": (8, 9)}]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_open_reductions_that_are_proven_are_equal(name: str, tmp_path: Path) -> None:
    payload, lines, sizes = CASES[name]
    op = "reduce" if payload is ROWS else "generic"
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  let g = match linalg.{op}{lines}\n}}\n')
    session, done = opened(str(tmp_path / "s.weft"), {})
    expect_equal(session, done, sizes, random.Random(name))
