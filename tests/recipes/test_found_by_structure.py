"""The ops of a recipe's payload are found by what they are, in any order of the text, as generics or as named ops, and among
others: 20 variants each of attention (also with tensor cores), softmax and layer norm. And they are scheduled as they are found:
each variant is proven, with nothing assumed, and right."""

from __future__ import annotations

import os
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from executors import expect_report
from proven import expect_no_assumption
from scheduled import report_of

from weft.dsl.checker import check
from weft.dsl.diagnostics import Source
from weft.dsl.parser import parse_text
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir, ops_of
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, applied
from weft.recipes.attention.payload import attention
from weft.recipes.rows.payload import layernorm, layernorm_welford, softmax

ATTENTION = """
  let largest = match reduction where combiner == "maximumf"
  let scores = match elementwise producer of largest
  let products = match contraction producer of scores
  let powers = match elementwise consumer of largest
  let sum = match reduction consumer of powers
  let shares = match elementwise consumer of sum
  let O = match contraction consumer of shares
  let Y = match? elementwise consumer of O where in0.type != type
  let z = match fill of products.acc
  let m0 = match fill of largest.out0
  let s0 = match fill of sum.out0
  let o0 = match fill of O.acc
"""
SOFTMAX = """
  let largest = match reduction where combiner == "maximumf"
  let sum = match reduction consumer of largest
  let Y = match elementwise consumer of sum
  let m0 = match fill of largest.out0
  let s0 = match fill of sum.out0
"""
LAYER_NORM = """
  let squares = match reduction where combiner == "addf" and inputs == 2
  let sum = match reduction producer of squares
  let Y = match elementwise consumer of squares
  let s0 = match fill producer of sum.out0
"""
CASES = {
    "attention": (attention(2, 6, 8, 4, "f32", 0), ATTENTION, "Q"),
    "attention, causal": (attention(2, 6, 8, 4, "f32", 1), ATTENTION, "Q"),
    "attention_tensor": (attention(2, 6, 8, 4, "bf16", 0), ATTENTION, "Q"),
    "softmax": (softmax(4, 8, "f32"), SOFTMAX, "X"),
    "layernorm": (layernorm(4, 8, "f16"), LAYER_NORM, "X"),
}


def among_others(text: str, argument: str, choose: random.Random) -> str:
    """Ops before and after those of the payload, and a product and a sum beside them, which no search may find."""
    if choose.random() < 0.3:
        return text
    header, name, body = re.split(r"(\{\n)(?=  %)", text, maxsplit=1)
    kind = re.search(rf"%{argument}: (tensor<\w+>)", header)[1]  # type: ignore[index]
    before = f"""\
  %place = tensor.empty() : {kind}
  %{argument}_abs = linalg.abs {{weft.name = "before"}} ins(%{argument} : {kind}) outs(%place : {kind}) -> {kind}
"""
    body = before + re.sub(rf"%{argument}\b", f"%{argument}_abs", body)
    result, given = re.search(r"return (%\w+) : (\S+)", body).groups()  # type: ignore[union-attr]
    beside = f"""
  %nought = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<5x5xf32>
  %line = tensor.empty() : tensor<5xf32>
  %p0 = linalg.fill ins(%nought : f32) outs(%square : tensor<5x5xf32>) -> tensor<5x5xf32>
  %other = linalg.matmul ins(%beside, %beside : tensor<5x5xf32>, tensor<5x5xf32>) outs(%p0 : tensor<5x5xf32>) -> tensor<5x5xf32>
  %t0 = linalg.fill ins(%nought : f32) outs(%line : tensor<5xf32>) -> tensor<5xf32>
  %total = linalg.reduce {{ arith.addf }} ins(%other : tensor<5x5xf32>) outs(%t0 : tensor<5xf32>) dimensions = [1]
  %after = tensor.empty() : {given}
  %tanh = linalg.tanh ins({result} : {given}) outs(%after : {given}) -> {given}
  return %tanh, %total : {given}, tensor<5xf32>"""
    body = re.sub(r"\n  return .*", lambda _: beside, body)
    header = re.sub(r"\) -> \((.*?)\) $", r", %beside: tensor<5x5xf32>) -> (\1, tensor<5xf32>) ", header)
    return header.replace("\n, %beside", ", %beside") + name + body


def shuffled(module: ir.Module, choose: random.Random) -> None:
    """The ops of the function in a random order in which each still comes after its operands."""
    *ops, _ = ops_of(next(mlir.operations(module.operation, "func.func")).regions[0].blocks[0])
    waiting, done = list(ops), list[ir.Operation]()
    while waiting:
        inside = {n: {v for inner in mlir.operations(op) for v in inner.operands} for n, op in enumerate(waiting)}
        left = {result for op in waiting for result in op.results}
        ready = [op for n, op in enumerate(waiting) if not left & inside[n]]
        done.append(choose.choice(ready))
        waiting.remove(done[-1])
    for before, op in pairwise(done):
        op.move_after(before)


