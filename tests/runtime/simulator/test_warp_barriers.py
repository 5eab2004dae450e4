"""Barriers of warps: they order what the lanes of a warp do to memory, and nothing that another warp does. The proof, the
simulator, the text and the CPU agree on that, and on lanes that do not come."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from contexts import one_context
from native_device import NativeDevice
from warp_kernels import ONE_WARP, SYNC, RandomWarps, in_shared, staged

from weft.dsl.diagnostics import Diagnostic, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.devices.device import Device
from weft.runtime.devices.report import ThreadOp
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import Order, SimKernel

SEEDS = range(300 if "WEFT_SOAK" in os.environ else 8)
EVERY = 10
A = np.random.default_rng(0).integers(-9, 9, 64).astype(np.float32)
NEXT = A.reshape(2, 32)[:, np.r_[1:32, 0]].ravel()


def run(module: ir.Module, device: Device, given: np.ndarray = A) -> RunResult:
    text = emit(module) if device.wants == "cuda" else str(module)
    return run_plan(make_plan(module), device, {"A": given.copy(), "B": given.copy()}, text=text)


def said(module: ir.Module) -> list[Diagnostic]:
    """By the proof."""
    try:
        return [one for use in kernel_uses(module) for one in Findings(model_of(use)).diagnostics()]
    except WeftError as error:
        return list(error.diagnostics)


def runners() -> list[Device]:
    return [SimDevice(), SimDevice(check=False), NativeDevice("quick"), NativeDevice("quick", reverse=True), CpuDevice(2)]


# ---- written by hand ------------------------------------------------------------------------------------------------------

RIGHT = {
    "between the lanes of a warp": (staged(SYNC), NEXT),
    "two of them": (staged(f"{SYNC}\n{SYNC}", "%mirrored"), A.reshape(2, 32)[:, ::-1].ravel()),
    "between warps, a block's": (staged(f"{SYNC}\ngpu.barrier", "%over"), np.roll(A, -32)),
    "one of each arm": (staged(f"{ONE_WARP.removesuffix('}')} }} else {{ {SYNC} }}"), NEXT),
    "in a loop of as many turns as the warp's number says": (staged(f"scf.for %i = %c0 to %turns step %c1 {{ {SYNC} }}"), NEXT),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_it_orders(case: str) -> None:
    text, want = RIGHT[case]
    module = mlir.parse(text, one_context())
    assert not said(module)
    for device in runners():
        found = run(module, device)
        assert not found.races and not found.faults and np.array_equal(found.outputs["B"], want), device


WRONG = {
    "nothing in between": (staged(""), "put a `gpu.barrier` between"),
    "the lane of another warp": (staged(SYNC, "%over"), r"nvvm.bar.warp.sync at .* orders only the threads of a warp"),
    "one warp alone": (staged(ONE_WARP), "put a `gpu.barrier` between"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_it_does_not_order(case: str) -> None:
    text, hint = WRONG[case]
    module = mlir.parse(text, one_context())
    (found,) = said(module)
    assert found.code == "W0601" and "RAW on shared memory `S`" in found.message
    assert found.hint is not None and mlir.re.match(hint, found.hint)
    races = run(module, SimDevice()).races or ()
    assert [(race.kind, race.buffer) for race in races] == [("RAW", "S")]
    assert {run(module, device).outputs["B"].tobytes() for device in runners()[2:]} != {NEXT.tobytes()}


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
@pytest.mark.parametrize("thread", [0, 63])
def test_readers_of_two_warps(thread: int, order: Order) -> None:
    """All threads read an element, and one of them writes it behind the barrier of its warp: the other warp may read it later."""
    body = f"""memref.store %v, %S[%tx] : MEMORY
      gpu.barrier
      %r = memref.load %S[%c1] : MEMORY
      {SYNC}
      %who = arith.constant {thread} : index
      %one = arith.cmpi eq, %tx, %who : index
      scf.if %one {{ memref.store %v, %S[%c1] : MEMORY }}"""
    module = mlir.parse(in_shared(body, "f32", 64), one_context())
    (found,) = said(module)
    assert found.code == "W0601" and "WAR on shared memory `S`" in found.message
    (kernel,) = mlir.operations(module.operation, "gpu.func")
    (race,) = SimKernel(kernel).launch((1, 1, 1), (64, 1, 1), [A.copy(), A.copy()], order=order).races
    first, second = (each.thread[0] // 32 for each in (race.first, race.second) if isinstance(each, ThreadOp))
    assert race.kind == "WAR" and first != second == thread // 32


TORN = {
    "lanes decide": f"%one = arith.cmpi eq, %lane, %c1 : index\nscf.if %one {{ {SYNC} }}",
    "the mask lacks the first": "%some = arith.constant -2 : i32\nnvvm.bar.warp.sync %some : i32",
    "the mask lacks the last": "%some = arith.constant 2147483647 : i32\nnvvm.bar.warp.sync %some : i32",
}


@pytest.mark.parametrize("case", TORN)
def test_lanes_that_do_not_come(case: str) -> None:
    module = mlir.parse(staged(TORN[case]), one_context())
    assert "W0603" in {one.code for one in said(module)}
    assert {fault.kind for fault in run(module, SimDevice()).faults or ()} == {"divergent barrier"}
    with pytest.raises(AssertionError, match="not reached by all threads"):
        run(module, NativeDevice("quick"))


def test_warps_that_are_not_whole() -> None:
    text = staged(SYNC).replace("array<i32: 64, 1, 1>", "array<i32: 40, 1, 1>")
    (found,) = said(mlir.parse(text.replace("%t = arith.constant 64", "%t = arith.constant 40"), one_context()))
    assert found.code == "W0603" and "a block of 40 threads has a warp that is not whole" in found.message


def test_masks_that_are_not_constant() -> None:
    module = mlir.parse(staged(f"%some = arith.index_cast %tx : index to i32\n{SYNC.replace('%all', '%some')}"), one_context())
    assert [one.code for one in said(module)] == ["W0603"]
    with pytest.raises(WeftError, match=r"W0503: `nvvm.bar.warp.sync` with a mask that is not constant"):
        emit(module)
    with pytest.raises(WeftError, match="W0725"):
        run(module, CpuDevice(1))
    assert run(module, SimDevice()).faults


# ---- at random ------------------------------------------------------------------------------------------------------------


def test_the_proof_and_the_simulator_agree() -> None:
    """On each of them; the text and the CPU have the simulator's values where there is no race."""
    given, found = np.random.default_rng(1).integers(-1000, 1000, 96).astype(np.int32), Counter[bool]()
    for seed in SEEDS:
        module = mlir.parse(RandomWarps(seed).module(), one_context())
        proof, seen = {one.code for one in said(module)}, run(module, SimDevice(), given)
        assert not seen.faults and proof <= {"W0601"}, seed
        assert bool(proof) == bool(seen.races), seed
        found[bool(proof)] += 1
        if not proof:
            for device in (CpuDevice(2), *([NativeDevice("quick")] if found[False] % EVERY == 1 else [])):
                assert np.array_equal(run(module, device, given).outputs["B"], seen.outputs["B"]), seed
    assert min(found[True], found[False]) > len(SEEDS) // 6, found
