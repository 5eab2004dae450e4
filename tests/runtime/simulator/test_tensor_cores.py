"""Tensor cores: all that run kernels agree on their values, and whoever does not come along is found."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from contexts import one_context
from executors import expect_clean, expect_equal
from gpu_kernels import WORKGROUP, func, sim
from mma_kernels import DTYPES, MatrixProduct, of
from native import run_native
from native_device import NativeDevice
from sass import resources, whole
from thinning import SOAK

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.ampere.fragments import PRODUCTS, TileProduct
from weft.interpreter.ir import mlir
from weft.interpreter.layouts.layout import Layout
from weft.interpreter.proof.kernels.kernels import kernel_model, kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.devices.device import DeviceView
from weft.runtime.devices.report import LaunchReport
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import KernelEntry
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

KERNELS = [
    *(MatrixProduct(product) for product in PRODUCTS),
    MatrixProduct(of("bf16"), (1, 1), (1, 1), (16, 8, 32)),
    MatrixProduct(of("f16"), (1, 4), (1, 1), (16, 96, 48)),
    MatrixProduct(of("f64"), (1, 1), (2, 2), (32, 16, 20)),
]
EACH_LAYOUT = [*{kernel.product.fragments: kernel for kernel in reversed(KERNELS)}.values()]
"""Of the kernels whose lanes hold the same elements one, which all executors run; two run the others, and in a soak all."""
ERROR = {"f16": 1e-6, "bf16": 1e-6, "tf32": 2e-3, "i8": 0, "f64": 1e-15}


def launch(kernel: MatrixProduct) -> tuple[LaunchReport, np.ndarray, np.ndarray]:
    """On the simulator: its report, C, and what C should be."""
    a, b, c = kernel.arguments()
    report = sim(kernel.text()).launch(kernel.grid, (kernel.threads, 1, 1), [a, b, c])
    return report, c.astype(np.float64), kernel.expected(a, b)


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_each_element_is_held_once(product: TileProduct) -> None:
    m, n, k = product.shape
    for layout, (rows, columns) in zip(product.fragments, ((m, k), (k, n), (m, n)), strict=True):
        where = layout.table("lane", "register", "element")
        held = sorted(zip(where["row"].ravel().tolist(), where["column"].ravel().tolist(), strict=True))
        assert held == [(row, column) for row in range(rows) for column in range(columns)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_all_who_run_it_agree(kernel: MatrixProduct) -> None:
    module = mlir.parse(kernel.module(), one_context())
    plan, text = make_plan(module), emit(module)
    for small in (True, False):
        a, b, c = kernel.arguments(1, whole=small)
        want = kernel.expected(a, b)
        allowed = 0 if small else 2e-3 if kernel.product.sum == "f16" else ERROR[kernel.product.kind]
        rest = SimDevice(check=False), NativeDevice("quick", reverse=True), CpuDevice(2)
        for device in (SimDevice(), NativeDevice("quick"), *(rest if SOAK or kernel in EACH_LAYOUT else ())):
            result = run_plan(plan, device, {"A": a, "B": b, "C": c}, text=text if device.wants == "cuda" else str(module))
            expect_clean(device, result)
            expect_equal(device, "C", result.outputs["C"].astype(np.float64), want, allowed=allowed)


def test_tf32_is_rounded_to_nearest_and_ties_away_from_zero() -> None:
    """One bit of mantissa more than there is: 1 + 2^-11 is a tie."""
    kernel = MatrixProduct(of("tf32"), (1, 1), (1, 1), (16, 8, 8))
    for sign in (1, -1):
        a, b, c = kernel.arguments()
        a[:], b[:] = 0, np.eye(8)
        a[:, 0] = sign * (1 + np.arange(16) * 2.0**-12)
        want = sign * (1 + np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4]) * 2.0**-10)
        sim(kernel.text()).launch(kernel.grid, (32, 1, 1), [a, b, c])
        assert np.array_equal(c[:, 0], want) and not c[:, 1:].any()
        run_native(emit(mlir.parse(kernel.module(), one_context())), "mm", kernel.grid, (32,), [a, b, c], mode="quick")
        assert np.array_equal(c[:, 0], want)


# ---- what is wrong is found -------------------------------------------------------------------------------------------

MUTANTS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


@pytest.mark.few()
@pytest.mark.parametrize("shift", MUTANTS)
@pytest.mark.parametrize("kind", ["tf32", "i8", "f64"])
def test_fragments_off_by_one_change_values(kind: str, shift: tuple[int, int, int]) -> None:
    _, c, want = launch(replace(MatrixProduct(of(kind)), shift=shift))
    assert not np.array_equal(c, want)


def test_matrices_off_by_one_are_misaligned() -> None:
    report, _, _ = launch(replace(MatrixProduct(of("bf16")), shift=(1, 0, 0)))
    assert {fault.kind for fault in report.faults} >= {"misaligned access"}
    report, c, want = launch(replace(MatrixProduct(of("bf16")), shift=(8, 0, 0), pad=24))
    assert {fault.kind for fault in report.faults} == {"uninitialized read"} and not np.array_equal(c, want)


def found(kernel: MatrixProduct) -> set[str]:
    """What the proof says."""
    module = mlir.parse(kernel.module(), one_context())
    return {one.code for use in kernel_uses(module) for one in Findings(model_of(use)).diagnostics()}


@pytest.mark.parametrize("kind", ["bf16", "f16", "tf32", "i8", "f64"])
def test_both_witnesses_see_what_warps_read(kind: str) -> None:
    kernel = MatrixProduct(of(kind))
    assert found(kernel) == set() and launch(kernel)[0].clean
    torn = replace(kernel, barrier=False)
    assert found(torn) == {"W0601"}
    assert {race.kind for race in launch(torn)[0].races} == {"WAR"}


SOME = {
    "a lane alone": ("%c5 = arith.constant 5 : index\n%some = arith.cmpi eq, %lane, %c5 : index", True),
    "all lanes but one": ("%c31 = arith.constant 31 : index\n%some = arith.cmpi slt, %lane, %c31 : index", True),
    "threads up to 40": ("%c40 = arith.constant 40 : index\n%some = arith.cmpi slt, %tx, %c40 : index", True),
    "a warp alone": ("%some = arith.cmpi eq, %warp, %c1 : index", False),
    "the first two warps": ("%c64t = arith.constant 64 : index\n%some = arith.cmpi slt, %tx, %c64t : index", False),
    "each warp in some turns": ("%some = arith.cmpi eq, %k0, %c0 : index", False),
}


@pytest.mark.few()
@pytest.mark.parametrize("case", SOME)
@pytest.mark.parametrize("kind", ["bf16", "i8"])
def test_lanes_of_a_warp_come_together(case: str, kind: str) -> None:
    condition, torn = SOME[case]
    kernel = replace(MatrixProduct(of(kind)), condition=condition)
    report, _, _ = launch(kernel)
    assert found(kernel) == ({"W0603"} if torn else set())
    assert {fault.kind for fault in report.faults} == ({"divergent barrier"} if torn else set())
    a, b, c = kernel.arguments()
    text = emit(mlir.parse(kernel.module(), one_context()))
    assert run_native(text, "mm", kernel.grid, (kernel.threads,), [a, b, c], mode="quick").diverged == torn


def test_what_is_said_of_lanes_that_do_not_come() -> None:
    kernel = replace(MatrixProduct(of("bf16")), condition=SOME["all lanes but one"][0])
    fault = launch(kernel)[0].faults[0]
    assert fault.message == "not all 32 lanes of the warp execute it together" and fault.access.op == "nvgpu.ldmatrix"
    module = mlir.parse(kernel.module(), one_context())
    (use,) = kernel_uses(module)
    first, *_ = Findings(model_of(use)).diagnostics()
    assert str(first.message).startswith("not all threads of a subgroup reach nvgpu.ldmatrix")
    assert "the same for every 32 consecutive threads" in str(first.hint)


def test_a_warp_that_is_not_whole() -> None:
    body = """%v = arith.constant dense<1.0> : vector<1x1xf64>
      %c = arith.constant dense<0.0> : vector<1x2xf64>
      %d = nvgpu.mma.sync(%v, %v, %c) {mmaShape = [8, 8, 4]}
        : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
      """
    kernel = func("", body)
    assert kernel.launch((1, 1, 1), (64, 1, 1), []).clean
    (fault,) = kernel.launch((1, 1, 1), (40, 1, 1), []).faults
    assert fault.kind == "divergent barrier" and fault.count == 8 and fault.access.thread == (32, 0, 0)
    sizes = "known_block_size = array<i32: 40, 1, 1>"
    module = mlir.parse(f"gpu.module @m {{ gpu.func @k() kernel attributes {{{sizes}}} {{ {body} gpu.return }} }}", one_context())
    with pytest.raises(WeftError, match=r"W0603.*a block of 40 threads has a warp that is not whole"):
        kernel_model(next(mlir.operations(module.operation, "gpu.func")))


def on_cpu(device: CpuDevice, array: np.ndarray, kind: str) -> DeviceView:
    """The array itself, of rows side by side."""
    return DeviceView(device.adopt(array.ctypes.data, array.nbytes), "x", kind, 0, array.shape, (array.shape[1], 1))


# ---- matrices ----------------------------------------------------------------------------------------------------------

KINDS = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1}


def loading(count: int, transposed: bool, row: str = "%tx", kind: str = "f16") -> str:
    """Lane l stores row l of 32; what each lane gets of `count` matrices, lane l saying where `row` is."""
    columns, each = 16 // KINDS[kind], 4 // KINDS[kind]
    image, got = f"memref<32x{columns}x{kind}>", f"memref<32x{count * each}x{kind}>"
    tile = image.replace(">", f", {WORKGROUP}>")
    fill = "\n".join(
        f"%k{j} = arith.constant {j} : index\n%x{j} = memref.load %A[%tx, %k{j}] : {image}\n"
        f"memref.store %x{j}, %S[%tx, %k{j}] : {tile}" for j in range(columns)
    )  # fmt: skip
    out = "\n".join(
        f"%e{t}{j} = vector.extract %v[{t}, {j}] : {kind} from vector<{count}x{each}x{kind}>\n"
        f"%p{t}{j} = arith.constant {each * t + j} : index\nmemref.store %e{t}{j}, %C[%tx, %p{t}{j}] : {got}"
        for t in range(count) for j in range(each)
    )  # fmt: skip
    return f"""gpu.func @f(%A: {image}, %C: {got}) workgroup(%S: {tile}) kernel {{
        %c0 = arith.constant 0 : index
        %tx = gpu.thread_id x
        %many = arith.constant 1000 : index
        %few = arith.constant {8 * count} : index
        %used = arith.cmpi slt, %tx, %few : index
        %nowhere = arith.select %used, %tx, %many : index
        %t2 = arith.subi %many, %tx : index
        {fill}
        gpu.barrier
        %v = nvgpu.ldmatrix %S[{row}, %c0] {{numTiles = {count} : i32, transpose = {str(transposed).lower()}}}
          : {tile} -> vector<{count}x{each}x{kind}>
        {out}
        gpu.return
    }}"""


def numbers(kind: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows, and room for what lanes get of `count` matrices."""
    columns, each = 16 // KINDS[kind], 4 // KINDS[kind]
    a = (np.arange(32 * columns) % 256 - 128).reshape(32, columns).astype(DTYPES[kind])
    return a, np.zeros((32, count * each), DTYPES[kind])


