"""What an analysis costs: it grows with the kernel as said, and it ends where its budget does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from contexts import one_context
from kernel_text import loop, model, place, read, write
from places import ROOT
from work import lines_run, seconds_computed

import weft
from weft.interpreter.ir.mlir import parse
from weft.interpreter.proof.coverage.payload.initial_payload import Untouched
from weft.interpreter.proof.coverage.payload.payloads import PayloadOps
from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races.barriers import choose_barriers
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks
from weft.interpreter.proof.races.proof import Findings
from weft.interpreter.proof.races.uninitialized_reads import unwritten_reads
from weft.interpreter.proof.solver import Naming, Solver
from weft.interpreter.session.statement import Results, Rewriter
from weft.interpreter.statements.insert_barriers import InsertBarriers


def phases(count: int, *, looped: bool) -> KernelModel:
    """So many times: each thread writes its element, and reads its neighbour's."""
    shifted = "%next = affine.apply affine_map<(d0) -> ((d0 + 1) mod 16)>(%tx)"
    body = [s for _ in range(count) for s in (write("S", "%ty", "%tx"), "gpu.barrier", read("S", "%ty", "%next"), "gpu.barrier")]
    return model("\n".join([shifted, loop("k", "%c0", "%c16", "%c1", *body) if looped else "\n".join(body)]))


@pytest.mark.parametrize("looped", [False, True])
def test_phases_between_barriers(looped: bool) -> None:
    """Accesses with a barrier between them are not compared; which barriers could go is known without trying each."""

    def judged(count: int) -> tuple[tuple[int, int], int]:
        made = phases(count, looped=looped)

        def judge() -> tuple[int, int]:
            findings = Findings(made)
            return len(findings.diagnostics()), len(findings.superfluous())

        return lines_run(judge)

    (few, lines), (many, more) = judged(10), judged(30)
    assert few == many == (0, 0 if looped else 1)  # without a loop nobody comes behind the last barrier
    assert more < 3**2 * 1.3 * lines


ROWS = "memref<4x128xf32>"
SWEPT = "known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 4, 1, 1>"


def sweeps(count: int, row: str = "%bx", *, looped: bool = False) -> KernelModel:
    """So many times: each thread updates two elements of the block's row, 1, 2, … 64, 1, 2 … apart. `looped`: all that again and
    again."""
    body = [place(0)]
    for n in range(count):
        apart = 1 << n % 7
        near, far = (f"affine_map<(t) -> (t + t floordiv {apart} * {apart} + {more})>(%tx)" for more in (0, apart))
        body += [f"%n{n} = affine.apply {near}", f"%f{n} = affine.apply {far}"]
        body += [access("A", row, f"%{at}{n}", type=ROWS) for access in (read, write) for at in "nf"]
        body.append(place(n + 1))
    return model(loop("k", "%c0", "%c16", "%c1", *body) if looped else "\n".join(body), f"%A: {ROWS}", sizes=SWEPT)


@pytest.mark.parametrize(("looped", "barriers", "most"), [(False, (13, 10, 27, 20), 2.5), (True, (14, 10, 28, 20), 3.7)])
def test_sweeps_over_a_row(looped: bool, barriers: tuple[int, ...], most: float) -> None:
    """Barriers for sweeps: what is compared grows with the pairs of sweeps, what the solver is asked with the ways to be apart.
    Those before and behind a sweep 64 apart are the block's: elsewhere a warp has elements of its own."""

    def chosen(count: int) -> tuple[tuple[int, int, int], int]:
        made = sweeps(count, looped=looped)

        def choose() -> tuple[int, int, int]:
            found = choose_barriers(made)
            assert found.exact and not found.unseparated
            return len(found.chosen), len(found.of_warps), made.solver.questions

        return lines_run(choose)

    (few, narrow, asked), lines = chosen(14)
    (many, more_narrow, asked_again), more = chosen(28)
    assert (few, narrow, many, more_narrow) == barriers
    assert asked_again == asked
    assert more < most * lines  # the questions take many of them


