"""Convolutions as implicit GEMMs: right and race-free for random layers, without a matrix of windows, each barrier needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np
import pytest
from convolution_oracle import convolved
from executors import expect_computed, expect_report
from native_device import NativeDevice
from random_layers import ANY_TILES, PAYLOADS, check, made, plain_loops, random_layer
from scheduled import run_schedule
from test_matmul import BARRIER, races_of_text, races_simulated, without_barrier

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
RECIPES = tuple(schedule for schedule in PAYLOADS if schedule not in ANY_TILES.values())
POSTED = Path(__file__).with_name("posted_conv.mlir")
SMALL = {"n": "2", "c": "4", "h": "6", "w": "5", "k": "10"}
"""Three steps of k, and two images in one tile. Small, for the thread sanitizer is slow."""


@pytest.mark.parametrize("seed", range(500 if SOAK else 2))
def test_random_layers(seed: int) -> None:
    check(*random_layer(seed), seed)


STRADDLING = [(1, 1, 1), (1, 16, 3), (13, 1, 36), (7, 5, 4), (32, 32, 1), (30, 7, 10), (29, 9, 64)]
LAYOUTS = list(ANY_TILES)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("layout", "tiles"),  # in a soak all tiles with both layouts, else by turns
    [(layout, tiles) for n, tiles in enumerate(STRADDLING) for layout in (LAYOUTS if SOAK else [LAYOUTS[n % 2]])],
    ids=str,
)
def test_tiles_that_straddle_rows_images_and_taps(layout: str, tiles: tuple[int, int, int]) -> None:
    layer = {"n": "3", "c": "4", "h": "5", "w": "6", "k": "9", "stride": "2", "pad": "2"}
    check(ANY_TILES[layout], layer | dict(zip(("bm", "bn", "bk"), map(str, tiles), strict=True)))


@pytest.mark.parametrize("seed", range(100 if SOAK else 1))
def test_text_of_random_layers_on_the_cpu(seed: int) -> None:
    schedule, settings = random_layer(seed)
    done = made(schedule, settings)
    signature = functions.signature(done.applied.payload, done.plan.entry)
    arrays = random_inputs(signature, seed)
    wanted = plain_loops(schedule, settings, arrays)
    for reverse in (False, True):
        got = run_plan(done.plan, NativeDevice(reverse=reverse), arrays, text=done.cuda).outputs["Y"]
        assert np.max(np.abs(got - wanted)) <= 1e-5 * max(np.max(np.abs(wanted)), 1e-30), (schedule, settings)


# ---- memory ------------------------------------------------------------------------------------------------------------------


def sizes(values: Iterator[ir.Value]) -> list[int]:
    """Elements of all that are memrefs; none is of a size that only a run could tell."""
    shapes = [value.type.shape for value in values if isinstance(value.type, ir.MemRefType)]
    assert all(n >= 0 for shape in shapes for n in shape), shapes
    return [prod(shape) for shape in shapes]


def memrefs(module: ir.Module) -> Iterator[ir.Value]:
    """Every result and every argument of a block."""
    for op in mlir.operations(module.operation):
        yield from op.results
        yield from (argument for region in op.regions for block in region.blocks for argument in block.arguments)


def allocated(module: ir.Module, threads: int) -> int:
    """Elements of all allocations of a block of `threads`, and of the host's."""
    own, others, shared = [], [], []
    for op in mlir.operations(module.operation):
        if op.name in ("memref.alloc", "gpu.alloc"):
            others.append(op.results[0])
        elif op.name == "memref.alloca":
            own.append(op.results[0])
        elif op.name == "gpu.func":
            shared += [a for a in op.regions[0].blocks[0].arguments if "#gpu.address_space<workgroup>" in str(a.type)]
    return threads * sum(sizes(iter(own))) + sum(sizes(iter(others))) + sum(sizes(iter(shared)))


def expect_no_matrix_of_windows(done: Planned, elements: int) -> None:
    """Neither a buffer as large as the matrix that the product's image would be, nor all together beside the arguments."""
    module = done.applied.module
    (launch,) = done.plan.launches
    assert max(sizes(memrefs(module))) < elements
    assert max(prod(map(int, map(str, buffer.shape))) for buffer in done.plan.buffers) < elements
    own = [buffer for buffer in done.plan.buffers if buffer.role in ("temp", "constant")]
    beside = sum(prod(map(int, map(str, buffer.shape))) for buffer in own)
    assert 0 < allocated(module, prod(launch.block)) + beside < elements


