"""Mistakes in products of f8 by warp groups that are added up in f16: instructions as those of integers are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hopper_kernels import Made
from hopper_verdicts import Runs, proof
from sass import compiled, whole
from schedules import Case, launched
from test_integer_mutants import ORDER, VALUES, edited

from weft.dsl.diagnostics import Source
from weft.payloads.payload import parse_payload
from weft.runtime.cuda.module import emit

CASE = Case(
    m=120, n=120, k=432, bm=64, bn=64, bk=128, kind="f8E4M3FN", sum="f16", along=True, shape="[64, 64, 32]",
    pipeline="pipeline k stages 3 producer", barriers="insert-barriers",
)  # fmt: skip


@pytest.fixture(scope="module")
def right() -> Made:
    return Made(parse_payload(Source("x.mlir", CASE.payload)), str(launched(CASE)))


@pytest.fixture(scope="module")
def runs(right: Made) -> Runs:
    return Runs(right)


def test_right(right: Made, runs: Runs) -> None:
    assert not proof(right.text)
    assert not runs.simulated(right.text) and not runs.simulated(right.text, 0)
    assert not runs.native(right.text) and not runs.native(right.text, reverse=True)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [name for name in ORDER if "fewer columns" not in name and "a loop" not in name])
def test_order(name: str, right: Made, runs: Runs) -> None:
    pattern, new, codes, found = ORDER[name]
    text = edited(right, pattern, new)
    assert proof(text) & codes, proof(text)
    assert all(runs.simulated(text, order) & found for order in ("forward", 0))


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, right: Made, runs: Runs) -> None:
    text = edited(right, *VALUES[name])
    assert not proof(text) and runs.simulated(text) == runs.native(text) == {"values"}


def test_an_instruction_of_another_type_is_refused(right: Made, runs: Runs) -> None:
    text = right.text.replace("<e4m3>", "<e5m2>")
    assert text != right.text and runs.simulated(text) == runs.native(text) == {"refused"}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("n", [8, 128, 256])
def test_machine_code(kind: str, n: int) -> None:
    """Sums are half as many registers, and ptxas makes no instruction wait for the one before."""
    text = emit(launched(replace(CASE, m=256, n=256, k=512, bn=n, kind=kind, shape=f"[64, {n}, 32]")))
    done = compiled(text, "sm_90a")
    assert "C75" not in done.log and "warning" not in done.log
    assert whole(text, "matmul", "sm_90a").by_mnemonic["QGMMA"] > 0
