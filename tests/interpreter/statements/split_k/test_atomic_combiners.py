"""`split-k … atomic` of every combiner that GPUs have an atomic form of: right by all witnesses and against NumPy, race-free, and a
race where an update is not atomic; the others are refused."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from judging import assert_barriers_needed, expect_right, scheduled, without_atomics
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
UNSIGNED = {"i32": np.uint32, "i64": np.uint64}
SIGNED = {"i32": np.int32, "i64": np.int64}
REDUCED = {
    "addi": np.add, "subi": np.add, "maxsi": np.maximum, "minsi": np.minimum, "maxui": np.maximum, "minui": np.minimum,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
}  # fmt: skip
TERMS = {"xori": np.bitwise_xor, "ori": np.bitwise_or, "addi": np.add, "subi": np.subtract}
CALLS = {
    "addi": "atomicAdd", "subi": "atomicAdd", "maxsi": "atomicMax", "maxui": "atomicMax", "minsi": "atomicMin",
    "minui": "atomicMin", "andi": "atomicAnd", "ori": "atomicOr", "xori": "atomicXor",
}  # fmt: skip
NONE = [
    (name, kind)
    for names, kinds in (
        (("mulf", "maximumf", "minimumf", "maxnumf", "minnumf"), ("f32", "f64")), (("muli",), ("i32", "i64")),
        (("addi", "maxsi", "xori"), ("i8", "i16")), (("andi", "ori"), ("i1",)), (("addf", "maximumf"), ("f16", "bf16")),
    )
    for name in names for kind in kinds
]  # fmt: skip


def reduction(name: str, kind: str, m: int, k: int, *, term: str = "ori", filled: int | None = None) -> str:
    """C[m] combined with X[m, k] and W[k], which are made one by `term`; from a constant, or from an argument."""
    x, w, c = f"tensor<{m}x{k}x{kind}>", f"tensor<{k}x{kind}>", f"tensor<{m}x{kind}>"
    argument, start = f", %C: {c}", ""
    if filled is not None:
        argument = ""
        start = f"%s = arith.constant {filled} : {kind}\n  %e = tensor.empty() : {c}\n"
        start += f"  %C = linalg.fill ins(%s : {kind}) outs(%e : {c}) -> {c}"
    return f"""func.func @f(%X: {x}, %W: {w}{argument}) -> {c} {{
  {start}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%X, %W : {x}, {w}) outs(%C : {c}) {{
    ^bb0(%x: {kind}, %w: {kind}, %acc: {kind}):
      %t = arith.{term} %x, %w : {kind}
      %n = arith.{name} %acc, %t : {kind}
      linalg.yield %n : {kind}
  }} -> {c}
  return %r : {c}
}}
"""


def schedule(r: random.Random, *, filled: bool) -> str:
    bm, bk = r.randint(2, 9), r.choice((2, 4, 6))
    lines = ["let g = match linalg.generic", *(["let init = match linalg.fill"] if filled else [])]
    cut = r.choice(("", f" by {bk}", " cyclic"))
    lines += [f"let (part, zeros, sum) = split-k g {r.randint(2, 4)}{cut} atomic"]
    lines += [f"let (tiles, inner) = tile part [1, {bm}]", "fuse zeros into tiles", "fuse sum into tiles"]
    lines += ["map tiles to blocks(y, x)", f"let (k, step) = tile inner [_, _, {bk}]"]
    for operand in ("in0", "in1"):
        if r.random() < 0.6:
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}", f"map c_{operand} to threads(*) cyclic"]
    registers = r.random() < 0.6
    axes = f"threads(x: {bm})" if registers else f"threads(x: {r.randint(1, 8)}) cyclic"
    lines += ["let (lanes, one) = tile step [_, 1]", f"map lanes to {axes}"]
    if registers:
        lines += ["promote-to-registers one.out0 across k"]
    else:
        lines += ["let (zl, zo) = tile zeros [_, 1]", f"map zl to {axes}"]
    lines += ["map init to grid(x)"] if filled else []
    lines += ["insert-barriers", "verify-sync", *(["launch init"] if filled else []), "launch tiles"]
    return "\n".join(f"  {line}" for line in lines)


def numbers(seed: int, kind: str, *shape: int) -> np.ndarray:
    """All bits, the ends of the type among them; few are set or cleared where `and` and `or` would come to the same everywhere."""
    info, generator = np.iinfo(SIGNED[kind]), np.random.default_rng(seed)
    drawn = generator.integers(info.min, info.max, shape, SIGNED[kind], endpoint=True)
    ends = generator.choice(np.array([info.min, info.max, 0, -1, 1], SIGNED[kind]), shape)
    return np.where(generator.random(shape) < 0.2, ends, drawn)


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("seed", range(20 if SOAK else 1))
def test_every_form(name: str, kind: str, seed: int, tmp_path: Path) -> None:
    r = random.Random(f"{name} {kind} {seed}")
    m, k, term = r.randint(1, 30), r.randint(8, 40), r.choice(list(TERMS))
    filled = r.choice((None, 0, 1, -1, 77, -5))
    payload = reduction(name, kind, m, k, term=term, filled=filled)
    body = schedule(r, filled=filled is not None)
    made, shown = scheduled(payload, body, tmp_path), f"{payload}\n{body}"
    assert not [b for b in made.plan.buffers if b.role == "temp"], "no partial results in memory"
    assert f"{CALLS[name]}(" in made.cuda, made.cuda
    expect_right(made, seed, shown, native=True)
    assert_barriers_needed(made, seed, shown)

    x, w, c = numbers(seed, kind, m, k), numbers(seed + 1, kind, k), numbers(seed + 2, kind, m)
    if filled is not None:
        c[:] = filled
    whole = UNSIGNED[kind] if name.endswith("ui") else SIGNED[kind]
    terms = TERMS[term](x.view(UNSIGNED[kind]), w.view(UNSIGNED[kind]))
    terms = np.negative(terms) if name == "subi" else terms
    wanted = REDUCED[name](c.view(whole), REDUCED[name].reduce(terms.view(whole), axis=1, dtype=whole)).view(SIGNED[kind])
    inputs = {"X": x, "W": w, **({"C": c} if filled is None else {})}
    for device, text in (
        (SimDevice(), made.applied.text),
        (NativeDevice(reverse=False), made.cuda),
        (NativeDevice(reverse=True), made.cuda),
    ):
        ran = run_plan(made.plan, device, dict(inputs), text=text)
        assert not ran.races and not ran.faults, shown
        (got,) = ran.outputs.values()
        np.testing.assert_array_equal(got, wanted, shown)

    less = without_atomics(made.applied.module)
    assert verify_source(Source("whole.mlir", str(made.applied.module))).ok, shown
    assert not verify_source(Source("less.mlir", less)).ok, f"verify, no atomics\n{shown}"
    assert run_plan(made.plan, SimDevice(), inputs, text=less).races, f"simulator, no atomics\n{shown}"
    assert list(operations(made.applied.module.operation, "memref.atomic_rmw"))
    assert compile_cubin(made.cuda, "sm_80").spill_bytes == 0


def test_threads_race_on_nothing(tmp_path: Path) -> None:
    """By the witness of the compiled text: threads of the CPU, watched."""
    for name, kind in (("maxui", "i64"), ("xori", "i32")):
        made = scheduled(reduction(name, kind, 13, 20), schedule(random.Random(3), filled=False), tmp_path)
        device = NativeDevice("tsan")
        inputs = {"X": numbers(0, kind, 13, 20), "W": numbers(1, kind, 20), "C": numbers(2, kind, 13)}
        run_plan(made.plan, device, inputs, text=made.cuda)
        assert device.races == []


@pytest.mark.parametrize(("name", "kind"), NONE)
def test_what_has_no_form(name: str, kind: str, tmp_path: Path) -> None:
    """Refused with the reason, and right without `atomic`, as the hint says."""
    term = "mulf" if name.endswith("f") else "andi"
    payload = reduction(name, kind, 5, 12, term=term)
    with pytest.raises(WeftError) as refused:
        scheduled(payload, "  let g = match linalg.generic\n  let (part, zeros, sum) = split-k g 3 atomic", tmp_path)
    (found,) = refused.value.diagnostics
    assert (found.code, f" on {kind}" in found.message) == ("W0457", True)
    assert found.hint is not None and found.hint.startswith("leave `atomic` out") and "`maxu`" in found.hint
    again = "  let g = match linalg.generic\n  let (part, zeros, sum) = split-k g 3\n"
    again += "  let (each, _) = tile part [1, 1]\n  fuse zeros into each\n  map each to grid(y, x)\n"
    again += "  let (last, _) = tile sum [1]\n  map last to grid(x)\n  insert-barriers\n  launch each\n  launch last"
    expect_right(scheduled(payload, again, tmp_path), 0, payload)


def test_several_results_have_no_form(tmp_path: Path) -> None:
    payload = """#in = affine_map<(i, k) -> (i, k)>
#out = affine_map<(i, k) -> (i)>
func.func @f(%X: tensor<5x12xi32>, %A: tensor<5xi32>, %B: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%X : tensor<5x12xi32>) outs(%A, %B : tensor<5xi32>, tensor<5xi32>) {
    ^bb0(%x: i32, %a: i32, %b: i32):
      %s = arith.addi %a, %x : i32
      %l = arith.maxsi %b, %x : i32
      linalg.yield %s, %l : i32, i32
  } -> (tensor<5xi32>, tensor<5xi32>)
  return %r#0, %r#1 : tensor<5xi32>, tensor<5xi32>
}
"""
    with pytest.raises(WeftError, match=r"W0457: what linalg\.generic does to its results is not one atomic operation"):
        scheduled(payload, "  let g = match linalg.generic\n  let (part, zeros, sum) = split-k g 3 atomic", tmp_path)
