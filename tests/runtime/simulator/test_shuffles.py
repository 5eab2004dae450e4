"""Shuffles: all that run kernels agree on who gets whose value, and a lane that does not come is found by each witness."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contexts import one_context
from executors import expect_clean
from gpu_kernels import func, sim
from native import run_native
from native_device import NativeDevice
from places import TESTS
from sass import whole
from shuffle_kernels import BUTTERFLY, CASES, DTYPES, THREADS, Shuffles, exchanging

from weft.api import apply
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model, kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice


def outputs(text: str, *given: np.ndarray, block: int = THREADS) -> list[np.ndarray]:
    """What the host function's arguments are after the run, the last of each who runs it: simulator, text, CPU."""
    module = mlir.parse(text, one_context())
    plan, cuda, found = make_plan(module), emit(module), []
    for device in (SimDevice(), SimDevice(check=False), NativeDevice("quick"), NativeDevice("quick", reverse=True), CpuDevice(2)):
        inputs = dict(zip((b.name for b in plan.buffers), (x.copy() for x in given), strict=False))
        result = run_plan(plan, device, inputs, text=cuda if device.wants == "cuda" else str(module))
        expect_clean(device, result)
        found.append(list(result.outputs.values())[-1])
    return found


@pytest.mark.few()
@pytest.mark.parametrize("block", [(64, 1, 1), (8, 4, 2)], ids=str)
@pytest.mark.parametrize("kind", DTYPES)
def test_all_who_run_it_agree(kind: str, block: tuple[int, int, int]) -> None:
    kernel = Shuffles(kind, block=block)
    a, o, b = kernel.arguments()
    want = kernel.expected(a, o)
    for got in outputs(kernel.module(), a, o, b):
        wrong = [case for case, x, y in zip(CASES, got, want, strict=True) if not np.array_equal(x, y)]
        assert not wrong


# ---- loops and branches -------------------------------------------------------------------------------------------------


def sums(a: np.ndarray, size: int) -> np.ndarray:
    return a.reshape(-1, size).sum(1).repeat(size)


IN_CONTROL = {
    "a butterfly in a loop": (BUTTERFLY.format(to="%c5"), lambda a: sums(a, 32)),
    "in as many turns as the warp's number says": (
        BUTTERFLY.format(to="%warp"),
        lambda a: np.concatenate([a[:32], sums(a[32:], 2)]),
    ),
    "one warp alone": (
        """%one = arith.cmpi eq, %warp, %c1 : index
        %r = scf.if %one -> f32 {
          %g, %ok = gpu.shuffle idx %v, %w1, %w32 : f32
          scf.yield %g : f32
        } else { scf.yield %v : f32 }""",
        lambda a: np.concatenate([a[:32], a[33:34].repeat(32)]),
    ),
    "in each arm of a branch": (
        """%one = arith.cmpi eq, %warp, %c1 : index
        %r = scf.if %one -> f32 {
          %g, %ok = gpu.shuffle idx %v, %w1, %w32 : f32
          scf.yield %g : f32
        } else {
          %g, %ok = gpu.shuffle up %v, %w1, %w32 : f32
          %s = arith.select %ok, %g, %v : f32
          scf.yield %s : f32
        }""",
        lambda a: np.concatenate([a[:1], a[:31], a[33:34].repeat(32)]),
    ),
    "behind one another, and a barrier between": (
        """%g, %ok = gpu.shuffle down %v, %w1, %w32 : f32
        %s = arith.select %ok, %g, %v : f32
        gpu.barrier
        %h, %in = gpu.shuffle down %s, %w1, %w32 : f32
        %b = arith.select %in, %h, %s : f32
        %r = arith.addf %b, %s : f32""",
        lambda a: sum((np.stack([w[np.minimum(np.arange(32) + d, 31)] for w in a.reshape(-1, 32)]).ravel() for d in (1, 2)), 0 * a),
    ),
    "a loop of the threads around it": (
        """%r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %v) -> f32 {
          %x = memref.load %A[%tx] : memref<64xf32>
          %g, %ok = gpu.shuffle xor %x, %w1, %w32 : f32
          %n = arith.addf %s, %g : f32
          scf.yield %n : f32
        }""",
        lambda a: a + 5 * a.reshape(-1, 2)[:, ::-1].ravel(),
    ),
}


@pytest.mark.parametrize("case", IN_CONTROL)
def test_in_loops_and_branches(case: str) -> None:
    body, wanted = IN_CONTROL[case]
    a = np.random.default_rng(0).integers(-9, 9, THREADS).astype(np.float32)
    for got in outputs(exchanging(body), a, np.zeros_like(a)):
        assert np.array_equal(got, wanted(a))


