"""`split-k`: random sums in parts compute what NumPy does; their two launches are right and race-free, and need their barriers."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path

import numpy as np
import pytest
from convolution_oracle import convolved, random_sizes
from executors import expect_report
from judging import barriers, without_barrier
from scheduled import ran

import weft
from weft.dsl.diagnostics import Source
from weft.interpreter.ir.mlir import operations
from weft.recipes import builders
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
ALLOWED = {"f64": 1e-12, "i32": 0.0}
SUBSCRIPTS = ("mk,kn->mn", "mk,nk->nm", "km,kn->mn", "bmk,bkn->bmn", "mk,k->m", "k,k->", "mk->m", "kmb->bm", "bk,mnk->bmn")


@dataclass(frozen=True)
class Sum:
    """A sum of products as a generic, in the subscripts of `np.einsum`: the payload, and its extents by letter."""

    subscripts: str
    extents: dict[str, int]
    dtype: str
    filled: bool
    subtracted: bool

    @classmethod
    def at_random(cls, r: random.Random) -> Sum:
        subscripts = r.choice(SUBSCRIPTS)
        extents = {letter: r.randint(1, 7) for letter in "bmn"} | {"k": r.choice((2, 3, 7, 16, 20, 31, 64))}
        return cls(subscripts, extents, r.choice(("f32", "f64", "i32", "f16")), r.random() < 0.5, r.random() < 0.2)

    @property
    def kind(self) -> str:
        """What is summed up in."""
        return "f32" if self.dtype == "f16" else self.dtype

    def payload(self) -> str:
        given, result = self.subscripts.split("->")
        operands = given.split(",")
        letters = [*result, "k"]
        types = [self._tensor(o, self.dtype) for o in operands]
        out = self._tensor(result, self.kind)
        maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(o)})>" for o in (*operands, result))
        iterators = ", ".join(['"parallel"'] * len(result) + ['"reduction"'])
        names = [f"%v{n}" for n in range(len(operands))]
        arguments = ", ".join(f"%a{n}: {t}" for n, t in enumerate(types))
        start = f"""  %zero = arith.constant {"0" if self.kind == "i32" else "0.0"} : {self.kind}
  %empty = tensor.empty() : {out}
  %start = linalg.fill ins(%zero : {self.kind}) outs(%empty : {out}) -> {out}
"""
        letter = "i" if self.kind == "i32" else "f"
        lines = [f"    %w{n} = arith.extf {v} : f16 to f32" for n, v in enumerate(names) if self.dtype == "f16"]
        names = [f"%w{n}" for n in range(len(names))] if lines else names
        if len(names) == 2:
            lines.append(f"    %p = arith.mul{letter} {names[0]}, {names[1]} : {self.kind}")
        combine = f"{'sub' if self.subtracted else 'add'}{letter}"
        lines.append(f"    %t = arith.{combine} %o, {'%p' if len(names) == 2 else names[0]} : {self.kind}")
        block = ", ".join([*(f"%v{n}: {self.dtype}" for n in range(len(operands))), f"%o: {self.kind}"])
        body = "\n".join(lines)
        return f"""func.func @f({arguments}{"" if self.filled else f", %start: {out}"}) -> {out} {{
{start if self.filled else ""}  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins({", ".join(f"%a{n}" for n in range(len(operands)))} : {", ".join(types)}) outs(%start : {out}) {{
  ^bb0({block}):
{body}
    linalg.yield %t : {self.kind}
  }} -> {out}
  return %r : {out}
}}
"""

    def _tensor(self, letters: str, dtype: str) -> str:
        return f"tensor<{'x'.join([*(str(self.extents[x]) for x in letters), dtype])}>"

    def computed(self, arrays: list[np.ndarray]) -> np.ndarray:
        wide = np.int32 if self.dtype == "i32" else np.float64
        operands = [a.astype(wide) for a in arrays]
        start = 0 if self.filled else operands.pop()
        summed = np.einsum(self.subscripts, *operands)
        return start - summed if self.subtracted else start + summed


def close(got: np.ndarray, wanted: np.ndarray, dtype: str) -> bool:
    worst = np.max(np.abs(got.astype(np.float64) - wanted)) if got.size else 0
    return bool(got.shape == wanted.shape and worst <= ALLOWED.get(dtype, 1e-5) * max(np.max(np.abs(wanted)), 1e-30))


def rounding(r: random.Random) -> str:
    return f" by {r.randint(1, 5)}" if r.random() < 0.5 else ""


@pytest.mark.parametrize("seed", range(400 if SOAK else 2))
def test_random_sums(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    one = Sum.at_random(r)
    k = one.extents["k"]
    parts = r.randint(2, min(k, 9))
    multiple = r.choice([n for n in range(1, k) if ceil(k / parts / n) * n < k])
    (tmp_path / "p.mlir").write_text(one.payload())
    lines = f"let g = match linalg.generic\n  let (part, zeros, sum) = split-k g {parts} by {multiple}"
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {lines}\n}}\n')
    done = weft.apply(tmp_path / "s.weft")
    length = ceil(k / parts / multiple) * multiple
    assert f"tensor<{ceil(k / length)}x" in done.text, (one, done.text)
    arrays = random_inputs(functions.signature(done.payload, None), seed)
    made = list(reference(done.module, None, arrays).values())
    assert len(made) == 1 and close(made[0], one.computed(list(arrays.values())), one.dtype), (one, parts, multiple)


@pytest.mark.parametrize("seed", range(200 if SOAK else 2))
def test_random_convolutions(seed: int, tmp_path: Path) -> None:
    """Behind `as-gemm` an operand is a gather already; bias and ReLU follow the parts' sum."""
    r = random.Random(seed)
    name, layout = (("conv2d", "nhwc_hwcf"), ("conv2d_nchw", "nchw_fchw"))[seed % 2]
    sizes = random_sizes(3000 + seed)
    if sizes["c"] * sizes["r"] * sizes["s"] == 1 or sizes["k"] == 1:
        sizes |= {"c": 3, "k": 2}
    parts = r.randint(2, min(sizes["c"] * sizes["r"] * sizes["s"], 8))
    values = {p.name: sizes.get(p.name, p.default) for p in builders()[name].parameters} | {"type": r.choice(["f32", "f64", "f16"])}
    given = ", ".join(f"{n} = {v}" for n, v in values.items())
    lines = f"let conv = match linalg.conv_2d_{layout}\n  let gemm = as-gemm conv\n  let p = split-k gemm {parts}"
    (tmp_path / "s.weft").write_text(f"payload {name}({given})\nschedule s() {{\n  {lines}\n}}\n")
    done = weft.apply(tmp_path / "s.weft")
    arrays = random_inputs(functions.signature(done.payload, None), seed)
    steps = {step: int(values[step]) for step in ("stride", "pad", "dilation")}
    wanted = convolved(arrays, first=name == "conv2d_nchw", **steps)
    assert close(reference(done.module, None, arrays)["Y"], wanted, str(values["type"])), (values, parts)


