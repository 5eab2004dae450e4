"""Text of older MLIR: symbols, ops and headers become those of today; elsewhere it stays, and what is wrong is said."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.interpreter.ir.unknown_names import misnamed_op
from weft.payloads.edits import Edit, Older
from weft.payloads.older_mlir import rewritten
from weft.payloads.payload import parse_payload
from weft.runtime.cpu.reference import reference
from weft.runtime.run.execution import Target

LOOPS = """\
func.func @f(%A: memref<64xf32>, %n: index) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      BODY
    }
  }
  return
}
"""

READ = [
    # what older MLIR took, and what it becomes
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]", "affine_map<(d0, s0) -> (d0 + s0)>(%i, %j)"),
    ("%x = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%j]", "affine_map<(s0) -> (s0 * 2)>(%j)"),
    ("%x = affine.apply #m(%i)[%j, %j]", "affine_map<(d0, s0, s1) -> (d0 + s0 - s1)>(%i, %j, %j)"),
    ("%x = affine.apply #m(%i) [%j, %n] // [%k]", "affine_map<(d0, s0, s1) -> (d0 + s0 - s1)>(%i, %j, %n) // [%k]"),
    (
        "%x = affine.apply affine_map<(d0)[s0, s1] -> ((d0 * s0 + s1) floordiv 3)>(%i)[%n, %j]",
        "affine_map<(d0, s1)[s0] -> ((d0 * s0 + s1) floordiv 3)>(%i, %j)[%n]",
    ),
    ("%x = affine.load %A[%i * 4 + symbol(%j)] : memref<64xf32>", "%A[%i * 4 + %j]"),
    ("%x = affine.load %A[%i * symbol(%n) + symbol(%j)] : memref<64xf32>", "%A[%i * symbol(%n) + %j]"),
    ("%x = affine.vector_load %A[symbol(%j)] : memref<64xf32>, vector<2xf32>", "%A[%j]"),
    ("%c = arith.constant 1.0 : f32 affine.store %c, %A[%i + symbol(%j)] : memref<64xf32>", "%A[%i + %j]"),
    (
        '%x = "affine.apply"(%i, %j) {map = affine_map<(d0)[s0] -> (d0 + s0)>} : (index, index) -> index',
        "{map = affine_map<(d0, s0) -> (d0 + s0)>}",
    ),
    (
        '%x = "affine.apply"(%i, %j, %j) <{map = #m}> : (index, index, index) -> index',
        "<{map = affine_map<(d0, s0, s1)",
    ),
]


@pytest.mark.parametrize(("body", "becomes"), READ)
def test_symbols_become_dimensions(body: str, becomes: str) -> None:
    text = "#m = affine_map<(d0)[s0, s1] -> (d0 + s0 - s1)>\n" + LOOPS.replace("BODY", body)
    older = rewritten(Source("p.mlir", text))
    assert older is not None and becomes in older.source.text, older and older.source.text
    parse_payload(Source("p.mlir", text))


LEFT = [
    # text in strings and comments, valid symbols, what older MLIR refused as well
    'func.func @f() attributes {a = "affine.apply #m(%i)[%j]"} { return }',
    "// affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]\nfunc.func @f() { return }",
    LOOPS.replace("BODY", "%x = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%n]"),
    LOOPS.replace("BODY", "%x = affine.load %A[%i * symbol(%n)] : memref<64xf32>"),
    LOOPS.replace("BODY", "affine.for %k = 0 to %n { }"),
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_no_older_text_stays_as_it_is(text: str) -> None:
    assert rewritten(Source("p.mlir", text)) is None
    parse_payload(Source("p.mlir", text))


WRONG = [
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%j]", "cannot be used as a symbol", (4, 12)),
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j, %j]", "dimension or symbol index mismatch", (4, 12)),
    ("affine.for %k = %i to 9 { }", "cannot be used as a symbol", (4, 7)),
    ("%x = affine.apply #gone(%i)[%j]", "undefined symbol alias id 'gone'", (4, 30)),
    (
        "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]\n %y = affine.load %A[%x * symbol(%j)] : memref<64xf32>",
        "cannot be used as a symbol",
        (5, 7),
    ),
    (
        "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j] affine.for %k = %i to 9 { }",
        "cannot be used as a symbol",
        (4, 67),
    ),
]


@pytest.mark.parametrize(("body", "message", "place"), WRONG)
def test_the_rest_gets_the_parsers_message_at_its_place(body: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", LOOPS.replace("BODY", body)))
    first = caught.value.diagnostics[0]
    assert first.code == "W0487" and message in first.message
    assert first.span is not None and (first.span.line, first.span.column) == place


def test_ops_keep_their_places_behind_what_was_rewritten() -> None:
    line = "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j] %y = affine.load %A[%x] : memref<64xf32>"
    source = Source("p.mlir", LOOPS.replace("BODY", line))
    module = parse_payload(source)  # kept: its ops must not outlive it
    (load,) = operations(module.operation, "affine.load")
    assert f'"p.mlir":4:{source.line(4).index("affine.load") + 1}' in str(load.location)


def test_places_lead_back_through_several_edits() -> None:
    text = "ab cd\nef gh\nij kl\n"
    older = Older(Source("p.mlir", text), [Edit(9, 11, "a longer one"), Edit(0, 2, ""), Edit(12, 14, "x\ny")])
    assert older.source.text == " cd\nef a longer one\nx\ny kl\n"
    places = {
        (1, 2): (1, 4),
        (2, 1): (2, 1),
        (2, 6): (2, 4),
        (2, 16): (2, 6),
        (3, 1): (3, 1),
        (4, 3): (3, 4),
        (5, 1): (4, 1),
    }
    assert {at: older.place(*at) for at in places} == places


def test_a_dimension_in_a_symbols_place_computes_the_same() -> None:
    text = """\
