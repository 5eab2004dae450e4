"""The scheduled kernels natively on the CPU: all that ships, and what a device of its own must see to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from executors import expect_computed, expect_equal, expect_report
from places import TESTS
from scheduled import run_schedule

from weft import api
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import ancestors, constant_of, operations
from weft.pipeline import Choice, applied, planned, read_schedule
from weft.recipes import schedules
from weft.runtime.cpu.device import CpuDevice, CpuMemory
from weft.runtime.cpu.launches import keep_kernels
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import kernel_module
from weft.runtime.devices.device import DeviceView
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.plan.dtypes import NUMPY
from weft.runtime.plan.plan import KernelEntry
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PROGRAMS = sorted((TESTS / "programs").glob("*.weft"))
SMALL = {
    **{name: {"m": 7, "n": 333} for name in ("softmax", "layernorm", "layernorm_welford", "argmax")}, "sum": {"n": 501},
    "histogram": {"n": 501},
    "scan": {"n": 9001},
    "attention": {"b": 1, "n": 33, "m": 21, "d": 20},
    "matmul": {"m": 70, "n": 45, "k": 50}, "conv2d": {"h": 9, "w": 8, "c": 6, "k": 10},
}  # fmt: skip
SHARED, PRIVATE = "#gpu.address_space<workgroup>", "#gpu.address_space<private>"
DTYPES = {str(dtype): name for name, dtype in NUMPY.items() if name != "index"}


def small(name: str) -> dict[str, str]:
    """Sizes for a recipe, ragged ones."""
    payload = read_schedule(str(schedules()[name])).payload
    sizes = SMALL.get((payload.builder or "").removesuffix("_nchw"), {}) if payload is not None else {}
    return {key: str(value) for key, value in sizes.items()}


CASES = [
    *((name, "") for name in sorted(schedules())), *((str(file), "") for file in PROGRAMS),
    *(("tensor", kind) for kind in ("f16", "f32", "i8", "f64")), ("igemm_tensor", "f16"),
]  # fmt: skip


@pytest.mark.few(15)
@pytest.mark.parametrize(("file", "kind"), CASES, ids=lambda part: Path(part).name)
def test_agrees_with_the_simulator_and_the_reference(file: str, kind: str) -> None:
    """`kind`: of the elements; empty: what the program has."""
    settings = (small(file) if file in schedules() else {}) | ({"type": kind} if kind else {})
    made = planned(applied(Choice(file, None, settings).open()))
    payload, entry = made.applied.payload, made.plan.entry
    named = signature(payload, entry)
    inputs = random_inputs(named, 7)
    result = run_plan(made.plan, CpuDevice(threads=3), inputs, text=made.applied.text)
    assert (result.races, result.faults, result.barriers) == (None, None, None)
    expect_computed("the kernels on the CPU", result, named, reference(payload, entry, inputs))
    simulated = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text)
    assert result.outputs.keys() == simulated.outputs.keys()
    for name, array in simulated.outputs.items():
        expect_equal("the kernels on the CPU, beside the simulator", name, result.outputs[name], array, allowed=2e-6)


# ---- kernels by themselves ---------------------------------------------------------------------------------------------


def kernel(arguments: str, body: str, memory: str = "", known: str = "", constants: str = "") -> str:
    """A module with the kernel `m::k`, whose `body` may use its place and some numbers."""
    return f"""module attributes {{gpu.container_module}} {{ gpu.module @m {{ {constants}
      gpu.func @k({arguments}) {memory} kernel attributes {{{known}}} {{
        %bx = gpu.block_id x
        %tx = gpu.thread_id x
        %sx = gpu.block_dim x
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %row = arith.muli %bx, %sx : index
        %at = arith.addi %row, %tx : index
        %id = arith.index_cast %bx : index to i32
        {body}
        gpu.return
      }} }} }}"""


KERNEL = KernelEntry("k", "m::k", ())


def view(device: CpuDevice, array: np.ndarray, memory: CpuMemory | None = None) -> DeviceView:
    """The array's own memory, or other memory, seen as the array is."""
    strides = tuple(s // array.itemsize for s in array.strides)
    own = memory or device.adopt(array.ctypes.data, array.nbytes)
    return DeviceView(own, "x", DTYPES[str(array.dtype)], 0, array.shape, strides)


def launch(text: str, grid: int, block: int, *args: np.ndarray | np.generic, threads: int = 4, shared: int = 0) -> None:
    """Launch it; arrays change in place."""
    device = CpuDevice(threads)
    device.load(text, [KERNEL])
    given = [view(device, arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    device.launcher(KERNEL, (grid, 1, 1), (block, 1, 1), shared, given, None)()


def test_blocks_on_threads_have_shared_and_private_memory_of_their_own() -> None:
    """Each thread leaves its number in both, and looks again and again whether it is there."""
    text = kernel(
        "%n: index, %out: memref<?xi32>",
        f"""memref.store %id, %s[%tx] : memref<4xi32, {SHARED}>
        memref.store %id, %p[%c0] : memref<1xi32, {PRIVATE}>
        gpu.barrier
        %zero = arith.constant 0 : i32
        %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (i32) {{
          gpu.barrier
          %v = memref.load %s[%tx] : memref<4xi32, {SHARED}>
          %w = memref.load %p[%c0] : memref<1xi32, {PRIVATE}>
          %x = arith.xori %v, %id : i32
          %y = arith.xori %w, %id : i32
          %z = arith.ori %x, %y : i32
          %next = arith.ori %sum, %z : i32
          scf.yield %next : i32
        }}
        memref.store %wrong, %out[%at] : memref<?xi32>""",
        f"workgroup(%s : memref<4xi32, {SHARED}>) private(%p : memref<1xi32, {PRIVATE}>)",
    )
    wrong = np.full(4 * 256, -1, np.int32)
    launch(text, 256, 4, np.int64(20000), wrong, threads=8)
    assert not wrong.any()


@pytest.mark.parametrize(
    ("kind", "value", "type"),
    [("addi", 3, "i32"), ("addf", 0.5, "f32"), ("addf", 0.5, "f64"), ("maxs", None, "i64"), ("maximumf", None, "f32")],
)
def test_atomics_of_many_blocks_on_many_threads(kind: str, value: float | None, type: str) -> None:
    convert = "arith.index_cast %at : index to" if type == "i64" else "arith.uitofp %id : i32 to"
    made = f"%v = {convert} {type}" if value is None else f"%v = arith.constant {value} : {type}"
    text = kernel(
        f"%out: memref<2x{type}>",
        f"""{made}
        %c100 = arith.constant 100 : index
        scf.for %i = %c0 to %c100 step %c1 {{
          %old = memref.atomic_rmw {kind} %v, %out[%c1] : ({type}, memref<2x{type}>) -> {type}
        }}""",
    )
    out = np.zeros(2, NUMPY[type])
    launch(text, 200, 32, out, threads=8)
    most = 200 * 32 - 1 if type == "i64" else 199
    assert out.tolist() == [0, most if value is None else value * 200 * 32 * 100]


def test_sizes_strides_and_offsets_that_the_kernel_learns_at_the_launch() -> None:
    text = kernel(
        "%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %out: memref<?xf32>",
        """%n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
        %v = memref.load %a[%bx, %tx] : memref<?x?xf32, strided<[?, ?], offset: ?>>
        %f = arith.index_cast %n : index to i32
        %g = arith.sitofp %f : i32 to f32
        %s = arith.addf %v, %g : f32
        memref.store %s, %out[%at] : memref<?xf32>""",
    )
    base = np.arange(100, dtype=np.float32).reshape(10, 10)
    for rows, columns in ((3, 4), (5, 1), (1, 7)):
        device, out = CpuDevice(2), np.zeros(rows * columns, np.float32)
        device.load(text, [KERNEL])
        window = DeviceView(device.adopt(base.ctypes.data, base.nbytes), "a", "f32", 12, (rows, columns), (10, 1))
        device.launcher(KERNEL, (rows, 1, 1), (columns, 1, 1), 0, [window, view(device, out)], None)()
        np.testing.assert_array_equal(out.reshape(rows, columns), base[1 : 1 + rows, 2 : 2 + columns] + columns)


def test_dynamic_shared_memory() -> None:
    bytes_, numbers = f"memref<?xi8, {SHARED}>", f"memref<?xf32, {SHARED}>"
    text = kernel(
        "%a: memref<?xf32>, %out: memref<?xf32>",
        f"""%raw = gpu.dynamic_shared_memory : {bytes_}
        %s = memref.view %raw[%c0][%sx] : {bytes_} to {numbers}
        %v = memref.load %a[%at] : memref<?xf32>
        memref.store %v, %s[%tx] : {numbers}
        gpu.barrier
        %last = arith.subi %sx, %c1 : index
        %other = arith.subi %last, %tx : index
        %w = memref.load %s[%other] : {numbers}
        memref.store %w, %out[%at] : memref<?xf32>""",
    )
    a, out = np.arange(8 * 300, dtype=np.float32), np.zeros(8 * 300, np.float32)
    launch(text, 8, 300, a, out, shared=300 * 4)
    np.testing.assert_array_equal(out.reshape(8, 300), a.reshape(8, 300)[:, ::-1])


def test_halves_and_bits() -> None:
    """Stored as what they are, and computed as what they mean; a scalar of each, a constant, and a vector."""
    half, bfloat = NUMPY["f16"].type, NUMPY["bf16"].type
    text = kernel(
        "%f: f16, %g: bf16, %bit: i1, %h: memref<8xf16>, %b: memref<8xbf16>, %m: memref<8xi1>",
        """%c = memref.get_global @c : memref<8xbf16>
        %v = memref.load %h[%tx] : memref<8xf16>
        %w = memref.load %c[%tx] : memref<8xbf16>
        %x = arith.mulf %v, %f : f16
        memref.store %x, %h[%tx] : memref<8xf16>
        %y = arith.addf %w, %g : bf16
        memref.store %y, %b[%tx] : memref<8xbf16>
        %z = arith.extf %y : bf16 to f32
        %limit = arith.constant 2.5 : f32
        %less = arith.cmpf olt, %z, %limit : f32
        %both = arith.andi %less, %bit : i1
        memref.store %both, %m[%tx] : memref<8xi1>
        gpu.barrier
        %all = vector.load %b[%c0] : memref<8xbf16>, vector<8xbf16>
        %first = arith.cmpi eq, %tx, %c0 : index
        scf.if %first { vector.store %all, %b[%c0] : memref<8xbf16>, vector<8xbf16> }""",
        constants='memref.global "private" constant @c : memref<8xbf16> = dense<[0.0, 1.0, 1.5, 2.0, -3.0, 0.5, 0.25, 8.0]>',
    )
    h, b, m = np.arange(8, dtype=half), np.zeros(8, bfloat), np.zeros(8, np.bool_)
    launch(text, 1, 8, half(1.5), bfloat(1.0), np.True_, h, b, m)
    wanted = np.array([1, 2, 2.5, 3, -2, 1.5, 1.25, 9])
    np.testing.assert_array_equal(h, np.arange(8) * 1.5)
    np.testing.assert_array_equal(b.astype(np.float32), wanted)
    np.testing.assert_array_equal(m, wanted < 2.5)


def test_one_buffer_passed_twice() -> None:
    """Each store of a thread is seen through the other argument; distinct arguments are told to LLVM to be that."""
    text = kernel(
        "%a: memref<64xi32>, %b: memref<64xi32>",
        """%one = arith.constant 1 : i32
        %c64 = arith.constant 64 : index
        scf.for %i = %c1 to %c64 step %c1 {
          %before = arith.subi %i, %c1 : index
          %v = memref.load %a[%before] : memref<64xi32>
          %w = arith.addi %v, %one : i32
          memref.store %w, %b[%i] : memref<64xi32>
        }""",
    )
    device, a, b = CpuDevice(), np.zeros(64, np.int32), np.zeros(64, np.int32)
    device.load(text, [KERNEL])
    both = view(device, a)
    device.launcher(KERNEL, (1, 1, 1), (1, 1, 1), 0, [both, both], None)()
    np.testing.assert_array_equal(a, np.arange(64))
    launch(text, 1, 1, a, b)
    np.testing.assert_array_equal(b, np.arange(64))


COUNT = kernel(
    "%a: memref<?xi32>, %by: i32",
    """%v = memref.load %a[%at] : memref<?xi32>
    %w = arith.addi %v, %by : i32
    memref.store %w, %a[%at] : memref<?xi32>""",
)


def test_memory_may_be_bound_anew_between_calls_and_graphs_replay() -> None:
    device, first, second = CpuDevice(2), np.zeros(64, np.int32), np.zeros(64, np.int32)
    device.load(COUNT, [KERNEL])
    memory = device.adopt(first.ctypes.data, first.nbytes)
    inside = DeviceView(memory, "a", "i32", 0, (64,), (1,))
    part, rest = (DeviceView(memory, "a", "i32", offset, (8, 4), (8, 1)) for offset in (0, 4))
    add = device.launcher(KERNEL, (4, 1, 1), (16, 1, 1), 0, [inside, np.int32(2)], None)
    fill, copy = device.filler(part, np.int32(5), None), device.copier(rest, part, None)
    for array in (first, second):
        memory.address = array.ctypes.data
        for do in (fill, copy, add):
            do()
        assert (array == 7).all()
    device.begin_capture(None)
    add()
    add()
    graph = device.end_capture(None)
    assert (second == 7).all()
    assert device.launch_graph(graph, None) == []
    assert (second == 11).all() and (first == 7).all()


def test_several_python_threads_load_and_launch_at_once() -> None:
    def work(number: int) -> bool:
        array = np.zeros(64, np.int32)
        for _ in range(20):
            launch(COUNT, 4, 16, array, np.int32(number))
        return bool((array == 20 * number).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


SUM = """%zero = arith.constant 0.0 : f32
    memref.store %zero, %out[%tx] : memref<16xf32>
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %m[%i, %tx] : memref<9x16xf32>
      %b = memref.load %out[%tx] : memref<16xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %out[%tx] : memref<16xf32>
    }"""
CHOSEN = """%f = arith.cmpi eq, %tx, %c0 : index
    %m = scf.if %f -> (memref<9x16xf32>) {
      scf.yield %x : memref<9x16xf32>
    } else {
      scf.yield %y : memref<9x16xf32>
    }"""
NINE = "%n = arith.constant 9 : index"
SUMS = {
    "in step": (True, f"{NINE}\n{SUM.replace('%m', '%x')}", lambda x, y: x.sum(0)),
    "as many terms as the thread says": (
        False,
        f"%half = arith.constant 2 : index\n%n = arith.divui %tx, %half : index\n{SUM.replace('%m', '%x')}",
        lambda x, y: [x[: t // 2, t].sum() for t in range(16)],
    ),
    "a matrix that the thread chooses": (
        False,
        f"{NINE}\n{CHOSEN}\n{SUM}",
        lambda x, y: [x[:, 0].sum(), *y.sum(0)[1:]],
    ),
}


@pytest.mark.parametrize("case", SUMS)
def test_sums_of_threads(case: str) -> None:
    """The loop over the terms goes around that over the threads where all of them do it alike, and only there."""
    in_step, body, wanted = SUMS[case]
    known = "known_block_size = array<i32: 16, 1, 1>"
    text = kernel("%x: memref<9x16xf32>, %y: memref<9x16xf32>, %out: memref<16xf32>", body, known=known)
    module = kernel_module(text, ["m::k"])
    (function,) = keep_kernels(module, ["m::k"])
    (addition,) = operations(function.operation, "arith.addf")
    assert (constant_of(next(ancestors(addition)).operands[1]) == 16) is in_step
    x, y = np.random.default_rng(0).integers(-9, 9, (2, 9, 16)).astype(np.float32)
    out = np.zeros(16, np.float32)
    launch(text, 1, 16, x, y, out)
    np.testing.assert_array_equal(out, wanted(x, y))


REFUSED = {
    "a reduction of a block": (
        "W0725: .*`gpu.all_reduce` involves several threads at once",
        kernel("%a: memref<?xi32>", "%s = gpu.all_reduce add %id uniform {} : (i32) -> (i32)"),
    ),
    "a barrier that some threads may not reach": (
        "W0725: .*with a condition that may differ from thread to thread",
        kernel("", "%f = arith.cmpi eq, %tx, %c0 : index\nscf.if %f { gpu.barrier }"),
    ),
    "a conversion that LLVM has no code for": (
        "W0725: on the CPU there is no `arith.truncf` of f64 that gives f16",
        kernel("%x: f64, %a: memref<f16>", "%h = arith.truncf %x : f64 to f16\nmemref.store %h, %a[] : memref<f16>"),
    ),
    "an op of an unknown dialect": ("W0725: the kernel has `its.own`", kernel("", '"its.own"() : () -> ()')),
    "no MLIR": ("W0759: .*does not parse", "func.func {"),
    "another kernel": ("W0759: the module has no kernel `m::k`", COUNT.replace("@k", "@other")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    message, text = REFUSED[case]
    with pytest.raises(WeftError, match=message) as caught:
        CpuDevice().load(text, [KERNEL])
    (said,) = caught.value.diagnostics
    assert said.code != "W0725" or "--target sim" in (said.hint or "")


@pytest.mark.parametrize("op", ["alloc", "alloca"])
@pytest.mark.parametrize(("space", "at", "wanted"), [(SHARED, "%other", range(7, -1, -1)), (PRIVATE, "%tx", range(8))])
def test_memory_that_a_kernel_allocates(op: str, space: str, at: str, wanted: range) -> None:
    """Of the block where it is shared, else of the thread; used across a barrier."""
    text = kernel(
        "%out: memref<8xi32>",
        f"""%s = memref.{op}() : memref<8xi32, {space}>
        %v = arith.index_cast %tx : index to i32
        memref.store %v, %s[%tx] : memref<8xi32, {space}>
        gpu.barrier
        %last = arith.constant 7 : index
        %other = arith.subi %last, %tx : index
        %w = memref.load %s[{at}] : memref<8xi32, {space}>
        memref.store %w, %out[%tx] : memref<8xi32>
        {f"memref.dealloc %s : memref<8xi32, {space}>" if op == "alloc" else ""}""",
    )
    out = np.zeros(8, np.int32)
    launch(text, 1, 8, out)
    assert out.tolist() == list(wanted)


@pytest.mark.parametrize(
    "args",
    [
        (),
        (np.zeros(64, np.int32),),
        (np.zeros(64, np.int32), np.float32(1)),
        (np.zeros((8, 8), np.int32), np.int32(1)),
        (np.zeros(64, np.float32), np.int32(1)),
        (np.int32(1), np.int32(1)),
    ],
)
def test_arguments_that_the_kernel_does_not_take(args: tuple[np.ndarray | np.generic, ...]) -> None:
    with pytest.raises(WeftError, match=r"W0752: `k` takes \(\?xi32, i32\), and not \("):
        launch(COUNT, 4, 16, *args)


def test_a_launch_of_another_size_than_the_kernel_is_for() -> None:
    device = CpuDevice()
    device.load(kernel("", "", known="known_block_size = array<i32: 8, 1, 1>"), [KERNEL])
    with pytest.raises(WeftError, match=r"W0753: .*a block of"):
        device.launcher(KERNEL, (1, 1, 1), (16, 1, 1), 0, [], None)


def test_the_target(tmp_path: Path) -> None:
    """What the API reports, with several launches, streams, temporaries and copies."""
    options = RunOptions("cpu", trace=tmp_path / "t.json")
    report = run_schedule("concurrent_convs", None, {}, None, options).report
    assert report.ok and report.target == "cpu" and report.device == "CPU"
    assert (report.races, report.faults, report.barriers, report.bank_conflicts) == (None, None, None, None)
    assert "counted as one" not in (tmp_path / "t.svg").read_text()
    captured = run_schedule("naive", None, small("naive"), None, RunOptions("cpu", graph=True)).report
    assert captured.ok and captured.races is None and captured.graphs_created == 1


def test_long_loops_around_vectors_take_no_more_of_the_stack() -> None:
    """What upstream allocates there for a vector it would allocate in each iteration: 128 threads, some megabytes."""
    report = api.run("tensor", target="cpu", settings={"m": 128, "n": 128, "k": 2048})
    expect_report(report)