def test_a_body_may_ask_where_it_is(tmp_path: Path) -> None:
    """Σ k·x[m, k], with k from the op itself, and a table that the body reads."""
    (tmp_path / "p.mlir").write_text("""\
func.func @f(%x: tensor<3x12xf32>, %table: tensor<12xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
                       iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x12xf32>) outs(%start : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %k = linalg.index 1 : index
    %w = tensor.extract %table[%k] : tensor<12xf32>
    %unused = arith.mulf %w, %w : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
""")
    (tmp_path / "s.weft").write_text(
        'payload "p.mlir"\nschedule s() {\n  let g = match linalg.generic\n  let p = split-k g 4\n  print p.gemm\n}\n'
    )
    done = weft.apply(tmp_path / "s.weft")
    arrays = random_inputs(functions.signature(done.payload, None), 1)
    x, _, start = arrays.values()
    assert "d0 * 3 + d1" in done.text
    assert close(next(iter(reference(done.module, None, arrays).values())), start + x.sum(axis=1, dtype=np.float64), "f32")


# ---- scheduled ---------------------------------------------------------------------------------------------------------------


def matmul(r: random.Random) -> tuple[str, int, int, int]:
    kind = r.choice(["f32", "f64", "i32", "f16"])
    m, n, k = r.randint(1, 30), r.choice([4, 8, 16, 20, 27]), r.randint(4, 40)
    total = "f32" if kind == "f16" else kind
    a, b, c = f"tensor<{m}x{k}x{kind}>", f"tensor<{k}x{n}x{kind}>", f"tensor<{m}x{n}x{total}>"
    filled = r.random() < 0.5
    init = f"  %z = arith.constant {'0' if kind == 'i32' else '0.0'} : {total}\n  %e = tensor.empty() : {c}\n"
    init += f"  %c = linalg.fill ins(%z : {total}) outs(%e : {c}) -> {c}\n"
    text = f"func.func @f(%A: {a}, %B: {b}{'' if filled else f', %c: {c}'}) -> {c} {{\n{init if filled else ''}"
    text += f"  %r = linalg.matmul ins(%A, %B : {a}, {b}) outs(%c : {c}) -> {c}\n  return %r : {c}\n}}\n"
    return text, m, n, k