def test_what_is_compared_travels_too() -> None:
    body = """%z = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %v, %z : f32
    %g, %ok = gpu.shuffle xor %c, %w1, %w32 : i1
    %r = arith.select %g, %z, %v : f32"""
    a = np.random.default_rng(0).integers(-9, 9, THREADS).astype(np.float32)
    want = np.where(a.reshape(-1, 2)[:, ::-1].ravel() < 0, 0, a)
    assert all(np.array_equal(got, want) for got in outputs(exchanging(body), a, np.zeros_like(a)))


# ---- reductions of a warp -----------------------------------------------------------------------------------------------

REDUCTIONS = {
    ("add", "f32"): np.add, ("mul", "i64"): np.multiply, ("minsi", "i32"): np.minimum, ("maximumf", "f64"): np.maximum,
    ("minnumf", "f32"): np.minimum, ("and", "i32"): np.bitwise_and, ("or", "i8"): np.bitwise_or, ("xor", "i16"): np.bitwise_xor,
    ("add", "f16"): np.add, ("maxnumf", "bf16"): np.maximum,
}  # fmt: skip


@pytest.mark.few()
@pytest.mark.parametrize(("operation", "kind"), REDUCTIONS, ids=str)
@pytest.mark.parametrize(("cluster", "size", "stride"), [("", 32, 1), ("cluster(size = 8)", 8, 1),
                                                         ("cluster(size = 4, stride = 2)", 4, 2)])  # fmt: skip
def test_reductions_are_shuffles(operation: str, kind: str, cluster: str, size: int, stride: int) -> None:
    body = f"%r = gpu.subgroup_reduce {operation} %v uniform {cluster} : ({kind}) -> {kind}"
    a = np.random.default_rng(0).integers(-4, 5, THREADS).astype(DTYPES[kind])
    clusters = a.reshape(-1, size, stride)
    want = np.broadcast_to(REDUCTIONS[operation, kind].reduce(clusters, axis=1, keepdims=True), clusters.shape).ravel()
    for got in outputs(exchanging(body, kind), a, np.zeros_like(a)):
        assert np.array_equal(got, want)


# ---- what is wrong is found ---------------------------------------------------------------------------------------------

SOME = {
    "a lane alone": ("%c5 = arith.constant 5 : index\n%some = arith.cmpi eq, %lane, %c5 : index", True),
    "all lanes but one": ("%c31 = arith.constant 31 : index\n%some = arith.cmpi slt, %lane, %c31 : index", True),
    "threads up to 40": ("%c40 = arith.constant 40 : index\n%some = arith.cmpi slt, %tx, %c40 : index", True),
    "who read it in memory": ("%z = arith.constant 0 : i32\n%some = arith.cmpi slt, %o, %z : i32", True),
    "a warp alone": ("%c1 = arith.constant 1 : index\n%some = arith.cmpi eq, %warp, %c1 : index", False),
    "the first 32 threads": ("%some = arith.cmpi slt, %tx, %c32 : index", False),
}


def found(text: str) -> list[str]:
    """What the proof says."""
    module = mlir.parse(text, one_context())
    return [f"{one.code} {one.message}" for use in kernel_uses(module) for one in Findings(model_of(use)).diagnostics()]


@pytest.mark.parametrize("case", SOME)
def test_lanes_of_a_warp_come_together(case: str) -> None:
    condition, torn = SOME[case]
    kernel = Shuffles("f32", condition)
    a, o, b = kernel.arguments()
    report = sim(kernel.text()).launch((1, 1, 1), (THREADS, 1, 1), [a, o, b])
    assert {fault.kind for fault in report.faults} == ({"divergent barrier"} if torn else set())
    said = found(kernel.module())
    assert {one[:5] for one in said} == ({"W0603"} if torn else set())
    assert all("threads of a subgroup" in one and "reach gpu.shuffle" in one for one in said)
    text = emit(mlir.parse(kernel.module(), one_context()))
    assert run_native(text, "k", (1,), (THREADS,), [a, o, b], mode="quick").diverged == torn


def test_what_is_said_of_lanes_that_do_not_come() -> None:
    kernel = Shuffles("f32", SOME["all lanes but one"][0])
    fault = sim(kernel.text()).launch((1, 1, 1), (THREADS, 1, 1), kernel.arguments()).faults[0]
    assert fault.message == "not all 32 lanes of the warp execute it together" and fault.access.op == "gpu.shuffle"
    module = mlir.parse(kernel.module(), one_context())
    (use,) = kernel_uses(module)
    first, *_ = Findings(model_of(use)).diagnostics()
    assert "the same for every 32 consecutive threads" in str(first.hint)


