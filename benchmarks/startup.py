"""Processor time (user and system) of whole processes, and what proofs cost: least of several, the sides taking turns.

    python benchmarks/startup.py [--against TREE] [--triton PYTHON] [--rounds N] [--only TEXT] [PART …]

`TREE` is another checkout of Weft, of any age; both are run from their sources (without the parse tables of a wheel, with byte code
cached). `PYTHON` has Triton, whose tutorial's product of matrices is compiled beside `hopper`: its wheel compiles without a GPU.
The parts: `processes`, `hopper` and `bitonic`, these if none is given; and `recipes`, `apply` and `build` of each recipe that both
checkouts have, where nothing that an earlier process has kept is found. Of processes and recipes, `--only` takes those rows that
contain a text.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from session import HERE, packages

SMALL = [word for size in "mnk" for word in ("--set", f"{size}=64")]
PROCESSES = {
    "python -c 'import numpy'": ["-c", "import numpy"],
    "weft --version": ["-m", "weft", "--version"],
    "weft --help": ["-m", "weft", "--help"],
    "weft check shared": ["-m", "weft", "check", "shared"],
    "weft apply shared": ["-m", "weft", "apply", "shared"],
    "weft apply simt": ["-m", "weft", "apply", "simt"],
    "weft run shared, 64³, simulator": ["-m", "weft", "run", "shared", "--target", "sim", *SMALL],
}
SQUARE = ("m=4096", "n=4096", "k=4096")
HOPPER = {
    "hopper": ("hopper", *SQUARE),
    "hopper, blocks that stay, clusters": ("hopper", *SQUARE, "blocks=132", "group=16", "cluster=2"),
}
APPLIED = """
import sys, time
from contextlib import suppress
from weft import pipeline
with suppress(ImportError):
    import weft.interpreter.session.session
name, *settings = sys.argv[1:]
given = dict(each.split("=") for each in settings)
recipe = pipeline.Choice(name, None, given).open() if hasattr(pipeline, "Choice") else pipeline.Recipe.open(name, None, given)
started = time.process_time()
pipeline.applied(recipe)
print(time.process_time() - started)
"""
"""What a schedule costs with its proofs, imports not counted."""
TO_CUBIN = """
import sys, time
from weft import pipeline
from weft.runtime.cuda.nvrtc import compile_cubin
import weft.interpreter.session.session
name, *settings = sys.argv[1:]
recipe = pipeline.Choice(name, None, dict(each.split("=") for each in settings)).open()
started = time.process_time()
made = pipeline.planned(pipeline.applied(recipe))
compile_cubin(made.cuda, "sm_90a")
print(time.process_time() - started)
"""
"""And to machine code: NVRTC needs no GPU."""
BARRIERS = """
import gc, sys, time
time.perf_counter = time.process_time  # what sessions measure their steps with
from weft import __main__ as command, pipeline
gc.set_threshold(getattr(command, "YOUNG", gc.get_threshold()[0]))  # as the command: else full collections make the steps
recipe = pipeline.Choice(sys.argv[1]).open() if hasattr(pipeline, "Choice") else pipeline.Recipe.open(sys.argv[1])
print(sum(step.seconds for step in pipeline.applied(recipe).session.steps if step.text == "insert-barriers"))
"""
TRITON = """
import os, time
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
def spent():
    return sum(os.times()[:4])  # ptxas is another process

started = spent()

