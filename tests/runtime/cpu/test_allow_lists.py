"""What is compiled natively is on a list: of payloads (the reference), of modules of bundles and of the cache (`--target cpu`).

Each member here would run code, or read memory, that is none of the program's.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import cli
from weft.dsl.diagnostics import Source, WeftError
from weft.payloads.payload import parse_payload
from weft.runtime.cpu import allow_lists
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature

A = "%a: memref<4xf32>"
C = "%c = arith.constant 0 : index "
PAYLOADS = {
    "inline assembler": ("llvm.inline_asm", 'llvm.inline_asm has_side_effects "ud2", "" : () -> ()', ""),
    "a pointer made of an integer": (
        "llvm.inttoptr", "%n = arith.constant 64 : i64 %p = llvm.inttoptr %n : i64 to !llvm.ptr", ""
    ),
    "a store through a pointer": (
        "llvm.mlir.zero", "%p = llvm.mlir.zero : !llvm.ptr %x = arith.constant 1 : i32 llvm.store %x, %p : i32, !llvm.ptr", ""
    ),
    "a pointer as a value of another op": ("!llvm.ptr", "%p = ub.poison : !llvm.ptr", ""),
    "a pointer as an argument": ("!llvm.ptr", "", "func.func @g(%p: !llvm.ptr) { return }"),
    "types exchanged": (
        "unrealized_conversion_cast",
        "%n = arith.constant 64 : i64 %m = builtin.unrealized_conversion_cast %n : i64 to memref<4xf32>", "",
    ),
    "an intrinsic on memory": (
        "llvm.func", "", """llvm.func @g(%p: !llvm.ptr, %n: i64) {
        "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> () llvm.return }""",
    ),
    "an intrinsic by its name": ("llvm.call_intrinsic", 'llvm.call_intrinsic "llvm.trap"() : () -> ()', ""),
    "a function that is declared": (
        "@system", "call @system(%a) : (memref<4xf32>) -> ()",
        "func.func private @system(memref<4xf32>) attributes {llvm.emit_c_interface}",
    ),
    "a function of LLVM's that is declared": ("llvm.func", "llvm.call @abort() : () -> ()", "llvm.func @abort()"),
    "a function that is defined elsewhere": (
        "available_externally", "call @abort() : () -> ()",
        "func.func @abort() attributes {llvm.linkage = #llvm.linkage<available_externally>} { return }",
    ),
    "the address of a function": (
        "@abort", "%g = constant @abort : () -> () call_indirect %g() : () -> ()", "func.func private @abort()"
    ),
    "a variable of this process": (
        "@environ", "%g = memref.get_global @environ : memref<1xi64>", "memref.global @environ : memref<1xi64>"
    ),
    "a variable of LLVM's": ("llvm.mlir.global", "", "llvm.mlir.global external @stdout() : i64"),
    "constructors": (
        "llvm.mlir.global_ctors", "", "llvm.mlir.global_ctors ctors = [], priorities = [], data = []"
    ),
    "an address as a number": (
        "extract_aligned_pointer", "%p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index", ""
    ),
    "attributes of LLVM's functions": (
        "passthrough", "", 'func.func @g() attributes {passthrough = ["naked"]} { return }'
    ),
    "a section": ("section", "", 'func.func @g() attributes {section = ".init_array"} { return }'),
    "a personality": ("personality", "", "func.func @g() attributes {personality = @system} { return }"),
    "an argument on the stack": (
        "llvm.byval", "", "func.func @g(%b: memref<4xf32> {llvm.byval = !llvm.struct<(i64, i64)>}) { return }"
    ),
    "print": (
        "vector.print", "%v = arith.constant dense<0.0> : vector<2xf32> vector.print %v : vector<2xf32>", ""
    ),
    "threads of OpenMP": ("omp.parallel", "omp.parallel { omp.terminator }", ""),
    "tasks": ("async.execute", "%t = async.execute { async.yield }", ""),
    "a compiled kernel": ("gpu.binary", "", 'gpu.binary @k [#gpu.object<#nvvm.target, "x">]'),
    "sparse tensors": (
        "sparse_tensor", "%c = arith.constant 0 : index %p = sparse_tensor.new %c : index to tensor<?xf32,"
        " #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>", "",
    ),
    "a program's variable": (
        "ml_program.global", "%v = ml_program.global_load @v : tensor<4xi32>",
        "ml_program.global private mutable @v(dense<1> : tensor<4xi32>) : tensor<4xi32>"
    ),
    "C's words": ("emitc.verbatim", "", 'emitc.verbatim "system();"'),
    "a kernel's assembler": (
        "llvm.inline_asm", """%o = arith.constant 1 : index
        gpu.launch_func @m::@k blocks in (%o, %o, %o) threads in (%o, %o, %o) args(%a : memref<4xf32>)""",
        """gpu.module @m { gpu.func @k(%a: memref<4xf32>) kernel {
        llvm.inline_asm has_side_effects "ud2", "" : () -> () gpu.return } }""",
    ),
}  # fmt: skip
"""What the refusal names, what the function does, and what is around it."""


