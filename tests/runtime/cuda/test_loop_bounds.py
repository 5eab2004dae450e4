"""The bounds of loops as the text has them: what decides nothing is left out, a loop of one iteration at most is an `if`, and each
iteration is done as before."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_cases import emit_text
from native import run_native

KERNEL = """gpu.module @k {{
  gpu.func @marks(%n: index, %out: memref<16xi32>) kernel attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : index
    %low = arith.constant {low} : index
    %step = arith.constant {step} : index
    %end = {end}
    scf.for %i = %low to %end step %step {{
      %at = arith.addi %i, %two : index
      memref.store %one, %out[%at] : memref<16xi32>
    }}
    gpu.return
  }}
}}
"""
CLAMPED = "affine.max affine_map<()[n] -> (0, {})>()[%n]"
LEAST = "affine.min affine_map<()[n] -> ({})>()[%n]"
CASES = {  # lower bound, step, upper bound, what it is for n, and what the text has
    "no less than none": (
        0,
        1,
        CLAMPED.format("n - 3"),
        lambda n: max(0, n - 3),
        "for (long long i = 0; i < arg0 - 3; ++i)",
    ),
    "from further on": (
        2,
        1,
        CLAMPED.format("n - 3"),
        lambda n: max(0, n - 3),
        "for (long long i = 2; i < arg0 - 3; ++i)",
    ),
    "by more than one": (
        0,
        4,
        CLAMPED.format("n - 3"),
        lambda n: max(0, n - 3),
        "for (long long i = 0; i < arg0 - 3; i += 4)",
    ),
    "from before it": (-2, 1, CLAMPED.format("n - 3"), lambda n: max(0, n - 3), "max(0"),
    "one": (0, 1, LEAST.format("n - 7, 1"), lambda n: min(n - 7, 1), "if (arg0 > 7)"),
    "one step": (0, 4, LEAST.format("n - 7, 4"), lambda n: min(n - 7, 4), "if (arg0 > 7)"),
    "one, not from 0": (3, 1, LEAST.format("n, 4"), lambda n: min(n, 4), "if (arg0 > 3)"),
    "two": (0, 1, LEAST.format("n - 7, 2"), lambda n: min(n - 7, 2), "for (long long i = 0; i < min(arg0 - 7, 2)"),
}


@pytest.mark.parametrize("case", CASES)
def test_iterations(case: str) -> None:
    low, step, end, of, shown = CASES[case]
    text = emit_text(KERNEL.format(low=low, step=step, end=end))
    assert shown in text.replace("LL", ""), text
    for n in range(14):
        out, wanted = np.zeros(16, np.int32), np.zeros(16, np.int32)
        wanted[[i + 2 for i in range(low, of(n), step)]] = 1
        run_native(text, "marks", [1], [1], [n, out])
        assert np.array_equal(out, wanted), (n, out)