@pytest.mark.parametrize("body", [
    BUTTERFLY.format(to="%lane"),
    """%one = arith.cmpi eq, %lane, %c1 : index
    %r = scf.if %one -> f32 {
      %s = gpu.subgroup_reduce add %v uniform : (f32) -> f32
      scf.yield %s : f32
    } else { scf.yield %v : f32 }""",
    """%f, %in = gpu.shuffle xor %v, %w1, %w32 : f32
    %b = arith.cmpf olt, %v, %f : f32
    %r = scf.if %b -> f32 {
      %g, %ok = gpu.shuffle xor %v, %w1, %w32 : f32
      scf.yield %g : f32
    } else { scf.yield %v : f32 }""",
])  # fmt: skip
def test_lanes_that_go_apart(body: str) -> None:
    """In a loop of as many turns as the lane says, in a reduction, by what another lane has."""
    text = exchanging(body)
    a = np.arange(THREADS, dtype=np.float32)
    module = mlir.parse(text, one_context())
    faults = run_plan(make_plan(module), SimDevice(), {"A": a, "B": a.copy()}, text=text).faults
    assert {one.kind for one in faults or ()} == {"divergent barrier"}
    assert {one[:5] for one in found(text)} == {"W0603"}
    assert run_native(emit(module), "k", (1,), (THREADS,), [a, a.copy()], mode="quick").diverged


@pytest.mark.parametrize("size", [32, 40])
@pytest.mark.parametrize("word", ["insert-barriers", "verify-sync", ""])
def test_statements_refuse_them(word: str, size: int, tmp_path: Path) -> None:
    """The first five threads alone; a block with a warp that is not whole."""
    (tmp_path / "p.mlir").write_text(f"""func.func @f(%A: memref<{size}xf32>, %B: memref<{size}xf32>) {{
      %w1 = arith.constant 1 : i32
      %w32 = arith.constant 32 : i32
      %some = arith.constant {5 if size == 32 else size} : index
      scf.forall (%b) in (1) {{
        scf.forall (%i) in ({size}) {{
          %c = arith.cmpi slt, %i, %some : index
          scf.if %c {{
            %v = memref.load %A[%i] : memref<{size}xf32>
            %r, %ok = gpu.shuffle xor %v, %w1, %w32 : f32
            memref.store %r, %B[%i] : memref<{size}xf32>
          }}
        }}
      }}
      return
    }}""")
    lines = ["let b = match scf.forall #0", "let t = match scf.forall #1", "map b to blocks(x)", "map t to threads(x)"]
    (tmp_path / "s.weft").write_text("\n".join(['payload "p.mlir"', "schedule s() {", *lines, word, "launch b", "}"]))
    with pytest.raises(WeftError, match=r"W0603.*gpu.shuffle") as refused:
        apply(tmp_path / "s.weft")
    assert (said := refused.value.diagnostics[0].span) is not None and said.text.startswith(word or "launch")


def test_guards_of_whole_warps_are_proven() -> None:
    """A row to a warp, as many warps as there are rows."""
    module = mlir.parse((TESTS / "runtime" / "cuda" / "kernels" / "shuffles.mlir").read_text(), one_context())
    rows = next(mlir.operations(module.operation, "gpu.func"))
    assert not kernel_model(rows).divergent
    with module.context:
        rows.attributes["known_block_size"] = mlir.ir.DenseI32ArrayAttr.get([16, 16, 1])
    assert [said.narrow for said in kernel_model(rows).divergent] == [True], "two rows to a warp"


@pytest.mark.parametrize("lane", [0, 31])
def test_a_lane_that_the_mask_leaves_out(lane: int) -> None:
    kernel = Shuffles("f32")
    text = emit(mlir.parse(kernel.module(), one_context()))
    assert text.count("0xffffffff") == len(CASES)
    torn = text.replace("0xffffffff", f"0x{0xFFFFFFFF & ~(1 << lane):08x}", 1)
    assert not run_native(text, "k", (1,), (THREADS,), kernel.arguments(), mode="quick").diverged
    assert run_native(torn, "k", (1,), (THREADS,), kernel.arguments(), mode="quick").diverged


