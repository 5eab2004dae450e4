"""Kinds of ops, by maps and bodies: each form of an op, named and as a generic, and near misses."""

from __future__ import annotations

import re

import pytest

from weft.dsl.tree import KINDS
from weft.interpreter.ir import mlir
from weft.interpreter.matching.kinds import kind_of
from weft.interpreter.matching.properties import NoValueError, property_of, summary

ARGUMENTS = """
  %m: tensor<4x6xf32>, %n: tensor<6x8xf32>, %s: tensor<4x8xf32>, %t: tensor<8x4xf32>, %v: tensor<8xf32>, %row: tensor<4xf32>,
  %image: tensor<1x9x9x3xf32>, %filter: tensor<3x3x3x5xf32>, %conv: tensor<1x4x4x5xf32>, %window: tensor<3x3xf32>,
  %pool: tensor<1x7x7x3xf32>, %line: tensor<16xf32>, %short: tensor<7xf32>, %taps: tensor<3xf32>, %i: tensor<8xi32>,
  %b: tensor<2x4x6xf32>, %bn: tensor<2x6x8xf32>, %bc: tensor<2x4x8xf32>, %x: f32, %h: tensor<4x6xf16>, %g: tensor<6x8xf16>
"""
MULTIPLY_ADD = "%p = arith.mulf %a, %c : f32\n %r = arith.addf %o, %p : f32\n linalg.yield %r : f32"


NAMED = {
    "linalg.matmul ins(%m, %n : tensor<4x6xf32>, tensor<6x8xf32>) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": "contraction",
    "linalg.batch_matmul ins(%b, %bn : tensor<2x4x6xf32>, tensor<2x6x8xf32>) outs(%bc : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>":
        "contraction",
    "linalg.matvec ins(%s, %v : tensor<4x8xf32>, tensor<8xf32>) outs(%row : tensor<4xf32>) -> tensor<4xf32>": "contraction",
    "linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"
    " ins(%image, %filter : tensor<1x9x9x3xf32>, tensor<3x3x3x5xf32>) outs(%conv : tensor<1x4x4x5xf32>)"
    " -> tensor<1x4x4x5xf32>": "convolution",
    "linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"
    " ins(%image, %window : tensor<1x9x9x3xf32>, tensor<3x3xf32>) outs(%pool : tensor<1x7x7x3xf32>)"
    " -> tensor<1x7x7x3xf32>": "pooling",
    "linalg.reduce { arith.maximumf } ins(%s : tensor<4x8xf32>) outs(%row : tensor<4xf32>) dimensions = [1]": "reduction",
    "linalg.fill ins(%x : f32) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": "fill",
    "linalg.copy ins(%s : tensor<4x8xf32>) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": "copy",
    "linalg.transpose ins(%s : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) permutation = [1, 0]": "transpose",
    "linalg.broadcast ins(%row : tensor<4xf32>) outs(%s : tensor<4x8xf32>) dimensions = [1]": "broadcast",
    "linalg.add ins(%s, %s : tensor<4x8xf32>, tensor<4x8xf32>) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": "elementwise",
    "linalg.exp ins(%s : tensor<4x8xf32>) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": "elementwise",
    "linalg.softmax dimension(1) ins(%s : tensor<4x8xf32>) outs(%s : tensor<4x8xf32>) -> tensor<4x8xf32>": None,
}  # fmt: skip
GENERIC = {
    "a product": ("(i, j, k)", ["(i, k)", "(k, j)", "(i, j)"], "ppr", "%m, %n", "%s", MULTIPLY_ADD, "contraction"),
    "a product of halves": ("(i, j, k)", ["(i, k)", "(k, j)", "(i, j)"], "ppr", "%h, %g", "%s",
        "%e = arith.extf %a : f16 to f32\n%f = arith.extf %c : f16 to f32\n%p = arith.mulf %e, %f : f32\n"
        "%r = arith.addf %o, %p : f32\nlinalg.yield %r : f32", "contraction"),
    "a product with its sum first": ("(i, j, k)", ["(i, k)", "(k, j)", "(i, j)"], "ppr", "%m, %n", "%s",
        "%p = arith.mulf %c, %a : f32\n%r = arith.addf %p, %o : f32\nlinalg.yield %r : f32", "contraction"),
    "largest of sums": ("(i, j, k)", ["(i, k)", "(k, j)", "(i, j)"], "ppr", "%m, %n", "%s",
        "%p = arith.addf %a, %c : f32\n%r = arith.maximumf %o, %p : f32\nlinalg.yield %r : f32", "reduction"),
    "a row of squares": ("(i, j)", ["(i, j)", "(i)"], "pr", "%s", "%row",
        "%p = arith.mulf %a, %a : f32\n%r = arith.addf %o, %p : f32\nlinalg.yield %r : f32", "reduction"),
    "a filter along a line": ("(i, j)", ["(2 * i + j)", "(j)", "(i)"], "pr", "%line, %taps", "%short", MULTIPLY_ADD, "convolution"),
    "the largest of a window": ("(i, j)", ["(i + 2 * j)", "(j)", "(i)"], "pr", "%line, %taps", "%short",
        "%r = arith.maximumf %a, %o : f32\nlinalg.yield %r : f32", "pooling"),
    "an outer constant": ("(i, j)", ["(i, j)"], "pp", "", "%s", "linalg.yield %x : f32", "fill"),
    "a constant": ("(i, j)", ["(i, j)"], "pp", "", "%s", "%z = arith.constant 0.0 : f32\nlinalg.yield %z : f32", "fill"),
    "itself": ("(i, j)", ["(i, j)", "(i, j)"], "pp", "%s", "%s", "linalg.yield %a : f32", "copy"),
    "both permuted": ("(j, i)", ["(i, j)", "(i, j)"], "pp", "%s", "%s", "linalg.yield %a : f32", "copy"),
    "axes exchanged": ("(i, j)", ["(j, i)", "(i, j)"], "pp", "%t", "%s", "linalg.yield %a : f32", "transpose"),
    "a row for all": ("(i, j)", ["(i)", "(i, j)"], "pp", "%row", "%s", "linalg.yield %a : f32", "broadcast"),
    "its negative": ("(i, j)", ["(i, j)", "(i, j)"], "pp", "%s", "%s", "%n0 = arith.negf %a : f32\nlinalg.yield %n0 : f32",
        "elementwise"),
    "every other element": ("(i)", ["(2 * i)", "(i)"], "p", "%line", "%v", "linalg.yield %a : f32", "gather"),
    "elements by their number": ("(i)", ["(i)", "(i)"], "p", "%i", "%v",
        "%at = arith.index_cast %a : i32 to index\n%e = tensor.extract %line[%at] : tensor<16xf32>\nlinalg.yield %e : f32",
        "gather"),
    "a scatter": ("(i)", ["(i)", "(2 * i)"], "p", "%v", "%line", "linalg.yield %a : f32", None),
}  # fmt: skip


