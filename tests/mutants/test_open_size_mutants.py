"""Recipes with sizes that are known at run time only, changed before the kernel is made: too few tiles, parts or steps, digits by
another size, elements of another row. What is still proven computes the same at every size."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import islice

import pytest
from coverage_mutations import CHANGES, mutants, opened

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.pipeline import Applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import integral_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
FEW = 1
"""Mutants of a kind in `make test`."""


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_proven_of_open_sizes_is_equal(name: str) -> None:
    settings, sizes = PROGRAMS[name]
    session, done = opened(name, settings)
    named = signature(done.payload)
    given = replace(named, arguments=tuple(replace(a, shape=sizes[a.name]) for a in named.arguments))
    inputs = integral_inputs(given, 3, seed=1)
    expected = reference(done.payload, named.entry, inputs)
    chosen = random.Random(name)
    found: dict[str, int] = {}
    made = (mutants(session, {what: change}, chosen) for what, change in OPEN_CHANGES.items())
    some = (each for few in made for each in islice(few, None if SOAK else FEW))
    for where, mutant in [("", session.fork(unproven=True)), *some]:
        try:
            mutant.run()
            one = planned(Applied(done.recipe, done.payload, mutant))
            result = run_plan(one.plan, SimDevice(), inputs, text=one.applied.text)
        except WeftError:
            assert where
            continue
        said = [line for step in mutant.steps for line in step.remarks if line.startswith("combination ")]
        proven = any(" once (" in line for line in said) and all(line.startswith("combination proven") for line in said)
        equal = compare(named, result.outputs, expected).ok and not result.faults
        assert equal or not proven, f"{where}: proven, and other values: {said}"
        assert where or (equal and proven), said
        found[where.partition(":")[0]] = found.get(where.partition(":")[0], 0) + (not proven and not equal)
    assert any(found.values()), found
