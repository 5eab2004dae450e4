"""Payloads: the builders that ship, the names of their values, and text that is wrong."""

from __future__ import annotations

import re

import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import operations
from weft.payloads.payload import parse_payload
from weft.recipes import builders, schedules

MATMUL = builders()["matmul"]


@pytest.mark.parametrize("type_", MATMUL.parameters[3].domain)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (127, 129, 65)])
def test_the_matmul_builder_makes_valid_text(type_: str, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    module = parse_payload(Source("matmul.mlir", MATMUL.build(m=m, n=n, k=k, type=type_)))
    (gemm,) = operations(module.operation, "linalg.matmul")
    assert str(gemm.results[0].type).startswith(f"tensor<{m}x{n}x")
    assert f'tensor<{m}x{k}x{type_}> {{weft.name = "A"}}' in str(module)


def test_every_shipped_schedule_is_found_by_its_name() -> None:
    assert {"naive", "shared"} <= set(schedules())
    assert all(path.is_file() for path in schedules().values())


NAMES: list[tuple[str, tuple[str, ...]]] = [
    ("func.func @f(%lhs: i32, %rhs : f32) { return }", ("lhs", "rhs")),
    ("func.func private @f(%a: i32) { return }", ("a",)),
    ("// func.func @f(%no: i32)\nfunc.func @f(%yes: i32) { return }", ("yes",)),
    ('func.func @f(%a: i32 {x.y = "%b: ("}, %c: i32) { return }', ("a", "c")),
    ("func.func @f(%a: memref<4xf32, affine_map<(d0) -> (d0)>>, %b: i32) { return }", ("a", "b")),
    ("func.func @f(%a: memref<4xf32, strided<[1], offset: ?>>, %b: i32) { return }", ("a", "b")),
    ("func.func @f(%a : (i32) -> i32, %b: i32) { return }", ("a", "b")),
    ("func.func @f(%0: i32, %x.1: i32, %y-z: i32, %$w: i32) { return }", ("arg0", "x_1", "y_z", "_w")),
    ("func.func @f() { return }", ()),
    ("func.func @f(%a.b: i32, %a_b: i32) { return }", ("arg0", "arg1")),
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_argument_names_come_from_the_text(text: str, names: tuple[str, ...]) -> None:
    printed = str(parse_payload(Source("p.mlir", text.replace("return", "func.return"))))
    assert tuple(re.findall(r'weft\.name = "([^"]*)"', printed)) == names


def test_given_names_stay_and_the_others_are_unique() -> None:
    text = 'func.func @f(%b: f32 {weft.name = "a"}, %a: f32) -> (f32, f32) { return %a, %b : f32, f32 }'
    printed = str(parse_payload(Source("p.mlir", text)))
    assert '{weft.name = "a"}' in printed and '{weft.name = "a_"}' in printed
    assert 'weft.name = "result0"' in printed and 'weft.name = "result1"' in printed


def test_a_declaration_and_the_generic_form_fall_back_to_numbers() -> None:
    text = """func.func private @g(memref<4xf32>)
    "func.func"() ({ ^bb0(%x: f32): "func.return"() : () -> () })
        {function_type = (f32) -> (), sym_name = "h"} : () -> ()"""
    printed = str(parse_payload(Source("p.mlir", text)))
    assert 'memref<4xf32> {weft.name = "arg0"}' in printed and 'f32 {weft.name = "arg0"}' in printed


def test_locations_bear_the_name_of_the_file() -> None:
    module = parse_payload(Source("p.mlir", "func.func @f() {\n  return\n}"))
    (leave,) = operations(module.operation, "func.return")
    assert str(leave.location) == 'loc("p.mlir":2:3)'


WRONG = [
    ("", "W0488", None),
    ("module {}", "W0488", None),
    ("func.func @f( {", "W0487", (1, 14)),
    ("func.func @f() {\n  %0 = arith.addf %x, %x : f32\n  return\n}", "W0487", (2, 19)),
    ("func.func @f() -> f32 {\n  return\n}", "W0487", (2, 3)),
    ("\x7fELF junk", "W0487", (1, 1)),
]


@pytest.mark.parametrize(("text", "code", "place"), WRONG)
def test_wrong_text_is_refused_with_its_place(text: str, code: str, place: tuple[int, int] | None) -> None:
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", text))
    first = caught.value.diagnostics[0]
    assert first.code == code
    assert (first.span and (first.span.line, first.span.column)) == place


ITERATORS = """
{before}
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
  %r = linalg.generic {trait} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {{
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
  }} -> tensor<4xf32>
  return %r : tensor<4xf32>
}}
"""
SAME = "indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]"
ODD = ("#linalg.iterator_type<parallel>", '#linalg.iterator_type<"parallel">', "1 : i8", "unit", '["parallel"]', "#odd", "{a = 1}")


def iterators(item: str, *, trait: bool) -> str:
    written = f"{{{SAME}, iterator_types = [{item}]}}"
    before = '#named = "parallel"\n#odd = #linalg.iterator_type<parallel>\n' + (f"#trait = {written}" if trait else "")
    return ITERATORS.format(before=before, trait="#trait" if trait else written)


@pytest.mark.parametrize("trait", [False, True], ids=["own", "alias"])
@pytest.mark.parametrize("item", ODD)
def test_iterator_types_that_are_no_strings_are_refused_before_upstream_reads_them(item: str, trait: bool) -> None:
    text = iterators(item, trait=trait)
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", text))
    (found,) = caught.value.diagnostics
    assert found.code == "W0487" and "iterator_types" in found.message and '["parallel", "reduction"]' in (found.hint or "")
    assert found.span is not None and text.split("\n")[found.span.line - 1][found.span.column - 1 :].startswith(item.split("]")[0])


@pytest.mark.parametrize("trait", [False, True], ids=["own", "alias"])
@pytest.mark.parametrize("item", ['"parallel"', "#named"])
def test_iterator_types_that_are_strings_are_read(item: str, trait: bool) -> None:
    text = iterators(item, trait=trait)
    generic = mlir.parse(text, mlir.context()).operation.get_asm(print_generic_op_form=True)
    assert "iterator_types = [#linalg.iterator_type<parallel>]" in generic
    for each in (text, generic, "// linalg.generic {iterator_types = [unit]}\n" + text):
        assert any(operations(parse_payload(Source("p.mlir", each)).operation, "linalg.generic"))
