"""Kernels of warp groups, run by g++ as they are: values beside NumPy's, and what a missing wait or arrival does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from contexts import one_context
from cuda_cases import emit_text
from hopper import Product
from native import Mode, NativeMap, NativeResult, run_native

from weft.interpreter.ir.mlir import parse
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import Boxes, TensorMapOf

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
PRODUCTS = {
    "bf16": Product(128, 128, 256, bn=64), "tf32": Product(128, 128, 128, bn=64, bk=32, type="f32", by_rows=False, stages=2),
    "f16": Product(128, 64, 256, bn=64, bk=128, type="f16", by_rows=False, stages=2),
    "rows": Product(256, 128, 128, 256, 64, stages=1),
    "ragged": Product(128, 64, 168, bn=64), "wide": Product(128, 256, 64, bn=256, stages=1),
}  # fmt: skip
SMALL = Product(64, 64, 256, 64, 64, stages=2, consumers=1)


def run(
    product: Product, text: str, mode: Mode, *, reverse: bool = False
) -> tuple[NativeResult, np.ndarray, np.ndarray]:
    """What came of it, the result, and what it should be."""
    (step,) = make_plan(parse(product.ring(), one_context())).launches
    draw = np.random.default_rng(3)
    a, b = (
        draw.integers(-4, 5, shape).astype(DTYPES[product.type])
        for shape in ((product.m, product.k), (product.k, product.n))
    )
    c = np.full((product.m, product.n), np.nan, np.float32)
    maps = [arg.layout for arg in step.args if isinstance(arg, TensorMapOf)]
    given = [NativeMap(a, maps[0]), NativeMap(np.ascontiguousarray(b if product.by_rows else b.T), maps[1])]
    block = (128 * (product.consumers + ("fewer_registers" in text.split('extern "C"')[1])), 1, 1)
    found = run_native(text, "product", step.grid, block, [*given, c], mode, reverse=reverse)
    return found, c, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", ["ring", "together"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, kind: str) -> None:
    text = emit_text(getattr(PRODUCTS[name], kind)())
    for mode, reverse in (("fibers", False), ("fibers", True)):
        found, c, expected = run(PRODUCTS[name], text, mode, reverse=reverse)
        assert not (found.diverged or found.wrong)
        np.testing.assert_array_equal(c, expected)


LOAD_WAIT, STORE_WAIT = "barrier_wait(&full[", "barrier_wait(&empty["
WRONG = {
    "the consumer does not wait": (LOAD_WAIT, "(void)(&full[", "value"),
    "the producer does not say how much comes": ("barrier_expect(&full[d0], 16384);", "barrier_arrive(&full[d0]);", "value"),
    "bytes that never come": ("barrier_expect(&full[d0], 16384);", "barrier_expect(&full[d0], 16385);", "stuck"),
    "nobody says that a stage is empty": ("barrier_arrive(&empty[", "(void)(&empty[", "stuck"),
    "a box in the wrong stage": ("load_box_2d(&A_shared[d0]", "load_box_2d(&A_shared[0]", "value"),
    "a descriptor of another row": ("A_matrix + 2,", "A_matrix + 4,", "value"),
    "one more arrival is expected": ("barrier_init(&empty[i], 1)", "barrier_init(&empty[i], 2)", "stuck"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_shows(name: str) -> None:
    before, after, how = WRONG[name]
    text = emit_text(SMALL.ring())
    assert before in text
    wrong = [run(SMALL, text.replace(before, after), "fibers", reverse=reverse) for reverse in (False, True)]
    if how == "stuck":
        assert all(found.diverged for found, _, _ in wrong)
    else:
        assert any(found.diverged or found.wrong or not np.array_equal(c, expected) for found, c, expected in wrong)


@pytest.mark.few(2)
@pytest.mark.parametrize(("wait", "kind"), [("", "ring"), ("", "together"), (LOAD_WAIT, "ring"), (STORE_WAIT, "ring")])
def test_waits_under_the_thread_sanitizer(wait: str, kind: str) -> None:
    text = emit_text(getattr(SMALL, kind)())
    found, c, expected = run(SMALL, text.replace(wait, f"(void)({wait[13:]}") if wait else text, "tsan")
    assert bool(found.races) == bool(wait)
    if not wait:
        np.testing.assert_array_equal(c, expected)


DOUBLED = """
!map = !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none,
  oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!tile = memref<32x32xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @doubled(%from: !map {weft.name = "from"}, %to: !map {weft.name = "to"}) workgroup(%tile: !tile {weft.name = "tile"})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %bytes = arith.constant 4096 : index
    %ticks = arith.constant 1000 : index
    %no = arith.constant false
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %x = arith.muli %bx, %c32 : index
    %bar = nvgpu.mbarrier.create -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.mbarrier.init %bar[%c0], %c1, predicate = %first : !bars
    nvvm.fence.mbarrier.init
    gpu.barrier
    scf.if %first {
      nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%x, %c0], %bar[%c0] to %tile : !map, !bars -> !tile
    }
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %no, %ticks : !bars
    scf.for %i = %c0 to %c32 step %c1 {
      %v = memref.load %tile[%i, %t] : !tile
      %w = arith.addf %v, %v : f32
      memref.store %w, %tile[%i, %t] : !tile
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %first {
      nvgpu.tma.async.store %tile to %to[%x, %c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
"""


def test_boxes_are_stored_and_what_lies_outside_is_not() -> None:
    text = emit_text(DOUBLED)
    assert "store_box_2d(to, &tile[0][0], bx * 32, 0);\n    commit_stores();\n    wait_stores<0>();" in text
    given = np.arange(20 * 72, dtype=np.float32).reshape(20, 72)
    to = np.zeros((20, 72), np.float32)
    boxes = Boxes((32, 32))
    for mode in ("fibers", "tsan"):
        to[...] = 0
        assert not run_native(
            text, "doubled", (3, 1, 1), (32, 1, 1), [NativeMap(given, boxes), NativeMap(to, boxes)], mode
        ).races
        np.testing.assert_array_equal(to, 2 * given)
