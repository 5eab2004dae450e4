"""What becomes of a payload and a schedule: refused by a diagnostic, or right and race-free by every witness there is."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from executors import expect_computed
from mutations import mutants
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.hardware.lanes import BARRIERS
from weft.interpreter.ir import mlir
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

HALVES = ("f16", "bf16")
"""Where a payload computes with these it gets whole numbers, whose sums are exact whoever adds them up in which order."""


def scheduled(payload: str, body: str, folder: Path) -> Planned:
    """Apply the statements to the payload. Raises `WeftError` where they are refused."""
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    return planned(applied(Choice(str(folder / "s.weft"), None, {}).open()))


def verdict(
    payload: str, body: str, folder: Path, seed: int, *, native: bool = False, shapes: Sequence[Sequence[int]] = ()
) -> str:
    """`right`, or the codes of the refusal. Fails where witnesses disagree, or the result is wrong.

    Args:
        native: run on the CPU, too: the text, compiled, and the module's kernels as loops.
        shapes: of the payload's one argument, where only a run knows them.
    """
    try:
        made = scheduled(payload, body, folder)
    except WeftError as error:
        assert all(d.message for d in error.diagnostics)
        return " ".join(sorted({d.code for d in error.diagnostics}))
    for shape in shapes or [()]:
        expect_right(made, seed, f"\n{payload}\n{body}\n", native=native, shape=shape)
    return "right"


def expect_right(
    made: Planned, seed: int, shown: str, *, native: bool = False, whole: bool = False, shape: Sequence[int] = ()
) -> None:
    """By all witnesses. `whole`: of whole numbers, as for a sum so long that even the reference's last digits are wrong. `shape`:
    of the one argument, where only a run knows it."""
    signature = functions.signature(made.applied.payload, made.plan.entry)
    if shape:
        (argument,) = signature.arguments
        signature = replace(signature, arguments=(replace(argument, shape=tuple(shape)),))
    inputs = random_inputs(signature, seed)
    if whole or signature.lowest_precision in HALVES:
        inputs = {n: np.rint(a).astype(a.dtype) for n, a in inputs.items()}
    expected = reference(made.applied.payload, made.plan.entry, inputs)
    ran = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text)
    expect_computed("the simulator", ran, signature, expected, shown=shown)
    judged = verify_source(Source("module.mlir", made.applied.text))
    assert judged.ok, f"verify: {[d.message for d in judged.diagnostics]}{shown}"
    if native:
        ran = run_plan(made.plan, NativeDevice(reverse=seed % 2 == 0), inputs, text=made.cuda)
        expect_computed("the text by g++", ran, signature, expected, shown=shown)
        ran = run_plan(made.plan, CpuDevice(threads=2), inputs, text=made.applied.text)
        expect_computed("the kernels on the CPU", ran, signature, expected, shown=shown)


def assert_barriers_needed(made: Planned, seed: int, shown: str) -> None:
    """Without any one of its barriers a module is seen to be racy, by the proof and by the simulator."""
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
    for number in range(len(barriers(made.applied.module))):
        less = without_barrier(made.applied.module, number)
        assert not verify_source(Source("less.mlir", less)).ok, f"verify: barrier {number}\n{shown}"
        assert run_plan(made.plan, SimDevice(), inputs, text=less).races, f"the simulator: barrier {number}\n{shown}"


LANES = re.compile(r"(_sync|__syncwarp)\(0xffffffff")


def assert_lanes_needed(made: Planned, seed: int, shown: str, *, native: bool = False) -> None:
    """The proof and the simulator notice a lane that does not come to a shuffle, or that the mask of a warp's barrier leaves out;
    `native`: and the text, run on the CPU, one that any mask leaves out."""
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
    for kind in ("lane", "mask"):
        for mutant in mutants(made.applied.text, kind, random.Random(seed), 2):
            said = verify_source(Source("less.mlir", mutant.text)).diagnostics
            assert "W0603" in {d.code for d in said}, f"verify: {mutant.what}\n{shown}"
            faults = run_plan(made.plan, SimDevice(), inputs, text=mutant.text).faults or ()
            assert "divergent barrier" in {fault.kind for fault in faults}, f"the simulator: {mutant.what}\n{shown}"
    found = list(LANES.finditer(made.cuda)) if native else []
    if found:
        chosen = random.Random(seed).choice(found)
        torn = f"{made.cuda[: chosen.start()]}{chosen[1]}(0xffffffdf{made.cuda[chosen.end() :]}"
        with pytest.raises(AssertionError, match="not reached by all threads"):
            run_plan(made.plan, NativeDevice("quick"), inputs, text=torn)


def barriers(module: mlir.ir.Module) -> list[mlir.ir.Operation]:
    """Of blocks and of warps."""
    return list(mlir.operations(module.operation, *BARRIERS))


def without_barrier(module: mlir.ir.Module, number: int) -> str:
    """The module's text without its `number`-th barrier."""
    copy = mlir.parse(str(module), module.context)
    barriers(copy)[number].erase()
    return str(copy)


UPDATE = re.compile(
    r"^( *)(%\S+) = memref\.atomic_rmw (\w+) (%\S+), (%\S+\[.*\]) : \((\w+), (memref<.*>)\) -> \w+$", re.MULTILINE
)
EXTREMES = {"maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui"}


def without_atomics(module: mlir.ir.Module) -> str:
    """The module's text with every atomic update taken apart: load, combine, store."""

    def apart(found: re.Match[str]) -> str:
        indent, old, word, value, place, kind, memory = found.groups()
        lines = (
            f"{old} = memref.load {place} : {memory}",
            f"%new{old[1:]} = arith.{EXTREMES.get(word, word)} {old}, {value} : {kind}",
            f"memref.store %new{old[1:]}, {place} : {memory}",
        )
        return "\n".join(indent + line for line in lines)

    text, count = UPDATE.subn(apart, str(module))
    assert count, module
    return text