@triton.jit
def product(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (G * columns) * G
    height = min(rows - first, G)
    pm, pn = first + ((pid % (G * columns)) % height), (pid % (G * columns)) // height
    om, on, ok = (pm * BM + tl.arange(0, BM)) % M, (pn * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    ap, bp = a + om[:, None] * sam + ok[None, :] * sak, b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(bp, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK * sak
        bp += BK * sbk
    cm, cn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], acc.to(c.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))

constants = {"sak": 1, "sbn": 1, "scn": 1, "BM": 128, "BN": 256, "BK": 64, "G": 8}
numbers = ("M", "N", "K", "sam", "sbk", "scm")
signature = dict.fromkeys("abc", "*bf16") | dict.fromkeys(numbers, "i32") | dict.fromkeys(constants, "constexpr")
names = [n for n in "a b c M N K sam sak sbk sbn scm scn BM BN BK G".split()]
source = ASTSource(fn=product, signature={n: signature[n] for n in names}, constexprs=constants,
    attrs={(n,): [["tt.divisibility", 16]] for n in (0, 1, 2, 3, 4, 5, 6, 8, 10)})
compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8, "num_stages": 3})
assert "wgmma.mma_async" in compiled.asm["ptx"] and compiled.asm["cubin"]
print(spent() - started)
"""
LENGTHS = (32, 64, 128, 256)


def bitonic(length: int, folder: Path, *, looped: bool = False) -> tuple[str, int]:
    """A sort of rows by a network, one mapped loop for each of its steps: the schedule's path, and how many loops there are.
    `looped`: all that again and again."""
    row, loops, size = f"memref<20x{length}xf32>", [], 2
    while size <= length:
        step = size // 2
        while step:
            at = f"%t + (%t floordiv {step}) * {step}"
            up = f"affine_map<(t) -> (((t + (t floordiv {step}) * {step}) floordiv {size}) mod 2)>(%t)"
            loops.append(f"""
    affine.for %t = 0 to {length // 2} {{
      %up = affine.apply {up}
      %c0 = arith.constant 0 : index
      %d = arith.cmpi eq, %up, %c0 : index
      %a = affine.load %x[%r, {at}] : {row}
      %b = affine.load %x[%r, {at} + {step}] : {row}
      %lo = arith.minimumf %a, %b : f32
      %hi = arith.maximumf %a, %b : f32
      %p = arith.select %d, %lo, %hi : f32
      %q = arith.select %d, %hi, %lo : f32
      affine.store %p, %x[%r, {at}] : {row}
      affine.store %q, %x[%r, {at} + {step}] : {row}
    }}""")
            step //= 2
        size *= 2
    steps = "".join(loops)
    if looped:
        bounds = (f"%{name} = arith.constant {value} : index" for name, value in (("from", 0), ("to", 3), ("by", 1)))
        steps = "\n".join(["", *bounds, f"scf.for %again = %from to %to step %by {{{steps}", "}"])
    payload = f"func.func @sort(%x: {row}) {{\n  affine.parallel (%r) = (0) to (20) {{{steps}\n  }}\n  return\n}}\n"
    name = f"{'looped' if looped else 'bitonic'}{length}"
    (folder / f"{name}.mlir").write_text(payload, encoding="utf-8")
    path = folder / f"{name}.weft"
    path.write_text(f"""payload "{name}.mlir"

