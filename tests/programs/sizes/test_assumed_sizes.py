"""`assume A.1 % n == 0`, `assume A.1 <= n`: kernels for such sizes alone, as wide, narrow and free of guards as those for one size;
checked by the host before anything runs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from executors import expect_equal
from native_device import NativeDevice, for_all_sizes
from test_any_size import PRODUCT

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import context, operations, parse
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Planned, applied, planned
from weft.runtime.cuda.nvrtc import UNFOLDED
from weft.runtime.host.host import make_plan
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Assumption, DimOf
from weft.runtime.plan.resolve import resolve
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

RECIPES = Path(weft.__file__).parent / "recipes" / "matmul"
SMALL = "bm = 32, bn = 32, bk = 8, wm = 16, wn = 32, tm = 4, tn = 4"
WHOLE = ("A.0 % 32", "gemm.lhs.1 % 8", "B.1 % (4 * 8)")
FOURS = ("A.1 % 4", "B.1 % 4")
NARROW = ("A.0 <= 4096", "gemm.lhs.1 <= 4096", "B.1 <= (8 * 512)")


def called_recipe(recipe: str) -> str:
    """The text of a recipe for others to call: without its payload, and with the values of its first version alone."""
    text = re.sub(r"^payload .*", "", (RECIPES / f"{recipe}.weft").read_text(), flags=re.MULTILINE)
    blocks = r"^  versions \{(.*?)^  \} else \{(?:\}|.*?^  \}).*?\n"
    alone, versions = re.subn(
        blocks, lambda found: "".join(re.findall(r"^    let .*\n", found[1], re.MULTILINE)), text, flags=re.MULTILINE | re.DOTALL
    )
    assert versions == 1
    return alone


def schedule(recipe: str, assumed: tuple[str, ...], settings: str = SMALL) -> str:
    """A schedule that assumes sizes, and calls a recipe's."""
    called = called_recipe(recipe)
    lines = "\n".join(f"  assume {one}" + (" == 0" if "%" in one else "") for one in assumed)
    return f"{called}\nschedule assumed() {{\n  let gemm = match linalg.matmul\n{lines}\n  {recipe}({settings})\n}}\n"


@cache
def made(recipe: str, assumed: tuple[str, ...]) -> Planned:
    return planned(applied(weft.load(schedule(recipe, assumed), payload=PRODUCT)))


def simulated(one: Planned, m: int, k: int, n: int, text: str | None = None) -> tuple[RunResult, np.ndarray]:
    generator = np.random.default_rng(m)
    a, b = generator.standard_normal((m, k), np.float32), generator.standard_normal((k, n), np.float32)
    return run_plan(one.plan, SimDevice(), {"A": a, "B": b}, text=text or one.applied.located_text), a @ b


def wide(text: str) -> str:
    """Without the kernels that have indices of 32 bits, and those for folded grids."""
    parts = text.replace(f"#ifndef {UNFOLDED}\n", "").replace("\n#endif", "").split('extern "C"')
    return 'extern "C"'.join(part for part in parts if not re.search(r"_(32|folded)\(", part.split("\n", 1)[0]))


def body(text: str) -> str:
    """A kernel with `n` in the place of sizes, and without the words that sizes of 64 bits take."""
    plain = wide(text).split('extern "C"', 1)[1].split(") {\n", 1)[1].replace("(long long)", "").replace("long long", "int")
    return " ".join(re.sub(r"\b(\w+_size1|96)\b", "n", plain).replace("result0", "C").split())


@pytest.mark.parametrize("recipe", ["simt", "simt_pipelined"])
def test_whole_tiles_make_the_kernel_of_one_size(recipe: str) -> None:
    one = planned(applied(weft.load(schedule(recipe, WHOLE, f"{SMALL}, group = 1"), payload=PRODUCT)))
    sizes = {"m": "96", "n": "96", "k": "96"} | dict(re.findall(r"(\w+) = (\d+)", SMALL))
    static = planned(applied(weft.load(recipe, settings=sizes | {"group": "1"})))
    if recipe == "simt":
        assert body(one.cuda) == body(static.cuda)
    for text in ("float4*", "?", "min("):
        assert wide(one.cuda).count(text) == static.cuda.count(text), text
    # a sum without summands has no first tile to be loaded ahead
    assert body(one.cuda).count("if (") == body(static.cuda).count("if (") + body(one.cuda).count("if (n > 0)")
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert "A.1, B.0: taken for multiples of 8, checked before each run" in remarks
    assert not any("guard" in remark and "no guards" not in remark for remark in remarks)


