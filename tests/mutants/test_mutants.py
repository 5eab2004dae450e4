"""Mutants of random right programs, judged by three witnesses that must agree: the proof, the simulator, and the text on the CPU.

A deleted barrier, a narrowed fence, a dropped token, an index shifted by one, a count of processors or a loop's end or step
changed, an atomic operation made plain: of 2 kernels each in a test run, of 200 in a soak (`WEFT_SOAK`), which prints what became
of them. `verdicts.py` and `token_verdicts.py` say what must be.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import random_maps
import random_programs
import test_atomic_spaces
import test_random_schedules
import test_split_k_atomic
import token_verdicts
from judging import scheduled
from mutations import context, mutants
from verdicts import Right, Witnesses, disagreement

from weft.dsl.diagnostics import WeftError
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir

SOAK = "WEFT_SOAK" in os.environ
EACH = 200 if SOAK else 2
MOST = 2 if SOAK else 1
"""Mutants of one program and kind."""
LARGE = 800
"""How often all threads load or store together in a kernel that takes too long."""


def maps(r: random.Random, folder: Path) -> Right:
    """Any ops under any maps, or operands that are staged step by step."""
    rows = test_random_schedules.rows
    staged = [test_random_schedules.matmul, test_random_schedules.elementwise, rows, rows]
    return _scheduled(*r.choice([random_maps.program, random_maps.program, *staged])(r), folder)


def sums(r: random.Random, folder: Path) -> Right:
    """Partial sums that are added up by atomic operations."""
    if r.random() < 0.5:
        payload = test_split_k_atomic.matmul(r)
        return _scheduled(payload, test_split_k_atomic.schedule(r, payload), folder)
    payload, rank = test_atomic_spaces.payload(r)
    return _scheduled(payload, test_atomic_spaces.schedule(r, rank), folder)


def hosts(r: random.Random) -> Right:
    """Launches, copies, temporaries, loops and branches, and the tokens that order them."""
    seed, buffers = r.randrange(10**6), r.randint(2, 6)
    text = random_programs.spelled(random_programs.random_program(seed, buffers=buffers, launches=8), buffers)
    module = mlir.parse(text, context())
    with module.context, ir.Location.unknown():
        async_fork(module, ())
    return Right(mlir.parse(text, context()), "main", str(module))


def _scheduled(payload: str, body: str, folder: Path) -> Right:
    made = scheduled(payload, body, folder)
    return Right(made.applied.payload, made.plan.entry, made.applied.text)


MAKERS: dict[str, tuple[Callable[[random.Random, Path], Right], tuple[str, ...]]] = {
    "maps": (maps, ("barrier", "fence", "index", "count")),
    "sums": (sums, ("atomic",)),
}
COUNTS: Counter[tuple[str, str]] = Counter()


def judge(name: str, seed: int, folder: Path) -> None:
    """Make a program, if its schedule is taken, and its mutants; and ask the witnesses."""
    make, kinds = MAKERS[name]
    r = random.Random(f"{name} {seed}")
    try:
        right = make(r, folder)
    except WeftError:
        return
    wanted = [kind for kind in kinds if COUNTS[kind, "kernels"] < EACH]
    made = [mutant for kind in wanted for mutant in mutants(right.text, kind, r, MOST)]
    if not made:
        return
    asked = Witnesses(right, [right.text, *(m.text for m in made)], seed)
    simulator = asked.simulator(0)
    if asked.work > LARGE:
        return
    proof, text = asked.proof(0), asked.cpu(0)
    where = f"{name}, seed {seed}\n{right.text}"
    assert not (proof.objections or simulator.objections or text.objections), f"{proof}, {simulator}, {text}: {where}"
    assert all(asked.agree(seen.outputs, asked.expected * 2) for seen in (simulator, text)), where
    COUNTS.update({(kind, "kernels"): 1 for kind in {m.kind for m in made}})
    for number, mutant in enumerate(made, start=1):
        said = asked.proof(number)
        ran = asked.simulator(number, simulator)
        cpu = asked.cpu(number, text)
        shown = f"{mutant.what}: {sorted(said.objections)}, {sorted(ran.objections)}, {sorted(cpu.objections)}, {where}"
        assert not (wrong := disagreement(said, ran, cpu)), f"{wrong}: {shown}"
        if not ran.objections:
            assert asked.agree(ran.outputs, cpu.outputs), shown
        COUNTS[mutant.kind, "mutants"] += 1
        for who, seen in (("proof", said), ("simulator", ran), ("text", cpu)):
            COUNTS[mutant.kind, who] += bool(seen.objections)
        COUNTS[mutant.kind, "equal"] += not (said.objections or ran.objections or cpu.objections)


@pytest.mark.parametrize("name", MAKERS)
def test_witnesses_agree(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(6 * EACH):
        if any(COUNTS[kind, "kernels"] < EACH for kind in MAKERS[name][1]):
            judge(name, seed, tmp_path)
    for kind in MAKERS[name][1]:
        _show(kind, capsys)


def _show(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    counts = {what: count for (of, what), count in COUNTS.items() if of == kind}
    if SOAK:
        with capsys.disabled():
            print(f"\n{kind}: {counts}")
    assert counts["kernels"] == EACH and counts["simulator"] >= EACH // 2, (kind, counts)


def judge_tokens(seed: int) -> None:
    """A host function and its mutants: what the proof and the simulator say of the order of its operations."""
    r = random.Random(f"hosts {seed}")
    right = hosts(r)
    made = list(mutants(right.text, "token", r, MOST))
    assert token_verdicts.proof(right.text) == frozenset()
    said, results = token_verdicts.simulator(right, right.text, seed)
    assert said == frozenset(), f"seed {seed}: {said}\n{right.text}"
    COUNTS["token", "kernels"] += bool(made)
    for mutant in made:
        said, (ran, outputs) = token_verdicts.proof(mutant.text), token_verdicts.simulator(right, mutant.text, seed)
        assert said == ran and outputs == results, f"{mutant.what}: {said}, {ran}, seed {seed}\n{right.text}"
        COUNTS.update({("token", "mutants"): 1, ("token", "proof"): bool(said), ("token", "simulator"): bool(ran)})
        COUNTS["token", "equal"] += not said


def test_witnesses_of_tokens_agree(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(EACH):
        judge_tokens(seed)
    _show("token", capsys)