def test_assembler_of_the_module() -> None:
    refused("llvm.module_asm", f'module attributes {{llvm.module_asm = ["ud2"]}} {{ func.func @f({A}) {{ return }} }}')


@pytest.mark.parametrize("case", PAYLOADS)
def test_payloads(case: str) -> None:
    names, body, around = PAYLOADS[case]
    refused(names, f"module attributes {{gpu.container_module}} {{ {around}\nfunc.func @f({A}) {{ {body} return }} }}")


def refused(names: str, text: str) -> None:
    try:
        payload = parse_payload(Source("evil.mlir", text))
    except WeftError as error:
        pytest.fail(f"this is no program: {error}")
    with pytest.raises(WeftError) as caught:
        reference(payload, "f", random_inputs(signature(payload, "f")))
    (said,) = caught.value.diagnostics
    assert said.code == "W0802" and said.hint and names in said.message, said


ACCEPTED = {
    "functions of numbers": "%y = llvm.intr.maxnum(%x, %one) : (f32, f32) -> f32",
    "a call": "%y = func.call @helper(%x) : (f32) -> f32",
    "a constant": "%g = memref.get_global @two : memref<f32> %z = memref.load %g[] : memref<f32> %y = arith.maximumf %x, %z : f32",
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_computes_is_let_in(case: str) -> None:
    """And what compilers write beside it: interfaces, linkages, layouts, names of their own, of functions and arguments."""
    text = f"""module attributes {{llvm.data_layout = "e", llvm.target_triple = "x86_64-linux-gnu", their.own = "x"}} {{
      memref.global "private" constant @two : memref<f32> = dense<2.0>
      func.func private @helper(%x: f32) -> f32 attributes {{llvm.linkage = #llvm.linkage<external>, input_names = ["x"]}} {{
        return %x : f32 }}
      func.func @f(%a: memref<4xf32> {{llvm.noundef, onnx.name = "a"}}) attributes {{llvm.emit_c_interface, input_names = ["a"]}} {{
        {C} %one = arith.constant 1.0 : f32 %x = memref.load %a[%c] : memref<4xf32> {ACCEPTED[case]}
        memref.store %y, %a[%c] : memref<4xf32> return }} }}"""
    payload = parse_payload(Source("good.mlir", text))
    made = reference(payload, "f", {"a": np.full(4, 2, np.float32)})
    np.testing.assert_array_equal(made["a"], np.full(4, 2, np.float32))


# ---- bundles: the kernel of `naive`, with one line more --------------------------------------------------------------------


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weft.build("naive", tmp_path_factory.mktemp("bundles") / "naive", settings={"m": 8, "n": 8, "k": 8})


def signed(bundle: Path, folder: Path, **texts: str) -> Path:
    """A copy of the bundle with other texts, and their digests in its plan."""
    folder.mkdir()
    whole = {name: (bundle / name).read_text() for name in ("kernels.cu", "module.mlir")}
    whole |= {f"{name}.{'cu' if name == 'kernels' else 'mlir'}": text for name, text in texts.items()}
    plan = json.loads((bundle / "plan.json").read_text())
    plan["texts"] = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in whole.items()}
    for name, text in (*whole.items(), ("plan.json", json.dumps(plan))):
        (folder / name).write_text(text)
    return folder