def test_a_warp_that_is_not_whole() -> None:
    body = "%w = arith.constant 32 : i32\n%one = arith.constant 1 : i32\n%g, %ok = gpu.shuffle xor %one, %one, %w : i32\n"
    kernel = func("", body)
    assert kernel.launch((1, 1, 1), (64, 1, 1), []).clean
    (fault,) = kernel.launch((1, 1, 1), (40, 1, 1), []).faults
    assert fault.kind == "divergent barrier" and fault.count == 8 and fault.access.thread == (32, 0, 0)
    text = Shuffles("f32", block=(40, 1, 1)).module()
    module = mlir.parse(text, one_context())
    with pytest.raises(WeftError, match=r"W0603.*a block of 40 threads has a warp that is not whole"):
        kernel_model(next(mlir.operations(module.operation, "gpu.func")))
    a, o, b = Shuffles("f32").arguments()
    with pytest.raises(WeftError, match=r"W0725: a block of 40 threads has a warp that is not whole"):
        run_plan(make_plan(module), CpuDevice(2), {"A": a, "O": o, "B": b}, text=text)


def test_a_block_whose_size_the_launch_decides() -> None:
    """Rows of 32 threads are whole warps, however many there are; of a row that may have any size that is not known."""
    text = exchanging("%r = gpu.subgroup_reduce add %v uniform : (f32) -> f32")
    text = text.replace("known_block_size = array<i32: 64, 1, 1>, ", "").replace("@host(", "@host(%n: index, ")
    rows = text.replace("%t = arith.constant 64", "%t = arith.constant 32").replace("(%t, %c1, %c1)", "(%t, %n, %c1)")
    module = mlir.parse(rows, one_context())
    (use,) = kernel_uses(module)
    assert not model_of(use).divergent
    with pytest.raises(WeftError, match=r"W0603.*a block of unknown size may have a warp that is not whole"):
        found(text.replace("threads in (%t,", "threads in (%n,"))


def test_who_uses_what_no_lane_has_given() -> None:
    """Nobody asks whether the lane is in the group: what is added then is poison."""
    body = "%g, %ok = gpu.shuffle up %v, %w1, %w32 : f32\n%r = arith.addf %v, %g : f32"
    a = np.ones(THREADS, np.float32)
    module = mlir.parse(exchanging(body), one_context())
    got = run_plan(make_plan(module), SimDevice(), {"A": a, "B": a.copy()}, text=str(module)).outputs["B"]
    assert np.flatnonzero(np.isnan(got)).tolist() == [0, 32] and (got[~np.isnan(got)] == 2).all()


REFUSED = {
    "width 24": ("%n = arith.constant 24 : i32\n%r, %ok = gpu.shuffle xor %v, %w1, %n : f32", "width 24", "of two up to `32`"),
    "a width that is computed": (
        "%n = arith.index_cast %warp : index to i32\n%r, %ok = gpu.shuffle xor %v, %w1, %n : f32",
        "a width that is not constant",
        "power of two",
    ),
    "an offset that no lane has": ("%r, %ok = gpu.shuffle xor %v, %w32, %w32 : f32", "no lane of 32 has that number", ""),
    "a vector": (
        """%x = vector.broadcast %v : f32 to vector<2xf32>
        %g, %ok = gpu.shuffle xor %x, %w1, %w32 : vector<2xf32>
        %r = vector.extract %g[1] : f32 from vector<2xf32>""",
        r"`gpu.shuffle` of vector<2xf32>",
        "one element at a time",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    """By the emitter, the simulator and the CPU."""
    body, message, hint = REFUSED[case]
    text = exchanging(body)
    module, a = mlir.parse(text, one_context()), np.zeros(THREADS, np.float32)
    with pytest.raises(WeftError, match=f"W0503.*{message}") as refused:
        emit(module)
    assert hint in str(refused.value.diagnostics[0].hint)
    for device, code in ((SimDevice(), "W0750"), (CpuDevice(2), "W0725")):
        with pytest.raises(WeftError, match=f"{code}.*{message}"):
            run_plan(make_plan(module), device, {"A": a, "B": a.copy()}, text=text)


# ---- what the machine executes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", ARCHITECTURES)
def test_one_instruction_each(chip: str) -> None:
    """Two for 64 bits."""
    for kind, each in (("f32", 1), ("bf16", 1), ("f64", 2)):
        text = emit(mlir.parse(exchanging(f"%r = gpu.subgroup_reduce add %v uniform : ({kind}) -> {kind}", kind), one_context()))
        executed = whole(text, "k", chip)
        assert executed.by_mnemonic["SHFL"] == 5 * each and not executed.local
