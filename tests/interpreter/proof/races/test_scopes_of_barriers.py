"""`insert-barriers` chooses the least scope: a barrier of each warp where all that it orders is between the lanes of a warp, one of
the block elsewhere. What it chooses is right, and no less would be: the proof and the simulator find each barrier that is taken out
again, and each lane that its mask lacks."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from executors import expect_clean, expect_equal
from mutations import context, mutants
from native_device import NativeDevice

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.lanes import BARRIERS, WARP_BARRIER
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.interpreter.session.session import Session
from weft.pipeline import Choice, applied
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.devices.device import Device
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

BLOCK, WARP = "gpu.barrier", WARP_BARRIER


def session(folder: Path, body: str, maps: list[str], threads: int = 64, extra: str = "insert-barriers") -> Session:
    """A loop over blocks that stages A in S, and hands it to B in `body`; its loops mapped, then `extra` and `launch`."""
    shared = f"memref<{threads}xf32, #gpu.address_space<workgroup>>"
    text = f"""func.func @f(%A: GLOBAL, %B: GLOBAL) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.forall (%b) in (1) {{
    %S = memref.alloc() : SHARED
    %T = memref.alloc() : SHARED
    {body}
  }}
  return
}}
"""
    lines = ["let tiles = match scf.forall #0", "map tiles to blocks(x)"]
    for number, space in enumerate(maps, start=1):
        lines += [f"let l{number} = match scf.forall #{number}", f"map l{number} to {space}"]
    schedule = "\n  ".join([*lines, *extra.split("\n"), "launch tiles"])
    (folder / "p.mlir").write_text(text.replace("GLOBAL", f"memref<{threads}xf32>").replace("SHARED", shared))
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {schedule}\n}}\n')
    return applied(Choice(str(folder / "s.weft")).open()).session


def each(count: int, body: str, p: str = "i", at: str = "i") -> str:
    """A loop over so many, with an element of its own, `%p`, and another, `%at`, by its number and what is around it."""
    return f"""scf.forall (%i) in ({count}) {{
      %p = affine.apply affine_map<(w, i) -> ({p})>(%b, %i)
      %at = affine.apply affine_map<(w, i) -> ({at})>(%b, %i)
      {body}
    }}
    """


FILL = "%v = memref.load %A[%p] : GLOBAL\nmemref.store %v, %S[%p] : SHARED"
USE = "%v = memref.load %S[%at] : SHARED\nmemref.store %v, %B[%p] : GLOBAL"
IN_A_WARP = "i + 31 - 2 * (i mod 32)"
FOUR = """%s0 = memref.load %S[%at] : SHARED
%at1 = arith.addi %at, %c1 : index
%s1 = memref.load %S[%at1] : SHARED
%at3 = arith.addi %at, %c3 : index
%s3 = memref.load %S[%at3] : SHARED
%s01 = arith.addf %s0, %s1 : f32
%s = arith.addf %s01, %s3 : f32
memref.store %s, %T[%p] : SHARED"""
READ_SUM = "%v = memref.load %T[%at] : SHARED\nmemref.store %v, %B[%p] : GLOBAL"


def over_warps(body: str) -> str:
    return f"scf.forall (%w) in (2) {{ {body.replace('(%b, %i)', '(%w, %i)')} }}"


def in_loop(body: str, to: str = "%c3") -> str:
    return f"scf.for %k = %c0 to {to} step %c1 {{ {body} }}"


def rows(size: int, to: str = "%c3") -> str:
    """Each row of threads turns its elements around, several times."""
    turned = each(size, FILL, f"{size} * w + i") + each(size, USE, f"{size} * w + i", f"{size} * w + {size - 1} - i")
    return in_loop(turned, to).replace("(%b, %i)", "(%w, %i)")


def warp_sums() -> str:
    """Lanes add up, and hand each sum to four lanes of their warp."""
    summed = each(8, FOUR, "32 * w + i", "32 * w + 4 * i")
    return over_warps(each(32, FILL, "32 * w + i") + summed + each(32, READ_SUM, "32 * w + i", "32 * w + i floordiv 4"))


X, LANES = "threads(x: 64)", ["warps(x)", "lanes", "lanes"]
N = np.arange(64)
TURNED = N + 31 - 2 * (N % 32)
KERNELS: dict[str, tuple[str, list[str], list[str], str, np.ndarray]] = {
    "in a warp": (each(64, FILL) + each(64, USE, at=IN_A_WARP), [X] * 2, [WARP], "1 warp barrier: before", TURNED),
    "over warps": (each(64, FILL) + each(64, USE, at="63 - i"), [X] * 2, [BLOCK], "1 barrier: before", 63 - N),
    "there, for the block": (
        each(64, FILL) + "gpu.barrier\n" + each(64, USE, at=IN_A_WARP), [X] * 2, [WARP], "RAW on shared S, was there", TURNED,
    ),
    "both": (
        each(64, FILL) + each(64, USE, at=IN_A_WARP) + each(64, FILL) + each(64, USE, at="63 - i"), [X] * 4, [WARP, WARP, BLOCK],
        "1 barrier and 2 warp barriers: warp barrier before", 63 - N,
    ),
    "the block's orders that of the warp, too": (
        each(64, FILL) + each(64, "%u = memref.load %S[%at] : SHARED\nmemref.store %u, %B[%p] : GLOBAL", at=IN_A_WARP)
        + each(64, USE, at="63 - i"),
        [X] * 3, [BLOCK], "1 barrier: before", 63 - N,
    ),
    "in a loop": (
        in_loop(each(64, FILL) + each(64, USE, at=IN_A_WARP)), [X] * 2, [WARP, WARP], "2 warp barriers: before", TURNED,
    ),
    "between lanes": (
        over_warps(each(32, FILL, "32 * w + i") + each(32, USE, "32 * w + i", "32 * w + 31 - i")), LANES, [WARP],
        "1 warp barrier", TURNED,
    ),
    "in a loop of each warp": (over_warps(rows(32)), LANES, [WARP, WARP], "2 warp barriers", TURNED),
    "as often as the warp's number says": (
        over_warps("%to = arith.addi %w, %c1 : index\n" + rows(32, "%to")), LANES, [WARP, WARP], "2 warp barriers", TURNED,
    ),
    "two rows of threads are a warp": (
        f"scf.forall (%w) in (4) {{ {rows(16)} }}", ["threads(y: 4)", "threads(x: 16)", "threads(x: 16)"], [WARP, WARP],
        "2 warp barriers", N + 15 - 2 * (N % 16),
    ),
    "sums of a warp": (warp_sums(), [*LANES, "lanes"], [WARP, WARP], "2 warp barriers", N // 4 * 4),
}  # fmt: skip
A = np.random.default_rng(0).integers(-9, 9, 64).astype(np.float32)


def run(module: ir.Module, device: Device, given: np.ndarray = A) -> RunResult:
    text = emit(module) if device.wants == "cuda" else str(module)
    return run_plan(make_plan(module), device, {"A": given.copy(), "B": given.copy()}, text=text)


def objections(module: ir.Module) -> set[str]:
    """The proof's."""
    try:
        return {one.code for use in kernel_uses(module) for one in Findings(model_of(use)).diagnostics()}
    except WeftError as error:
        return {one.code for one in error.diagnostics}