@pytest.mark.few(5)
@pytest.mark.parametrize(("kind", "transposed"), [("f16", False), ("bf16", True), ("f16", True), ("f32", False), ("i8", False)])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_who_gets_what_of_matrices(count: int, kind: str, transposed: bool) -> None:
    """Lanes behind the last matrix may say anything: nothing is read there."""
    text, (a, c) = loading(count, transposed, "%nowhere", kind), numbers(kind, count)
    each, matrices = c.shape[1] // count, a.reshape(4, 8, -1)
    want = np.zeros_like(c)
    for lane in range(32):
        row, column = divmod(lane, 4)
        for t in range(count):
            m = matrices[t].T if transposed else matrices[t]
            want[lane, t * each : (t + 1) * each] = m[row, column * each :][:each]
    report = sim(text).launch((1, 1, 1), (32, 1, 1), [a, c])
    assert report.clean and np.array_equal(c, want)
    c[:] = 0
    device, whole_module = CpuDevice(2), f"module attributes {{gpu.container_module}} {{ gpu.module @m {{ {text} }} }}"
    device.load(whole_module, [KernelEntry("f", "m::f", ())])
    views = [on_cpu(device, array, kind) for array in (a, c)]
    device.launcher(KernelEntry("f", "m::f", ()), (1, 1, 1), (32, 1, 1), 0, views, None)()
    assert np.array_equal(c, want)
    (use,) = (use for use in report.banks or () if use.kind == "load")
    assert (use.width, use.wavefronts, use.ideal) == (16, count, count)
    c[:] = 0
    run_native(emit(mlir.parse(f"gpu.module @m {{ {text} }}", one_context())), "f", (1,), (32,), [a, c], mode="quick")
    assert np.array_equal(c, want)


