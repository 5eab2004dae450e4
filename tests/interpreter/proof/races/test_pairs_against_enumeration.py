"""All pairs of agents: the proof and the simulator against an enumeration of what every thread does.

`WEFT_SOAK=1` asks of 5000 kernels in place of a few, from `WEFT_SEED` on.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from contexts import one_context
from pair_cells import TABLE, histogram
from pair_makers import random_kernel
from random_pairs import Kernel

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.interpreter.proof.signals.judgement import judge_signals
from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import SimKernel

SOAK = "WEFT_SOAK" in os.environ
FIRST = int(os.environ.get("WEFT_SEED", "0"))
BATCH = 25
KERNELS = 5000 if SOAK else 25
SIZES = range(-4, 10)
DTYPES = {"f32": np.float32, "f16": np.float16}
TABLED = 5000 if SOAK else 200
"""Kernels that have to have all cells of the table of pairs; a few of them at least what is most of it."""
MOST_ASSUMED = 0.1
"""Of right kernels, those that are refused because something is assumed: where data decides."""


@dataclass(frozen=True)
class Right:
    """By the enumeration: `racy` and `unwritten` for some size, and for some of the data that is the same for all threads; the same
    of what the simulator has."""

    racy: bool
    unwritten: bool
    racy_here: bool
    unwritten_here: bool

    @staticmethod
    def of(kernel: Kernel) -> Right:
        here = kernel.judged(kernel.flags, kernel.size)
        others = (kernel.flags, [1 - kernel.flags[0], *kernel.flags[1:]])
        every = [kernel.judged(flags, size) for flags in others for size in (SIZES if kernel.size is not None else (None,))]
        return Right(any(racy for racy, _ in every), any(unwritten for _, unwritten in every), *here)


def simulated(kernel: Kernel, function: ir.Operation) -> LaunchReport:
    arrays = [np.zeros(m.shape, DTYPES[m.kind]) for m in kernel.memories if not m.shared]
    made = SimKernel(function)
    return made.launch((kernel.blocks, 1, 1), (kernel.threads, 1, 1), [*arrays, np.array(kernel.flags, np.int32), kernel.size or 0])


def compare(seed: int) -> str:
    """What is found of a kernel, in a word; fails where a witness is wrong."""
    kernel = random_kernel(seed)
    text, right = kernel.text(), Right.of(kernel)
    told = f"seed {seed}: {right}\n{text}"
    module = mlir.parse(text, one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    findings = Findings(kernel_model(function))
    refused, unwritten = bool(findings.conflicts), bool(findings.unwritten)
    assumed = all(found.assumed for found in findings.conflicts)
    assert not findings.model.divergent, told
    if findings.faults:  # of clusters: where it is not known how often they meet at a barrier
        assert kernel.cluster and kernel.size is not None and all(fault.assumed for fault in findings.faults), told
        return "racy" if right.racy else "assumed"
    assert refused or not right.racy, f"a false proof; {told}"
    assert right.racy or not refused or assumed, f"a false alarm that is not called assumed: {findings.conflicts}; {told}"
    if not refused and not right.racy:
        assert unwritten or not right.unwritten, f"a read of what nobody wrote; {told}"
        unsure = all(read.assumed for read in findings.unwritten)
        assert right.unwritten or not unwritten or unsure, f"a write is missed: {findings.unwritten}; {told}"
    if SOAK or seed % 2:  # who asks for all paths, where barriers alone would do
        paths = judge_signals(kernel_model(function))
        across = any(c.across_blocks for c in findings.conflicts)
        unsure = (refused and assumed) or (not refused and all(c.assumed for c in paths.conflicts))
        assert not paths.faults and (bool(paths.conflicts) == refused or across or unsure), f"two answers of the proof; {told}"
    report = simulated(kernel, function)
    assert bool(report.races) == right.racy_here, f"the simulator: {report.races}; {told}"
    if not right.racy_here:
        missed = any(fault.kind == "uninitialized read" for fault in report.faults)
        assert missed == right.unwritten_here, f"the simulator: {report.faults}; {told}"
    return "racy" if right.racy else "assumed" if refused or (unwritten and not right.unwritten) else "right"


@pytest.mark.parametrize("start", range(FIRST, FIRST + KERNELS, BATCH))
def test_all_witnesses_agree(start: int) -> None:
    found = Counter(map(compare, range(start, start + BATCH)))
    assert found["racy"] and found["right"], "the sample must hold kernels of both kinds"
    assert found["assumed"] <= 1 + MOST_ASSUMED * BATCH, found


def test_cells_of_the_table() -> None:
    """All pairs of agents in all relations are among what is drawn; in a few kernels each kind with each relation of threads."""
    first = FIRST if SOAK else 0  # a few of any others need not have all
    found = histogram(map(random_kernel, range(first, first + TABLED)))
    print("\n".join(f"{' | '.join(cell)}: {found[cell]}" for cell in sorted(TABLE)))
    assert set(found) <= TABLE
    if SOAK:
        assert set(found) == TABLE, sorted(TABLE - set(found))
    assert {(kind, ops, threads) for _, kind, ops, threads, _ in found} == {c[1:4] for c in TABLE}