@pytest.mark.parametrize("recipe", ["simt", "simt_pipelined"])
def test_fours_are_wide_under_one_guard(recipe: str) -> None:
    one = made(recipe, FOURS)
    reads = [line for line in one.cuda.splitlines() if re.search(r"[^_\w][AB]\[", line)]
    assert reads and all("float4" in line for line in reads) and "< A_size0" in one.cuda


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("assumed", "sizes"),
    [
        (WHOLE, [(32, 8, 32), (0, 8, 32), (32, 0, 64), (32, 8, 0), (96, 16, 64), (64, 24, 96)]),
        (FOURS, [(1, 4, 4), (33, 0, 4), (5, 4, 0), (70, 36, 36), (37, 20, 44)]),
        ((*FOURS, *NARROW), [(37, 20, 44)]),
    ],
)
@pytest.mark.parametrize("recipe", ["simt", "simt_pipelined"])
def test_right_at_multiples(recipe: str, assumed: tuple[str, ...], sizes: list[tuple[int, int, int]]) -> None:
    one = made(recipe, assumed)
    assert not any("assumed race-free" in remark for step in one.applied.session.steps for remark in step.remarks)
    for m, k, n in sizes:
        done, expected = simulated(one, m, k, n)
        assert done.outputs["result0"].shape == (m, n)
        assert np.allclose(done.outputs["result0"], expected, atol=1e-3), (m, k, n)
        assert not done.races and not done.faults, (m, k, n)
    a, b = np.random.rand(m, k).astype("f4"), np.random.rand(k, n).astype("f4")
    for plan in (one.plan, for_all_sizes(one.plan)):
        text = run_plan(plan, NativeDevice(), {"A": a, "B": b}, text=one.cuda)
        expect_equal("the text by g++", "result0", text.outputs["result0"], a @ b, atol=1e-3, rtol=1e-5)


@pytest.mark.parametrize(
    ("assumed", "sizes", "said"),
    [
        (WHOLE, (33, 8, 32), "axis 0 of `A` has 33 elements, and the kernels are made for multiples of 32 there"),
        (WHOLE, (32, 9, 32), "axis 1 of `A` has 9 elements, and the kernels are made for multiples of 8 there"),
        (FOURS, (3, 4, 6), "axis 1 of `B` has 6 elements, and the kernels are made for multiples of 4 there"),
        (NARROW, (3, 4097, 6), "axis 1 of `A` has 4097 elements, and the kernels are made for 4096 at most there"),
    ],
)
def test_other_sizes_are_refused_before_anything_runs(assumed: tuple[str, ...], sizes: tuple[int, int, int], said: str) -> None:
    one = made("simt", assumed)
    for plan in (one.plan, load(dump(one.plan))):  # that of a bundle, too
        m, k, n = sizes
        with pytest.raises(WeftError, match=said) as caught:
            resolve(plan, {"A": (m, k), "B": (k, n)}, {})
        (found,) = caught.value.diagnostics
        assert found.code == "W0739" and re.search(r"assumed at \S+:\d+: assume ", found.notes[0])


@pytest.mark.parametrize("recipe", ["simt", "simt_pipelined"])
def test_small_arrays_have_indices_of_32_bits(recipe: str) -> None:
    one = made(recipe, NARROW)
    assert "long long" not in one.cuda.split(") {\n", 1)[1]
    assert one.plan.launches[0].grid[0] in [known.size for known in one.plan.assumptions], "the grid is what the text relies on"
    for m, k, n in ((5, 7, 9), (64, 24, 96), (0, 8, 32)):
        done, expected = simulated(one, m, k, n)
        assert np.allclose(done.outputs["result0"], expected, atol=1e-3) and not done.races and not done.faults


@pytest.mark.few(1)
@pytest.mark.parametrize("recipe", ["simt_pipelined", "simt"])
def test_each_deleted_barrier_is_found(recipe: str) -> None:
    one = made(recipe, WHOLE)
    (whole, *_) = operations(one.applied.module.operation, "gpu.func")
    for number in range(len(list(operations(whole, "gpu.barrier")))):
        module = one.applied.module.operation.clone()
        (kernel,) = operations(module, "gpu.func")
        list(operations(kernel, "gpu.barrier"))[number].erase()
        assert any(c.space == "workgroup" for c in Findings(kernel_model(kernel)).conflicts), number
        assert simulated(one, 64, 40, 64, module.get_asm(enable_debug_info=True))[0].races, number


def test_a_kernel_is_not_launched_on_other_sizes_than_it_is_made_for() -> None:
    """Also where nobody has assumed anything of the host function's arguments."""
    text = made("simt", WHOLE).applied.text
    host = re.sub(r"weft\.(assumed|multiples) = [^{}]*?(\]|>), ", "", text.split("gpu.module", 1)[0])
    assert "weft.multiples" not in host
    plan = make_plan(parse(host + "gpu.module" + text.split("gpu.module", 1)[1], context()))
    assert Assumption(DimOf("A", 1), 8, "") in plan.assumptions
    with pytest.raises(WeftError, match="W0739"):
        resolve(plan, {"A": (32, 9), "B": (9, 32)}, {})


def test_an_assumption_that_a_module_states_is_said_by_verify() -> None:
    verdict = verify_source(Source("module.mlir", made("simt", WHOLE).applied.text))
    assert verdict.ok and {"A.1 % 8 == 0", "B.0 % 8 == 0", "result0.1 % 32 == 0"} <= set(verdict.multiples)


