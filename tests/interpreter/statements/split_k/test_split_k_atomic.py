"""`split-k … atomic`: parts added up by the blocks that make them: right, and a race where an addition is not atomic."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from judging import barriers, without_atomics, without_barrier
from native_device import NativeDevice
from scheduled import ran

from weft.dsl.diagnostics import Source
from weft.interpreter.ir.mlir import operations
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ


def matmul(r: random.Random) -> str:
    """A matrix product from zeros, or added to an argument; on tensors or on memrefs."""
    kind = r.choice(["f32", "f64", "i32", "i64", "f16"])
    m, n, k = r.randint(1, 30), r.choice([1, 4, 8, 16, 20, 27]), r.randint(4, 40)
    total = "f32" if kind == "f16" else kind
    shapes = [f"{m}x{k}x{kind}", f"{k}x{n}x{kind}", f"{m}x{n}x{total}"]
    filled = r.random() < 0.5
    zero = f"  %z = arith.constant {'0' if kind[0] == 'i' else '0.0'} : {total}\n"
    if r.random() < 0.4:
        a, b, c = (f"memref<{s}>" for s in shapes)
        init = f"{zero}  linalg.fill ins(%z : {total}) outs(%c : {c})\n" if filled else ""
        call = f"  linalg.matmul ins(%A, %B : {a}, {b}) outs(%c : {c})\n  return\n"
        return f"func.func @f(%A: {a}, %B: {b}, %c: {c}) {{\n{init}{call}}}\n"
    a, b, c = (f"tensor<{s}>" for s in shapes)
    init = f"{zero}  %e = tensor.empty() : {c}\n  %c = linalg.fill ins(%z : {total}) outs(%e : {c}) -> {c}\n" if filled else ""
    argument = "" if filled else f", %c: {c}"
    call = f"  %r = linalg.matmul ins(%A, %B : {a}, {b}) outs(%c : {c}) -> {c}\n  return %r : {c}\n"
    return f"func.func @f(%A: {a}, %B: {b}{argument}) -> {c} {{\n{init}{call}}}\n"


def schedule(r: random.Random, payload: str) -> str:
    bm, bn, bk = r.randint(2, 9), r.choice((4, 8, 12)), r.choice((2, 4, 6))
    tm, tn = (1, 1) if r.random() < 0.5 else (2 - bm % 2, r.choice((1, 2, 4)))
    lines = ["let g = match linalg.matmul", "let init = match? linalg.fill"]
    lines += [f"let (part, zeros, sum) = split-k g {r.randint(2, 4)} atomic"]
    lines += [f"let (tiles, inner) = tile part [1, {bm}, {bn}]", "fuse zeros into tiles", "fuse sum into tiles"]
    lines += ["map tiles to blocks(z, y, x)", f"let (k, step) = tile inner [_, _, _, {bk}]"]
    for operand in ("lhs", "rhs"):
        if r.random() < 0.8:
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{r.choice(['', ' transpose', ' pad 1'])}"]
            lines += [f"map c_{operand} to threads(*) cyclic"]
    registers = r.random() < 0.6
    axes = f"threads(y: {bm}, x: {bn})" if registers else f"threads(y: {r.randint(1, 4)}, x: {r.randint(1, 8)}) cyclic"
    lines += [f"let (lanes, one) = tile step [_, {tm}, {tn}]", f"map lanes to {axes}"]
    if registers:
        lines += ["promote-to-registers one.acc across k"]
    else:
        lines += [f"let (zl, zo) = tile zeros [_, {tm}, {tn}]", f"map zl to {axes}"]
    if "linalg.fill" in payload:
        lines += ["map init to grid(y, x)"]
    lines += ["insert-barriers", "verify-sync"]
    lines += ["launch init"] if "linalg.fill" in payload else []
    lines += ["launch tiles"] + (["async-fork"] if r.random() < 0.5 else [])
    return "\n".join(f"  {line}" for line in lines)


def write(folder: Path, payload: str, body: str) -> str:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    return str(folder / "s.weft")


def made_of(name: str) -> Planned:
    return planned(applied(Choice(name, None, {}).open()))


@pytest.mark.parametrize("seed", range(300 if SOAK else 2))
def test_random_schedules(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    payload = matmul(r)
    body = schedule(r, payload)
    name = write(tmp_path, payload, body)
    report, made = ran(Path(name), seed)
    expect_report(report, f"{payload}\n{body}")
    assert not [b for b in made.plan.buffers if b.role == "temp"], "no partial sums in memory"
    assert list(operations(made.applied.module.operation, "memref.atomic_rmw"))
    verified = verify_source(Source("whole.mlir", str(made.applied.module)))
    assert verified.ok, f"{payload}\n{body}\n{verified}"
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
    for number in range(len(barriers(made.applied.module))):
        less = without_barrier(made.applied.module, number)
        assert not verify_source(Source("less.mlir", less)).ok, f"verify: barrier {number}\n{payload}\n{body}"
        assert run_plan(made.plan, SimDevice(), inputs, text=less).races, f"simulator: barrier {number}\n{payload}\n{body}"
    less = without_atomics(made.applied.module)
    assert not verify_source(Source("plain.mlir", less)).ok, f"verify, no atomics\n{payload}\n{body}"
    assert run_plan(made.plan, SimDevice(), inputs, text=less).races, f"simulator, no atomics\n{payload}\n{body}"


@pytest.mark.parametrize("seed", range(40 if SOAK else 1))
def test_the_text_on_the_cpu(seed: int, tmp_path: Path) -> None:
    r = random.Random(1000 + seed)
    payload = matmul(r)
    made = made_of(write(tmp_path, payload, schedule(r, payload)))
    assert "atomicAdd(" in made.cuda
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
    wanted = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text).outputs
    for reverse in (False, True):
        got = run_plan(made.plan, NativeDevice(reverse=reverse), inputs, text=made.cuda).outputs
        for buffer, values in wanted.items():
            np.testing.assert_allclose(got[buffer], values, rtol=1e-4, atol=1e-4, err_msg=payload)
    device = NativeDevice("tsan")
    run_plan(made.plan, device, inputs, text=made.cuda)
    assert device.races == []