IN_KERNELS = {
    "inline assembler": 'llvm.inline_asm has_side_effects "ud2", "" : () -> ()',
    "a pointer made of an integer": "%n64 = arith.constant 64 : i64 %ptr = llvm.inttoptr %n64 : i64 to !llvm.ptr"
    " llvm.store %n64, %ptr : i64, !llvm.ptr",
    "a trap": 'llvm.call_intrinsic "llvm.trap"() : () -> ()',
    "types exchanged": "%n64 = arith.constant 64 : i64"
    " %other = builtin.unrealized_conversion_cast %n64 : i64 to memref<4xf32>",
    "an address": "%p0 = memref.extract_aligned_pointer_as_index %arg0 : memref<8x8xf32> -> index",
    "print": "%zero1 = arith.constant 0.0 : f32 vector.print %zero1 : f32",
    "memory of the host's": "%own = gpu.alloc () : memref<4xf32>",
    "a copy of the host's": "%tag = memref.alloca() : memref<1xi32>"
    " memref.dma_start %arg0[%c0, %c0], %arg0[%c0, %c0], %c0, %tag[%c0] : memref<8x8xf32>, memref<8x8xf32>, memref<1xi32>",
    "an op that nobody knows": '"its.own"() : () -> ()',
}
AROUND = {
    "a variable of this process": ("  gpu.module", "  memref.global @environ : memref<1xi64>\n  gpu.module"),
    "a call": (
        "      gpu.return\n    }",
        "      func.call @elsewhere() : () -> ()\n      gpu.return\n    }\n    func.func @elsewhere() { return }",
    ),
    "a call of LLVM's": (
        "      gpu.return\n    }", "      llvm.call @abort() : () -> ()\n      gpu.return\n    }\n    llvm.func @abort()"
    ),
    "in the kernel's module": ("    gpu.func", "    memref.global @environ : memref<1xi64>\n    gpu.func"),
    "assembler of the module": ("{gpu.container_module", '{llvm.module_asm = ["ud2"], gpu.container_module'),
    "a function of LLVM's": ("  gpu.module", "  llvm.func @abort()\n  gpu.module"),
    "constructors": ("  gpu.module", "  llvm.mlir.global_ctors ctors = [], priorities = [], data = []\n  gpu.module"),
    "a compiled kernel": ("  gpu.module", '  gpu.binary @other [#gpu.object<#nvvm.target, "x">]\n  gpu.module'),
    "assembler of the host": ("    return", '    llvm.inline_asm has_side_effects "ud2", "" : () -> ()\n    return'),
    "attributes of a kernel": ("kernel attributes {", "kernel attributes {rocdl.flat_work_group_size = \"1,1\", "),
    "attributes of a function": ('"C"}) {', '"C"}) attributes {passthrough = ["naked"]} {'),
}  # fmt: skip


def evil(naive: Path, case: str) -> str:
    text = (naive / "module.mlir").read_text()
    if case in IN_KERNELS:
        made = text.replace("      gpu.return", f"      {IN_KERNELS[case]}\n      gpu.return")
    else:
        made = text.replace(*AROUND[case], 1)
    assert made != text
    return made


@pytest.mark.parametrize("case", [*IN_KERNELS, *AROUND])
def test_bundles(case: str, naive: Path, tmp_path: Path) -> None:
    bundle = signed(naive, tmp_path / "bundle", module=evil(naive, case))
    with pytest.raises(WeftError, match="W0725"):
        weft.load_bundle(bundle, target="cpu")
    with pytest.raises(WeftError, match="W0725"):
        weft.run(bundle, target="cpu")


def test_the_simulator_runs_none_of_it(naive: Path, tmp_path: Path) -> None:
    for number, case in enumerate(
        ("inline assembler", "a pointer made of an integer", "a trap", "print", "a call", "a call of LLVM's")
    ):
        bundle = signed(naive, tmp_path / str(number), module=evil(naive, case))
        with pytest.raises(WeftError, match="W07"):
            weft.run(bundle, target="sim")


@pytest.mark.parametrize("case", ["inline assembler", "assembler of the module"])
def test_the_command_line_refuses_it(case: str, naive: Path, tmp_path: Path) -> None:
    bundle = signed(naive, tmp_path / "bundle", module=evil(naive, case))
    done = subprocess.run(
        [sys.executable, "-m", "weft", "run", str(bundle), "--target", "cpu"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "error[W0725]" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("path", ["../../x", "/etc/passwd", "inputs.npz"])
@pytest.mark.parametrize("key", ["texts", "files", "module.mlir"])
def test_a_plan_names_no_files(key: str, path: str, naive: Path, tmp_path: Path) -> None:
    bundle = signed(naive, tmp_path / "bundle")
    plan = json.loads((bundle / "plan.json").read_text())
    plan[key] = {path: "0" * 64} if key == "texts" else path
    (bundle / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(WeftError, match="W0700"):
        weft.load_bundle(bundle, target="cpu")


def test_arrays_are_never_unpickled(naive: Path, tmp_path: Path) -> None:
    for name in ("inputs.npz", "expected.npz"):
        bundle = signed(naive, tmp_path / name)
        np.savez(bundle / name, A=np.array([print], object))
        with pytest.raises(WeftError, match="W0715"):
            weft.load_bundle(bundle, target="cpu")


@pytest.mark.parametrize("size", [2**40, 2**62, 10**30])
def test_sizes_that_no_machine_has(size: int, naive: Path, tmp_path: Path) -> None:
    bundle = signed(naive, tmp_path / "bundle")
    plan = json.loads((bundle / "plan.json").read_text())
    plan["buffers"][0]["shape"][0] = size
    (bundle / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(WeftError, match="W070"):
        weft.load_bundle(bundle, target="cpu")


def test_w0802_names_the_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    """All that payloads may be written in."""
    assert cli.run(["explain", "W0802"]) == 0
    words = set(capsys.readouterr().out.replace("(", " ").replace(")", " ").replace(",", " ").split())
    assert words >= allow_lists._DIALECTS
