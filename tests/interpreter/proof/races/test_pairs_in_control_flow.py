"""Copies and waits in control flow that the generator of pairs does not make: loops with a step of 2, peeled epilogues, waits and
commits in branches, rings in loops. The proof and the simulator against what the definition says of each."""

from __future__ import annotations

import re

import numpy as np
import pytest
from contexts import one_context

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.simulator.kernel import SimKernel

ROWS, THREADS = 8, 64
SHARED = f"memref<{ROWS}x{THREADS}xf32, #gpu.address_space<workgroup>>"
GLOBAL = f"memref<{THREADS}xf32>"
BARRIER = "gpu.barrier\n"
COMMIT = "%_ = nvgpu.device_async_create_group {}\n"
HALF = "%half = arith.cmpi ult, %x, %c32 : index\n"
SOME = "%some = arith.cmpi sgt, %n, %c0 : index\n"
LAST = "%last = arith.cmpi slt, %i, %c6 : index\n"


def copy(row: str) -> str:
    """Of a thread's own element of a row, asynchronously."""
    return f"%_ = nvgpu.device_async_copy %g[%x], %s[{row}, %x], 1 : {GLOBAL} to {SHARED}\n"


def wait(groups: int) -> str:
    return f"nvgpu.device_async_wait %token {{numGroups = {groups} : i32}}\n"


def read(row: str, column: str = "%next") -> str:
    return f"%_ = memref.load %s[{row}, {column}] : {SHARED}\n"


def write(row: str) -> str:
    return f"memref.store %f, %s[{row}, %x] : {SHARED}\n"


def where(condition: str, then: str, other: str = "") -> str:
    return f"scf.if {condition} {{\n{then}}} else {{\n{other}}}\n"


def loop(body: str, end: str = "%c8", step: str = "%c1", counter: str = "%i") -> str:
    return f"scf.for {counter} = %c0 to {end} step {step} {{\n{body}}}\n"


def stage(ahead: int, of: int, step: int = 1) -> str:
    """`%r`, the row of this iteration, and `%a`, that of one `ahead`."""
    number = f"i floordiv {step}"
    maps = f"({number}) mod {of}", f"({number} + {ahead}) mod {of}"
    return "".join(
        f"%{name} = affine.apply affine_map<(i) -> ({each})>(%i)\n" for name, each in zip("ra", maps, strict=True)
    )


