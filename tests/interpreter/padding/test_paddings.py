"""Operands that are pieced together: paddings of paddings, crops, windows and filled buffers, random, against NumPy.

A convolution reads through them behind `as-gemm`, pooling and an elementwise op when they are tiled: nothing of the padded shape is
ever made.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from convolution_oracle import convolved
from executors import expect_report
from scheduled import ran, run_schedule

import weft
from weft.interpreter.ir.mlir import operations
from weft.runtime.cpu.reference import reference
from weft.runtime.plan.plan import Copy, Launch
from weft.runtime.run.execution import RunOptions

COUNT = 300 if "WEFT_SOAK" in os.environ else 2
CONSTANTS = {"%zero": 0.0, "%one": 1.0, "%again": 1.0, "%low": -2.0}
HEAD = "".join(f"  {name} = arith.constant {value} : f32\n" for name, value in CONSTANTS.items())
INDEX = """    %p{n} = affine.apply affine_map<(a, b, c, d) -> (a + b * 2 + c * 4 - d)>(%a, %b, %c, %d)
    %q{n} = arith.index_cast %p{n} : index to i32
    %v{n} = arith.sitofp %q{n} : i32 to f32
"""


def tensor_of(shape: Sequence[int]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def boxes(offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides, strict=True))


@dataclass
class Pieced:
    """A tensor that is pieced together of `%X`, as text and as an array: each method puts something around what is there."""

    array: np.ndarray
    name: str = "%X"
    lines: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        return tensor_of(self.array.shape)

    def pad(self, low: list[int], high: list[int], value: str) -> Pieced:
        """Negative widths crop. `index`: the padding is a sum of the index, each axis by its own factor."""
        shape = [n + a + b for n, a, b in zip(self.array.shape, low, high, strict=True)]
        by_index = np.einsum("i...,i->...", np.indices(shape), np.array([1, 2, 4, -1]))
        made = by_index.astype(np.float32) if value == "index" else np.full(shape, CONSTANTS[value], np.float32)
        inside = [slice(max(a, 0), min(a + n, full)) for n, a, full in zip(self.array.shape, low, shape, strict=True)]
        if all(s.start < s.stop for s in inside):
            made[tuple(inside)] = self.array[tuple(slice(s.start - a, s.stop - a) for s, a in zip(inside, low, strict=True))]
        body, yielded = (INDEX, "%v{n}") if value == "index" else ("", value)
        head = f"tensor.pad {{old}} low{low} high{high} {{{{\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n"
        return self._then(made, f"{{new}} = {head}{body}    tensor.yield {yielded} : f32\n  }}}} : {{before}} to {{after}}")

    def window(self, offsets: list[int], sizes: list[int], strides: list[int]) -> Pieced:
        part = self.array[boxes(offsets, sizes, strides)]
        return self._then(part, f"{{new}} = tensor.extract_slice {{old}}{offsets} {sizes} {strides} : {{before}} to {{after}}")

    def place(self, shape: list[int], offsets: list[int], strides: list[int], value: str) -> Pieced:
        """Into a buffer of `shape` that is filled with `value`."""
        made, sizes = np.full(shape, CONSTANTS[value], np.float32), list(self.array.shape)
        made[boxes(offsets, sizes, strides)] = self.array
        whole = tensor_of(shape)
        fill = f"%e{{n}} = tensor.empty() : {whole}\n  %f{{n}} = linalg.fill ins({value} : f32) outs(%e{{n}} : {whole}) -> {whole}"
        place = f"{{old}} into %f{{n}}{offsets} {sizes} {strides}"
        return self._then(made, f"{fill}\n  {{new}} = tensor.insert_slice {place} : {{before}} into {{after}}")

    def _then(self, array: np.ndarray, line: str) -> Pieced:
        n = len(self.lines)
        text = line.format(new=f"%t{n}", old=self.name, before=self.type, after=tensor_of(array.shape), n=n)
        return Pieced(array, f"%t{n}", [*self.lines, text])


def pieced(choose: random.Random, made: Pieced) -> Pieced:
    """One to four layers of what a tensor can be pieced together of."""
    for _ in range(choose.randint(1, 4)):
        shape = list(made.array.shape)
        kind = choose.choice(("pad", "pad", "pad", "window", "place"))
        if kind == "pad":
            low, high = ([choose.choice((0, 0, 1, 2, -1)) for _ in shape] for _ in range(2))
            if all(n + a + b > 0 for n, a, b in zip(shape, low, high, strict=True)):
                made = made.pad(low, high, choose.choice((*CONSTANTS, "index")))
        elif kind == "window":
            strides = [choose.choice((1, 1, 2)) if n > 4 else 1 for n in shape]
            offsets = [choose.randint(0, min(n - 1, 1)) for n in shape]
            sizes = [(n - o - 1) // s + 1 for n, o, s in zip(shape, offsets, strides, strict=True)]
            made = made.window(offsets, sizes, strides)
        else:
            strides = [choose.choice((1, 1, 2)) for _ in shape]
            offsets = [choose.randint(0, 1) for _ in shape]
            whole = [o + (n - 1) * s + 1 + choose.randint(0, 1) for n, o, s in zip(shape, offsets, strides, strict=True)]
            made = made.place(whole, offsets, strides, choose.choice(list(CONSTANTS)))
    return made


def image(choose: random.Random) -> Pieced:
    """Small whole numbers: sums of them are exact."""
    shape = [choose.randint(1, 2), choose.randint(2, 6), choose.randint(2, 6), choose.randint(1, 3)]
    return Pieced(np.random.default_rng(choose.randrange(2**32)).integers(-4, 5, shape).astype(np.float32))


@dataclass(frozen=True)
class Case:
    """A payload with its inputs, and what it computes."""

    payload: str
    inputs: dict[str, np.ndarray]
    wanted: np.ndarray


def case(first: Pieced, made: Pieced, op: str, wanted: np.ndarray, weights: np.ndarray | None = None) -> Case:
    """`op` reads the pieced operand as `{0}`, and starts from a fill with zero, `{1}`."""
    inputs = {"X": first.array} | ({} if weights is None else {"W": weights})
    arguments = ", ".join(f"%{name}: {tensor_of(array.shape)}" for name, array in inputs.items())
    result = tensor_of(wanted.shape)
    start = f"%e = tensor.empty() : {result}\n  %i = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}"
    lines = "\n  ".join([*made.lines, start, f"%r = {op.format(f'{made.name}', '%i', made.type, result)} -> {result}"])
    return Case(f"func.func @f({arguments}) -> {result} {{\n{HEAD}  {lines}\n  return %r : {result}\n}}\n", inputs, wanted)


def convolution(choose: random.Random, first: Pieced, made: Pieced) -> Case:
    _, h, w, c = made.array.shape
    stride, dilation = choose.randint(1, 2), choose.randint(1, 2)
    r, s = ((min(choose.randint(1, 3), (n - 1) // dilation + 1)) for n in (h, w))
    weights = np.random.default_rng(1).integers(-3, 4, (r, s, c, 3)).astype(np.float32)
    wanted = convolved({"X": made.array, "W": weights}, first=False, stride=stride, pad=0, dilation=dilation)
    steps = f"dilations = dense<{dilation}> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>"
    op = f"linalg.conv_2d_nhwc_hwcf {{{{{steps}}}}} ins({{0}}, %W : {{2}}, {tensor_of(weights.shape)}) outs({{1}} : {{3}})"
    return case(first, made, op, wanted, weights)


def pooling(choose: random.Random, first: Pieced, made: Pieced) -> Case:
    array = made.array
    r, s = (min(choose.randint(1, 3), n) for n in array.shape[1:3])
    windows = np.lib.stride_tricks.sliding_window_view(array, (r, s), (1, 2))
    op = f"linalg.pooling_nhwc_sum ins({{0}}, %window : {{2}}, tensor<{r}x{s}xf32>) outs({{1}} : {{3}})"
    found = case(first, made, op, windows.sum((-1, -2)))
    window = f"  %window = tensor.empty() : tensor<{r}x{s}xf32>\n"
    return Case(found.payload.replace(HEAD, HEAD + window), found.inputs, found.wanted)


def elementwise(first: Pieced, made: Pieced) -> Case:
    return case(first, made, "linalg.negf ins({0} : {2}) outs({1} : {3})", -made.array)


def schedule(*lines: str) -> str:
    return 'payload "p.mlir"\n\nschedule s() {\n' + "".join(f"  {line}\n" for line in lines) + "}\n"


GEMM = schedule("let conv = match linalg.conv_2d_nhwc_hwcf", "let gemm = as-gemm conv")
TILED = schedule("let op = match OP", "let (tiles, one) = tile op [1, 2, 3, 2]")


def right(folder: Path, one: Case, text: str) -> str:
    """The scheduled module, and the untouched payload, compute what NumPy does; the former's text."""
    (folder / "p.mlir").write_text(one.payload)
    (folder / "s.weft").write_text(text)
    done = weft.apply(folder / "s.weft")
    for module in (done.module, done.payload):
        got = reference(module, None, one.inputs)["result0"]
        assert got.shape == one.wanted.shape and np.array_equal(got, one.wanted), one.payload
    assert not list(operations(done.module.operation, "tensor.pad")), done.text
    return done.text


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_convolution(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    first = image(choose)
    right(tmp_path, convolution(choose, first, pieced(choose, first)), GEMM)


@pytest.mark.parametrize("seed", range(COUNT))
def test_pooling_in_tiles(seed: int, tmp_path: Path) -> None:
    choose = random.Random(1000 + seed)
    first = image(choose)
    right(tmp_path, pooling(choose, first, pieced(choose, first)), TILED.replace("OP", "linalg.pooling_nhwc_sum"))


@pytest.mark.parametrize("seed", range(COUNT // 2))
def test_an_elementwise_op_in_tiles(seed: int, tmp_path: Path) -> None:
    choose = random.Random(2000 + seed)
    first = image(choose)
    right(tmp_path, elementwise(first, pieced(choose, first)), TILED.replace("OP", "linalg.negf"))


# ---- what is left of it in the text ----------------------------------------------------------------------------------------------

ONE, NONE = [0, 1, 1, 0], [0, 0, 0, 0]
FIRST = Pieced(np.arange(2 * 5 * 6 * 3, dtype=np.float32).reshape(2, 5, 6, 3) % 7)
LEFT = {
    "one constant, twice: one guard": (FIRST.pad(ONE, ONE, "%one").pad([0, 2, 0, 0], [0, 0, 1, 0], "%again"), 1, 2),
    "two constants: two guards": (FIRST.pad(ONE, ONE, "%zero").pad(ONE, NONE, "%low"), 2, 4),
    "padded, and cropped back: none": (FIRST.pad(ONE, ONE, "%zero").pad([0, -1, -1, 0], [0, -1, -1, 0], "%one"), 0, 0),
    "cropped: none": (FIRST.pad([0, -1, 0, 0], [0, 0, -2, 0], "%zero"), 0, 0),
    "cropped, and padded": (FIRST.pad([0, -1, 0, 0], [0, 0, -2, 0], "%zero").pad([0, 1, 0, 0], [0, 0, 2, 0], "%zero"), 1, 2),
    "by the index": (FIRST.pad(ONE, ONE, "index"), 1, 2),
    "in a filled buffer, and padded": (FIRST.place([2, 7, 8, 3], ONE, [1] * 4, "%one").pad(ONE, ONE, "%one"), 1, 2),
    "every other element": (FIRST.place([2, 9, 11, 3], NONE, [1, 2, 2, 1], "%zero"), 1, 2),
}


@pytest.mark.parametrize("name", LEFT)
def test_only_tests_that_can_fail_are_left(name: str, tmp_path: Path) -> None:
    made, guards, comparisons = LEFT[name]
    text = right(tmp_path, convolution(random.Random(3), FIRST, made), GEMM)
    assert (text.count("scf.if"), text.count("arith.cmpi")) == (guards, comparisons), text


KERNEL = schedule(
    "let conv = match linalg.conv_2d_nhwc_hwcf", "let gemm = as-gemm conv", "let init = match linalg.fill",
    "let (tiles, tile_mm) = tile gemm [8, 2]", "fuse init into tiles", "map tiles to blocks(y, x)",
    "let (k, step) = tile tile_mm [_, _, 5]", "let (a, copy_a) = promote-to-shared step.lhs",
    "let (b, copy_b) = promote-to-shared step.rhs", "map copy_a to threads(*) cyclic", "map copy_b to threads(*) cyclic",
    "let (lanes, one) = tile step [1, 1]", "map lanes to threads(y: 8, x: 2)", "promote-to-registers one.acc across k",
    "insert-barriers", "launch tiles",
)  # fmt: skip
POOLED = schedule(
    "let pool = match linalg.pooling_nhwc_sum", "let (tiles, part) = tile pool [1, 2, 4, _]", "let init = match linalg.fill",
    "let blocks = coalesce tiles", "map blocks to blocks(x)", "let (x, copy_x) = promote-to-shared part.in0",
    "map copy_x to threads(*) cyclic", "fuse init into blocks", "let (lanes, one) = tile part [1, 1, 1, 1]",
    "fuse init into lanes", "let lane = coalesce lanes", "map lane to threads(x)", "insert-barriers", "launch blocks",
)  # fmt: skip


@pytest.mark.few()
@pytest.mark.parametrize("text", [KERNEL, POOLED], ids=["convolution", "pooling"])
@pytest.mark.parametrize("name", LEFT)
def test_as_a_kernel(name: str, text: str, tmp_path: Path) -> None:
    """Staged in shared memory: right, race-free, and nothing is launched or copied for the padding."""
    one = (convolution if text is KERNEL else pooling)(random.Random(3), FIRST, LEFT[name][0])
    (tmp_path / "p.mlir").write_text(one.payload)
    (tmp_path / "s.weft").write_text(text)
    report, made = ran(tmp_path / "s.weft", 1)
    expect_report(report)
    steps = made.plan.steps
    assert sum(isinstance(step, Launch) for step in steps) == 1 and not any(isinstance(step, Copy) for step in steps)


def test_an_op_that_is_fused_reads_through_it(tmp_path: Path) -> None:
    """Behind a tile loop, ragged or not; and an op that is mapped whole."""
    made = FIRST.pad(ONE, ONE, "%zero").pad([0, -1, 0, 0], NONE, "%one")
    kind, shape = made.type, made.array.shape
    op = f"linalg.square ins({{0}} : {kind}) outs({{1}} : {{3}}) -> {{3}}\n  %s = linalg.negf ins(%q : {{3}}) outs(%e : {{3}})"
    one = case(FIRST, made, op, -made.array**2)
    payload = one.payload.replace("%r = linalg.square", "%q = linalg.square").replace("%s = linalg.negf", "%r = linalg.negf")
    payload = payload.replace("outs(%i", "outs(%e")
    fused = "let neg = match linalg.negf", "let sq = match linalg.square", "let (tiles, _) = tile neg [{}]", "fuse sq into tiles"
    for sizes in ("1, 3, 4, 1", "1, 6, 8, 3"):
        lines = [line.format(sizes) for line in fused]
        right(tmp_path, Case(payload, one.inputs, one.wanted), schedule(*lines))
    assert shape == (2, 6, 8, 3)
    whole = [line for op in ("square", "negf") for line in (f"let {op} = match linalg.{op}", f"map {op} to grid(x: 64) cyclic")]
    (tmp_path / "s.weft").write_text(schedule(*whole, "launch square", "launch negf"))
    expect_report(run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 1)).report)


@pytest.mark.parametrize("sizes", ["1, 3, 4, 3", "1, 2, 3, 2"])
def test_an_op_starts_from_it(sizes: str, tmp_path: Path) -> None:
    """Each tile of the result starts from its part of the padding; one that is not read is not a start."""
    start = FIRST.pad(ONE, ONE, "index").pad([0, -1, 0, 0], NONE, "%low")
    kind, window = start.type, "  %window = tensor.empty() : tensor<2x2xf32>\n"
    image = np.random.default_rng(2).integers(-4, 5, (2, 7, 9, 3)).astype(np.float32)
    sums = np.lib.stride_tricks.sliding_window_view(image, (2, 2), (1, 2)).sum((-1, -2))
    op = f"linalg.pooling_nhwc_sum ins(%W, %window : tensor<2x7x9x3xf32>, tensor<2x2xf32>) outs({{0}} : {kind})"
    one = case(FIRST, start, op, start.array + sums, image)
    tiled = ["let op = match linalg.pooling_nhwc_sum", f"let (tiles, one) = tile op [{sizes}]"]
    right(tmp_path, Case(one.payload.replace(HEAD, HEAD + window), one.inputs, one.wanted), schedule(*tiled))
    (tmp_path / "s.weft").write_text(schedule(*tiled, "let flat = coalesce tiles", "map flat to grid(x: 64)", "launch flat"))
    expect_report(run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 1)).report)
    one = case(FIRST, start, f"linalg.negf ins(%W : {kind}) outs({{0}} : {kind})", -start.array, start.array)
    right(tmp_path, one, schedule("let op = match linalg.negf", f"let (tiles, _) = tile op [{sizes}]"))


def test_a_filled_buffer_that_is_scheduled_stays(tmp_path: Path) -> None:
    """A fill that has a handle is launched as the schedule says, and what is read is the buffer."""
    one = elementwise(FIRST, FIRST.place([2, 7, 8, 3], ONE, [1] * 4, "%one"))
    lines = "let fill = match linalg.fill #0", "let op = match linalg.negf", "let (tiles, _) = tile op [1, 2, 4, 3]"
    text = right(tmp_path, one, schedule(*lines))
    assert "tensor.insert_slice" in text and "tensor.insert_slice" not in right(tmp_path, one, schedule(*lines[1:]))
