"""The conflict analysis agrees exactly with an enumeration of what every thread does."""

from __future__ import annotations

import os

import pytest
from contexts import one_context
from random_kernels import Kernel, Maker

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races.barriers import choose_barriers
from weft.interpreter.proof.races.conflicts import colliding_classes, conflicts
from weft.interpreter.proof.races.phases import Phases, is_sure
from weft.interpreter.proof.races.separation import residue
from weft.interpreter.proof.solver import Solver

BATCHES = 100 if "WEFT_SOAK" in os.environ else 1
PER_BATCH = 25
CHOICES_PER_BATCH = 12


def model_of(kernel: Kernel) -> KernelModel:
    module = mlir.parse(kernel.text(), one_context())
    return kernel_model(next(mlir.operations(module.operation, "gpu.func")))


def found_pairs(model: KernelModel, barriers: list | None = None) -> set[frozenset[int]]:
    """The colliding pairs, by position in the text: what the oracle numbers."""
    number = {id(a): n for n, a in enumerate(sorted(model.accesses, key=lambda a: a.place.order))}
    used = Phases(model.barriers if barriers is None else barriers)
    out: set[frozenset[int]] = set()
    for pair in colliding_classes(model, used, Solver()):
        left = residue(pair, used.barriers)
        assert left is not None
        if not left.is_empty():
            out.add(frozenset({number[id(pair.first)], number[id(pair.second)]}))
    return out


@pytest.mark.parametrize("batch", range(BATCHES))
def test_same_collisions(batch: int) -> None:
    colliding = 0
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        kernel = Maker(seed).kernel()
        kernel.accesses.sort(key=lambda a: a.number)
        expected = kernel.collisions()
        model = model_of(kernel)
        assert found_pairs(model) == expected, f"seed {seed}\n{kernel.text()}"
        assert bool(conflicts(model)) == bool(expected)
        colliding += bool(expected)
    assert 0 < colliding < PER_BATCH, "the sample must hold kernels of both kinds"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_one_barrier_separates_for_certain(batch: int) -> None:
    """A barrier asked about alone is judged as it is among all in the rows of blocks of ops."""
    sure = 0
    for seed in range(20_000 + batch * CHOICES_PER_BATCH, 20_000 + (batch + 1) * CHOICES_PER_BATCH):
        model = model_of(Maker(seed, candidates=True).kernel())
        for pair in colliding_classes(model, Phases(())):
            places = pair.first.place, pair.second.place
            space = pair.first.buffer.space
            among = [b for row in Phases(model.barriers).sure(*places, space, pair.loop) for b in row]
            for barrier in (b for b in model.barriers if space in b.spaces):
                found = is_sure(barrier, *places, pair.loop)
                assert found == (barrier in among), f"seed {seed}"
                sure += found
    assert sure


@pytest.mark.parametrize("batch", range(BATCHES))
def test_chosen_barriers_are_a_cheapest_set(batch: int) -> None:
    """They separate all that can be separated; no cheaper set does; with one of them left out something is not."""
    chosen = 0
    for seed in range(10_000 + batch * CHOICES_PER_BATCH, 10_000 + (batch + 1) * CHOICES_PER_BATCH):
        kernel = Maker(seed, candidates=True).kernel()
        demands = {d for d in kernel.demands() if d}
        model = model_of(kernel)
        choice = choose_barriers(model)
        cost = {b.candidate: b.weight for b in model.barriers if b.candidate is not None}
        mine = (sum(cost[n] for n in choice.chosen), len(choice.chosen))
        assert choice.exact
        assert all(d & set(choice.chosen) for d in demands), f"seed {seed}\n{kernel.text()}"
        for n in choice.chosen:
            assert not all(d & (set(choice.chosen) - {n}) for d in demands), f"seed {seed}: {n} is superfluous"
            assert choice.reasons[n]
        assert mine == cheapest(demands, cost), f"seed {seed}\n{kernel.text()}"
        chosen += bool(choice.chosen)
    assert chosen, "the sample must hold kernels that need barriers"


def cheapest(demands: set[frozenset[int]], cost: dict[int, int]) -> tuple[int, int]:
    """The least (executed, in the text) over all hitting sets."""
    minimal = [d for d in demands if not any(e < d for e in demands)]
    best = (10**9, 10**9)

    def extend(chosen: frozenset[int], banned: frozenset[int]) -> None:
        nonlocal best
        total = (sum(cost[n] for n in chosen), len(chosen))
        if total >= best:
            return
        unmet = [d - banned for d in minimal if not d & chosen]
        if not unmet:
            best = total
            return
        for n in sorted(min(unmet, key=len)):
            extend(chosen | {n}, banned)
            banned = banned | {n}

    extend(frozenset(), frozenset())
    return best
