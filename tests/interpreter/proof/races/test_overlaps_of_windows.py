"""Windows of one buffer that an op reads and writes: W0396 exactly where two iterations share an element, judged by enumeration.

40 ops in a test run, 12,000 in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from contexts import one_context
from random_windows import Windows

from weft.interpreter.ir import mlir
from weft.interpreter.proof.overlaps import apart, overlap

OPS = 3000 if "WEFT_SOAK" in os.environ else 10


@pytest.mark.parametrize("symbolic", [False, True])
def test_elements_that_two_iterations_share_are_found(symbolic: bool) -> None:
    counts: Counter[bool] = Counter()
    for seed in range(OPS):
        windows = Windows(seed, symbolic)
        where = f"seed {seed}\n{windows.text}"
        module = mlir.parse(windows.text, one_context())
        op = next(mlir.operations(module.operation, "linalg.generic"))
        found, expected = overlap(op), windows.shared()
        assert (found is not None) == bool(expected), f"{found}: {where}"
        if found is not None:
            assert (*found.iterations, found.element) in expected, f"{found} is no example: {where}"
        counts[found is not None] += 1
    assert min(counts[True], counts[False]) > (OPS // 5 if OPS > 20 else 0), counts


@pytest.mark.parametrize("symbolic", [False, True])
def test_windows_of_different_iterations_are_apart(symbolic: bool) -> None:
    counts: Counter[bool] = Counter()
    for seed in range(OPS, 2 * OPS):
        windows = Windows(seed, symbolic)
        module = mlir.parse(windows.text, one_context())
        op = next(mlir.operations(module.operation, "linalg.generic"))
        loops = [around for around in mlir.ancestors(op) if around.name in ("scf.for", "scf.forall")]
        found = apart(op.operands[0], op.operands[1], loops[-1] if loops else None)
        assert found != windows.meet(), f"seed {seed}\n{windows.text}"
        counts[found] += 1
    assert min(counts[True], counts[False]) > (OPS // 10 if OPS > 20 else 0), counts