schedule bitonic() {{
  let rows = match affine.parallel
  let steps = match* affine.for in rows
  map rows to blocks(x)
  map steps to threads(x: {length // 2})
  insert-barriers
  launch rows
}}
""", encoding="utf-8")  # fmt: skip
    return str(path), len(loops)


class Sides:
    """The checkouts that take turns. `paths`: of each, the folder that `weft` is imported from."""

    def __init__(self, paths: dict[str, Path], rounds: int) -> None:
        self.paths, self.rounds = paths, rounds

    def run(self, side: str, arguments: Sequence[str], python: str = sys.executable, **more: str) -> tuple[float, str]:
        """Processor time in seconds of a process and those that it starts, and its output."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(self.paths[side]), **more}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            environment["WEFT_CACHE_DIR"] = f"{folder}/cache"
            done = subprocess.run(
                [python, *arguments],
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{side}: {' '.join(arguments)[-200:]}: {done.stderr[-2000:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

    def told(self, side: str, program: str, *arguments: str) -> float:
        """What a program says that it took."""
        return float(self.run(side, ["-c", program, *arguments])[1])

    def recipes(self) -> dict[str, list[str]]:
        """`apply` and `build` of the recipes that all checkouts have."""
        listed = [
            self.run(side, ["-c", "from weft.recipes import schedules; print(*schedules())"])[1] for side in self.paths
        ]
        names = sorted(set.intersection(*(set(text.split()) for text in listed)))
        commands = {"apply": [], "build": ["-o", "bundle"]}
        return {
            f"{does} {name}": ["-m", "weft", does, name, *more] for name in names for does, more in commands.items()
        }

    def whole(self, heading: str, rows: dict[str, list[str]], only: str) -> None:
        """A table of whole processes, each of which is started once before: byte code, parse tables."""
        rows = {row: arguments for row, arguments in rows.items() if only in row}
        for arguments in rows.values():
            for side in self.paths:
                self.run(side, arguments)
        self.table(
            heading,
            {row: lambda side, a=arguments: self.run(side, a)[0] for row, arguments in rows.items()},
            self.rounds,
        )

    def table(self, heading: str, rows: dict[str, Callable[[str], float]], rounds: int) -> dict[str, dict[str, float]]:
        """By row and side, the least of some rounds; printed."""
        found: dict[str, dict[str, float]] = {row: {} for row in rows}
        for _ in range(rounds):
            for row, measured in rows.items():
                for side in self.paths:
                    found[row][side] = min(measured(side), found[row].get(side, math.inf))
        print(
            f"{heading:<42}"
            + "".join(f"{side:>10}" for side in self.paths)
            + ("  new / old" if "old" in self.paths else "")
        )
        for row, seconds in found.items():
            ratio = f"{seconds['new'] / seconds['old']:11.2f}" if "old" in seconds else ""
            print(f"{row:<42}" + "".join(f"{each:9.3f}s" for each in seconds.values()) + ratio, flush=True)
        return found


def growth(seconds: Iterable[tuple[int, float]]) -> str:
    """How time grows with a number, between neighbours, and with its square: `15 → 21 loops: 1.9 × (square: 1.96)`."""
    pairs = itertools.pairwise(list(seconds))
    return ", ".join(f"{a} → {b} loops: {t / s:.2f} × (square: {(b / a) ** 2:.2f})" for (a, s), (b, t) in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--triton", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("parts", nargs="*", default=("processes", "hopper", "bitonic"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {} if given.against is None else {"old": packages(given.against.resolve(), folder)}
        sides, few = Sides({**paths, "new": HERE}, given.rounds), max(1, given.rounds // 3)
        if "processes" in given.parts:
            sides.whole("whole processes", PROCESSES, given.only)
        if "recipes" in given.parts:
            sides.whole("whole processes, nothing kept", sides.recipes(), given.only)
        if "hopper" in given.parts:
            made = {row: lambda side, a=given_: sides.told(side, APPLIED, *a) for row, given_ in HOPPER.items()}
            sides.table("scheduled and proven, without imports", made, few)
            new = Sides({"new": HERE}, few)
            cubins = {row: lambda side, a=given_: new.told(side, TO_CUBIN, *a) for row, given_ in HOPPER.items()}
            new.table("proven and compiled, without imports", cubins, few)
            if given.triton:
                tutorial = {"Triton's tutorial, to machine code": lambda side: float(
                    new.run(side, [_script(folder)], given.triton, TRITON_CACHE_DIR=tempfile.mkdtemp(dir=folder))[1]
                )}  # fmt: skip
                new.table("compiled and not proven, without imports", tutorial, few)
        if "bitonic" in given.parts:
            for looped, what in ((False, ""), (True, ", again and again")):
                sorts = [bitonic(length, folder, looped=looped) for length in LENGTHS]
                rows = {
                    f"{count} mapped loops": lambda side, p=path: sides.told(side, BARRIERS, p) for path, count in sorts
                }
                found = sides.table(f"`insert-barriers` of a bitonic sort{what}", rows, few)
                print("growth:", growth((count, found[f"{count} mapped loops"]["new"]) for _, count in sorts))


def _script(folder: Path) -> str:
    """Triton reads a kernel's source from its file."""
    (folder / "tutorial.py").write_text(TRITON, encoding="utf-8")
    return str(folder / "tutorial.py")


if __name__ == "__main__":
    main()
