"""Whole payloads: chains of random ops and conversions between all types in the body of a `linalg.generic`, on ragged tiles that
are copied n elements at a time. The simulator, the text behind g++ and the JIT agree on each element; NVRTC compiles the text.

1 payload in a test run, 150 in a soak; each is a schedule text that a failure prints, ready to be tried by hand.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from executors import expect_computed, expect_equal
from judged import Program, program
from native_device import NativeDevice
from numbers_of import FLOATS, KINDS, NUMPY, edges, spelled
from random_arithmetic import Body, compare, convert, division, float_op, integer_op, select, shift, unary

from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # infinities and NaNs are meant
COUNT = 150 if "WEFT_SOAK" in os.environ else 1
NARROW = ("i1", "i8", "i16", "f16", "bf16")


def body_of(rng: random.Random, kinds: tuple[str, ...], result: str) -> str:
    """Ops between the block's arguments `%a`, `%b`, … of these types and the value that is yielded."""
    body = Body(rng, floats=FLOATS)
    for kind in KINDS:
        number = rng.choice(edges(kind)[:4])
        body.emit(f"arith.constant {spelled(number, kind)}{'' if kind == 'i1' else f' : {kind}'}", kind)
    for name, kind in zip("ab", kinds, strict=False):
        body.values[kind].append(f"%{name}")
    for _ in range(rng.randint(3, 12)):
        rng.choice((integer_op, float_op, division, shift, compare, select, convert, convert, unary))(body)
    last = body.pick(result)
    for half in ("f16", "bf16"):  # a payload that looks at their bits is computed in halves by the JIT, too
        bits = body.emit(f"arith.bitcast {body.pick(half)} : {half} to i16", "i16")
        if result == "i16":
            last = body.emit(f"arith.addi {last}, {ordered(body, half, bits)} : i16", "i16")
    return "\n".join([*body.lines, f"linalg.yield {last} : {result}"])


def ordered(body: Body, half: str, bits: str) -> str:
    """The bits, 0 for those of a NaN, which are open."""
    value = body.emit(f"arith.bitcast {bits} : i16 to {half}", half)
    fine = body.emit(f"arith.cmpf ord, {value}, {value} : {half}", "i1")
    return body.emit(f"arith.select {fine}, {bits}, {body.constant(0, 'i16')} : i16", "i16")


def case(seed: int) -> tuple[str, str]:
    """A payload and its schedule."""
    rng = random.Random(seed)
    first, second, result = rng.choice(NARROW), rng.choice(KINDS), rng.choice(KINDS)
    m, n = rng.randint(1, 20), rng.randint(2, 40)
    a, b, r = f"tensor<{m}x{n}x{first}>", f"tensor<{n}x{second}>", f"tensor<{m}x{n}x{result}>"
    payload = f"""#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @f(%A: {a}, %B: {b}) -> {r} {{
  %e = tensor.empty() : {r}
  %r = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
    ins(%A, %B : {a}, {b}) outs(%e : {r}) {{
  ^bb0(%a: {first}, %b: {second}, %o: {result}):
    {body_of(rng, (first, second), result)}
  }} -> {r}
  return %r : {r}
}}
"""
    width = rng.choice((1, 2, 4))
    tile = (rng.randint(1, 8), width * rng.randint(1, 6))
    lines = ["let op = match linalg.generic", f"let (tiles, t) = tile op [{tile[0]}, {tile[1]}]", "map tiles to blocks(y, x)"]
    for operand, kind in (("in0", first), ("in1", second)):
        if rng.random() < 0.7:
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared t.{operand}"]
            whole = [w for w in (1, 2, 4, 8) if tile[1] % w == 0 and min(tile[1], n) % w == 0]
            vector = rng.choice([w for w in whole if w * NUMPY[kind].itemsize <= 16])
            lines += [f"map c_{operand} to threads(*) cyclic vector {vector}"]
    lines += [f"let (lanes, one) = tile t [1, {width}]", "map lanes to threads(y, x)"]
    if rng.random() < 0.5:
        lines += ["vectorize one"]
    return payload, "\n".join([*lines, "insert-barriers", "launch tiles"])


