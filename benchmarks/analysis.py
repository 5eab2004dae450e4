"""The whole analysis of kernels that stage operands in shared memory: reading the kernel, all conflicts, the choice of barriers.

    python benchmarks/analysis.py [--against TREE] [BUFFERS …]

The kernels of recipes first, then a k loop that stages 1 … 40 buffers, with a place for a barrier before each op; how the time
grows with their number shows in the exponent between neighbours. `TREE` is another checkout of Weft: its benchmark of this name and
this one take turns, a process each, on the largest of the numbers.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import HERE, packages

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.barriers import choose_barriers
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks
from weft.interpreter.proof.races.uninitialized_reads import unwritten_reads
from weft.pipeline import Choice, applied

RUNS = 5
ROUNDS = 3
RECIPES = ("shared", "simt", "simt_pipelined")
BUFFERS = (1, 2, 5, 10, 20, 40)
TILE = "memref<16x16xf32, #gpu.address_space<workgroup>>"
WIDE = "memref<1024x1024xf32>"


def staged(buffers: int, candidates: bool = True) -> str:
    """A kernel of 16x16 threads: in each k step it copies a tile of every operand, and adds up a row by a column of each."""
    number = iter(range(10_000))

    def place() -> str:
        return f"gpu.barrier {{weft.candidate = {next(number)} : i64}}" if candidates else ""

    copies = "\n".join(
        f"""{place()}
        %at{b} = arith.addi %k, %tx : index
        %v{b} = memref.load %A{b}[%row, %at{b}] : {WIDE}
        memref.store %v{b}, %S{b}[%ty, %tx] : {TILE}"""
        for b in range(buffers)
    )
    uses = "\n".join(
        f"%x{b} = memref.load %S{b}[{'%ty, %q' if b % 2 else '%q, %tx'}] : {TILE}\n"
        f"%s{b + 1} = arith.addf %s{b}, %x{b} : f32"
        for b in range(buffers)
    )
    arguments = ", ".join(f"%A{b}: {WIDE}" for b in range(buffers))
    shared = ", ".join(f"%S{b}: {TILE}" for b in range(buffers))
    return f"""gpu.module @m {{
  gpu.func @k({arguments}, %C: {WIDE}) workgroup({shared}) kernel
      attributes {{known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 64, 64, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %n = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %row = affine.apply affine_map<(b, t) -> (16 * b + t)>(%by, %ty)
    %column = affine.apply affine_map<(b, t) -> (16 * b + t)>(%bx, %tx)
    memref.store %zero, %C[%row, %column] : {WIDE}
    scf.for %k = %c0 to %n step %c16 {{
      {copies}
      {place()}
      scf.for %q = %c0 to %c16 step %c1 {{
        %s0 = memref.load %C[%row, %column] : {WIDE}
        {uses}
        memref.store %s{buffers}, %C[%row, %column] : {WIDE}
      }}
      {place()}
    }}
    gpu.return
  }}
}}"""


def analysed(kernel: mlir.ir.Operation) -> tuple[float, int]:
    """Seconds of one whole analysis, and how many barriers it chose or found."""
    start = time.perf_counter()
    model = kernel_model(kernel)
    between = conflicts_between_blocks(model)
    if any(b.candidate is not None for b in model.barriers):
        choice = choose_barriers(model)
        barriers, wrong = len(choice.chosen), bool(choice.unseparated)
    else:
        barriers, wrong = len(model.barriers), bool(conflicts(model))
    wrong = wrong or bool(unwritten_reads(model)) or bool(between)
    seconds = time.perf_counter() - start
    if wrong:
        raise SystemExit("the benchmark's kernel is meant to be race-free")
    return seconds, barriers


def measured(module: mlir.ir.Module) -> tuple[float, int]:
    """The median of several runs."""
    (kernel,) = mlir.operations(module.operation, "gpu.func")
    runs = [analysed(kernel) for _ in range(RUNS)]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def of_checkout(tree: Path, path: Path, buffers: int) -> float:
    """Milliseconds that the checkout's own benchmark says."""
    command = [sys.executable, str(tree / "benchmarks" / "analysis.py"), str(buffers)]
    environment = {**os.environ, "PYTHONPATH": str(path)}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=600).stdout
    found = re.search(rf"^ *{buffers} staged buffers: +([0-9.]+) ms", said, re.MULTILINE)
    assert found is not None, said
    return float(found[1])


def compare(buffers: int, tree: Path) -> None:
    """This checkout and another one, taking turns; the least that each needs."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {tree: packages(tree, Path(folder)), HERE: HERE}
        runs: dict[Path, list[float]] = {which: [] for which in paths}
        for _ in range(ROUNDS):
            for which, path in paths.items():
                runs[which].append(of_checkout(which, path, buffers))
    old, new = map(min, runs.values())
    print(f"{buffers} staged buffers: {old:.1f} ms → {new:.1f} ms: {new / old:.2f}×")


def main(counts: tuple[int, ...]) -> None:
    for name in RECIPES:
        seconds, barriers = measured(applied(Choice(name).open()).module)
        print(f"recipe `{name}`: {seconds * 1e3:.1f} ms, {barriers} barriers proven")
    before: tuple[int, float] | None = None
    for count in counts:
        seconds, barriers = measured(mlir.parse(staged(count), mlir.context()))
        growth = (
            ""
            if before is None
            else f", grows like n^{math.log(seconds / before[1]) / math.log(count / before[0]):.1f}"
        )
        print(
            f"{count:3d} staged buffers: {seconds * 1e3:7.1f} ms, {barriers} barriers chosen of {count + 2} places{growth}"
        )
        before = (count, seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("buffers", type=int, nargs="*", default=BUFFERS)
    given = parser.parse_args()
    if given.against is not None:
        compare(max(given.buffers), given.against.resolve())
    else:
        main(tuple(given.buffers))