def text(dims: str, maps: list[str], kinds: str, ins: str, outs: str, body: str) -> str:
    """A `linalg.generic` over arguments of the function."""

    def kind(value: str) -> str:
        found = re.search(rf"{value}: (tensor<[^>]+>)", ARGUMENTS)
        assert found
        return found[1]

    values = [one for one in ins.split(", ") if one]
    arguments = [*values, outs]
    names = [*"ac"[: len(values)], "o"]
    block = ", ".join(f"%{name}: {kind(v).rpartition('x')[2][:-1]}" for name, v in zip(names, arguments, strict=True))
    iterators = ", ".join('"reduction"' if one == "r" else '"parallel"' for one in kinds)
    given = f"ins({ins} : {', '.join(map(kind, values))})" if values else ""
    of = ", ".join(f"affine_map<{dims} -> {one}>" for one in maps)
    return (
        f"linalg.generic {{indexing_maps = [{of}], iterator_types = [{iterators}]}} {given} outs({outs} : {kind(outs)}) {{\n"
        f"^bb0({block}):\n{body}\n}} -> {kind(outs)}"
    )


def the(op: str) -> mlir.ir.Operation:
    module = mlir.parse(f"func.func @f({ARGUMENTS}) {{\n%result = {op}\nreturn\n}}", mlir.context())
    KEPT.append(module)
    return next(one for one in mlir.operations(module.operation) if one.name.startswith("linalg."))


KEPT: list[mlir.ir.Module] = []
"""Modules must outlive the ops that are held."""


@pytest.mark.parametrize("op", NAMED)
def test_kinds_of_named_ops(op: str) -> None:
    assert kind_of(the(op)) == NAMED[op]
    assert NAMED[op] is None or NAMED[op] in KINDS


@pytest.mark.parametrize("name", GENERIC)
def test_kinds_of_generics(name: str) -> None:
    *parts, kind = GENERIC[name]
    assert kind_of(the(text(*parts))) == kind  # type: ignore[arg-type]


def test_properties() -> None:
    conv, pool = (the(op) for op in NAMED if NAMED[op] in ("convolution", "pooling"))
    filtered = the(text(*GENERIC["the largest of a window"][:-1]))  # type: ignore[arg-type]
    assert property_of(conv, ["strides"]) == (2, 2) and property_of(conv, ["dilations", "1"]) == 1
    assert property_of(filtered, ["strides"]) == (1,) and property_of(filtered, ["dilations"]) == (2,)
    assert property_of(conv, ["sizes"]) == (1, 4, 4, 5, 3, 3, 3) and property_of(conv, ["lhs", "3"]) == 3
    assert property_of(conv, ["rank"]) == 4 and property_of(conv, ["rhs", "sizes", "3"]) == 5
    assert (property_of(pool, ["combiner"]), property_of(conv, ["combiner"])) == ("maximumf", "addf")
    assert summary(pool) == "pooling 1×7×7×3×3×3 f32 by maximumf"
    row = the(next(op for op in NAMED if op.startswith("linalg.reduce")))
    assert (property_of(row, ["rank"]), property_of(row, ["type"]), property_of(row, ["inputs"])) == (1, "f32", 1)
    for op, fields in ((row, ["strides"]), (row, ["lhs", "0"]), (row, ["sizes", "2"]), (row, ["in0", "2"])):
        with pytest.raises(NoValueError):
            property_of(op, fields)
