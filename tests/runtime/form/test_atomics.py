"""`memref.atomic_rmw` of every kind on every type that it takes, many threads to an element: the simulator, and the CUDA text or
its refusal, against exact arithmetic; the proof calls no two of them a race, and any of them beside a plain load one."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

import numpy as np
import pytest
from contexts import one_context
from native import run_native
from numbers_of import BITS, FLOATS, NUMPY, signed, unsigned, wrapped

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.devices.device import DeviceView
from weft.runtime.plan.plan import KernelEntry
from weft.runtime.simulator.kernel import SimKernel

THREADS, ELEMENTS = 24, 5
KINDS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b, "muli": lambda a, b: a * b, "andi": lambda a, b: a & b, "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b, "maxs": max, "mins": min, "maxu": max, "minu": min, "addf": lambda a, b: a + b,
    "mulf": lambda a, b: a * b, "maximumf": max, "maxnumf": max, "minimumf": min, "minnumf": min, "assign": lambda _, b: b,
}  # fmt: skip
IN_TEXT = {
    "addf": ("f32", "f64"), "addi": ("i32", "i64"), "maxs": ("i32", "i64"), "mins": ("i32", "i64"), "maxu": ("i32", "i64"),
    "minu": ("i32", "i64"), "andi": ("i32", "i64"), "ori": ("i32", "i64"), "xori": ("i32", "i64"), "assign": ("i32", "f32"),
}  # fmt: skip
"""What CUDA has an instruction for, and the emitter writes; the others are refused."""

CASES = [
    (kind, element)
    for kind in KINDS
    for element in NUMPY
    if element != "index" and (kind == "assign" or (element in FLOATS) == kind.endswith("f"))
]


def kernel(kind: str, element: str, after: str = "") -> str:
    return f"""gpu.module @m {{ gpu.func @k(%x: memref<{THREADS}x{element}>, %y: memref<{ELEMENTS}x{element}>)
        kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<{THREADS}x{element}>
      %i = affine.apply affine_map<(t) -> (t mod {ELEMENTS})>(%t)
      %old = memref.atomic_rmw {kind} %v, %y[%i] : ({element}, memref<{ELEMENTS}x{element}>) -> {element}
      {after}
      gpu.return
    }} }}"""


def numbers(r: random.Random, element: str, count: int) -> np.ndarray:
    """Floats are small powers of two, whose products and sums are exact in each order."""
    if element in FLOATS:
        return np.array([r.choice((1.0, -1.0, 2.0, -2.0)) for _ in range(count)], NUMPY[element])
    return wrapped([r.randrange(1 << BITS[element]) for _ in range(count)], element)


def folded(kind: str, element: str, given: np.ndarray, start: np.ndarray) -> np.ndarray:
    """One thread after another, in exact numbers."""
    if element in FLOATS:
        values, out = [float(v) for v in given], [float(v) for v in start]
    else:
        exact = unsigned if kind.endswith("u") else signed
        values, out = exact(given, element), exact(start, element)
    for i in range(ELEMENTS):
        out[i] = functools.reduce(KINDS[kind], values[i::ELEMENTS], out[i])
    return np.array(out, NUMPY[element]) if element in FLOATS else wrapped([int(v) for v in out], element)


@pytest.mark.few()
@pytest.mark.parametrize(("kind", "element"), CASES)
def test_every_kind_on_every_type(kind: str, element: str) -> None:
    r = random.Random(f"{kind} {element}")
    given, start = numbers(r, element, THREADS), numbers(r, element, ELEMENTS)
    wanted = folded(kind, element, given, start)
    module = mlir.parse(kernel(kind, element), one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    assert not conflicts(kernel_model(function))
    got = start.copy()
    report = SimKernel(function).launch((1, 1, 1), (THREADS, 1, 1), [given, got])
    assert not report.races and not report.faults
    assert np.array_equal(got, wanted), "simulator"
    if element not in IN_TEXT.get(kind, ()):
        with pytest.raises(WeftError, match="W0503"):
            emit(module)
        return
    got = start.copy()
    run_native(emit(module), "k", (1,), (THREADS,), [given, got], mode="quick")
    assert all(v in given[i::ELEMENTS] for i, v in enumerate(got)) if kind == "assign" else np.array_equal(got, wanted), "text"


def is_native(kind: str, element: str) -> bool:
    return not kind.startswith("mul") and element != "i1" and (element != "bf16" or kind == "assign")


def test_natively() -> None:
    """On the CPU, in one text, on several threads."""
    cases = [case for case in CASES if is_native(*case)]
    text = "\n".join(kernel(*case).replace("@m", f"@m{number}") for number, case in enumerate(cases))
    kernels = [KernelEntry("k", f"m{number}::k", ()) for number in range(len(cases))]
    device = CpuDevice(2)
    device.load(text, kernels)
    for entry, (kind, element) in zip(kernels, cases, strict=True):
        r = random.Random(f"{kind} {element}")
        given, start = numbers(r, element, THREADS), numbers(r, element, ELEMENTS)
        wanted = folded(kind, element, given, start)
        views = [DeviceView(device.adopt(a.ctypes.data, a.nbytes), "x", element, 0, a.shape, (1,)) for a in (given, start)]
        device.launcher(entry, (1, 1, 1), (THREADS, 1, 1), 0, views, None)()
        if kind == "assign":
            assert all(v in given[i::ELEMENTS] for i, v in enumerate(start)), element
        else:
            assert np.array_equal(start, wanted), (kind, element)


@pytest.mark.parametrize(("kind", "element"), [case for case in CASES if not is_native(*case)])
def test_refused_natively(kind: str, element: str) -> None:
    with pytest.raises(WeftError, match=f"W0725: on the CPU there is no atomic `{kind}` on {element}"):
        CpuDevice().load(kernel(kind, element), [KernelEntry("k", "m::k", ())])


@pytest.mark.few()
@pytest.mark.parametrize(("kind", "element"), CASES)
def test_beside_a_plain_load(kind: str, element: str) -> None:
    load = f"%p = memref.load %y[%i] : memref<{ELEMENTS}x{element}>"
    module = mlir.parse(kernel(kind, element, load), one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    assert [c.assumed for c in conflicts(kernel_model(function))] == [False]
    r = random.Random(0)
    arrays = [numbers(r, element, THREADS), numbers(r, element, ELEMENTS)]
    assert SimKernel(function).launch((1, 1, 1), (THREADS, 1, 1), arrays).races
