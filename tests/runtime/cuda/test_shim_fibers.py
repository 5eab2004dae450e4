"""The two ways to switch between the shim's fibers do the same: values, live registers across barriers, divergence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from native import Mode, run_native

SHIM = Path(__file__).parent / "shim" / "fibers.h"
ROTATE = """\
extern "C" __global__ void rotate(const double* x, double* y, long long n) {
  __shared__ double s[1024];
  const long long t = threadIdx.x;
  double a = x[t], b = a * 2, c = a * 3, d = a * 5;
  long long e = t * 7, f = t * 11, g = t * 13;
  for (long long i = 0; i < n; ++i) {
    s[t] = a;
    __syncthreads();
    a = s[(t + 1) % blockDim.x];
    __syncthreads();
  }
  y[t] = a + b + c + d + e + f + g;
}
extern "C" __global__ void diverge(double* y) {
  if (threadIdx.x < 3) __syncthreads();
  y[threadIdx.x] = 1;
}
"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", ["fibers", "ucontext"])
def test_what_lives_across_a_barrier_is_kept(mode: Mode, reverse: bool) -> None:
    x, y, t = np.random.default_rng(0).random(1000), np.zeros(1000), np.arange(1000)
    result = run_native(ROTATE, "rotate", (2,), (1000,), [x, y, 37], mode, reverse=reverse)
    assert not result.diverged
    assert np.allclose(y, np.roll(x, -37) + x * 10 + t * 31, rtol=1e-14)


@pytest.mark.parametrize("mode", ["fibers", "ucontext"])
def test_divergence_is_noticed(mode: Mode) -> None:
    assert run_native(ROTATE, "diverge", (1,), (8,), [np.zeros(8)], mode).diverged


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_assembly_is_accepted(machine: str) -> None:
    """By LLVM's assembler where it is installed: a machine has a compiler for itself alone."""
    listings = [part.partition(')"')[0] for part in SHIM.read_text().split('asm(R"(')[1:]]
    assert len(listings) == 2 and "shim_swap:" in listings[0]
    if (tool := shutil.which("llvm-mc")) is not None:
        command = [tool, f"-triple={machine}-linux-gnu", "-filetype=obj", "-o", "/dev/null"]
        done = subprocess.run(command, input=listings[machine == "aarch64"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