def schedule(r: random.Random, k: int) -> tuple[str, int]:
    """A schedule of both ops, and the number of parts that there will be."""
    bm, bn, bk, sm, sn = r.randint(2, 9), r.choice((4, 8, 12)), r.choice((2, 4, 6)), r.randint(1, 5), r.choice((4, 5, 8, 32))
    parts, multiple = r.randint(2, min(5, k)), r.choice((1, 1, bk))
    length = ceil(k / parts / multiple) * multiple
    if length >= k:
        multiple, length = 1, ceil(k / parts)
    lines = ["let g = match linalg.matmul", "let init = match? linalg.fill"]
    lines += [f"let (part, zeros, sum) = split-k g {parts} by {multiple}"]
    lines += [f"let (tiles, inner) = tile part [1, {bm}, {bn}]", "fuse zeros into tiles", "map tiles to blocks(z, y, x)"]
    lines += [f"let (k, step) = tile inner [_, _, _, {bk}]"]
    for operand in ("lhs", "rhs"):
        if r.random() < 0.8:
            options = r.choice(["", " transpose", " pad 1", " transpose pad 4"])
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{options}"]
            lines += [f"map c_{operand} to threads(*) cyclic{r.choice(['', ' vector 2'])}"]
    lines += ["let (lanes, one) = tile step [_, 1, 1]", f"map lanes to threads(y: {r.randint(1, 4)}, x: {r.randint(1, 8)}) cyclic"]
    lines += ["let (zl, zo) = tile zeros [_, 1, 1]", lines[-1].replace("lanes", "zl")]
    lines += [f"let (rows, row) = tile sum [{sm}, {sn}]", "fuse init into rows", "map rows to blocks(y, x)"]
    lines += ["let (each, add) = tile row [1, 1]", "fuse init into each", f"map each to threads(y: {sm}, x: {sn})"]
    return "\n".join([*lines, "insert-barriers", "verify-sync", "launch tiles", "launch rows"]), ceil(k / length)


@pytest.mark.parametrize("seed", range(200 if SOAK else 2))
def test_random_schedules(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    payload, m, n, k = matmul(r)
    body, parts = schedule(r, k)
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    report, made = ran(tmp_path / "s.weft", seed)
    expect_report(report, f"{payload}\n{body}")
    assert len(made.plan.kernels) == 2
    temporary = [prod(b.shape) for b in made.plan.buffers if b.role == "temp"]
    assert len(temporary) == 1 and temporary[0] >= parts * m * n, made.plan.buffers
    kinds = [type(step).__name__ for step in made.plan.steps]
    assert kinds.count("Alloc") == kinds.count("Free") == 1, kinds
    assert verify_source(Source("whole.mlir", str(made.applied.module))).ok
    for number in range(len(barriers(made.applied.module))):
        less = without_barrier(made.applied.module, number)
        assert not verify_source(Source("less.mlir", less)).ok, f"verify: barrier {number}\n{payload}\n{body}"
        inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
        races = run_plan(made.plan, SimDevice(), inputs, text=less).races
        assert races, f"the simulator sees no race without barrier {number}\n{payload}\n{body}"


BATCHED = """\
payload conv2d_nchw(n = 2, c = 8, h = 6, w = 6, k = 8)
schedule s() {
  let conv = match linalg.conv_2d_nchw_fchw
  let init = match linalg.fill
  let gemm = as-gemm conv
  let (partial, zeros, sum) = split-k gemm 3 by 8
  let (tiles, tile_mm) = tile partial [1, 1, 8, 12]
  fuse zeros into tiles
  let (k, step) = tile tile_mm [_, _, _, _, 8]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic vector 4
  map copy_b to threads(*) cyclic
  let (lanes, one) = tile step [_, _, 1, 1]
  map lanes to threads(y, x)
  let (each, add) = tile sum [1, 1, 1]
  fuse init into each
  let flat = coalesce each
  map flat to grid(x)
  let all = coalesce tiles
  map all to blocks(x)
  promote-to-registers one.acc across k
  insert-barriers
  launch all
  launch flat
  async-fork
}
"""


def test_a_batch_of_products_in_parts(tmp_path: Path) -> None:
    """Four parallel dimensions, coalesced for the blocks; the two launches ordered by tokens, the result written in place."""
    (tmp_path / "s.weft").write_text(BATCHED)
    report, made = ran(tmp_path / "s.weft", 8)
    expect_report(report)
    assert [b.shape for b in made.plan.buffers if b.role == "temp"] == [(3, 2, 8, 36)]
    assert "reinterpret_cast<const float4*>(&W[" in made.cuda


def test_gathers_stay_gathers(tmp_path: Path) -> None:
    """Parts that do not divide, of operands behind tensor.pad: nothing is copied to be padded, in either launch."""
    (tmp_path / "p.mlir").write_text("""\
func.func @f(%A: tensor<6x21xf32>, %B: tensor<23x8xf32>, %C: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %A low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<6x21xf32> to tensor<6x23xf32>
  %r = linalg.matmul ins(%padded, %B : tensor<6x23xf32>, tensor<23x8xf32>) outs(%C : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
""")
    (tmp_path / "s.weft").write_text("""\
payload "p.mlir"
schedule s() {
  let g = match linalg.matmul
  let (part, zeros, sum) = split-k g 4
  let (tiles, one) = tile part [1, 1, 1]
  fuse zeros into tiles
  map tiles to grid(z, y, x)
  let (each, add) = tile sum [1, 1]
  map each to grid(y, x)
  launch tiles
  launch each
}
""")
    report, made = ran(tmp_path / "s.weft", 5)
    expect_report(report)
    assert not list(operations(made.applied.module.operation, "tensor.pad"))
    assert [b.shape for b in made.plan.buffers if b.role == "temp"] == [(4, 6, 8)]