def test_a_row_that_is_not_there() -> None:
    report = sim(loading(4, False, "%t2")).launch((1, 1, 1), (32, 1, 1), [*numbers("f16", 4)])
    assert [fault.kind for fault in report.faults] == ["out-of-bounds read"]


# ---- what the machine executes ------------------------------------------------------------------------------------------

MNEMONIC = {"bf16": "HMMA", "f16": "HMMA", "tf32": "HMMA", "i8": "IMMA", "f64": "DMMA"}


@pytest.mark.few()
@pytest.mark.parametrize("kind", ["bf16", "tf32", "i8", "f64"])
@pytest.mark.parametrize("chip", ARCHITECTURES)
def test_one_instruction_each(chip: str, kind: str) -> None:
    """Sums in an array stay in registers, halves in the registers that matrices came in; each element becomes a tf32 once."""
    kernel = MatrixProduct(of(kind))
    text = emit(mlir.parse(kernel.module(), one_context()))
    executed = whole(text, "mm", chip)
    made, products = executed.by_mnemonic, executed.by_mnemonic[MNEMONIC[kind]]
    assert products and products % prod(kernel.tiles) == 0
    assert resources(text, "mm", chip).spill_bytes == executed.local == 0
    assert bool(made["LDSM"]) == kernel.by_matrices != bool(made["LDS"])
    if kernel.by_matrices:
        assert not made["PRMT"]
    if kind == "tf32":
        assert made["FSETP"] * prod(kernel.tiles) == products * (4 * kernel.tiles[0] + 2 * kernel.tiles[1])


