"""The CPU reference against NumPy: payloads of every level, type and shape; and what it refuses."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from runtime_programs import parse
from work import seconds_computed

from weft.dsl.diagnostics import WeftError
from weft.runtime.cpu import lowering
from weft.runtime.cpu.reference import computed, reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature

Expected = Callable[..., Any]


def matmul(m: int, n: int, k: int, inputs: str, output: str) -> str:
    zero = "0.0" if "f" in output else "0"
    a, b, c = f"tensor<{m}x{k}x{inputs}>", f"tensor<{k}x{n}x{inputs}>", f"tensor<{m}x{n}x{output}>"
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
      %z = arith.constant {zero} : {output}
      %e = tensor.empty() : {c}
      %f = linalg.fill ins(%z : {output}) outs(%e : {c}) -> {c}
      %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
      return %r : {c} }}"""


INDEX_MAPS = "indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>]"
CASES: dict[str, tuple[str, Expected, float]] = {
    "matmul f32": (matmul(17, 33, 9, "f32", "f32"), lambda a, b: a @ b, 1e-6),
    "matmul f64": (matmul(17, 33, 9, "f64", "f64"), lambda a, b: a @ b, 1e-15),
    "matmul f16, in f32": (matmul(17, 33, 9, "f16", "f16"), lambda a, b: a @ b, 1e-6),
    "matmul bf16, in f32": (matmul(17, 33, 9, "bf16", "bf16"), lambda a, b: a @ b, 1e-6),
    "matmul f16 to f32": (matmul(17, 33, 9, "f16", "f32"), lambda a, b: a @ b, 1e-6),
    "matmul i8 to i32": (matmul(17, 33, 9, "i8", "i32"), lambda a, b: a @ b, 0),
    "matmul i32": (matmul(17, 33, 9, "i32", "i32"), lambda a, b: a @ b, 0),
    "matmul 1x1x1": (matmul(1, 1, 1, "f32", "f32"), lambda a, b: a @ b, 1e-6),
    "ragged and tiled": (matmul(130, 257, 65, "f32", "f32"), lambda a, b: a @ b, 1e-6),
    "interchanged and not tiled": (matmul(80, 300, 90, "f64", "f64"), lambda a, b: a @ b, 1e-14),
    "matvec on memrefs": (
        """func.func @main(%a: memref<16x20xf32>, %x: memref<20xf32>, %y: memref<16xf32>) {
          linalg.matvec ins(%a, %x : memref<16x20xf32>, memref<20xf32>) outs(%y : memref<16xf32>) return }""",
        lambda a, x, y: a @ x + y,
        1e-6,
    ),
    "batch matmul": (
        """func.func @main(%a: memref<3x6x5xf64>, %b: memref<3x5x4xf64>, %c: memref<3x6x4xf64>) {
          linalg.batch_matmul ins(%a, %b : memref<3x6x5xf64>, memref<3x5x4xf64>) outs(%c : memref<3x6x4xf64>) return }""",
        lambda a, b, c: a @ b + c,
        1e-15,
    ),
    "row sum in loops": (
        """func.func @main(%a: memref<6x7xf32>, %y: memref<6xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c6 = arith.constant 6 : index
          %c7 = arith.constant 7 : index
          %z = arith.constant 0.0 : f32
          scf.parallel (%i) = (%c0) to (%c6) step (%c1) {
            %s = scf.for %j = %c0 to %c7 step %c1 iter_args(%t = %z) -> f32 {
              %v = memref.load %a[%i, %j] : memref<6x7xf32>
              %n = arith.addf %t, %v : f32
              scf.yield %n : f32 }
            memref.store %s, %y[%i] : memref<6xf32>
            scf.reduce }
          return }""",
        lambda a, y: a.sum(1),
        1e-6,
    ),
    "a forall on tensors": (
        """func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
          %e = tensor.empty() : tensor<8x4xf32>
          %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8x4xf32> {
            %s = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
            %n = arith.negf %s : tensor<1x4xf32>
            scf.forall.in_parallel {
              tensor.parallel_insert_slice %n into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32> } }
          return %r : tensor<8x4xf32> }""",
        lambda a: -a,
        0,
    ),
    "an elementwise chain": (
        """func.func @main(%a: tensor<9xf32>, %b: tensor<9xf32>) -> tensor<9xf32> {
          %0 = math.tanh %a : tensor<9xf32>
          %1 = arith.mulf %0, %b : tensor<9xf32>
          %2 = math.absf %1 : tensor<9xf32>
          %3 = math.sqrt %2 : tensor<9xf32>
          %4 = math.rsqrt %3 : tensor<9xf32>
          %5 = math.log1p %4 : tensor<9xf32>
          %6 = math.erf %5 : tensor<9xf32>
          return %6 : tensor<9xf32> }""",
        lambda a, b: erf(np.log1p(1 / np.sqrt(np.sqrt(np.abs(np.tanh(a) * b))))),
        1e-5,
    ),
    "an affine stencil with a pad": (
        """func.func @main(%a: tensor<6x8xf32>, %s: f32) -> tensor<8x10xf32> {
          %p = tensor.pad %a low[1, 1] high[1, 1] { ^bb0(%i: index, %j: index):
            tensor.yield %s : f32 } : tensor<6x8xf32> to tensor<8x10xf32>
          return %p : tensor<8x10xf32> }""",
        lambda a, s: np.pad(a, 1, constant_values=s),
        0,
    ),
    "three functions": (
        """func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
          %r = arith.addf %x, %x : tensor<4xf32>
          return %r : tensor<4xf32> }
        func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
          %r = arith.mulf %x, %x : tensor<4xf32>
          return %r : tensor<4xf32> }
        func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %a = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %b = call @square(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %a, %b : tensor<4xf32>, tensor<4xf32> }""",
        lambda x: (2 * x, 4 * x * x),
        1e-6,
    ),
    "in place, and strided copies": (
        """func.func @main(%a: memref<8xi32>) {
          %even = memref.subview %a[0] [4] [2] : memref<8xi32> to memref<4xi32, strided<[2]>>
          %odd = memref.subview %a[1] [4] [2] : memref<8xi32> to memref<4xi32, strided<[2], offset: 1>>
          memref.copy %even, %odd : memref<4xi32, strided<[2]>> to memref<4xi32, strided<[2], offset: 1>>
          return }""",
        lambda a: np.repeat(a[::2], 2),
        0,
    ),
    "constants, integers, booleans, indices": (
        """func.func @main(%a: tensor<4xi16>, %m: tensor<4xi1>) -> (tensor<4xi16>, tensor<4xi1>, tensor<4xindex>) {
          %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi16>
          %t = arith.constant dense<true> : tensor<4xi1>
          %s = arith.addi %a, %k : tensor<4xi16>
          %n = arith.xori %m, %t : tensor<4xi1>
          %e = tensor.empty() : tensor<4xindex>
          %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            outs(%e : tensor<4xindex>) { ^bb0(%o: index):
              %j = linalg.index 0 : index
              linalg.yield %j : index } -> tensor<4xindex>
          return %s, %n, %i : tensor<4xi16>, tensor<4xi1>, tensor<4xindex> }""",
        lambda a, m: (a + np.arange(1, 5), 1 - m, np.arange(4)),
        0,
    ),
    "scalars in and out": (
        """func.func @main(%x: f32, %n: i32) -> (f32, i32) {
          %y = arith.addf %x, %x : f32
          %m = arith.muli %n, %n : i32
          return %y, %m : f32, i32 }""",
        lambda x, n: (2 * x, n * n),
        0,
    ),
    "one scalar out": (
        "func.func @main(%x: f64) -> f64 { %y = arith.negf %x : f64\n return %y : f64 }",
        lambda x: -x,
        0,
    ),
    "bf16 constants": (
        """func.func @main(%x: tensor<3xbf16>) -> tensor<3xbf16> {
          %k = arith.constant dense<[1.0, -2.5, 0x4049]> : tensor<3xbf16>
          %r = arith.addf %x, %k : tensor<3xbf16>
          return %r : tensor<3xbf16> }""",
        lambda x: x + np.array([1, -2.5, 3.140625]),
        1e-6,
    ),
    "the bits of f16": (
        """func.func @main(%x: tensor<5xf16>) -> tensor<5xi16> {
          %r = arith.bitcast %x : tensor<5xf16> to tensor<5xi16>
          return %r : tensor<5xi16> }""",
        lambda x: x.astype(np.float16).view(np.int16),
        0,
    ),
    "softmax": (
        """func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
          %e = tensor.empty() : tensor<3x5xf32>
          %r = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
          return %r : tensor<3x5xf32> }""",
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
        1e-6,
    ),
    "vectors": (
        """func.func @main(%a: memref<16xf32>, %b: memref<16xf32>) {
          affine.for %i = 0 to 16 step 8 {
            %v = vector.load %a[%i] : memref<16xf32>, vector<8xf32>
            %w = arith.addf %v, %v : vector<8xf32>
            vector.store %w, %b[%i] : memref<16xf32>, vector<8xf32> }
          return }""",
        lambda a, b: 2 * a,
        0,
    ),
    "conv": (
        """func.func @main(%i: tensor<1x9x10x3xf32>, %w: tensor<3x3x3x5xf32>, %o: tensor<1x7x8x5xf32>) -> tensor<1x7x8x5xf32> {
          %r = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<1x9x10x3xf32>, tensor<3x3x3x5xf32>)
            outs(%o : tensor<1x7x8x5xf32>) -> tensor<1x7x8x5xf32>
          return %r : tensor<1x7x8x5xf32> }""",
        lambda i, w, o: (
            o + sum(np.einsum("nhwc,cf->nhwf", i[:, y : y + 7, x : x + 8], w[y, x]) for y in range(3) for x in range(3))
        ),
        1e-6,
    ),
    "a payload already scheduled: out-arguments are results": (
        """func.func @main(%a: memref<4xf32>, %o: memref<4xf32> {bufferize.result}) {
          memref.copy %a, %o : memref<4xf32> to memref<4xf32> return }""",
        lambda a: a,
        0,
    ),
}


