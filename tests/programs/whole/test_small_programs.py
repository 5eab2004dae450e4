"""Small programs that `weft:rest` runs, on the simulator and natively: each was once refused, or wrong on one of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from executors import expect_report

from weft import api
from weft.execution import run_applied
from weft.pipeline import applied
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.run.execution import RunOptions
from weft.runtime.simulator.device import SimDevice


@dataclass(frozen=True)
class Case:
    text: str
    sizes: dict[str, str] = field(default_factory=dict)


CASES = {
    # LLVM vectorizes a division under a condition wrongly, where its remainder is an index (`divide_one_by_one`).
    "an_open_size_divides_indices": Case(
        """\
func.func @f(%x: tensor<?x20xf32>) -> tensor<?x20x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x20xf32>
  %e = tensor.empty(%m, %m) : tensor<?x20x?xf32>
  %y = linalg.broadcast ins(%x : tensor<?x20xf32>) outs(%e : tensor<?x20x?xf32>) dimensions = [2]
  return %y : tensor<?x20x?xf32>
}
""",
        {"x.0": "12"},
    ),
    # The part of a result that is read may have a size that the function learns only after the loop that makes it.
    "a_later_size_takes_part_of_a_result": Case(
        """\
func.func @f(%x: tensor<?x20xf32>, %w: tensor<5x?xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x20xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x20xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %f = tensor.empty() : tensor<5xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<5xf32>) -> tensor<5xf32>
  %y = linalg.matvec ins(%w, %s : tensor<5x?xf32>, tensor<?xf32>) outs(%g : tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
""",
        {"x.0": "12", "w.1": "12"},
    ),
    # An elementwise op of a fill is one in the end: a generic without an input that holds its value.
    "two_ops_read_parts_of_what_becomes_a_fill": Case(
        """\
func.func @f(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<4x3xf32>) {
  %c = arith.constant -0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %h = linalg.fill ins(%c : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = linalg.abs ins(%h : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %b = linalg.abs ins(%a : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = tensor.empty() : tensor<3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%b : tensor<3x4xf32>) outs(%z : tensor<3xf32>) dimensions = [1]
  %w = linalg.sub ins(%b, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %t = tensor.empty() : tensor<4x3xf32>
  %y = linalg.transpose ins(%w : tensor<3x4xf32>) outs(%t : tensor<4x3xf32>) permutation = [1, 0]
  return %s, %y : tensor<3xf32>, tensor<4x3xf32>
}
"""
    ),
    # What an op only reads of a fill stays in memory: within a block no thread would fill it.
    "the_threads_of_a_block_read_a_fill": Case(
        """\
func.func @f(%x: tensor<70xf32>) -> (tensor<3xf32>, tensor<3x70xf32>) {
  %c = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x70xf32>
  %a = linalg.fill ins(%c : f32) outs(%e : tensor<3x70xf32>) -> tensor<3x70xf32>
  %r = tensor.empty() : tensor<3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.matvec ins(%a, %x : tensor<3x70xf32>, tensor<70xf32>) outs(%z : tensor<3xf32>) -> tensor<3xf32>
  return %y, %a : tensor<3xf32>, tensor<3x70xf32>
}
"""
    ),
    # Upstream crashes where a function returns one buffer twice (`_separate_results`).
    "two_results_are_reshapes_of_one_tensor": Case(
        """\
func.func @f(%x: tensor<9x4xf32>, %y: tensor<3x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4x4xf32>, tensor<3x4xf32>) {
  %v = tensor.concat dim(0) %x, %y : (tensor<9x4xf32>, tensor<3x4xf32>) -> tensor<12x4xf32>
  %a = tensor.expand_shape %v [[0, 1], [2]] output_shape [3, 4, 4] : tensor<12x4xf32> into tensor<3x4x4xf32>
  %b = tensor.expand_shape %v [[0, 1], [2]] output_shape [3, 4, 4] : tensor<12x4xf32> into tensor<3x4x4xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %t = linalg.tanh ins(%y : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %a, %b, %t : tensor<3x4x4xf32>, tensor<3x4x4xf32>, tensor<3x4xf32>
}
"""
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_small_program_runs_by_rest_alone(name: str) -> None:
    case = CASES[name]
    done = applied(api.load(None, payload=case.text))
    assert done.unproven == []
    for device in (SimDevice(), CpuDevice()):
        report = run_applied(done, None, RunOptions(device.target, 1, sizes=case.sizes), device).report
        expect_report(report, case.text)