ROWS = """
func.func @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  return
}
"""


def test_wide_rows_of_a_payload_on_memrefs() -> None:
    text = "schedule s() {\n  let op = match linalg.generic\n  ASSUME\n  map op to grid(x: 64) cyclic vector 4\n  launch op\n}\n"
    for assumed in ("", "assume x.1 % 6 == 0", "assume x.0 % 4 == 0"):
        with pytest.raises(WeftError, match="W0348"):
            weft.apply(text.replace("ASSUME", assumed), payload=ROWS)
    fours = text.replace("ASSUME", "assume x.1 % 12 == 0\n  assume y.1 % 8 == 0")
    assert wide(planned(weft.apply(fours, payload=ROWS)).cuda).count("float4*") == 2
    kernel = weft.compile(fours, ROWS, target="cpu")
    x = np.random.default_rng(0).standard_normal((5, 24), np.float32)
    y = np.zeros_like(x)
    kernel(x, y)
    assert np.array_equal(y, -x)
    with pytest.raises(WeftError, match="multiples of 24"):
        kernel(np.ones((2, 12), np.float32), np.ones((2, 12), np.float32))


def test_a_size_that_only_0_can_be() -> None:
    """2^40 rows of 2^40 elements have no address, so that there are none."""
    program = """
    func.func @f(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.dim %x, %c0 : memref<?x?xf32>
      %n = memref.dim %x, %c1 : memref<?x?xf32>
      %mn = arith.muli %m, %n : index
      %t = memref.alloc(%mn) : memref<?xf32>
      %a = memref.collapse_shape %x [[0, 1]] : memref<?x?xf32> into memref<?xf32>
      %b = memref.collapse_shape %y [[0, 1]] : memref<?x?xf32> into memref<?xf32>
      linalg.negf ins(%a : memref<?xf32>) outs(%t : memref<?xf32>)
      memref.copy %t, %b : memref<?xf32> to memref<?xf32>
      return
    }"""
    text = "schedule s() {\n  let op = match linalg.negf\n  assume x.0 % (1024 * 1073741824) == 0\n  ASSUME\n"
    text += "  map op to grid(x: 64) cyclic\n  launch op\n}\n"
    one = planned(weft.apply(text.replace("ASSUME", "assume x.1 % (1024 * 1073741824) == 0"), payload=program))
    x, y = np.ones((0, 1 << 40), np.float32), np.ones((0, 3), np.float32)
    assert not run_plan(one.plan, SimDevice(), {"x": x, "y": y}, text=one.applied.located_text).faults


def test_channels_of_a_convolution() -> None:
    """Its image is read through a padding, which has as many."""
    text = (RECIPES.parent / "conv2d" / "igemm.weft").read_text()
    lines = "\n".join(f"  assume {one}" for one in ("conv.lhs.3 % 4 == 0", "conv.rhs.3 % 4 == 0", "conv.lhs.3 <= 512"))
    text += f"\nschedule assumed() {{\n  let conv = match linalg.conv_2d_nhwc_hwcf\n{lines}\n  igemm()\n}}\n"
    open_ = dict.fromkeys("nchwk", "?")
    remarks = [remark for step in weft.apply(text, settings=open_).session.steps for remark in step.remarks]
    assert "X.3, W.2: taken for multiples of 4, checked before each run" in remarks
    assert any(re.match(r"X_shared .* loads 4-wide", remark) for remark in remarks)
    sizes = {"n": 2, "c": 8, "h": 9, "w": 7, "k": 12}
    assert weft.run(text, settings=open_, target="sim", sizes=sizes).ok
    with pytest.raises(WeftError, match="W0739: axis 3 of `X` has 6 elements"):
        weft.run(text, settings=open_, target="sim", sizes=sizes | {"c": 6})


def test_what_is_assumed_behind_a_tile_changes_none_of_its_guards() -> None:
    text = "schedule s() {\n  let gemm = match linalg.matmul\n  let init = match linalg.fill\n  FRONT\n"
    text += "  let (tiles, mm) = tile gemm [16, 16]\n  fuse init into tiles\n  BEHIND\n  map tiles to blocks(y, x)\n"
    text += "  let (l, o) = tile mm [1, 1]\n  fuse init into l\n  map l to threads(y, x)\n  launch tiles\n}\n"
    rows = "assume A.0 % 16 == 0"
    said = "tiles that were made before keep their guards (A.0): assume it before `tile`"
    for front, behind, late in (("", rows, True), (rows, "", False), ("", "assume A.1 % 4 == 0", False), (rows, rows, False)):
        done = planned(weft.apply(text.replace("FRONT", front).replace("BEHIND", behind), payload=PRODUCT))
        assert any(said in step.remarks for step in done.applied.session.steps) == late, (front, behind)
        assert ("< A_size0" in done.cuda) == (not front)
