"""A launch that would be simulated for hours is refused, with its grid and a way out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import DEFAULT, Budget, SimKernel, seconds_allowed, too_long

KERNEL = """
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xf32>
    gpu.return
  }
}
"""


def kernel() -> SimKernel:
    module = mlir.parse(KERNEL, mlir.context())
    return SimKernel(next(mlir.operations(module.operation, "gpu.func")))


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_an_absurd_grid_is_refused_within_the_probe(order) -> None:
    array = np.zeros(64, np.float32)
    with pytest.raises(WeftError, match=r"W0760: kernel `k`: its grid of 2000000000 × 1 × 1 blocks would be") as caught:
        kernel().launch((2_000_000_000, 1, 1), (64, 1, 1), [array], order=order, budget=Budget(5, probe=0.05))
    assert caught.value.diagnostics[0].notes[0].startswith("2000000000 blocks of 64 threads; a simulated launch may")


def test_without_a_limit_and_within_one_it_runs() -> None:
    for budget in (None, Budget(math.inf, probe=0), Budget(1e9, probe=0)):
        report = kernel().launch((4096, 1, 1), (64, 1, 1), [np.zeros(64, np.float32)], budget=budget)
        assert not report.races and not report.faults


def test_the_last_batch_is_never_refused() -> None:
    report = kernel().launch((1, 1, 1), (64, 1, 1), [np.zeros(64, np.float32)], budget=Budget(1e-9, probe=0))
    assert not report.faults


@pytest.mark.parametrize(("text", "seconds"), [("", DEFAULT), ("30", 30), ("0", math.inf), ("1e3", 1000)])
def test_the_limit_comes_from_the_environment(text: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_SIM_SECONDS", text)
    assert seconds_allowed() == seconds


@pytest.mark.parametrize("text", ["-1", "soon", "nan"])
def test_a_limit_that_is_no_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_SIM_SECONDS", text)
    with pytest.raises(WeftError, match="W0760"):
        seconds_allowed()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.5, "0.5 seconds"), (90, "90 seconds"), (3600, "60 minutes"), (90_000, "25 hours")]
)
def test_durations_read_well(seconds: float, words: str) -> None:
    assert f"for about {words}" in str(too_long("k", (1, 1, 1), (1, 1, 1), seconds, 1))


LOOPS = """
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1000000 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %OUTER step %c1 {
      scf.for %j = %c0 to %INNER step %c1 {
        %v = memref.load %a[%t] : memref<64xf32>
      }
    }
    gpu.return
  }
}
"""


@pytest.mark.parametrize(("outer", "inner"), [("c1", "n"), ("n", "c1"), ("n", "t"), ("n", "c0")])
def test_loops_within_one_batch_are_ended_too(outer: str, inner: str) -> None:
    module = mlir.parse(LOOPS.replace("OUTER", outer).replace("INNER", inner), mlir.context())
    made = SimKernel(next(mlir.operations(module.operation, "gpu.func")))
    with pytest.raises(WeftError, match=r"W0760: kernel `k`: loops in .* have been simulated for 0\.05 seconds without an end"):
        made.launch((1, 1, 1), (64, 1, 1), [np.zeros(64, np.float32)], budget=Budget(0.05))