def test_the_posted_convolution() -> None:
    done = planned(applied(Choice(ANY_TILES["conv2d"], POSTED, {}).open()))
    expect_no_matrix_of_windows(done, 196 * 36)
    signature = functions.signature(done.applied.payload, done.plan.entry)
    arrays = random_inputs(signature, 7)
    result = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text)
    expect_computed("the simulator", result, signature, reference(done.applied.payload, None, arrays))
    given = {"X": arrays["arg0"], "W": arrays["arg1"]}
    wanted = arrays["arg2"] + convolved(given, first=False, stride=1, pad=0, dilation=1)
    np.testing.assert_allclose(result.outputs["result0"], wanted, rtol=1e-5, atol=1e-5)
    assert [(launch.grid, launch.block) for launch in done.plan.launches] == [((3, 7, 1), (7, 30, 1))]


@pytest.mark.parametrize(("recipe", "layer"), [
    ("igemm_bias_relu", {"n": 29, "c": 2, "k": 139, "h": 64, "w": 4, "r": 4, "s": 2, "pad": 0, "residual": 1, "type": "bf16"}),
    ("igemm_nchw", {"n": 2, "c": 130, "k": 208, "h": 63, "w": 4, "r": 1, "s": 2, "dilation": 3, "pad": 2, "type": "bf16"}),
    ("igemm_hopper", {"n": 48, "c": 104, "k": 279, "h": 8, "w": 64, "r": 3, "s": 5, "stride": 3, "dilation": 2, "pad": 2}),
])  # fmt: skip
def test_each_element_is_proven_to_have_one_owner(recipe: str, layer: dict[str, object]) -> None:
    """Rows and columns of the result are compared: of positions in memory ISL gave up whether two tiles have one of them."""
    applied(Choice(recipe, None, {name: str(value) for name, value in layer.items()}).open())


@pytest.mark.few(2)
@pytest.mark.parametrize("recipe", RECIPES)
def test_no_matrix_of_windows(recipe: str) -> None:
    layer = {"n": "2", "c": "16", "h": "24", "w": "20", "k": "32"}
    expect_no_matrix_of_windows(made(recipe, layer), 2 * 24 * 20 * 3 * 3 * 16)


def test_a_matrix_of_windows_would_be_seen() -> None:
    text = """
      gpu.module @m {
        gpu.func @k(%a: memref<9xf32>) workgroup(%s: memref<5x7xf32, #gpu.address_space<workgroup>>) kernel {
          %t = memref.alloca() : memref<3xf32>
          gpu.return
        }
      }
      func.func @f(%a: memref<9xf32>) {
        %windows = memref.alloc() : memref<196x36xf32>
        return
      }"""
    module = parse_payload(Source("windows.mlir", text))
    assert max(sizes(memrefs(module))) == 196 * 36
    assert allocated(module, 32) == 196 * 36 + 5 * 7 + 32 * 3


# ---- shared memory -----------------------------------------------------------------------------------------------------------


TILES = {"n": "1", "c": "16", "h": "16", "w": "16", "k": "64"}
"""Whole tiles, more than one, and several steps of k."""


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_loads_have_no_bank_conflicts_and_stores_are_named(recipe: str, dtype: str) -> None:
    report = run_schedule(recipe, None, {"type": dtype} | TILES, None, RunOptions("sim", 3)).report
    expect_report(report)
    accesses = report.bank_conflicts or ()
    assert {a.kind for a in accesses} == {"load", "store"}
    for access in accesses:
        assert access.conflicts == 0 or access.kind == "store", access
        assert access.buffer in ("X_shared", "W_shared") and access.statement and "promote-to-shared" in access.statement, access


@pytest.mark.few(2)
@pytest.mark.parametrize("recipe", RECIPES)
def test_barriers_exactly_and_each_needed(recipe: str) -> None:
    done = made(recipe, SMALL)
    module = done.applied.module
    places = list(BARRIER.finditer(done.cuda))
    assert len(places) == len(list(mlir.operations(module.operation, "gpu.barrier"))) == (1 if recipe == "igemm_pipelined" else 2)
    assert races_of_text(done, done.cuda) == []
    assert races_simulated(done, str(module)) == 0
    for number, place in enumerate(places):
        text = done.cuda[: place.start()] + done.cuda[place.end() :]
        assert races_of_text(done, text), f"the thread sanitizer misses barrier {number}"
        assert races_simulated(done, without_barrier(module, number)), f"the simulator misses barrier {number}"
        left = verify_source(Source("less.mlir", without_barrier(module, number)))
        assert not left.ok and {d.code for d in left.diagnostics} == {"W0601"}, f"the analysis misses barrier {number}"
    whole = verify_source(Source("whole.mlir", str(module)))
    assert whole.ok and [k.superfluous for k in whole.kernels] == [()], whole.diagnostics