#m = affine_map<(d0)[s0, s1] -> ((d0 * 5 + s0 * 3 - s1) mod 7 + s1 floordiv 2)>
func.func @f(%A: memref<64xi32>, %C: memref<4x5x6xi32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 5 {
      affine.for %k = 0 to 6 {
        %at = affine.apply #m(%i)[%j, %k]
        %x = affine.load %A[%at * 2 + symbol(%j)] : memref<64xi32>
        affine.store %x, %C[%i, symbol(%j), symbol(%k)] : memref<4x5x6xi32>
      }
    }
  }
  return
}
"""
    values = np.arange(100, 164, dtype=np.int32)
    inputs = {"A": values, "C": np.zeros((4, 5, 6), np.int32)}
    found = reference(parse_payload(Source("p.mlir", text)), None, inputs)["C"]
    i, j, k = np.ogrid[:4, :5, :6]
    np.testing.assert_array_equal(found, values[((i * 5 + j * 3 - k) % 7 + k // 2) * 2 + j])


OF_OPS = "func.func @f(%a: tensor<4x6xf32>, %b: tensor<5x6xf32>, %at: tensor<6x4xf32>, %bt: tensor<6x5xf32>, %c: tensor<4x5xf32>,"
OF_OPS += " %g: tensor<2x4x6xf32>, %h: tensor<2x6x5xf32>, %gt: tensor<2x6x4xf32>, %ht: tensor<2x5x6xf32>, %o: tensor<2x4x5xf32>,"
OF_OPS += " %m: memref<8xf32, strided<[2], offset: ?>>, %t: tensor<8xf32>, %s: f32, %v: vector<4xf32>, %n: index) {"
OF_OPS += "\n  BODY\n  return\n}\n"

RENAMED = [
    # what older MLIR named so, and what is parsed
    *((f"%r = linalg.{op} outs({out}) -> tensor<{size}xf32>", "indexing_maps = [") for op, out, size in [
        ("matmul_transpose_a ins(%at, %bt : tensor<6x4xf32>, tensor<6x5xf32>)", "%c : tensor<4x5xf32>", "4x5"),
        ("matmul_transpose_b ins(%a, %b : tensor<4x6xf32>, tensor<5x6xf32>)", "%c : tensor<4x5xf32>", "4x5"),
        ("batch_matmul_transpose_a ins(%gt, %h : tensor<2x6x4xf32>, tensor<2x6x5xf32>)", "%o : tensor<2x4x5xf32>", "2x4x5"),
        ("batch_matmul_transpose_b ins(%g, %ht : tensor<2x4x6xf32>, tensor<2x5x6xf32>)", "%o : tensor<2x4x5xf32>", "2x4x5"),
    ]),
    (
        "%r = linalg.matmul_unsigned ins(%a, %bt : tensor<4x6xf32>, tensor<6x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>",
        "cast_unsigned",
    ),
    (
        "%r = linalg.elemwise_binary {fun = #linalg.binary_fn<mul>} ins(%a, %a : tensor<4x6xf32>, tensor<4x6xf32>)"
        " outs(%a : tensor<4x6xf32>) -> tensor<4x6xf32>",
        "elementwise_kind<mul>",
    ),
    ("%r = linalg.elemwise_unary ins(%a : tensor<4x6xf32>) outs(%a : tensor<4x6xf32>) -> tensor<4x6xf32>", "elementwise_kind<exp>"),
    ("%r = linalg.init_tensor [%n, 8] : tensor<?x8xf32>", "tensor.empty("),
    (
        "%e = tensor.empty() : tensor<2x4xf32> %r = tensor.pack %t inner_dims_pos = [0] inner_tiles = [4] into %e"
        " : tensor<8xf32> -> tensor<2x4xf32>",
        "linalg.pack",
    ),
    (
        "%r = bufferization.to_memref %t : memref<8xf32, strided<[1], offset: ?>, 3>",
        "tensor<8xf32> to memref<8xf32, strided<[1], offset: ?>, 3>",
    ),
    ("%r = bufferization.to_memref %t : tensor<8xf32> to memref<8xf32>", "bufferization.to_buffer"),
    ("%r = memref.buffer_cast %t : memref<8xf32>", "bufferization.to_buffer"),
    ("%r = bufferization.to_tensor %m restrict : memref<8xf32, strided<[2], offset: ?>>", "offset: ?>> to tensor<8xf32>"),
    ("%r = arith.maxf %s, %s : f32", "arith.maximumf"),
    ("linalg.fill(%s, %t) : f32, tensor<8xf32> -> tensor<8xf32> // ->", "linalg.fill ins("),
    ("linalg.fill (%s, %m) : f32, memref<8xf32, offset: ?, strides: [2]>", "linalg.fill ins("),
    ("%r = memref.cast %m : memref<8xf32, offset: ?, strides: [2]> to memref<?xf32, offset: ?, strides: [2]>", "<?xf32, strid"),
    ('%r = "arith.minf"(%s, %s) : (f32, f32) -> f32', "arith.minimumf"),
    ("%r = math.abs %s : f32", "math.absf"),
    ("nvvm.barrier0", "nvvm.barrier"),
    ("%r = vector.reduction <minf>, %v : vector<4xf32> into f32", "vector.reduction <minimumf>"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "becomes"), RENAMED)
def test_renamed_ops_are_read(body: str, becomes: str) -> None:
    assert becomes in str(parse_payload(Source("p.mlir", OF_OPS.replace("BODY", body))))


HINTS = [
    ("memref.tensor_store %t, %m : memref<8xf32>", "bufferization.materialize_in_destination"),
    ("%r = vector.splat %s : vector<4xf32>", "vector.broadcast"),
    ("%r = vector.extractelement %v[%n : index] : vector<4xf32>", "vector.extract"),
    ("%r = addf %s, %s : f32", "today it is `arith.addf`"),
    ("%r = std.mulf %s, %s : f32", "today it is `arith.mulf`"),
    ("%r = math.expf %s : f32", "did you mean `math.exp`?"),
    ("%r = linag.exp ins(%t : tensor<8xf32>)", "did you mean `linalg`?"),
    ("%r = iree_linalg_ext.sort dimension(0) outs(%t : tensor<8xf32>) { }", "upstream has no dialect `iree_linalg_ext`"),
    ("%r = linalg.pad_tensor %a low[1, 1] high[1, 1] { } : tensor<4x6xf32> to tensor<6x8xf32>", "tensor.pad"),
    (
        '%r = "linalg.matmul_transpose_b"(%a, %b, %c) ({ ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %z : f32 })'
        " : (tensor<4x6xf32>, tensor<5x6xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>",
        "today it is `linalg.matmul` with `indexing_maps`",
    ),
]


@pytest.mark.parametrize("kept", ["%p = ml_program.global_load @g : tensor<i64>", ""])
def test_private_globals_that_no_op_names_go(kept: str) -> None:
    """torch-mlir writes the state of a random generator into each module."""
    text = "ml_program.global private mutable @g(dense<0> : tensor<i64>) : tensor<i64>\n" + OF_OPS.replace("BODY", kept)
    assert ("ml_program.global " in str(parse_payload(Source("p.mlir", text)))) == bool(kept)


@pytest.mark.parametrize(("body", "hint"), HINTS)
def test_ops_that_are_gone_have_todays_name_in_the_hint(body: str, hint: str) -> None:
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", OF_OPS.replace("BODY", body)))
    first = caught.value.diagnostics[0]
    assert first.code == "W0487" and hint in (first.hint or "")


@pytest.mark.parametrize("op", ["linalg.matmul_transpose_b", "tensor.pack", "bufferization.to_memref"])
def test_a_match_of_a_renamed_op_has_todays_name_in_the_hint(op: str) -> None:
    wrong = misnamed_op(op, "match")
    assert wrong is not None and wrong.certain and "today it is" in (wrong.hint or "")


def test_a_transposed_product_computes_the_same() -> None:
    body = "%r = linalg.batch_matmul_transpose_a ins(%x, %y : tensor<2x6x4xf32>, tensor<2x6x5xf32>) outs(%o : tensor<2x4x5xf32>)"
    text = f"func.func @f(%x: tensor<2x6x4xf32>, %y: tensor<2x6x5xf32>, %o: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {{\n{body}"
    x, y = (
        np.random.default_rng(3).random((2, 6, 4), np.float32),
        np.random.default_rng(4).random((2, 6, 5), np.float32),
    )
    inputs = {"x": x, "y": y, "o": np.zeros((2, 4, 5), np.float32)}
    module = parse_payload(Source("p.mlir", f"{text} -> tensor<2x4x5xf32>\n return %r : tensor<2x4x5xf32> }}"))
    found = reference(module, None, inputs)["result0"]
    np.testing.assert_allclose(found, np.einsum("bki,bkj->bij", x, y), rtol=1e-6)


HEADERS = [
    (
        'dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<i32, dense<32> : vector<2xi32>>, #dlti.dl_entry<"dlti.endianness", "little">>',
        "<>",
    ),
    ("dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<!llvm.ptr<270>, dense<32> : vector<4xi32>>>", "<>"),
    (
        "dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<!llvm.ptr<i8>, dense<64> : vector<4xi32>>>",
        "<>",
    ),  # pointers had types
    (
        "dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<f80, dense<128> : vector<2xi32>>, #dlti.dl_entry<index, 32>>",
        "<index = 32 : i64>",
    ),
    ("dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<i64, dense<[32, 64]> : tensor<2xi32>>>", "<>"),
    (
        'dlti.target_system_spec = #dlti.target_system_spec<"CPU" : #dlti.target_device_spec<#dlti.dl_entry<"size", 4096 : ui32>>>',
        '"CPU" = #dlti.target_device_spec<"size" = 4096 : ui32>',
    ),
]


@pytest.mark.parametrize(("header", "kept"), HEADERS)
def test_older_headers_of_the_machine_are_read(header: str, kept: str) -> None:
    loop = LOOPS.replace(
        "BODY", "%x = affine.load %A[%i + symbol(%j)] : memref<64xf32>"
    )  # both kinds of older text at once
    for text in (
        f"module attributes {{{header}}} {{\n{loop}}}",
        f"#h = {header.partition(' = ')[2]}\nmodule attributes {{{header.partition(' = ')[0]} = #h}} {{\n{loop}}}",
    ):
        assert kept in str(parse_payload(Source("p.mlir", text))).partition("{\n")[0]


def test_what_is_wrong_under_an_older_header_has_its_place() -> None:
    text = f"module attributes {{{HEADERS[0][0]}}} {{\n{LOOPS.replace('BODY', '%x = arith.addf %A, %A : f32')}}}"
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", text))
    assert (span := caught.value.diagnostics[0].span) is not None and span.line == 5


MACHINES = [
    "dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<index, 32>>",
    "dlti.dl_spec = #dlti.dl_spec<index = 16>",
    "dlti.dl_spec = #dlti.dl_spec<f32 = dense<64> : vector<2xi64>>",
    'dlti.dl_spec = #dlti.dl_spec<index = 32>, llvm.data_layout = "e-p:32:32-i64:64", llvm.target_triple = "i686-linux-gnu"',
]


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("header", MACHINES)
def test_payloads_for_other_machines_run_and_have_a_reference(header: str, target: Target) -> None:
    loop = "func.func @f(%x: memref<64xf32>) {\n affine.for %i = 0 to 64 {\n %a = affine.load %x[%i] : memref<64xf32>\n"
    loop += " %b = arith.addf %a, %a : f32\n affine.store %b, %x[%i] : memref<64xf32>\n }\n return\n}"
    schedule = "schedule s() {\nlet loop = match affine.for\nmap loop to grid(x) cyclic\nlaunch loop\n}"
    assert weft.run(schedule, payload=f"module attributes {{{header}}} {{\n{loop}\n}}", target=target).ok


TENSOR = "tensor<8x16xf32>"
OTHERWISE_WRITTEN = {
    "sizes that the type tells": (
        f"%r = tensor.expand_shape %a [[0, 1], [2]] : {TENSOR} into tensor<2x4x16xf32>",
        "output_shape [2, 4, 16]",
    ),
    "the cast before what is computed": (
        "%r = linalg.elemwise_binary {cast = #linalg.type_fn<cast_signed>, fun = #linalg.binary_fn<max_signed>} "
        f"ins(%a, %a : {TENSOR}, {TENSOR}) outs(%a : {TENSOR}) -> {TENSOR}",
        "<max_signed>",
    ),
    "the cast behind it": (
        "%r = linalg.elemwise_binary {fun = #linalg.binary_fn<mul>, cast = #linalg.type_fn<cast_signed>} "
        f"ins(%a, %a : {TENSOR}, {TENSOR}) outs(%a : {TENSOR}) -> {TENSOR}",
        "<mul>",
    ),
}


@pytest.mark.parametrize("name", OTHERWISE_WRITTEN)
def test_what_was_written_otherwise_is_read(name: str) -> None:
    line, kept = OTHERWISE_WRITTEN[name]
    assert kept in str(parse_payload(Source("p.mlir", f"func.func @f(%a: {TENSOR}) {{\n{line}\nreturn\n}}")))


def test_a_cast_that_todays_op_does_not_make_is_not_left_out() -> None:
    line = OTHERWISE_WRITTEN["the cast behind it"][0].replace("cast_signed", "cast_unsigned")
    with pytest.raises(WeftError, match="W0487"):
        parse_payload(Source("p.mlir", f"func.func @f(%a: {TENSOR}) {{\n{line}\nreturn\n}}"))