FORMS = ("", "func.func(linalg-generalize-named-ops)", "func.func(linalg-specialize-generic-ops)")


def variant(text: str, argument: str, number: int, choose: random.Random) -> tuple[str, ir.Module]:
    """A payload's text among others, and its module: as it is, with generics alone, or with named ops where there are some; in a
    random order."""
    text = among_others(text, argument, choose)
    module = parse_payload(Source("p.mlir", text))
    if form := FORMS[number % 3]:
        mlir.run_passes(module, form)
    shuffled(module, choose)
    assert module.operation.verify()
    return text, module


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("name", CASES)
def test_ops_are_found(name: str, number: int) -> None:
    text, lines, argument = CASES[name]
    text, module = variant(text, argument, number, random.Random(f"{name} {number}"))
    file = parse_text(f"schedule s() {{{lines}}}\n", "s.weft")
    assert not check(file, signatures())
    session = Session(module, file, {})
    session.run()
    written = text.split("\n")
    for step in session.steps:
        wanted = step.text.split()[1]
        found = re.search(r"at p\.mlir:(\d+)", step.remarks[0])
        if found is None:
            assert wanted == "Y" and "bf16" not in text and "let Y = match?" in lines, step
        else:
            assert written[int(found[1]) - 1].strip().startswith(f"%{wanted} = linalg."), step


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("name", CASES)
def test_shipped_recipes_find_their_ops(name: str, number: int, tmp_path: Path) -> None:
    """In a shuffled payload, among others, a recipe finds each op that has a label, and none of the others."""
    text, _, argument = CASES[name]
    choose = random.Random(f"shipped {name} {number}")
    module = parse_payload(Source("p.mlir", among_others(text, argument, choose)))
    shuffled(module, choose)
    path = tmp_path / "p.mlir"
    path.write_text(str(module))
    written = path.read_text().split("\n")
    labels = [n for n, line in enumerate(written, 1) if "weft.name" in line and " = linalg." in line and "before" not in line]
    settings = {"d": "4"} if "attention" in name else {"type": "f16"} if name == "layernorm" else {}
    session = applied(Choice(name.split(",")[0], path, settings).open()).session
    finds = [step.remarks[0] for step in session.steps if " match" in step.text]
    assert {int(place[1]) for find in finds if (place := re.search(r"at \S*p\.mlir:(\d+)", find))} == {*labels}


OTHERS = """
  let others = match* elementwise or contraction or reduction
  foreach op in others {
    let init = match? fill producer of op
    let (each, one) = tile op [1, ...]
    fuse init into each
    map each to grid(x)
    launch each
  }
"""
BEFORE = """
  let before = match? "before"
  let (first, op_before) = tile before [1, ...]
  map first to grid(x)
  launch first
"""
SCHEDULED = {
    "softmax": (softmax(5, 70, "f32"), "X", "rows/softmax", "", ""),
    "layernorm": (layernorm(5, 70, "f16"), "X", "rows/layernorm", "type = f16", ""),
    "layernorm_welford": (layernorm_welford(5, 70, "f32"), "X", "rows/layernorm_welford", "", ""),
    "attention": (attention(2, 20, 37, 8, "f32", 0), "Q", "attention/attention", "d = 8", BEFORE),
    "attention, causal": (attention(2, 20, 37, 8, "f32", 1), "Q", "attention/attention", "d = 8", BEFORE),
    "attention_tensor": (attention(2, 20, 37, 16, "bf16", 0), "Q", "attention/attention_tensor", "d = 16", BEFORE),
}


@pytest.mark.parametrize("number", range(20 if "WEFT_SOAK" in os.environ else 3))
@pytest.mark.parametrize("name", SCHEDULED)
def test_variants_are_scheduled(name: str, number: int) -> None:
    """Each in each form; ops around it have launches of their own."""
    text, argument, path, settings, before = SCHEDULED[name]
    _, module = variant(text, argument, number, random.Random(f"scheduled {name} {number}"))
    call = f"{path.rpartition('/')[2]}({settings})"
    lines = f'include "weft:{path}"\n\nschedule s() {{{before}\n  {call}\n{OTHERS}}}\n'
    done = applied(Choice("", text=Source("s.weft", lines), program=Source("p.mlir", str(module))).open())
    expect_no_assumption(done.assumed)
    assert done.unproven == []
    expect_report(report_of(done, number))
