"""Payloads whose tokens, launches or host code make no sense: `weft verify`, `apply`, `run` and `build` refuse each of them
before anything runs, with code, line, reason and way out. The texts are snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from weft import cli

V = "memref<64xf32>"
KERNELS = f"""gpu.module @k {{
  gpu.func @set(%x: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = arith.constant 1.0 : f32
    memref.store %v, %x[%t] : {V}
    gpu.return
  }}
  gpu.func @copy(%x: {V}, %y: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : {V}
    memref.store %v, %y[%t] : {V}
    gpu.return
  }}
  gpu.func @plain(%x: {V}) {{
    gpu.return
  }}
}}
"""
OUTSIDE = f"func.func private @outside({V})\n"
BINARY = 'gpu.binary @k [#gpu.object<#nvvm.target, assembly = "">]\n'
SIZES = "blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)"
TOKEN = "!gpu.async.token"


def module(*lines: str, others: str = "", kernels: str = KERNELS) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return (
        f"module attributes {{gpu.container_module}} {{\n{kernels}{others}func.func @f(%A: {V}, %B: {V}) {{\n"
        f"  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c64 = arith.constant 64 : index\n"
        f"{body}\n  return\n}}\n}}\n"
    )


def launch(kernel: str, arguments: str, token: str = "") -> str:
    return f"{token}gpu.launch_func {'async ' if token else ''}@{kernel} {SIZES} args({arguments})"


def after(kernel: str, token: str, made: str, arguments: str = f"%A : {V}") -> str:
    return f"%{made} = gpu.launch_func async [%{token}] @k::@{kernel} {SIZES} args({arguments})"


def on_other(type_: str) -> str:
    return module(f"%m = memref.alloc() : {type_}", launch("k::@set", f"%m : {type_}"))


SET, COPY = launch("k::@set", f"%A : {V}"), launch("k::@copy", f"%A : {V}, %B : {V}")
ROOT = "%r = gpu.wait async"

CYCLES = {
    "a circle of tokens": module(after("set", "u", "t"), after("set", "t", "u"), "gpu.wait [%u]"),
    "a token that waits for itself": module(after("set", "t", "t"), "gpu.wait [%t]"),
    "a loop that starts with its own token": module(
        f"%l = scf.for %i = %c0 to %c64 step %c1 iter_args(%t = %l) -> ({TOKEN}) {{",
        f"scf.yield %t : {TOKEN}", "}", "gpu.wait [%l]",
    ),
    "tokens in a graph region": f"module attributes {{gpu.container_module}} {{\n{KERNELS}builtin.module {{\n"
    "  %t = gpu.wait async [%u]\n  %u = gpu.wait async [%t]\n}\nfunc.func @f() {\n  return\n}\n}\n",
}
KERNEL_MISSING = {
    "no gpu.module": module(launch("z::@set", f"%A : {V}")),
    "no gpu.func": module(launch("k::@nothing", f"%A : {V}")),
    "a gpu.func that is not a kernel": module(launch("k::@plain", f"%A : {V}")),
    "a func.func": module(SET, kernels=f"gpu.module @k {{\n  func.func @set(%x: {V}) {{\n    return\n  }}\n}}\n"),
    "a module that is not a gpu.module": module(SET, kernels=f"module @k {{\n  func.func @set(%x: {V}) {{\n    return\n  }}\n}}\n"),
}
ARGUMENTS = {
    "too few arguments": module(launch("k::@copy", f"%A : {V}")),
    "too many arguments": module(launch("k::@set", f"%A : {V}, %B : {V}")),
    "a scalar for a memref": module(launch("k::@set", "%c1 : index")),
    "another rank": on_other("memref<8x8xf32>"),
    "another size": on_other("memref<32xf32>"),
    "another element type": on_other("memref<64xf64>"),
    "another memory space": on_other("memref<64xf32, 3>"),
}
UNSEEN = {
    "a call of a function without a body": module(
        ROOT, after("set", "r", "a"), f"func.call @outside(%A) : ({V}) -> ()", "gpu.wait [%a]", others=OUTSIDE
    ),
    "inline assembly": module(
        ROOT, after("set", "r", "a"), 'llvm.inline_asm has_side_effects "nop", "" : () -> ()', "gpu.wait [%a]"
    ),
    "an op of an unknown dialect": module(ROOT, after("set", "r", "a"), f'"vendor.flush"(%A) : ({V}) -> ()', "gpu.wait [%a]"),
}
FILES = {
    "fork.weft": "schedule fork() {\n  async-fork\n}\n",
    "zero.weft": "schedule zero() {\n  async-fork streams 0\n}\n",
    "none.weft": "schedule nothing() {\n  let gemm = match? linalg.matmul\n}\n",
}
COMMANDS = {
    "verify": ("verify", "p.mlir"),
    "apply": ("apply", "fork.weft", "--payload", "p.mlir"),
    "run": ("run", "none.weft", "--payload", "p.mlir", "--target", "sim"),
    "build": ("build", "none.weft", "--payload", "p.mlir", "-o", "bundle"),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], here: Path, arguments: tuple[str, ...]) -> str:
    """What the user sees of a refusal; nothing ran, and nothing was written."""
    before = sorted(here.rglob("*"))
    capsys.readouterr()
    assert cli.run(arguments) == 1, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    assert "error[W0" in err and ("hint: " in err or "must be" in err), err
    assert "p.mlir:" in err or "zero.weft:" in err, "the place is named"
    assert sorted(here.rglob("*")) == before
    return err


@pytest.mark.parametrize("name", [*CYCLES, *KERNEL_MISSING, *ARGUMENTS])
def test_no_payload(
    name: str, here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """What cannot be a program is refused in the same words by all commands."""
    (here / "p.mlir").write_text({**CYCLES, **KERNEL_MISSING, **ARGUMENTS}[name])
    said = {command: refused(capsys, here, arguments) for command, arguments in COMMANDS.items()}
    assert len(set(said.values())) == 1, said
    code = "W0628" if name in CYCLES else "W0626" if name in KERNEL_MISSING else "W0627"
    assert code in said["verify"]
    assert said["verify"] == snapshot


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", UNSEEN)
def test_host_code_that_cannot_be_seen(
    name: str, command: str, here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    (here / "p.mlir").write_text(UNSEEN[name])
    assert refused(capsys, here, COMMANDS[command]) == snapshot


@pytest.mark.parametrize("command", ["check", "apply", "run"])
def test_no_streams(command: str, here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    (here / "p.mlir").write_text(module(SET, COPY))
    payload = () if command == "check" else ("--payload", "p.mlir")
    assert refused(capsys, here, (command, "zero.weft", *payload)) == snapshot


def test_kernels_that_are_compiled_already(
    here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """They may read and write all they get: forked in order, verified so, said so; but they cannot be run here."""
    (here / "p.mlir").write_text(module(SET, COPY, kernels=BINARY))
    assert cli.run(COMMANDS["apply"]) == 0
    forked = capsys.readouterr().out
    assert forked.count("gpu.launch_func async") == 2 and forked.count("gpu.wait async") == 1
    for command in ("run", "build"):
        assert refused(capsys, here, COMMANDS[command]) == snapshot(name=command)
    (here / "p.mlir").write_text(forked)
    assert cli.run(COMMANDS["verify"]) == 0
    capsys.readouterr()
    lines = (ROOT, "%q = gpu.wait async", after("set", "r", "a"), after("copy", "q", "b", f"%A : {V}, %B : {V}"))
    (here / "p.mlir").write_text(module(*lines, "gpu.wait [%a, %b]", kernels=BINARY))
    assert refused(capsys, here, COMMANDS["verify"]) == snapshot(name="verify")


P = "!llvm.ptr"
POINTER_KERNEL = f"""gpu.module @p {{
  gpu.func @set(%x: {P}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %v = arith.constant 1.0 : f32
    llvm.store %v, %x : f32, {P}
    gpu.return
  }}
}}
"""
POINTERS = {
    "a store": ("llvm.store %z, %p : f32, !llvm.ptr",),
    "a load": ("%l = llvm.load %p : !llvm.ptr -> f32",),
    "a copy": ('"llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()',),
    "a store in a loop": ("scf.for %i = %c0 to %c64 step %c1 {", "llvm.store %z, %p : f32, !llvm.ptr", "}"),
    "a call of a function that stores": ("func.call @through(%p) : (!llvm.ptr) -> ()",),
    "a launch": (f"%b = gpu.launch_func async [%a] @p::@set {SIZES} args(%p : {P})", "gpu.wait [%b]"),
    "a launch of a kernel that is compiled already": (
        f"%b = gpu.launch_func async [%a] @q::@set {SIZES} args(%p : {P})", "gpu.wait [%b]",
    ),
}  # fmt: skip
THROUGH = f"func.func @through(%p: {P}) {{\n  %z = arith.constant 0.0 : f32\n  llvm.store %z, %p : f32, {P}\n  return\n}}\n"


@pytest.mark.parametrize("name", POINTERS)
def test_pointers_may_mean_any_memory(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is done through an `!llvm.ptr` has no place in an order: neither made nor proven."""
    consts = ("%z = arith.constant 0.0 : f32", "%n = arith.constant 4 : i64")
    others = THROUGH + POINTER_KERNEL + BINARY.replace("@k", "@q")
    text = module(*consts, ROOT, after("set", "r", "a"), *POINTERS[name], "gpu.wait [%a]", others=others)
    (here / "p.mlir").write_text(text.replace(f"%B: {V}", f"%p: {P}"))
    forked = refused(capsys, here, COMMANDS["apply"])
    assert "error[W0432]" in forked and ("through pointers" in forked) == ("call" not in name), forked
    judged = refused(capsys, here, COMMANDS["verify"])
    assert "error[W0634]" in judged, judged


def test_pointers_while_nothing_is_launched_are_the_host_s_own(here: Path) -> None:
    """Before the first launch and behind the wait for the last, an order is proven without them."""
    store = f"llvm.store %z, %p : f32, {P}"
    text = module("%z = arith.constant 0.0 : f32", store, ROOT, after("set", "r", "a"), "gpu.wait [%a]", store)
    (here / "p.mlir").write_text(text.replace(f"%B: {V}", f"%p: {P}"))
    assert cli.run(COMMANDS["verify"]) == 0