# ---- what is refused, and what is asked of the chip ---------------------------------------------------------------------


def test_products_that_there_are_not() -> None:
    a, b, c = (f"vector<{shape}xf32>" for shape in ("4x1", "2x1", "2x2"))
    text = f"""gpu.func @k() kernel {{
      %a = arith.constant dense<1.0> : {a}
      %b = arith.constant dense<1.0> : {b}
      %c = arith.constant dense<1.0> : {c}
      %d = nvgpu.mma.sync(%a, %b, %c) {{mmaShape = [16, 8, 8]}} : ({a}, {b}, {c}) -> {c}
      gpu.return
    }}"""
    with pytest.raises(WeftError, match=r"W0503.*there is no `nvgpu.mma.sync` of \[16, 8, 8\]") as refused:
        emit(mlir.parse(f"gpu.module @m {{ {text} }}", one_context()))
    assert "`[16, 8, 16] of bf16 in f32`; " in str(refused.value.diagnostics[0].hint)
    with pytest.raises(WeftError, match=r"W0750.*there is no `nvgpu.mma.sync`"):
        sim(text)


@pytest.mark.parametrize(("product", "chip"), [(of("bf16"), "sm_80"), (PRODUCTS[2], "sm_75"), (of("f64"), "sm_80")], ids=str)
def test_the_plan_says_which_chip_it_takes(product: TileProduct, chip: str) -> None:
    assert make_plan(mlir.parse(MatrixProduct(product).module(), one_context())).kernels[0].requires == chip


