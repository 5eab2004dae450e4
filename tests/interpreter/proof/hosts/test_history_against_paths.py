"""What `weft verify` says of tokens and memory, against all paths through random programs with loops and branches.

Where any path has a fault, the verdict has it too; and what the verdict says, some path shows. 30 programs in a test run,
20,000 in a soak.
"""

from __future__ import annotations

import os
import re

import pytest
from host_programs import Do, For, If, Stmt, random_program, statements, text_of
from launch_graphs import parsed
from path_oracle import Faults, TooManyPaths, faults

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import token_faults
from weft.interpreter.proof.hosts.history import History
from weft.interpreter.proof.hosts.memory_order import MemoryOrder

BATCHES = 200 if "WEFT_SOAK" in os.environ else 1
BATCH = 100 if "WEFT_SOAK" in os.environ else 30


def line(op: ir.Operation) -> int:
    found = re.search(r":(\d+):", str(op.location))
    assert found is not None
    return int(found[1])


def made_in(value: ir.Value) -> int:
    owner = value.owner
    return line(owner.owner.operation if isinstance(owner, ir.Block) else owner.operation)


def said_of(text: str) -> Faults:
    """The verdict, in the oracle's terms."""
    module = parsed(text)
    (function,) = mlir.operations(module.operation, "func.func")
    order = MemoryOrder()
    history = History(function, Effects(module), order.watch)
    said = Faults()
    for fault in order.faults:
        pairs = said.freed if fault.kind in ("used after free", "freed twice") else said.unordered
        pairs.add((line(fault.first.op), line(fault.second.op)))
    for fault in token_faults(history):
        if fault.kind == "synchronous":
            assert fault.first is not None
            said.synchronous.add(line(fault.first))
        else:
            (said.unused if fault.kind in ("never", "leaks", "some paths") else said.clashes).add(made_in(fault.value))
    return said


def differences(seed: int) -> dict[str, object]:
    """What the verdict misses (all unordered pairs must be ordered by the edges that it asks for), and what it makes up."""
    program = random_program(seed)
    text = text_of(program)
    try:
        true = faults(program)
    except TooManyPaths:
        return {}
    said = said_of(text)
    found = {
        "not said to be unordered": faults(program, edges=frozenset(said.unordered)).unordered,
        "not said to be freed before": true.freed - said.freed,
        "not said to be unused": true.unused - said.unused,
        "not said to clash": true.clashes - said.clashes,
        "not said to be synchronous": true.synchronous - said.synchronous,
        "unordered on no path": said.unordered - true.unordered if _sees_elements(program) else set(),
        "freed before on no path": said.freed - true.freed,
        "used on all paths": said.unused - true.unused,
        "clashing on no path": said.clashes - true.clashes,
        "asynchronous": said.synchronous - true.synchronous,
    }
    return {what: which for what, which in found.items() if which}


def _sees_elements(program: list[Stmt]) -> bool:
    """Whether the verdict knows which elements are touched in which iteration: those of a loop that is one operation, or
    that runs more often than the oracle lets it, may be any."""
    for loop in statements(program):
        if isinstance(loop, For) and (isinstance(loop.trips, str) or any(s.line == loop.line for s in loop.body)):
            inner = [stmt for stmt in statements(loop.body) if isinstance(stmt, Do)]
            if any(place.loop == loop.loop for stmt in inner for place in stmt.places):
                return False
    return True


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_verdict_is_that_of_all_paths(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        assert differences(seed) == {}, f"seed {seed}:\n{text_of(random_program(seed))}"


def test_the_programs_are_worth_it() -> None:
    """Right ones and wrong ones, in every way, with loops and branches in each other."""
    programs = [random_program(seed) for seed in range(300)]
    counts = {"right": 0, "wrong": 0, "unordered": 0, "freed": 0, "unused": 0, "clashes": 0, "synchronous": 0, "nested": 0}
    for program in programs:
        text_of(program)
        try:
            found = faults(program)
        except TooManyPaths:
            continue
        counts["wrong" if found.any else "right"] += 1
        counts["nested"] += any(
            isinstance(inner, For | If) for outer in program if isinstance(outer, For | If) for inner in statements([outer])
            if inner is not outer
        )  # fmt: skip
        for name in ("unordered", "freed", "unused", "clashes", "synchronous"):
            counts[name] += bool(getattr(found, name))
    assert min(counts["right"], counts["wrong"]) > 60, counts
    assert min(counts.values()) > 0, counts
