"""Sizes that are exactly one tile, beside open ones: the loop over such tiles has one iteration, whose views begin at 0."""

from __future__ import annotations

import itertools
import os
import random

import numpy as np
import pytest

import weft
from weft.interpreter.buffers.views import fold_constant_offsets
from weft.interpreter.ir.mlir import ir, operations, run_passes
from weft.pipeline import applied, planned
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SAMPLED = 64 if "WEFT_SOAK" in os.environ else 2
"""Of the choices of sizes that are not one tile, how many are tried."""
SIMT = {"bm": 32, "bn": 32, "bk": 8, "wm": 16, "wn": 32, "tm": 4, "tn": 4}
RECIPES: dict[str, tuple[dict[str, int], tuple[int, int, int]]] = {
    "naive": ({}, (16, 16, 4)),
    "shared": ({"bm": 8, "bn": 8, "bk": 8}, (8, 8, 8)),
    "simt": (SIMT, (32, 32, 8)),
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_product_of_one_tile_in_some_dimensions(recipe: str) -> None:
    settings, tile = RECIPES[recipe]
    subsets = list(itertools.product([False, True], repeat=3))
    others = [(large, open_) for large in subsets[1:] for open_ in subsets]
    for large, open_ in [(subsets[0], s) for s in subsets] + random.Random(recipe).sample(others, min(SAMPLED, len(others))):
        extents = [n + 5 * more for n, more in zip(tile, large, strict=True)]
        sizes = {d: "?" if any_ else n for d, n, any_ in zip("mnk", extents, open_, strict=True)}
        one = planned(applied(weft.load(recipe, settings=settings | sizes)))
        for more in (0, 3) if any(open_) else (0,):
            m, n, k = (n + more * any_ for n, any_ in zip(extents, open_, strict=True))
            generator = np.random.default_rng(0)
            a, b = generator.standard_normal((m, k), np.float32), generator.standard_normal((k, n), np.float32)
            done = run_plan(one.plan, SimDevice(), {"A": a, "B": b}, text=one.applied.located_text)
            (product,) = done.outputs.values()
            assert np.allclose(product, a @ b, atol=1e-3), (sizes, more)
            assert not done.races and not done.faults, (sizes, more)


ROWS = "memref<16x?xf32, strided<[?, 1], offset: ?>>"
STATIC = "memref<16x16xf32, strided<[16, 1], offset: ?>>"
VIEWS = {
    "of rows whose stride is open": ("16x?", f"[16, %n] [1, 1] : memref<16x?xf32> to {ROWS}", "", ROWS),
    "cast": (
        "16x?",
        f"[16, %n] [1, 1] : memref<16x?xf32> to {ROWS}",
        f"%w = memref.cast %v : {ROWS} to memref<?x?xf32, strided<[?, ?], offset: ?>>",
        "memref<?x?xf32, strided<[?, ?], offset: ?>>",
    ),
    "cast to a static size": (
        "16x?",
        f"[16, %n] [1, 1] : memref<16x?xf32> to {ROWS}",
        f"%w = memref.cast %v : {ROWS} to {STATIC}",
        STATIC,
    ),
    "of an open step": (
        "?x?",
        "[1, %n] [1, %n] : memref<?x?xf32> to memref<1x?xf32, strided<[?, ?], offset: ?>>",
        "",
        "memref<1x?xf32, strided<[?, ?], offset: ?>>",
    ),
    "of one row": (
        "16x?",
        "[1, %n] [1, 1] : memref<16x?xf32> to memref<?xf32, strided<[1], offset: ?>>",
        "",
        "memref<?xf32, strided<[1], offset: ?>>",
    ),
    "taken apart": (
        "16x16",
        f"[16, 16] [1, 1] : memref<16x16xf32> to {STATIC}",
        f"%w = memref.expand_shape %v [[0, 1], [2]] output_shape [4, 4, 16] : {STATIC} into "
        "memref<4x4x16xf32, strided<[64, 16, 1], offset: ?>>",
        "memref<4x4x16xf32, strided<[64, 16, 1], offset: ?>>",
    ),
    "taken apart, of an open stride": (
        "16x?",
        f"[16, %n] [1, 1] : memref<16x?xf32> to {ROWS}",
        f"%w = memref.expand_shape %v [[0, 1], [2]] output_shape [4, 4, %n] : {ROWS} into "
        "memref<4x4x?xf32, strided<[?, ?, 1], offset: ?>>",
        "memref<4x4x?xf32, strided<[?, ?, 1], offset: ?>>",
    ),
    "put together": (
        "16x16",
        f"[16, 16] [1, 1] : memref<16x16xf32> to {STATIC}",
        f"%w = memref.collapse_shape %v [[0, 1]] : {STATIC} into memref<256xf32, strided<[1], offset: ?>>",
        "memref<256xf32, strided<[1], offset: ?>>",
    ),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_begins_at_0_says_so_in_its_type(view: str) -> None:
    """Also each view of it: the verifier wants the type that follows, and folding keeps the one that is there."""
    shape, taken, then, seen = VIEWS[view]
    subscripts = ", ".join(["%c0"] * (seen.split("xf32")[0].count("x") + 1))
    text = f"""func.func @f(%a: memref<{shape}xf32>, %n: index) -> f32 {{
      %c0 = arith.constant 0 : index
      %z = affine.apply affine_map<(d0) -> (d0 * 16)>(%c0)
      %v = memref.subview %a[%z, 0] {taken}
      {then}
      %r = memref.load {"%w" if then else "%v"}[{subscripts}] : {seen}
      return %r : f32
    }}"""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        fold_constant_offsets(next(operations(module.operation, "func.func")))
        assert module.operation.verify() and "offset: ?" not in str(next(operations(module.operation, "memref.subview")))
        run_passes(module, "func.func(fold-memref-alias-ops)")
