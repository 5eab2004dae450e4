"""Payloads that launch kernels themselves, on the CPU: loops over grid and block, cut at the barriers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import TESTS
from scheduled import run_schedule

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import ir
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, applied
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.execution import RunOptions

MODULES = sorted(
    path
    for folder in ("interpreter/launch", "interpreter/mapping", "interpreter/statements", "recipes")
    for path in (TESTS / folder / "golden").glob("concurrency/*.mlir" if folder == "recipes" else "*.mlir")
    if "gpu.launch_func" in (host := path.read_text().partition("gpu.module")[0]) and "?" not in host and "affine.for" not in host
)
RACES = {"temporary-shared.mlir"}
SHARED = "#gpu.address_space<workgroup>"
OWN = "#gpu.address_space<private>"
V = "memref<64xf32>"


def payload(text: str) -> ir.Module:
    return parse_payload(Source("p.mlir", text))


def inline(body: str, *, arguments: str = f"%A: {V}, %B: {V}", blocks: int = 1, threads: str = "64 1 1", head: str = "") -> str:
    """A function that launches `body` as it stands."""
    x, y, z = (f"%c{n}" for n in threads.split())
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 8, 16, 31, 32, 63, 64))
    return f"""func.func @main({arguments}) {{
      {constants}
      %zero = arith.constant 0.0 : f32
      %g = arith.constant {blocks} : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = {x}, %sy = {y}, %sz = {z}) {head} {{
        {body}
        gpu.terminator
      }}
      return
    }}"""


def get(name: str, of: str, at: str, space: str = "") -> str:
    return f"%{name} = memref.load %{of}[{at}] : memref<64xf32{space and ', ' + space}>"


def put(value: str, into: str, at: str, space: str = "") -> str:
    return f"memref.store %{value}, %{into}[{at}] : memref<64xf32{space and ', ' + space}>"


def lines(*parts: str) -> str:
    return "\n".join(parts)


WITH_SHARED = f"workgroup(%S : memref<64xf32, {SHARED}>)"
WITH_OWN = f"private(%P : memref<2xf32, {OWN}>)"
OTHER_END = "%o = arith.subi %c63, %tx : index"
IDS = "memref<2x3x4x5xindex>"


def turned_rounds(a: np.ndarray) -> np.ndarray:
    """Three rounds in which each element takes the one at the other end and its own."""
    for _ in range(3):
        a = a + a[::-1]
    return a


KERNELS: dict[str, tuple[str, Callable[..., Any]]] = {
    "each thread its element": (
        inline(lines(get("v", "A", "%tx"), "%w = arith.addf %v, %v : f32", put("w", "B", "%tx"))),
        lambda a, b: (a, 2 * a),
    ),
    "a barrier between all threads": (
        inline(
            lines(get("v", "A", "%tx"), put("v", "S", "%tx", SHARED), "gpu.barrier", OTHER_END, get("w", "S", "%o", SHARED),
                  put("w", "B", "%tx")),
            head=WITH_SHARED,
        ),
        lambda a, b: (a, a[::-1]),
    ),
    "a barrier that threads could not do without: all read before any writes": (
        inline(lines(OTHER_END, get("v", "A", "%o"), "gpu.barrier", put("v", "A", "%tx"))),
        lambda a, b: (a[::-1], b),
    ),
    "barriers in a loop that carries each thread's value": (
        inline(
            lines(
                OTHER_END, get("v", "A", "%tx"),
                "%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %v) -> (f32) {",
                put("s", "S", "%tx", SHARED), "gpu.barrier", get("w", "S", "%o", SHARED), "%n = arith.addf %s, %w : f32",
                "gpu.barrier", "scf.yield %n : f32", "}", put("r", "B", "%tx"),
            ),
            head=WITH_SHARED,
        ),
        lambda a, b: (a, turned_rounds(a)),
    ),
    "carried values that change places": (
        inline(
            lines(
                OTHER_END, get("v", "A", "%tx"), get("w", "A", "%o"),
                "%r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %v, %t = %w) -> (f32, f32) {",
                "gpu.barrier", "scf.yield %t, %s : f32, f32", "}", put("r#0", "B", "%tx"),
            )
        ),
        lambda a, b: (a, a[::-1]),
    ),
    "a loop that does not run": (
        inline(
            lines(
                get("v", "A", "%tx"), "%r = scf.for %i = %c3 to %c3 step %c1 iter_args(%s = %v) -> (f32) {", "gpu.barrier",
                "scf.yield %zero : f32", "}", put("r", "B", "%tx"),
            )
        ),
        lambda a, b: (a, a),
    ),
    "barriers in loops in a loop, bounds that the block decides": (
        inline(
            lines(
                OTHER_END, "%n = arith.addi %bx, %c1 : index", "scf.for %i = %c0 to %c2 step %c1 {",
                "%e = arith.addi %i, %n : index", "scf.for %j = %i to %e step %c1 {",
                get("w", "A", "%o"), "gpu.barrier", put("w", "A", "%tx"), "gpu.barrier", "}", "}",
            ),
            blocks=2,
        ),
        lambda a, b: (a, b),  # 2 · 1 + 2 · 2 turns
    ),
    "a branch that the whole block takes": (
        inline(
            lines(
                OTHER_END, get("v", "A", "%o"), "%first = arith.cmpi eq, %bx, %c0 : index",
                "%r = scf.if %first -> (f32) {", "gpu.barrier", put("v", "A", "%tx"), "scf.yield %v : f32", "} else {",
                "scf.yield %zero : f32", "}", "scf.if %first {", put("r", "B", "%tx"), "}",
            ),
            blocks=2,
        ),
        lambda a, b: (a[::-1], a[::-1]),
    ),
    "each thread's own array, across barriers": (
        inline(
            lines(
                OTHER_END, get("v", "A", "%tx"), get("w", "A", "%o"), f"memref.store %v, %P[%c0] : memref<2xf32, {OWN}>",
                "%Q = memref.alloca() : memref<3x5xf32>", "memref.store %w, %Q[%c2, %c4] : memref<3x5xf32>", "gpu.barrier",
                f"%x = memref.load %P[%c0] : memref<2xf32, {OWN}>", "%y = memref.load %Q[%c2, %c4] : memref<3x5xf32>",
                put("y", "A", "%tx"), put("x", "B", "%tx"),
            ),
            head=WITH_OWN,
        ),
        lambda a, b: (a[::-1], a),
    ),
    "an array in a loop of each thread's": (
        inline(
            lines(
                "scf.for %i = %c0 to %c3 step %c1 {", "%Q = memref.alloca() : memref<4xf32>", get("v", "A", "%tx"),
                "memref.store %v, %Q[%i] : memref<4xf32>", "%w = memref.load %Q[%i] : memref<4xf32>",
                "%x = arith.addf %w, %w : f32", put("x", "A", "%tx"), "}",
            )
        ),
        lambda a, b: (8 * a, b),
    ),
    "views that differ from thread to thread": (
        inline(
            lines(
                "%T = memref.subview %A[%tx] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>", OTHER_END,
                get("w", "A", "%o"), "gpu.barrier", "memref.store %w, %T[%c0] : memref<1xf32, strided<[1], offset: ?>>",
            )
        ),
        lambda a, b: (a[::-1], b),
    ),
    "dynamic shared memory": (
        inline(
            lines(
                f"%D = gpu.dynamic_shared_memory : memref<?xi8, {SHARED}>",
                f"%S = memref.view %D[%c0][] : memref<?xi8, {SHARED}> to memref<64xf32, {SHARED}>", OTHER_END,
                get("v", "A", "%tx"), put("v", "S", "%o", SHARED), "gpu.barrier", get("w", "S", "%tx", SHARED),
                put("w", "B", "%tx"),
            ),
            head="dynamic_shared_memory_size %bytes",
        ).replace("%zero =", "%bytes = arith.constant 256 : i32\n%zero ="),
        lambda a, b: (a, a[::-1]),
    ),
    "lanes and warps": (
        inline(
            lines(
                "%l = gpu.lane_id", "%w = gpu.subgroup_id : index", "%n = gpu.num_subgroups : index",
                "%k = gpu.subgroup_size : index",
                "%ln = arith.muli %l, %n : index", "%at = arith.addi %ln, %w : index", "%ok = arith.cmpi eq, %k, %c32 : index",
                "scf.if %ok {", get("v", "A", "%at"), put("v", "B", "%tx"), "}",
            )
        ),
        lambda a, b: (a, a.reshape(32, 2).T.reshape(64)),
    ),
    "blocks and threads of three dimensions": (
        inline(
            lines(
                "%r = arith.muli %bx, %sx : index", "%s = arith.addi %r, %tx : index",
                f"memref.store %s, %I[%tz, %ty, %tx, %bx] : {IDS}",
            ),
            arguments=f"%I: {IDS}", blocks=5, threads="4 3 2",
        ),
        lambda i: np.broadcast_to(np.arange(5)[None, :] * 4 + np.arange(4)[:, None], (2, 3, 4, 5)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", KERNELS)
def test_kernels(case: str) -> None:
    text, expected = KERNELS[case]
    module = payload(text)
    inputs = random_inputs(signature(module), 1)
    wanted = expected(*inputs.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    before = str(module)
    outputs = reference(module, None, inputs)
    assert str(module) == before
    for name, array in zip(inputs, wanted, strict=True):
        if name in outputs:
            np.testing.assert_array_equal(outputs[name], array)
    assert outputs


def test_a_host_with_tokens() -> None:
    """Allocated, set, copied, launched twice in a loop that carries the token, and freed; a kernel with a constant of its own."""
    module = payload(f"""module attributes {{gpu.container_module}} {{
      gpu.module @k {{
        memref.global "private" constant @step : memref<1xf32> = dense<3.0>
        gpu.func @add(%x: {V}, %n: i32) kernel {{
          %t = gpu.global_id x
          %c0 = arith.constant 0 : index
          %g = memref.get_global @step : memref<1xf32>
          %s = memref.load %g[%c0] : memref<1xf32>
          %f = arith.sitofp %n : i32 to f32
          %p = arith.mulf %s, %f : f32
          %v = memref.load %x[%t] : {V}
          %w = arith.addf %v, %p : f32
          memref.store %w, %x[%t] : {V}
          gpu.return
        }}
      }}
      func.func @main(%A: {V}, %n: i32) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %two = arith.constant 2 : i64
        %many = arith.constant 32 : i64
        %unit = arith.constant 1 : i64
        %one = arith.constant 1.0 : f32
        %r = gpu.wait async
        %m, %a = gpu.alloc async [%r] () : {V}
        %b = gpu.memset async [%a] %m, %one : {V}, f32
        %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %b) -> (!gpu.async.token) {{
          %u = gpu.launch_func async [%t] @k::@add blocks in (%two, %unit, %unit) threads in (%many, %unit, %unit) : i64
                 args(%m : {V}, %n : i32)
          scf.yield %u : !gpu.async.token
        }}
        %c = gpu.memcpy async [%l] %A, %m : {V}, {V}
        %d = gpu.dealloc async [%c] %m : {V}
        gpu.wait [%d]
        return
      }}
    }}""")
    inputs = random_inputs(signature(module), 1)
    np.testing.assert_array_equal(reference(module, None, inputs)["A"], np.full(64, 1 + 6 * inputs["n"], np.float32))


SIZES = {
    "naive": "m=33,n=40,k=17", "shared": "m=33,n=40,k=20", "simt": "m=70,n=130,k=36", "simt_pipelined": "m=70,n=130,k=36",
    "igemm": "n=2,c=8,h=9,w=7,k=12", "igemm_nchw": "n=2,c=3,h=9,w=7,k=12,stride=2", "igemm_bias_relu": "n=2,c=5,residual=1",
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_what_a_schedule_made_computes_what_its_payload_does(name: str) -> None:
    """Two ways to the same numbers that share neither the schedule nor the simulator. (`tests/programs` asks it of its own.)"""
    settings = dict(s.split("=") for s in SIZES[name].split(","))
    done = applied(Choice(name, None, settings).open())
    given = signature(done.module)
    inputs = random_inputs(given, 3)
    expected, got = (reference(m, given.entry, inputs) for m in (done.payload, done.module))
    assert "gpu.launch_func" in done.text and expected.keys() == got.keys()
    for output, array in expected.items():
        np.testing.assert_allclose(got[output], array, rtol=2e-5, atol=2e-5 * np.abs(array).max())


@pytest.mark.few(6)
@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.name)
def test_finished_modules_are_payloads(path: Path, tmp_path: Path) -> None:
    """Run as they are: the simulator's numbers are those of the loops."""
    (tmp_path / "run.weft").write_text("schedule as-it-is() {}\n")
    report = run_schedule(str(tmp_path / "run.weft"), path, {}, None, RunOptions("sim", 1)).report
    assert report.reference == "the payload, compiled for the CPU"
    assert (report.ok, bool(report.races)) == ((False, True) if path.name in RACES else (True, False))