def scopes(done: Session) -> list[str]:
    return [op.name for op in operations(done.module.operation, *BARRIERS)]


@pytest.mark.parametrize("name", KERNELS)
def test_least_scope(name: str, tmp_path: Path) -> None:
    body, maps, expected, remark, order = KERNELS[name]
    done = session(tmp_path, body, maps)
    assert scopes(done) == expected
    assert remark in "\n".join(line for step in done.steps for line in step.remarks)
    assert not objections(done.module)
    want = A[order] if name != "sums of a warp" else A[order] + A[order + 1] + A[order + 3]
    for device in (SimDevice(), NativeDevice("quick"), NativeDevice("quick", reverse=True), CpuDevice(2)):
        found = run(done.module, device)
        expect_clean(device, found)
        expect_equal(device, "B", found.outputs["B"], want)


@pytest.mark.parametrize("name", KERNELS)
def test_no_less_would_do(name: str, tmp_path: Path) -> None:
    body, maps, expected, _, _ = KERNELS[name]
    text = str(session(tmp_path, body, maps).module)
    for kind, code in (("barrier", "W0601"), ("mask", "W0603")):
        made = list(mutants(text, kind, random.Random(0), 8))
        assert len(made) >= (len(expected) if kind == "barrier" else expected.count(WARP))
        for mutant in made:
            module = mlir.parse(mutant.text, context())
            ran = run(module, SimDevice())
            assert code in objections(module), mutant.what
            assert ran.races if kind == "barrier" else {fault.kind for fault in ran.faults or ()} == {"divergent barrier"}


@pytest.mark.parametrize("name", KERNELS)
def test_once_more(name: str, tmp_path: Path) -> None:
    """What is chosen is kept, and a proof."""
    body, maps, expected, _, _ = KERNELS[name]
    done = session(tmp_path, body, maps, extra="insert-barriers\ninsert-barriers\nverify-sync")
    assert scopes(done) == expected
    remarks = [line for step in done.steps for line in step.remarks]
    assert sum("was there" in line for line in remarks) >= 1 and any("race-free" in line for line in remarks)


@pytest.mark.parametrize(
    ("threads", "chunk"),
    [(32, 32), (64, 2), (64, 16), (64, 64), (96, 3), (96, 8), (96, 48), (48, 2), (48, 16), (16, 16), (128, 32)],
)
def test_chunks(threads: int, chunk: int, tmp_path: Path) -> None:
    """Chunks of threads turn their elements around: the scope is that of the warps which the pairs are in."""
    at = f"i + {chunk - 1} - 2 * (i mod {chunk})"
    done = session(tmp_path, each(threads, FILL) + each(threads, USE, at=at), [f"threads(x: {threads})"] * 2, threads)
    one, other = np.arange(threads), np.arange(threads) + chunk - 1 - 2 * (np.arange(threads) % chunk)
    whole, inside = threads % 32 == 0, bool((one // 32 == other // 32).all())
    assert scopes(done) == [WARP if whole and inside else BLOCK]
    assert not objections(done.module) and not run(done.module, SimDevice(), np.arange(threads, dtype=np.float32)).races


@pytest.mark.parametrize(
    ("size", "count", "to"),
    [(24, 2, "%c3"), (64, 2, "%c3"), (16, 4, "%w")],
    ids=["warps that are not whole", "rows of two warps", "lanes that go round less often"],
)
def test_no_place(size: int, count: int, to: str, tmp_path: Path) -> None:
    """A loop in a loop over rows of threads holds no barrier of the block, and one of a warp does not do."""
    maps = [f"threads(y: {count})", f"threads(x: {size})", f"threads(x: {size})"]
    with pytest.raises(WeftError, match="W0604"):
        session(tmp_path, f"scf.forall (%w) in ({count}) {{ {rows(size, to)} }}", maps, size * count)