FILLED = copy("%c0") + COMMIT + copy("%c1") + COMMIT
"""Two of three stages."""
TAKEN = wait(1) + BARRIER + read("%r")
AHEAD = copy("%a") + COMMIT
MAIN = FILLED + loop(stage(2, 3) + TAKEN + AHEAD, "%c6")
RIGHT = {
    "step of 2, two stages": copy("%c0") + COMMIT + loop(stage(1, 2, 2) + AHEAD + TAKEN + BARRIER, step="%c2"),
    "step of 2, three stages": FILLED + loop(stage(2, 3, 2) + TAKEN + AHEAD, step="%c2"),
    "step of 2, iterations that only a run knows": FILLED + loop(stage(2, 3, 2) + TAKEN + AHEAD, "%n", "%c2"),
    "peeled epilogue": MAIN + wait(1) + BARRIER + read("%c0") + wait(0) + BARRIER + read("%c1"),
    "guarded copy, each iteration commits": FILLED + loop(stage(2, 3) + LAST + TAKEN + where("%last", copy("%a")) + COMMIT),
    "guarded copy and commit, waits for all at the end": FILLED
    + loop(stage(2, 3) + LAST + where("%last", wait(1), wait(0)) + BARRIER + read("%r") + where("%last", AHEAD)),
    "a ring in a loop": loop(MAIN + wait(0) + BARRIER, "%c2", counter="%j"),
    "waits in both branches": HALF + copy("%c1") + COMMIT + where("%half", wait(0), wait(0)) + read("%c1", "%x"),
    "commit in a branch, and one more behind": write("%c0")
    + HALF + where("%half", copy("%c0") + COMMIT) + copy("%c1") + COMMIT + wait(1) + read("%c0", "%x"),
    "half copies, half stores": HALF + where("%half", copy("%c0") + COMMIT, write("%c0")) + wait(0) + read("%c0", "%x"),
    "of half, committed by all": write("%c0")
    + BARRIER + HALF + where("%half", copy("%c0")) + COMMIT + wait(0) + BARRIER + read("%c0"),
    "data decides of a group that is older": SOME
    + where("%some", copy("%c0") + COMMIT) + copy("%c1") + COMMIT + wait(1) + write("%c0"),
}  # fmt: skip
RACY = {
    "step of 2, no barrier at the end": copy("%c0") + COMMIT + loop(stage(1, 2, 2) + AHEAD + TAKEN, step="%c2"),
    "step of 2, waits for too few": FILLED + loop(stage(2, 3, 2) + TAKEN.replace("= 1", "= 2") + AHEAD, step="%c2"),
    "iterations that only a run knows": FILLED + loop(stage(2, 3, 2) + TAKEN.replace("= 1", "= 2") + AHEAD, "%n", "%c2"),
    "peeled epilogue, first wait": MAIN + wait(2) + BARRIER + read("%c0") + wait(0) + BARRIER + read("%c1"),
    "peeled epilogue, last wait": MAIN + wait(1) + BARRIER + read("%c0") + wait(1) + BARRIER + read("%c1"),
    "filled again behind the epilogue": FILLED + wait(0) + BARRIER + read("%c0") + copy("%c0") + COMMIT + wait(0),
    "guarded copy and commit": FILLED + loop(stage(2, 3) + LAST + TAKEN + where("%last", AHEAD)),
    "a ring in a loop, not drained": loop(MAIN + BARRIER, "%c2", counter="%j"),
    "a wait in one branch": copy("%c1") + COMMIT + HALF + where("%half", wait(0)) + read("%c1", "%x"),
    "waits in both branches, one for too few": HALF + copy("%c1") + COMMIT + where("%half", wait(0), wait(1)) + read("%c1", "%x"),
    "commit in a branch of what all copy": HALF
    + copy("%c0") + where("%half", COMMIT) + copy("%c1") + COMMIT + wait(1) + read("%c0", "%x"),
    "data decides of a group that is newer": SOME
    + copy("%c0") + COMMIT + where("%some", copy("%c1") + COMMIT) + wait(1) + read("%c0", "%x"),
    "committed before it is copied": COMMIT + copy("%c0") + wait(0) + read("%c0", "%x"),
    "twice in a group": copy("%c0") + copy("%c0") + COMMIT + wait(0),
}  # fmt: skip


def text(body: str) -> str:
    constants = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 6, 8, 32))
    named = re.sub("%_", lambda found: f"%v{found.start()}", body)
    sizes = f"known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"
    return f"""gpu.module @m {{ gpu.func @k(%g: {GLOBAL}, %n: index) workgroup(%s: {SHARED}) kernel attributes {{{sizes}}} {{
{constants}%x = gpu.thread_id x
%f = arith.constant 1.0 : f32
%next = affine.apply affine_map<(x) -> ((x + 1) mod {THREADS})>(%x)
%token = nvgpu.device_async_create_group {{}}
{named}gpu.return
}} }}"""


@pytest.mark.parametrize("name, racy", [*((name, False) for name in RIGHT), *((name, True) for name in RACY)])
def test_both_witnesses(name: str, racy: bool) -> None:
    body = (RACY if racy else RIGHT)[name]
    written = text(body)
    module = mlir.parse(written, one_context())
    kernel = next(mlir.operations(module.operation, "gpu.func"))
    conflicts = Findings(kernel_model(kernel)).conflicts
    assert bool(conflicts) == racy, (conflicts, written)
    assert not any(found.assumed for found in conflicts)
    made, seen = SimKernel(kernel), list[str]()
    for size in (0, 1, 2, 3, 5, 8) if "%n" in re.findall(r"%\w+", body) else (8,):
        report = made.launch((1, 1, 1), (THREADS, 1, 1), [np.zeros(THREADS, np.float32), size])
        seen += map(str, report.races)
    assert bool(seen) == racy, (seen, written)