@pytest.mark.parametrize("looped", [False, True])
def test_warps_with_rows_of_their_own(looped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """That accesses stay within one warp is read off their coordinates; the solver says the same."""

    def chosen() -> tuple[tuple[int, ...], frozenset[int], int]:
        made = sweeps(14, looped=looped)
        found = choose_barriers(made)
        return found.chosen, found.of_warps, made.solver.questions

    *read_off, few = chosen()
    monkeypatch.setattr(KernelModel, "in_rows_of_warps", lambda *_: False)
    *solved, many = chosen()
    assert read_off == solved and few < many


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize(("few", "many"), [(16, 64), (64, 128), (128, 256)])
def test_a_sorting_network(few: int, many: int, looped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Barriers for a mapped loop for each step of a network, in a loop around all of them, too: what the solver is asked grows
    by less than the pairs of loops. Rows longer than 64 have several warps, which is a question of its own, and asked of few."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bitonic, ask = import_module("startup").bitonic, Solver.ask
    asked: Counter[int] = Counter()
    loops: dict[int, int] = {}
    for length in (few, many):

        def counted(solver: Solver, *given: Any, length: int = length, **more: Any) -> Any:
            asked[length] += 1
            return ask(solver, *given, **more)

        monkeypatch.setattr(Solver, "ask", counted)
        schedule, loops[length] = bitonic(length, tmp_path, looped=looped)
        text = weft.apply(schedule).text
        assert text.count("gpu.barrier") + text.count("nvvm.bar.warp.sync") == loops[length] - 1
    assert 0 < asked[many] <= (loops[many] / loops[few]) ** 2 * asked[few]


@pytest.mark.parametrize("looped", [False, True])
def test_the_pairs_of_a_sorting_network(looped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python does with the solver's answers grows by less than the pairs of loops in each step; a class of accesses that
    another describes keeps no names of its own, for the garbage collector to visit."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bitonic, named, apply = import_module("startup").bitonic, Naming.__init__, InsertBarriers.apply
    names: Counter[int] = Counter()
    found: list[tuple[int, int]] = []

    def counted(naming: Naming, *given: Any, **more: Any) -> None:
        names[loops] += 1
        named(naming, *given, **more)

    def applied(statement: InsertBarriers, rewrite: Rewriter) -> Results:
        with monkeypatch.context() as only_here:
            only_here.setattr(Naming, "__init__", counted)
            results, lines = lines_run(lambda: apply(statement, rewrite))
        found.append((loops, lines))
        return results

    monkeypatch.setattr(InsertBarriers, "apply", applied)
    for length in (8, 32, 64, 128):  # the first one imports
        schedule, loops = bitonic(length, tmp_path, looped=looped)
        weft.apply(schedule)
    for (few, lines), (many, more_lines) in pairwise(found[1:]):
        assert more_lines < (many / few) ** 2 * lines
    assert 0 < names[28] < (4 * 28) ** 2 / 2  # fewer than pairs of accesses


def test_rows_of_blocks_are_told_apart_once() -> None:
    """Whatever threads do in the row of their block, one question tells that other blocks do nothing there."""
    few, many = Solver(), Solver()
    assert conflicts_between_blocks(sweeps(2), solver=few) == conflicts_between_blocks(sweeps(12), solver=many) == []
    assert few.questions == many.questions > 0
    assert conflicts_between_blocks(sweeps(2, "%c0"))


@pytest.mark.parametrize("budget", [100, 3_000, 30_000])
def test_the_budget_ends(budget: int) -> None:
    """Whatever is left of it: what is not answered is a conflict, assumed."""
    made = phases(4, looped=True)
    solver = Solver(budget=budget)
    left = conflicts(made, [], solver=solver)
    assert {(c.first_op, c.second_op) for c in conflicts(made, [])} <= {(c.first_op, c.second_op) for c in left}
    assert all(c.assumed for c in left if c.first is None)
    assert solver.questions * 200 <= budget + 200
    conflicts_between_blocks(made, solver=solver)
    unwritten_reads(made, solver)


def chain(count: int) -> str:
    kind, lines = "tensor<64x64xf32>", ["%v0 = tensor.empty() : tensor<64x64xf32>"]
    for n in range(count):
        lines.append(f"%e{n} = tensor.empty() : {kind}")
        lines.append(f"%v{n + 1} = linalg.add ins(%v{n}, %x : {kind}, {kind}) outs(%e{n} : {kind}) -> {kind}")
    return f"func.func @main(%x: {kind}) -> {kind} {{\n" + "\n".join(lines) + f"\nreturn %v{count} : {kind}\n}}"


def test_an_op_is_read_as_fast_in_a_large_payload() -> None:
    """What it is computed from is found without a look at the rest of the module."""

    def reading(count: int) -> Callable[[], Callable[[], None]]:
        def prepared() -> Callable[[], None]:
            module = parse(chain(count), one_context())
            untouched = Untouched.of(module)
            last = list(untouched.places)[-50:]

            def read_last() -> None:
                payload = PayloadOps.of(untouched, untouched.places[last[0]] or module.operation)
                with module.context:
                    assert all(payload.at(where) is not None for where in last)

            read_last()  # numbers the values once
            return read_last

        return prepared

    assert seconds_computed(reading(1_600)) < 3 * seconds_computed(reading(100))