def erf(x: np.ndarray) -> np.ndarray:
    """By the trapezoidal rule, which is precise enough to tell a right call from a wrong one."""
    t = np.linspace(0, 1, 20001)[:, None] * x
    return 2 / np.sqrt(np.pi) * np.trapezoid(np.exp(-t * t), t, axis=0)


@pytest.mark.parametrize("case", CASES)
def test_against_numpy(case: str) -> None:
    text, expected, allowed = CASES[case]
    payload = parse(text)
    before = str(payload)
    inputs = random_inputs(signature(payload), 1)
    kept = {name: array.copy() for name, array in inputs.items()}
    outputs = reference(payload, None, inputs)
    assert str(payload) == before
    assert all(np.array_equal(inputs[n], kept[n]) for n in kept)
    wide = [a.astype(np.float64 if a.dtype.kind not in "biu" else np.int64) for a in kept.values()]
    wanted = expected(*wide)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    names = [o.name for o in signature(payload).outputs]
    assert list(outputs) == names and len(wanted) == len(names)
    for name, value in zip(names, wanted, strict=True):
        difference = np.abs(outputs[name].astype(np.float64) - value).max()
        assert difference <= allowed * np.abs(value).max(), name


def test_dynamic_shapes() -> None:
    payload = parse("""func.func @main(%a: tensor<?x6xf32>, %b: tensor<6x?xf32>) -> tensor<?x?xf32> {
      %z = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %a, %c0 : tensor<?x6xf32>
      %n = tensor.dim %b, %c1 : tensor<6x?xf32>
      %e = tensor.empty(%m, %n) : tensor<?x?xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
      %r = linalg.matmul ins(%a, %b : tensor<?x6xf32>, tensor<6x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32> }""")
    for m, n in ((5, 7), (0, 3), (1, 1)):
        draw = np.random.default_rng(0).standard_normal
        inputs = {"arg0": draw((m, 6)).astype(np.float32), "arg1": draw((6, n)).astype(np.float32)}
        np.testing.assert_allclose(
            reference(payload, None, inputs)["result0"], inputs["arg0"] @ inputs["arg1"], rtol=1e-4, atol=1e-5
        )