def test_kernels_that_fault_do_not_take_the_process_down(tmp_path: Path) -> None:
    far = lines("%far = arith.constant 1000000000000 : index", get("v", "A", "%far"), put("v", "B", "%tx"))
    (tmp_path / "p.mlir").write_text(inline(far))
    name = str(tmp_path / "outlined.weft")
    Path(name).write_text('payload "p.mlir"\nschedule as-it-is() { run-pass "gpu-kernel-outlining" }\n')
    report = run_schedule(name, None, {}, None, RunOptions("sim", 1)).report
    assert report.ok is False and report.faults
    assert report.reference == "nothing: the payload's own kernels fault, and what they compute is undefined"


REFUSED = {
    "a barrier in a loop of uneven length": (
        "a barrier in scf.for .* with bounds that may differ from thread to thread",
        inline("scf.for %i = %tx to %c64 step %c1 { gpu.barrier }"),
    ),
    "a barrier that some threads may not reach": (
        "a barrier in scf.if .* with a condition that may differ from thread to thread",
        inline("%first = arith.cmpi eq, %tx, %c0 : index\nscf.if %first { gpu.barrier }"),
    ),
    "a bound that is read from memory": (
        "a barrier in scf.for .* with bounds that may differ",
        inline(
            "%n = memref.load %I[%c0] : memref<4xindex>\nscf.for %i = %c0 to %n step %c1 { gpu.barrier }",
            arguments="%I: memref<4xindex>",
        ),
    ),
    "a barrier in a while": (
        "a barrier in scf.while",
        inline("scf.while : () -> () { %no = arith.constant false\n scf.condition(%no) } do { gpu.barrier\n scf.yield }"),
    ),
    "a reduction of a block": (
        "`gpu.all_reduce` involves several threads at once",
        inline(lines(get("v", "A", "%tx"), "%s = gpu.all_reduce add %v uniform {} : (f32) -> (f32)", put("s", "B", "%tx"))),
    ),
    "a memref that a thread chose, used behind a barrier": (
        "a memref<64xf32> of each thread is used after a barrier",
        inline(lines("%f = arith.cmpi eq, %tx, %c0 : index",
                     f"%M = scf.if %f -> ({V}) {{ scf.yield %A : {V} }} else {{ scf.yield %B : {V} }}",
                     "gpu.barrier", put("zero", "M", "%tx"))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    message, text = REFUSED[case]
    module = payload(text)
    with pytest.raises(WeftError, match=f"W0802: .*{message}") as caught:
        reference(module, None, random_inputs(signature(module)))
    (said,) = caught.value.diagnostics
    assert said.hint == "run without a reference: `--reference none`" and said.payload is not None and "p.mlir:" in said.payload
