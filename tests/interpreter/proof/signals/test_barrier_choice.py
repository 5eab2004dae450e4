"""`insert-barriers` on products of warp groups: a barrier where memory barriers leave something unordered, and none else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contexts import one_context
from hopper import Product
from schedules import Case, launched

from weft.interpreter.ir import mlir
from weft.interpreter.ir.cloning import UNPROVEN
from weft.interpreter.ir.mlir import i64, operations
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.signals.barrier_choice import choose_for_signals
from weft.interpreter.statements.insert_barriers.trials import CANDIDATE

BARRIERS = {"together": (Case(), 2), "alone in its block": (Case(own=128, along=True), 1), "one step": (Case(bk=128), 1)}
"""Beside the barrier behind the initialization."""


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_of_schedules(name: str) -> None:
    case, count = BARRIERS[name]
    module = launched(replace(case, barriers="insert-barriers\n verify-sync"))
    (kernel,) = operations(module.operation, "gpu.func")
    assert len(list(operations(kernel, "gpu.barrier"))) == count
    assert UNPROVEN not in kernel.attributes


def chosen(text: str, marked: int) -> tuple[int, ...]:
    """Those that are chosen of the last barriers of a kernel, which are only proposed."""
    module = mlir.parse(text, one_context())
    with module.context:
        for number, barrier in enumerate(list(operations(module.operation, "gpu.barrier"))[-marked:]):
            barrier.attributes[CANDIDATE] = i64(number)
    (use,) = kernel_uses(module)
    found = choose_for_signals(model_of(use), frozenset())
    assert found.proven and found.choice.exact and not found.faults
    assert all(found.choice.reasons[n] for n in found.choice.chosen)
    return found.choice.chosen


def test_of_several_places_one_is_chosen() -> None:
    text = Product(k=1024).together()
    two = text.replace("scf.yield %next", "gpu.barrier\nscf.yield %next")
    assert chosen(text, 1) == (0,)
    assert chosen(two, 2) == (1,)  # the later one, where both do


def test_a_ring_needs_none() -> None:
    text = Product(k=1024).ring().replace("%producer = ", "gpu.barrier\n%producer = ")
    assert chosen(text, 1) == ()


def test_what_no_barrier_repairs_is_said() -> None:
    text = Product(k=1024).together().replace("%bytes = arith.constant 49152", "%bytes = arith.constant 32768")
    module = mlir.parse(text, one_context())
    found = choose_for_signals(model_of(kernel_uses(module)[0]), frozenset())
    assert [fault.code for fault in found.faults] == ["W0661"] and not found.proven