@pytest.mark.few()
@pytest.mark.parametrize(
    "function", ["exp", "log", "sin", "cos", "exp2", "log2", "atan", "floor", "ceil", "cbrt", "expm1", "roundeven"]
)
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_math(function: str, dtype: str) -> None:
    payload = parse(f"""func.func @main(%x: tensor<7x{dtype}>) -> tensor<7x{dtype}> {{
      %a = math.absf %x : tensor<7x{dtype}>
      %y = math.{function} %a : tensor<7x{dtype}>
      return %y : tensor<7x{dtype}> }}""")
    inputs = random_inputs(signature(payload), 3)
    numpy = getattr(np, {"atan": "arctan", "roundeven": "rint"}.get(function, function))
    wanted = numpy(np.abs(inputs["arg0"].astype(np.float64)))
    np.testing.assert_allclose(
        reference(payload, None, inputs)["result0"], wanted, rtol=1e-5 if dtype != "f64" else 1e-13
    )


def test_large_contractions_are_tiled_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain loops take some 20 times as long. The order of accumulation is that of the plain loops: bit by bit the same."""
    payload = parse(matmul(256, 1024, 1024, "f32", "f32"))
    inputs = random_inputs(signature(payload))
    payload.operation.write_bytecode(code := io.BytesIO())

    def here() -> np.ndarray:
        """In this process, whose processor time is counted."""
        return computed(code.getvalue(), "main", inputs)["result0"]

    result = reference(payload, None, inputs)["result0"]
    tiled = seconds_computed(lambda: here)
    monkeypatch.setattr(lowering, "LARGE", np.inf)
    np.testing.assert_array_equal(result, here())
    assert 2 * tiled < seconds_computed(lambda: here, 1)
    a, b = inputs["arg0"], inputs["arg1"]
    corner = np.zeros((8, 8), np.float32)
    for k in range(1024):
        corner += a[:8, k : k + 1] * b[k : k + 1, :8]
    np.testing.assert_array_equal(result[:8, :8], corner)


REFUSED = {
    "a function that is not there": (
        "W0802: the payload has `llvm.func`, and only listed ops and attributes",
        "llvm.func @nowhere()\nfunc.func @main(%x: memref<4xindex>) { llvm.call @nowhere() : () -> ()\nreturn }",
    ),
    "an op without a lowering": (
        "W0800: the CPU reference cannot lower @main",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %r = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>\n"
        "return %r : tensor<4xf32> }",
    ),
    "an op of a GPU": (
        "W0801: the CPU reference cannot link @main",
        """func.func @main(%x: memref<4xindex>) { %t = gpu.thread_id x %c = arith.constant 0 : index
        memref.store %t, %x[%c] : memref<4xindex> return }""",
    ),
    "an unknown op": (
        "W0802: the payload has `foo.bar`, an op of a dialect that is not upstream's",
        'func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %r = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "return %r : tensor<4xf32> }",
    ),
    "a function without a body": (
        "W0802: the payload calls @print, which has no body",
        "func.func private @print(f32)\n func.func @main(%x: f32) { call @print(%x) : (f32) -> () return }",
    ),
    "a type": ("W0733: argument 0 of @main is i7", "func.func @main(%x: i7) { return }"),
    "several functions": (
        "W0732: several functions could run: @f, @g",
        "func.func @f() { return }\n func.func @g() { return }",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    message, text = REFUSED[case]
    payload = parse(text)
    with pytest.raises(WeftError, match=message):
        reference(payload, None, random_inputs(signature(payload)))
    assert capfd.readouterr() == ("", "")


def test_wrong_inputs_never_reach_the_payload() -> None:
    payload = parse(matmul(4, 4, 4, "f32", "f32"))
    with pytest.raises(WeftError, match="W0717: `arg0` is 2x4xfloat32, expected 4x4xf32"):
        reference(payload, None, {"arg0": np.zeros((2, 4), np.float32), "arg1": np.zeros((4, 4), np.float32)})


def test_a_result_of_a_negative_size_is_refused() -> None:
    text = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %zero = arith.constant 0 : index
      %five = arith.constant 5 : index
      %one = arith.constant 1.0 : f32
      %n = tensor.dim %x, %zero : tensor<?xf32>
      %m = arith.subi %n, %five : index
      %made = tensor.empty(%m) : tensor<?xf32>
      %filled = linalg.fill ins(%one : f32) outs(%made : tensor<?xf32>) -> tensor<?xf32>
      return %filled : tensor<?xf32>
    }"""
    with pytest.raises(WeftError, match="would be -2: the sizes"):
        reference(parse(text), None, {"arg0": np.zeros(3, np.float32)})


