"""Softmax and layer norm in one kernel: right at random sizes, each element read once and written once, all else in registers."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from judging import expect_right, scheduled
from rows import PAYLOADS
from rows import scheduled as statements
from sass import resources

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import operations
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.prediction import predict

SOAK = "WEFT_SOAK" in os.environ


@pytest.mark.parametrize("seed", range(40 if SOAK else 6))
@pytest.mark.parametrize("payload", PAYLOADS)
def test_random_rows(payload: str, seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    kind = r.choice(("f32", "f32", "f64"))
    n = r.choice((4 * r.randint(1, 300), r.randint(1, 700)))
    space = r.choice(("lanes", f"threads(x: {32 * r.choice((1, 2, 4, 8))})"))
    rows = r.randint(1, 4) if space == "lanes" else 1
    wide = 4 if kind == "f32" else 2
    how = r.choice(("cyclic", "block", "block-cyclic(2)")) + (f" vector {wide}" if n % wide == 0 and r.random() < 0.7 else "")
    text = PAYLOADS[payload](rows * r.randint(1, 4), n, kind)
    body = statements(payload, rows, space, how)
    try:
        made = scheduled(text, body, tmp_path)
    except WeftError as error:
        assert "W0380" in str(error) and n > 512, f"{error}\n{body}"  # more than a thread keeps
        return
    expect_right(made, seed, f"\n{text}\n{body}\n", native=True)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_one_read_and_one_write(payload: str, tmp_path: Path) -> None:
    """In 16 bytes at a time, of 8192 elements a row; nothing in local memory on any chip; as fast as memory is."""
    made = scheduled(PAYLOADS[payload](8192, 8192), statements(payload, 1, "threads(x: 512)", "cyclic vector 4"), tmp_path)
    (kernel,) = operations(made.applied.module.operation, "gpu.func")
    x, out = kernel.regions[0].blocks[0].arguments[0], kernel.regions[0].blocks[0].arguments[len(made.plan.buffers) - 1]
    assert [use.owner.name for use in x.uses] == ["vector.load"]
    assert [use.owner.name for use in out.uses] == ["vector.store"]
    (name,) = (entry.name for entry in made.plan.kernels)
    for chip in ARCHITECTURES:
        found = resources(made.cuda, name, chip)
        assert (found.spill_bytes, found.stack_bytes) == (0, 0), chip
    chip = CHIPS["h200"]
    (guess,) = predict(made.plan, made.cuda, chip).kernels
    assert guess.seconds < 1.1 * 2 * 4 * 8192**2 / chip.dram
