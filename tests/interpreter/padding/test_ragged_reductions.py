"""Ragged reductions: what is read outside changes nothing, whatever the body does to it, and neither do infinities and NaN.

5 random bodies in a test run, 1,000 in a soak, each on numbers and on extremes; one in ten is run as CUDA text as well.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from contexts import one_context
from judged import program
from random_reductions import case

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.structured import structure
from weft.interpreter.reductions.identities import fillings
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions

SOAK = "WEFT_SOAK" in os.environ
REFUSED = {"W0330", "W0351", "W0730"}
"""An input of what is a product is `lhs`; one fill of two results, which is fused into the loop of one."""


@pytest.mark.parametrize("seed", range(1000 if SOAK else 5))
def test_random_body(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    made = case(r)
    try:
        ready = program(tmp_path, made.payload, made.schedule)
    except WeftError as error:
        assert {d.code for d in error.diagnostics} <= REFUSED, f"{error}\n{made.payload}\n{made.schedule}"
        return
    plain = random_inputs(functions.signature(ready.ready.applied.payload, ready.ready.plan.entry), seed)
    kinds = "i" if "arith.fpto" in made.payload else "if"  # what no integer is makes a result that is undefined
    for arrays in (plain, extremes(plain, r, kinds)):
        expected = ready.expected(arrays)
        for native in (False, True) if seed % 10 == 0 else (False,):
            wrong = ready.run(arrays, expected, native=native)
            assert not wrong, f"{wrong}\n{made.payload}\n{made.schedule}"


def extremes(arrays: dict[str, np.ndarray], r: random.Random, kinds: str) -> dict[str, np.ndarray]:
    """The arrays of these kinds of types, with a quarter of their elements the ends of the types, NaN and zeros of both signs."""
    made = {name: array.copy() for name, array in arrays.items()}
    for array in [each for each in made.values() if each.dtype.kind in kinds]:
        for _ in range(array.size // 4 + 1):
            at = r.randrange(array.size)
            if array.dtype.kind == "f":
                array.flat[at] = r.choice((np.nan, np.inf, -np.inf, -0.0, 0.0))
            elif array.dtype.kind == "i":
                array.flat[at] = r.choice((np.iinfo(array.dtype).min, np.iinfo(array.dtype).max))
    return made


# ---- what operands hold outside ------------------------------------------------------------------------------------------------

ROW, VECTOR = "(i, k) -> (i, k)", "(i, k) -> (k)"
TABLE = [
    # inputs (type, map), accumulator and its start, body, what they hold outside: None where the update is masked
    ([("f32", ROW)], "f32", "0.0", "%t = arith.addf %o, %a : f32", (0,)),
    ([("f32", ROW)], "f32", "-0.0", "%t = arith.addf %o, %a : f32", (-0.0,)),
    ([("f32", ROW)], "f32", "", "%t = arith.addf %o, %a : f32", (-0.0,)),
    ([("f32", ROW)], "f32", "", "%t = arith.subf %o, %a : f32", (0,)),
    ([("f32", ROW)], "f32", "", "%t = arith.subf %a, %o : f32", None),
    ([("f32", ROW)], "f32", "", "%n = arith.negf %a : f32\n%t = arith.addf %n, %o : f32", (0,)),
    ([("f32", ROW), ("f32", VECTOR)], "f32", "0.0", "%m = arith.mulf %a, %b : f32\n%t = arith.addf %o, %m : f32", (0, 0)),
    ([("f32", ROW), ("f32", VECTOR)], "f32", "", "%m = arith.mulf %a, %b : f32\n%t = arith.addf %o, %m : f32", (-0.0, 0)),
    # infinity times 0 is NaN: all factors have to end where the sum does, unless they are integers
    ([("f32", ROW), ("f32", "(i, k) -> (i)")], "f32", "0.0",
     "%m = arith.mulf %a, %b : f32\n%t = arith.addf %o, %m : f32", None),
    ([("f32", "(i, k) -> (i + k)"), ("f32", VECTOR)], "f32", "0.0",
     "%m = arith.mulf %a, %b : f32\n%t = arith.addf %o, %m : f32", None),
    ([("i32", ROW), ("i32", "(i, k) -> (i)")], "i32", "", "%m = arith.muli %a, %b : i32\n%t = arith.addi %o, %m : i32", (0, None)),
    ([("f32", ROW)], "f32", "", "%t = arith.mulf %o, %a : f32", (1,)),
    ([("f32", ROW)], "f32", "", "%h = math.tanh %a : f32\n%t = arith.mulf %o, %h : f32", None),
    ([("f32", ROW)], "f32", "", "%h = math.exp %a : f32\n%t = arith.addf %o, %h : f32", None),
    ([("i1", ROW)], "f32", "", "%h = arith.sitofp %a : i1 to f32\n%t = arith.mulf %o, %h : f32", None),
    ([("i1", ROW)], "f32", "", "%h = arith.uitofp %a : i1 to f32\n%t = arith.mulf %o, %h : f32", (1,)),
    ([("i1", ROW)], "i8", "", "%h = arith.extsi %a : i1 to i8\n%t = arith.andi %o, %h : i8", (1,)),
    ([("f32", ROW)], "f32", "", "%t = arith.maximumf %o, %a : f32", ("-inf",)),
    ([("f32", ROW)], "f32", "", "%t = arith.minimumf %a, %o : f32", ("inf",)),
    # maxnumf of NaN and -inf is -inf: no identity where the maximum may start as NaN
    ([("f32", ROW)], "f32", "", "%t = arith.maxnumf %o, %a : f32", None),
    ([("f32", ROW)], "f32", "0.0", "%t = arith.maxnumf %o, %a : f32", ("-inf",)),
    ([("f32", ROW)], "f64", "", "%h = arith.extf %a : f32 to f64\n%t = arith.maximumf %o, %h : f64", ("-inf",)),
    ([("i32", ROW)], "f32", "", "%h = arith.sitofp %a : i32 to f32\n%t = arith.maximumf %o, %h : f32", None),
    ([("f32", ROW), ("f32", ROW)], "f32", "",
     "%h = arith.maximumf %a, %b : f32\n%t = arith.maximumf %o, %h : f32", ("-inf", "-inf")),
    ([("f32", ROW)], "f32", "", "%h = math.absf %a : f32\n%t = arith.maximumf %o, %h : f32", None),
    ([("i8", ROW)], "i32", "", "%h = arith.extui %a : i8 to i32\n%t = arith.maxsi %o, %h : i32", None),
    ([("i8", ROW)], "i32", "", "%h = arith.extui %a : i8 to i32\n%t = arith.maxui %o, %h : i32", (0,)),
    ([("i8", ROW)], "i32", "", "%h = arith.extsi %a : i8 to i32\n%t = arith.minui %o, %h : i32", ("umax",)),
    ([("i32", ROW)], "i32", "", "%t = arith.maxsi %o, %a : i32", ("min",)),
    ([("i32", ROW)], "i32", "", "%t = arith.minsi %o, %a : i32", ("max",)),
    ([("i32", ROW)], "i32", "", "%t = arith.xori %o, %a : i32", (0,)),
    ([("i32", ROW)], "i32", "", "%c = arith.constant 1 : i32\n%h = arith.addi %a, %c : i32\n%t = arith.muli %o, %h : i32", (0,)),
    ([("i32", ROW)], "i32", "", "%k = linalg.index 1 : index\n%h = arith.index_cast %k : index to i32\n"
     "%m = arith.muli %a, %h : i32\n%t = arith.addi %o, %m : i32", (0,)),
    ([("i32", ROW)], "i32", "", "%h = arith.muli %a, %o : i32\n%t = arith.addi %o, %h : i32", None),
    ([("i32", ROW)], "i32", "", "%t = arith.shli %o, %a : i32", None),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "total", "start", "body", "wanted"), TABLE)
def test_fillings(inputs: list[tuple[str, str]], total: str, start: str, body: str, wanted: tuple | None) -> None:
    shapes = {ROW: "4x7", VECTOR: "7", "(i, k) -> (i)": "4", "(i, k) -> (i + k)": "10"}
    types = [f"tensor<{shapes[indexing]}x{kind}>" for kind, indexing in inputs]
    maps = ", ".join(f"affine_map<{m}>" for m in (*(indexing for _, indexing in inputs), "(i, k) -> (i)"))
    block = ", ".join([*(f"%{name}: {kind}" for name, (kind, _) in zip("ab", inputs, strict=False)), f"%o: {total}"])
    out = f"tensor<4x{total}>"
    module = mlir.parse(
        f"func.func @f({', '.join(f'%x{n}: {t}' for n, t in enumerate(types))}, %s: {out}) -> {out} {{\n"
        f'%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}} '
        f"ins({', '.join(f'%x{n}' for n in range(len(types)))} : {', '.join(types)}) outs(%s : {out}) {{\n^bb0({block}):\n{body}\n"
        f"linalg.yield %t : {total}\n}} -> {out}\nreturn %r : {out}\n}}",
        one_context(),
    )
    (op,) = mlir.operations(module.operation, "linalg.generic")
    with module.context, mlir.ir.Location.unknown():
        first = mlir.ir.Attribute.parse(f"{start} : {total}") if start else None
        found = fillings(op, structure(op), [1], first)
    assert repr(found) == repr(wanted)


# ---- the kernel's text ---------------------------------------------------------------------------------------------------------

REDUCED = """\
func.func @f(%x: tensor<4x7x{kind}>, %s: tensor<4x{total}>) -> tensor<4x{total}> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<4x7x{kind}>) outs(%s : tensor<4x{total}>) {{
  ^bb0(%a: {kind}, %o: {total}):
    {body}
    linalg.yield %t : {total}
  }} -> tensor<4x{total}>
  return %r : tensor<4x{total}>
}}
"""


@pytest.mark.parametrize(
    ("kind", "total", "body", "shown"),
    [
        ("f32", "f32", "%t = arith.mulf %o, %a : f32", r"\? x\[.*\] : 1\.0f"),
        ("f32", "f32", "%e = math.exp %a : f32\n%t = arith.addf %o, %e : f32", r"in_col \? v0 \+ expf\(.*\) : v0"),
        ("i8", "i32", "%e = arith.extui %a : i8 to i32\n%t = arith.maxsi %o, %e : i32", r"in_col \? max\(v0, .*\) : v0"),
        ("i32", "i32", "%t = arith.remsi %o, %a : i32", r"< 7 \? v0 % x\[.*\] : v0"),
        ("f32", "f32", "%t = arith.negf %a : f32", r" = 0\.0f;[^?]*in_col \? -\(.*\) : "),  # the accumulator is not read
    ],
)
def test_the_update_is_masked_where_no_filling_will_do(kind: str, total: str, body: str, shown: str, tmp_path: Path) -> None:
    """A body that divides integers, or reads memory, is not performed at all outside."""
    lines = "let g = match linalg.generic\nlet (tiles, inner) = tile g [2]\nmap tiles to blocks(x)\n"
    lines += "let (k, step) = tile inner [_, 3]\nlet (lanes, one) = tile step [1]\nmap lanes to threads(x)\nlaunch tiles"
    made = program(tmp_path, REDUCED.format(kind=kind, total=total, body=body), lines)
    assert re.search(shown, made.cuda), made.cuda
    x = np.arange(1, 29).reshape(4, 7).astype({"f32": np.float32, "i8": np.int8, "i32": np.int32}[kind])
    s = np.full(4, 100, np.int32 if total == "i32" else np.float32)
    assert not made.wrong({"x": x, "s": s}, folder=tmp_path)