@pytest.mark.parametrize(("b", "t"), [(4, 37), (3, 41)])
def test_gathers_of_odd_sizes_compile_at_once(b: int, t: int) -> None:
    """LLVM's last level of effort takes seconds for these, and runs no faster."""
    ids, out = f"tensor<{b}x{t}xi32>", f"tensor<{b}x{t}x64xf32>"
    text = f"""func.func @main(%table: tensor<1000x64xf32>, %ids: {ids}) -> {out} {{
      %e = tensor.empty() : {out}
      %r = linalg.generic {{iterator_types = ["parallel", "parallel", "parallel"],
          indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (b, t, d)>]}}
          ins(%ids : {ids}) outs(%e : {out}) {{
        ^bb0(%i: i32, %o: f32):
          %d = linalg.index 2 : index
          %row = arith.index_cast %i : i32 to index
          %v = tensor.extract %table[%row, %d] : tensor<1000x64xf32>
          linalg.yield %v : f32
      }} -> {out}
      return %r : {out} }}"""
    table = np.random.default_rng(5).random((1000, 64), np.float32)
    places = np.random.default_rng(6).integers(0, 1000, (b, t), np.int32)
    code = io.BytesIO()
    parse(text).operation.write_bytecode(code)
    before = time.process_time()
    found = computed(code.getvalue(), "main", {"arg0": table, "arg1": places})
    assert time.process_time() - before < 1.0
    np.testing.assert_array_equal(found["result0"], table[places])
