"""Hand-written scheduled modules: host plan, simulator, CPU reference and comparison agree on names and numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime_programs import COPY_KERNEL, host, launch, parse

from weft.dsl.diagnostics import WeftError
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.files.bundle import read_bundle, write_bundle
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.host.host import make_plan
from weft.runtime.plan.signature import plan_signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

MATMUL = """func.func @main(%a: tensor<10x6x{t}> {{weft.name = "A"}}, %b: tensor<6x9x{t}>) -> tensor<10x9x{t}> {{
  %z = arith.constant {zero} : {t}
  %e = tensor.empty() : tensor<10x9x{t}>
  %f = linalg.fill ins(%z : {t}) outs(%e : tensor<10x9x{t}>) -> tensor<10x9x{t}>
  %r = linalg.matmul ins(%a, %b : tensor<10x6x{t}>, tensor<6x9x{t}>) outs(%f : tensor<10x9x{t}>) -> tensor<10x9x{t}>
  return %r : tensor<10x9x{t}> }}"""

KERNEL = """gpu.func @k(%a: memref<10x6x{t}>, %b: memref<6x9x{t}>, %c: memref<10x9x{t}>) kernel {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %z = arith.constant {zero} : {t}
  %i = gpu.block_id x
  %j = gpu.thread_id x
  %s = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %z) -> {t} {{
    %x = memref.load %a[%i, %k] : memref<10x6x{t}>
    %y = memref.load %b[%k, %j] : memref<6x9x{t}>
    %m = arith.mul{o} %x, %y : {t}
    %n = arith.add{o} %t, %m : {t}
    scf.yield %n : {t} }}
  memref.store %s, %c[%i, %j] : memref<10x9x{t}>
  gpu.return }}"""

HOST = """func.func @main(%a: memref<10x6x{t}> {{weft.name = "A"}}, %b: memref<6x9x{t}>,
    %o: memref<10x9x{t}> {{bufferize.result}}) {{
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %t = memref.alloc() : memref<10x9x{t}>
  {launch}
  memref.copy %t, %o : memref<10x9x{t}> to memref<10x9x{t}>
  memref.dealloc %t : memref<10x9x{t}>
  return }}"""

TYPES = ["f32", "f64", "f16", "bf16", "i32", "i8"]


def scheduled(dtype: str, rows: str = "%c10") -> tuple[str, str]:
    """A host function and a kernel that are the matmul; fewer `rows` leave some of it unwritten."""
    names = {"t": dtype, "zero": "0.0" if "f" in dtype else "0", "o": "f" if "f" in dtype else "i"}
    args = "%a: memref<10x6x{t}>, %b: memref<6x9x{t}>, %t: memref<10x9x{t}>".format(**names)
    call = launch("k", args, f"{rows}, %c1, %c1", "%c9, %c1, %c1")
    return HOST.format(launch=call, **names), KERNEL.format(**names)


def simulate(function: str, kernel: str, payload_text: str) -> tuple[RunResult, bool, str]:
    module = host(function, kernel)
    payload = parse(payload_text)
    inputs = random_inputs(signature(payload), 0)
    result = run_plan(make_plan(module), SimDevice(), inputs, text=str(module))
    found = compare(signature(payload), result.outputs, reference(payload, None, inputs))
    return result, found.ok, "; ".join(f"`{o.name}`: {o.reason}" for o in found.outputs if o.reason)


@pytest.mark.parametrize("dtype", TYPES)
def test_matmul(dtype: str) -> None:
    text = MATMUL.format(t=dtype, zero="0.0" if "f" in dtype else "0")
    result, ok, reasons = simulate(*scheduled(dtype), text)
    assert ok, reasons
    assert result.races == () and result.faults == () and result.barriers == 0
    assert result.streams_created == result.streams_destroyed == 1
    assert [(k.name, k.grid, k.block) for k in result.kernels] == [("k", (10, 1, 1), (9, 1, 1))]


def test_a_wrong_kernel_is_found() -> None:
    function, kernel = scheduled("f32")
    text = MATMUL.format(t="f32", zero="0.0")
    _, ok, reasons = simulate(function, kernel.replace("arith.mulf %x, %y", "arith.mulf %x, %x"), text)
    assert not ok and "`result0`: error" in reasons


def test_what_no_thread_writes_is_found() -> None:
    _, ok, reasons = simulate(*scheduled("f32", "%c9"), MATMUL.format(t="f32", zero="0.0"))
    assert not ok and "`result0`: 9 elements were never written" in reasons


@pytest.mark.parametrize("dtype", TYPES)
def test_payload_and_plan_have_the_same_signature(dtype: str) -> None:
    payload = signature(parse(MATMUL.format(t=dtype, zero="0.0" if "f" in dtype else "0")))
    module = host(*scheduled(dtype))
    assert plan_signature(make_plan(module)) == payload == signature(module)


def test_in_place() -> None:
    kernel = """gpu.func @twice(%a: memref<8xf32>) kernel {
      %x = gpu.thread_id x
      %v = memref.load %a[%x] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %a[%x] : memref<8xf32>
      gpu.return }"""
    function = f"""func.func @main(%a: memref<8xf32>) {{ %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      {launch("twice", "%a: memref<8xf32>", block="%c8, %c1, %c1")} return }}"""
    payload = """func.func @main(%a: memref<8xf32>) {
      affine.for %i = 0 to 8 { %v = affine.load %a[%i] : memref<8xf32>
        %w = arith.addf %v, %v : f32
        affine.store %w, %a[%i] : memref<8xf32> }
      return }"""
    _, ok, reasons = simulate(function, kernel, payload)
    assert ok, reasons


def test_a_bundle_is_what_the_emitter_writes(tmp_path: Path) -> None:
    module = host(*scheduled("f32"))
    plan = make_plan(module)
    write_bundle(tmp_path / "b", plan, emit(module), str(module))
    bundle = read_bundle(tmp_path / "b")
    assert bundle.plan == plan
    inputs = random_inputs(bundle.signature, 0)
    again = run_plan(bundle.plan, SimDevice(), inputs, text=bundle.module)
    assert (again.outputs["result0"] == run_plan(plan, SimDevice(), inputs, text=str(module)).outputs["result0"]).all()


def test_the_plan_names_kernels_as_the_emitter_does() -> None:
    module = parse(f"""module attributes {{gpu.container_module}} {{
      func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ %c1 = arith.constant 1 : index
        gpu.launch_func @one::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
          args(%a : memref<8xf32>, %b : memref<8xf32>)
        gpu.launch_func @two::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
          args(%b : memref<8xf32>, %a : memref<8xf32>)
        return }}
      gpu.module @one {{ {COPY_KERNEL} }}
      gpu.module @two {{ {COPY_KERNEL} }} }}""")
    plan, text = make_plan(module), emit(module)
    assert len({k.name for k in plan.kernels}) == 2
    assert all(f" {k.name}(" in text for k in plan.kernels)


def test_a_tensor_function_is_no_plan() -> None:
    with pytest.raises(WeftError, match="W0733"):
        make_plan(parse(MATMUL.format(t="f32", zero="0.0")))
