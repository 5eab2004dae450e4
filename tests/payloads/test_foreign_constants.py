"""`krnl.global` as a constant: of any shape and type, dense, splat or from the text's resources; what is wrong with one is said."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.payloads.payload import parse_payload
from weft.runtime.cpu.reference import reference
from weft.runtime.host.host import make_plan

READER = """\
func.func @f(%C: memref<TYPE>) {
  %w = "krnl.global"() {name = "w", shape = SHAPE, value = VALUE} : () -> memref<TYPE>
  memref.copy %w, %C : memref<TYPE> to memref<TYPE>
  return
}
"""
BLOB = """
{-#
  dialect_resources: {
    builtin: {
      other: "0x04000000000080bf",
      blob: "0x04000000%s"
    }
  }
#-}
"""


def constant(type_: str, shape: str, value: str) -> str:
    return READER.replace("TYPE", type_).replace("SHAPE", shape).replace("VALUE", value)


SEVEN = np.arange(1, 7, dtype=np.float32)
DENSE = [
    ("2x3xf32", "[2, 3]", "dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>", SEVEN.reshape(2, 3)),
    ("3x1x2xf32", "[3, 1, 2]", "dense<0.1> : tensor<3x1x2xf32>", np.full((3, 1, 2), 0.1, np.float32)),
    ("f64", "[]", "dense<2.5> : tensor<f64>", np.array(2.5)),
    ("4xi32", "[4]", "dense<[1, -2, 3, 2147483647]> : tensor<4xi32>", np.array([1, -2, 3, 2**31 - 1], np.int32)),
    ("2xi64", "[2]", "dense<-9223372036854775808> : tensor<2xi64>", np.full(2, -(2**63))),
    ("3xi8", "[3]", "dense<[1, -128, 127]> : tensor<3xi8>", np.array([1, -128, 127], np.int8)),
    ("2xf32", "[2]", 'dense<"0x0000803F00000040"> : tensor<2xf32>', np.array([1, 2], np.float32)),
    ("3xf16", "[3]", "dense<[1.0, 2.0, -0.5]> : tensor<3xf16>", np.array([1, 2, -0.5], np.float16)),
    ("2xbf16", "[2]", "dense<[1.5, -3.0]> : tensor<2xbf16>", np.array([1.5, -3], ml_dtypes.bfloat16)),
    ("2x3xf32", "[2, 3]", "dense_resource<blob> : tensor<2x3xf32>", SEVEN.reshape(2, 3)),
]


@pytest.mark.parametrize(("type_", "shape", "value", "wanted"), DENSE)
def test_the_elements_arrive_in_the_plan_and_in_the_reference(type_: str, shape: str, value: str, wanted: np.ndarray) -> None:
    text = constant(type_, shape, value) + (BLOB % SEVEN.tobytes().hex() if "resource" in value else "")
    module = parse_payload(Source("p.mlir", text))
    assert not list(operations(module.operation, "krnl.global"))
    (buffer,) = (b for b in make_plan(module, "f").buffers if b.role == "constant")
    assert buffer.shape == wanted.shape and buffer.data == wanted.tobytes()
    found = reference(module, None, {"C": np.zeros_like(wanted)})["C"]
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


def test_names_are_kept_shared_and_told_apart() -> None:
    one = '%{0} = "krnl.global"() {{name = "{1}", shape = [2], value = dense<{2}> : tensor<2xf32>}} : () -> memref<2xf32>\n'
    ops = [("a", "w", 1.0), ("b", "w", 1.0), ("c", "w", 2.0), ("d", "odd name/1", 3.0), ("e", "f", 4.0), ("g", "", 5.0)]
    text = f"func.func @f() {{ {''.join(one.format(*op) for op in ops)} return }}"
    module = parse_payload(Source("p.mlir", text))
    names = [str(op.attributes["sym_name"]) for op in operations(module.operation, "memref.global")]
    assert names == ['"w"', '"w_0"', '"odd_name_1"', '"f_1"', '"constant"']
    got = [str(op.attributes["name"]) for op in operations(module.operation, "memref.get_global")]
    assert got == ["@w", "@w", "@w_0", "@odd_name_1", "@f_1", "@constant"]


GLOBAL = '"krnl.global"() {name = "w", shape = [2], value = dense<1.0> : tensor<2xf32>} : () -> memref<2xf32>'
WRONG = [
    ("W0410", '%w = "krnl.global"() {name = "w", shape = [2]} : () -> memref<2xf32>', "no value"),
    ("W0410", '%w = "krnl.global"() {value = "w"} : () -> memref<2xf32>', "not a list of elements"),
    ("W0411", f"%w = {GLOBAL.replace('tensor<2xf32>', 'tensor<3xf32>')}", "the value is a tensor<3xf32>"),
    ("W0411", f"%w = {GLOBAL.replace('memref<2xf32>', 'memref<2xf64>')}", "the constant a memref<2xf64>"),
    ("W0411", f"%w = {GLOBAL.replace('[2]', '[3]')}", "its shape is [3]"),
    ("W0411", f"%w = {GLOBAL.replace('memref<2xf32>', 'memref<?xf32>')}", "static shape"),
    ("W0411", f"%w = {GLOBAL.replace('memref<2xf32>', 'memref<2xf32, strided<[2]>>')}", "layout"),
    ("W0412", f"%w = {GLOBAL.replace('dense<1.0>', 'dense_resource<__elided__>')}", "not in the text"),
    ("W0412", f"%w = {GLOBAL.replace('dense<1.0>', 'dense_resource<blob>')}", "24 bytes"),
    ("W0413", f"%w = {GLOBAL}\n %i = arith.constant 0 : index %x = memref.load %w[%i] : memref<2xf32>\n"
              " memref.store %x, %w[%i] : memref<2xf32>", "written to"),
    ("W0413", f"%w = {GLOBAL}\n %v = memref.cast %w : memref<2xf32> to memref<?xf32>\n \"a.b\"(%v) : (memref<?xf32>) -> ()",
     "written to"),
    ("W0487", "%w = " + GLOBAL.replace("dense<1.0>", 'opaque<"krnl", "0x00">'), "expected attribute value"),
    ("W0487", f"%w = {GLOBAL.replace('dense<1.0>', 'dense<[1.0, 2.0, 3.0]>')}", "inferred shape"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "body", "message"), WRONG)
def test_what_is_wrong_is_said_at_its_place(code: str, body: str, message: str) -> None:
    text = "func.func @f() {\n  BODY\n  return\n}\n".replace("BODY", body) + BLOB % SEVEN.tobytes().hex()
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", text))
    (found,) = caught.value.diagnostics
    assert found.code == code and message in found.message
    assert found.span is not None and found.span.line == 2 and (code == "W0487" or found.span.column == 8)


def test_a_constant_in_a_kernel_is_refused() -> None:
    text = f"gpu.module @k {{ gpu.func @k() kernel {{ %w = {GLOBAL}\n gpu.return }} }} func.func @f() {{ return }}"
    with pytest.raises(WeftError, match="W0411"):
        parse_payload(Source("p.mlir", f"module attributes {{gpu.container_module}} {{ {text} }}"))


ENTRY = '"krnl.entry_point"() {func = @f, numInputs = 1 : i32} : () -> ()'


def test_the_entry_point_of_another_runtime_computes_nothing() -> None:
    text = constant("2xf32", "[2]", "dense<3.0> : tensor<2xf32>")
    module = parse_payload(Source("p.mlir", f"module {{\n{text}{ENTRY}\n}}"))
    assert not list(operations(module.operation, "krnl.entry_point"))
    np.testing.assert_array_equal(reference(module, None, {"C": np.zeros(2, np.float32)})["C"], [3, 3])


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_the_reference_refuses_other_foreign_ops(where: str) -> None:
    op = '"other.op"() : () -> ()\n'
    text = "module {\nfunc.func @f(%C: memref<2xf32>) {\nINSIDE return }\nOUTSIDE}"
    text = text.replace(where.upper(), op).replace("INSIDE", "").replace("OUTSIDE", "")
    with pytest.raises(WeftError, match=r"W0802.*other\.op"):
        reference(parse_payload(Source("p.mlir", text)), None, {"C": np.zeros(2, np.float32)})