def test_the_cpu_refuses_a_warp_that_is_not_whole() -> None:
    kernel = MatrixProduct(of("bf16"))
    plan, (a, b, c) = make_plan(mlir.parse(kernel.module(), one_context())), kernel.arguments()
    text = kernel.module().replace("known_block_size = array<i32: 128", "known_block_size = array<i32: 120")
    with pytest.raises(WeftError, match=r"W0725: a block of 120 threads has a warp that is not whole"):
        run_plan(plan, CpuDevice(2), {"A": a, "B": b, "C": c}, text=text)


# ---- on the CPU --------------------------------------------------------------------------------------------------------


@pytest.mark.few()
@pytest.mark.parametrize("case", [case for case, (_, torn) in SOME.items() if not torn])
@pytest.mark.parametrize("kind", ["bf16", "tf32", "i8"])
def test_warps_that_decide_by_themselves_on_the_cpu(case: str, kind: str) -> None:
    """Some multiply and others do not, each in some turns of its own."""
    kernel = replace(MatrixProduct(of(kind)), condition=SOME[case][0])
    report, want, _ = launch(kernel)
    assert report.clean and want.any()
    module, (a, b, c) = mlir.parse(kernel.module(), one_context()), kernel.arguments()
    result = run_plan(make_plan(module), CpuDevice(2), {"A": a, "B": b, "C": c}, text=str(module))
    expect_equal("the kernels on the CPU", "C", result.outputs["C"], want)


@pytest.mark.parametrize("shape", [(32, 4, 1), (8, 4, 4), (16, 8, 1)], ids=str)
def test_warps_of_blocks_of_several_dimensions_on_the_cpu(shape: tuple[int, int, int]) -> None:
    """Threads are counted x first; each warp does as many turns as its number says, and hands on what it has from turn to turn."""
    of_block = "known_block_size = array<i32: " + ", ".join(map(str, shape)) + ">"
    types = "(vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>"
    text = f"""module attributes {{gpu.container_module}} {{ gpu.module @m {{ gpu.func @k(%C: memref<128x2xf64>) kernel
      attributes {{{of_block}}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %warp = gpu.subgroup_id : index
      %lane = gpu.lane_id
      %c32 = arith.constant 32 : index
      %w32 = arith.muli %warp, %c32 : index
      %at = arith.addi %w32, %lane : index
      %v = arith.constant dense<1.0> : vector<1x1xf64>
      %c = arith.constant dense<0.0> : vector<1x2xf64>
      %s = scf.for %i = %c0 to %warp step %c1 iter_args(%a = %c) -> vector<1x2xf64> {{
        %d = nvgpu.mma.sync(%v, %v, %a) {{mmaShape = [8, 8, 4]}} : {types}
        scf.yield %d : vector<1x2xf64>
      }}
      %row = vector.extract %s[0] : vector<2xf64> from vector<1x2xf64>
      vector.store %row, %C[%at, %c0] : memref<128x2xf64>, vector<2xf64>
      gpu.return
    }} }} }}"""
    device, out = CpuDevice(2), np.zeros((128, 2))
    entry = KernelEntry("k", "m::k", ())
    device.load(text, [entry])
    device.launcher(entry, (1, 1, 1), shape, 0, [on_cpu(device, out, "f64")], None)()
    assert np.array_equal(out, 4.0 * np.repeat(np.arange(4), 32)[:, None] * [1, 1])


@pytest.mark.parametrize("kind", ["bf16", "tf32", "i8", "f64"])
def test_a_map_of_fragments_that_is_off_changes_values_on_the_cpu(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It multiplies by the table of `hardware/ampere/fragments.py`, and by no other."""
    lhs, rhs, sums = of(kind).fragments
    other = Layout(tuple(replace(d, divisor={1: 8, 4: 1}[d.divisor]) if d.of == "lane" else d for d in rhs.digits))
    monkeypatch.setitem(vars(of(kind)), "fragments", (lhs, other, sums))
    kernel = MatrixProduct(of(kind), (1, 1), (1, 1), (16, 8, 32))
    module, (a, b, c) = mlir.parse(kernel.module(), one_context()), kernel.arguments()
    result = run_plan(make_plan(module), CpuDevice(2), {"A": a, "B": b, "C": c}, text=str(module) + "// another text")
    assert not np.array_equal(result.outputs["C"], kernel.expected(a, b))
