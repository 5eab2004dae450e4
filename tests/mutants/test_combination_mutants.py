"""Mutants of kernels whose threads combine what they have reduced: what makes another number is no race, and the proof finds it.

Each of them is judged by the proof, and by the simulator: what races, faults or comes out otherwise than the payload on small whole
numbers has to be refused. What the proof refuses alone is of a kind that changes no number: an extreme or bits combined twice, an
identity that no term is beyond, a set that is stated otherwise.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from combination_mutations import SITES, mutants
from judging import scheduled
from mutations import context

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.pipeline import Planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.host.host import make_plan
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ

ROWS = """\
func.func @f(%x: tensor<6xSIZExi32>) -> tensor<6xi32> {
  %c = arith.constant BEGIN : i32
  %e = tensor.empty() : tensor<6xi32>
  %s = linalg.fill ins(%c : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6xSIZExi32>) outs(%s : tensor<6xi32>) {
  ^bb0(%v: i32, %o: i32):
    %u = COMBINE %o, %v : i32
    linalg.yield %u : i32
  } -> tensor<6xi32>
  return %r : tensor<6xi32>
}
"""
PLACES = """\
func.func @f(%x: tensor<6xSIZExf32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6xf32>
  %ei = tensor.empty() : tensor<6xi32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %si = linalg.fill ins(%zero : i32) outs(%ei : tensor<6xi32>) -> tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6xSIZExf32>) outs(%s, %si : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpf ogt, %a, %best : f32
    %v = arith.select %c, %a, %best : f32
    %w = arith.select %c, %k, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xi32>
}
"""
SCAN = """\
func.func @f(%x: tensor<6xSIZExi32>) -> (tensor<6xi32>, tensor<6xSIZExi32>) {
  %c = arith.constant 2 : i32
  %e = tensor.empty() : tensor<6xi32>
  %f = tensor.empty() : tensor<6xSIZExi32>
  %s = linalg.fill ins(%c : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6xSIZExi32>) outs(%s, %f : tensor<6xi32>, tensor<6xSIZExi32>) {
  ^bb0(%a: i32, %o: i32, %old: i32):
    %u = arith.addi %o, %a : i32
    linalg.yield %u, %u : i32, i32
  } -> (tensor<6xi32>, tensor<6xSIZExi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xSIZExi32>
}
"""
LOOP = """\
func.func @f(%x: memref<6xSIZExi32>, %y: memref<6xi32>) {
  %c = arith.constant 0 : i32
  affine.for %i = 0 to 6 {
    %s = affine.for %j = 0 to SIZE iter_args(%o = %c) -> (i32) {
      %v = affine.load %x[%i, %j] : memref<6xSIZExi32>
      %u = arith.addi %o, %v : i32
      affine.yield %u : i32
    }
    affine.store %s, %y[%i] : memref<6xi32>
  }
  return
}
"""
START = "let g = match linalg.generic\nlet fills = match* linalg.fill\n"
FUSE = "foreach init in fills {{\nfuse init into {}\n}}\n"
END = "insert-barriers\nlaunch t"
SPACES = {
    "block": f"let (t, o) = tile g [1]\n{FUSE.format('t')}map t to blocks(x)\nmap o to threads(x: 96) cyclic\n",
    "several rows": f"let (t, o) = tile g [2]\n{FUSE.format('t')}map t to blocks(x)\nmap o to threads(x: 64) cyclic\n",
    "lanes": f"let (t, o) = tile g [2]\n{FUSE.format('t')}map t to blocks(x)\nlet (w, p) = tile o [1]\n{FUSE.format('w')}"
             "map w to warps(x)\nmap p to lanes cyclic\n",
}  # fmt: skip
PARTLY = {
    "rows of lanes": f"let (t, o) = tile g [4]\n{FUSE.format('t')}map t to blocks(x)\nlet (w, p) = tile o [1]\n{FUSE.format('w')}"
                     "map w to lanes(y: 4) cyclic\nmap p to lanes(x: 8) cyclic\n",
}  # fmt: skip
ONE = {
    "sum": ROWS.replace("BEGIN", "0").replace("COMBINE", "arith.addi"),
    "xor": ROWS.replace("BEGIN", "0").replace("COMBINE", "arith.xori"),
    "largest": ROWS.replace("BEGIN", str(-(2**31))).replace("COMBINE", "arith.maxsi"),
}
LOOPS = "let t = match affine.for #0\nlet o = match affine.for #1\n"
OF_LOOPS = {
    "block": f"{LOOPS}map t to blocks(x)\nmap o to threads(x: 96) cyclic\n",
    "lanes": f"{LOOPS}let (t, w) = tile t [4]\nmap t to blocks(x)\nmap w to warps(x)\nmap o to lanes cyclic\n",
}
"""The same, of a loop of the payload."""
IDEMPOTENT = ("largest", "places")
"""What is combined twice changes nothing. (Nor does an identity of exclusive ors that an even number of threads has.)"""


@dataclass(frozen=True)
class Right:
    """A right program, and what comes out of it."""

    name: str
    made: Planned
    signature: Any
    runs: tuple[tuple[dict[str, Any], dict[str, Any]], ...]


@cache
def right(name: str, space: str, folder: Path) -> Right:
    """A payload under a schedule."""
    text = {**ONE, "places": PLACES, "scan": SCAN, "loop": LOOP}[name].replace("SIZE", "75")
    made = scheduled(text, (OF_LOOPS[space] if name == "loop" else START + {**SPACES, **PARTLY}[space]) + END, folder)
    signature = functions.signature(made.applied.payload, made.plan.entry)
    runs = []
    for seed in range(3):
        numbers, like = np.random.default_rng(seed), random_inputs(signature, 1)
        inputs = {name: numbers.integers(-9, 10, array.shape).astype(array.dtype) for name, array in like.items()}
        runs.append((inputs, reference(made.applied.payload, made.plan.entry, dict(inputs))))
    return Right(name, made, signature, tuple(runs))


def proof(text: str) -> set[str]:
    """The codes of what is refused, or not proven; `assumed` for a combination that is not followed."""
    found = {d.code for d in verify_source(Source("module.mlir", text)).diagnostics}
    module = mlir.parse(text, context())
    states = {one.state for use in kernel_uses(module) for one in model_of(use).combined}
    return found | (states & {"assumed"})


def simulated(one: Right, text: str) -> set[str]:
    """What the simulator finds; `values` where another number comes out."""
    said = set[str]()
    for inputs, expected in one.runs:
        try:
            ran = run_plan(make_plan(mlir.parse(text, context())), SimDevice(), inputs, text=text)
        except WeftError:
            return {"refused"}
        said |= {found.kind for found in (*(ran.races or ()), *(ran.faults or ()))}
        said |= set() if compare(one.signature, ran.outputs, expected).ok else {"values"}
    return said


def judged(one: Right, kind: str, r: random.Random, most: int, counts: Counter[str]) -> None:
    """The proof finds what the simulator finds; and it finds nothing else, but where no number changes."""
    for mutant in mutants(one.made.applied.text, kind, r, most):
        found, seen = proof(mutant.text), simulated(one, mutant.text)
        shown = f"{one.name}: {mutant.what}: the proof {found}, the simulator {seen}\n{mutant.text}"
        counts[f"{kind}: {'both' if found and seen else 'proof' if found else 'simulator' if seen else 'equal'}"] += 1
        assert found or not seen, shown
        alone = kind == "participants" or one.name in IDEMPOTENT or (kind, one.name) == ("identity", "xor")
        assert seen or not found or alone or "assumed" in found, shown


PROGRAMS = [(name, space) for name in (*ONE, "places", "scan") for space in SPACES] + [
    *((name, space) for name in (*ONE, "places") for space in PARTLY), *(("loop", space) for space in OF_LOOPS)
]


@pytest.mark.parametrize("kind", SITES)
def test_mutants_of_combinations(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of two programs or more one mutant each; in a soak of all of them many."""
    r, counts = random.Random(list(SITES).index(kind)), Counter[str]()
    for number, (name, space) in enumerate(PROGRAMS if SOAK else r.sample(PROGRAMS, len(PROGRAMS))):
        if not SOAK and number > 1 and counts:
            break
        judged(right(name, space, tmp_path_factory.getbasetemp()), kind, r, 30 if SOAK else 1, counts)
    print(dict(sorted(counts.items())))
    assert counts
