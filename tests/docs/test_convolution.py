"""`docs/convolution.md` is made from prose and the tool (`pytest --update tests/docs/test_convolution.py`); what it says is so."""

from __future__ import annotations

import re

import pytest
from convolution_page import LAYER, PART, ROOT, SHOWN, TEMPLATE, differences, expanded, made, statements
from ladder import page
from pinned import pinned

from weft.interpreter.ir.mlir import ir, operations
from weft.runtime.plan.plan import Launch


def test_the_page(update: bool) -> None:
    pinned(ROOT / "docs" / "convolution.md", page(TEMPLATE, expanded), update)


def test_the_schedules_differ_in_as_gemm_and_what_rows_are_of() -> None:
    rows = differences(statements("simt"), statements("igemm"))
    assert [row for row in rows if row[0] != row[1]] == [
        *((f"assume gemm.{rows}.1 % width == 0", "") for rows in ("lhs", "rhs")),
        *(("", f"assume conv.{rows}.3 % width == 0") for rows in ("lhs", "rhs")),
        ("", "let gemm = as-gemm conv"),
    ]
    assert any(left == right and left.startswith(f"{PART}(span = 64, ") for left, right in rows)


def test_the_parameters_differ_in_the_op_and_a_default() -> None:
    def head(recipe: str) -> list[str]:
        (path,) = ROOT.glob(f"weft/recipes/*/{recipe}.weft")
        lines = [re.sub(r"\s*//.*", "", line).strip() for line in path.read_text().splitlines()]
        start = next(i for i, line in enumerate(lines) if line.startswith("schedule "))
        return lines[start + 1 : lines.index(statements(recipe)[0])]

    left, right = head("simt"), head("igemm")
    different = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    assert [(a.partition(":")[0], b.partition(":")[0]) for a, b in different] == [("gemm", "conv"), ("init", "init"), ("bn", "bn")]


@pytest.mark.parametrize(("recipe", "layer"), SHOWN)
def test_the_k_loop_computes(recipe: str, layer: str) -> None:
    loop = made(recipe, layer).loop
    assert loop.divisions == 0 and loop.ffma == 1024 and loop.local == 0
    assert loop.ffma / sum(loop.by_mnemonic.values()) > 0.65
    assert made(recipe, layer).resources.spill_bytes == 0


def test_channels_are_loaded_four_at_a_time() -> None:
    assert set(made("igemm", LAYER).loop.global_loads) == {128}


@pytest.mark.parametrize(("recipe", "layer"), SHOWN)
def test_nothing_of_the_size_of_im2col(recipe: str, layer: str) -> None:
    """Neither in the plan nor in the module: every buffer there is an argument, shared memory, or a thread's own."""
    one = made(recipe, layer)
    assert one.allocated == 0 and all(isinstance(step, Launch) for step in one.planned.plan.steps)
    largest = 0
    for op in operations(one.planned.applied.module.operation, "memref.alloc", "memref.alloca", "gpu.alloc"):
        shape = ir.MemRefType(op.results[0].type).shape
        largest = max(largest, _count(shape))
    assert largest * 1000 < one.rows * one.summed


def _count(shape: list[int]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total