def inputs_of(made: Program, seed: int) -> dict[str, np.ndarray]:
    """Numbers at the edges of their types."""
    rng = np.random.default_rng(seed)
    signature = functions.signature(made.ready.applied.payload, made.ready.plan.entry)
    return {a.name: rng.choice(edges(a.dtype), [n for n in a.shape or () if n is not None]) for a in signature.arguments}


def judge(made: Program, seed: int, *, same: bool = True) -> None:
    """`same`: the text gives each number that the simulator gives; a library's functions differ in the last place."""
    plan, payload = made.ready.plan, made.ready.applied.payload
    signature, inputs = functions.signature(payload, plan.entry), inputs_of(made, seed)
    simulated = run_plan(plan, SimDevice(), inputs, text=made.module)
    native = run_plan(plan, NativeDevice("quick"), inputs, text=made.cuda)
    for got, executor in ((simulated, "the simulator"), (native, "the text by g++")):
        expect_computed(executor, got, signature, reference(payload, plan.entry, inputs))
    for name, mine in simulated.outputs.items() if same else ():
        expect_equal("the text by g++, beside the simulator", name, native.outputs[name], mine)
    compile_cubin(made.cuda, ARCHITECTURES[-1])


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_bodies_on_ragged_tiles(seed: int, tmp_path: Path) -> None:
    payload, statements = case(seed)
    made = program(tmp_path, payload, statements)
    judge(made, seed)


# ---- what was wrong once ------------------------------------------------------------------------------------------------

ONE = """func.func @main(%x: tensor<64x{source}>) -> tensor<64x{result}> {{
  %e = tensor.empty() : tensor<64x{result}>
  %z = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<64x{source}>) outs(%e : tensor<64x{result}>) {{
    ^bb0(%a: {source}, %o: {result}):
      {body}
      linalg.yield %r : {result}
  }} -> tensor<64x{result}>
  return %z : tensor<64x{result}>
}}"""
ALONE = "let op = match linalg.generic\nmap op to grid(x)\nlaunch op"
CONVERSIONS = [
    ("index", "i8", "%b = arith.index_castui %a : index to i1\n%r = arith.extui %b : i1 to i8"),
    ("i16", "f16", "%r = arith.bitcast %a : i16 to f16"),
    ("i1", "bf16", "%r = arith.sitofp %a : i1 to bf16"),
    ("f32", "f32", "%r = math.expm1 %a : f32"),
]


@pytest.mark.parametrize(("source", "result", "body"), CONVERSIONS)
def test_a_conversion_alone(source: str, result: str, body: str, tmp_path: Path) -> None:
    judge(program(tmp_path, ONE.format(source=source, result=result, body=body), ALONE), 1, same="math" not in body)


RAGGED = """let gemm = match linalg.matmul
let init = match linalg.fill
let (tiles, tile_mm) = tile gemm [8, 16]
fuse init into tiles
map tiles to blocks(y, x)
map init to threads(*) cyclic
let (k, step) = tile tile_mm [_, _, 8]
let (b, copy_b) = promote-to-shared step.rhs
map copy_b to threads(*) cyclic vector {width}
let (lanes, one) = tile step [1, 1]
map lanes to threads(y: 8, x: 16)
insert-barriers
launch tiles"""


@pytest.mark.parametrize(("kind", "n", "width"), [("i8", 20, 2), ("i16", 36, 8), ("f16", 17, 4), ("bf16", 20, 2), ("i8", 17, 4)])
def test_ragged_copies_of_narrow_types(kind: str, n: int, width: int, tmp_path: Path) -> None:
    zero = "0.0" if kind in FLOATS else "0"
    a, b, c = f"tensor<16x8x{kind}>", f"tensor<8x{n}x{kind}>", f"tensor<16x{n}x{kind}>"
    payload = f"""func.func @f(%A: {a}, %B: {b}) -> {c} {{
  %z = arith.constant {zero} : {kind}
  %e = tensor.empty() : {c}
  %c = linalg.fill ins(%z : {kind}) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%A, %B : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""
    made = program(tmp_path, payload, RAGGED.format(width=width))
    assert made.wrong() == "" and made.wrong(native=True) == ""
    compile_cubin(made.cuda, ARCHITECTURES[-1])


