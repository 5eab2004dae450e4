"""Whole programs: `insert-barriers` leaves kernels that are race-free, and none of whose barriers can go."""

from __future__ import annotations

import pytest
from places import TESTS
from proven import expect_no_conflict
from scheduled import session_of

from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks

PROGRAMS = TESTS / "programs"

EXPECTED = {
    "batch_matmul": 2,
    "chain": 0,
    "conv1d": 1,
    "generic_matmul": 2,
    "matvec": 2,
    "relu_matmul": 2,
    "rowsum": 0,
    "stencil": 0,
    "three_functions": 0,
    "transposed": 2,
}


@pytest.mark.parametrize("program", sorted(EXPECTED))
def test_each_barrier_is_needed(program: str) -> None:
    session = session_of(PROGRAMS / f"{program}.weft")
    session.run()
    count = 0
    for kernel in operations(session.module.operation, "gpu.func"):
        model = kernel_model(kernel)
        expect_no_conflict(conflicts(model))
        expect_no_conflict(conflicts_between_blocks(model))
        assert model.divergent == []
        count += len(model.barriers)
        for barrier in model.barriers:
            left = conflicts(model, [b for b in model.barriers if b is not barrier])
            assert left, f"{barrier.op} separates nothing"
            assert all(c.first is not None and c.second is not None for c in left)
    assert count == EXPECTED[program]
