"""Two convolutions and their sum, from the posted text to three launches on two streams: right by two references, race-free."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from native_device import NativeDevice
from recipe_space import members
from scheduled import run_schedule

from weft.dsl.diagnostics import Source
from weft.execution import run_applied
from weft.interpreter.ir.mlir import operations
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.files.bundle import read_bundle, write_bundle
from weft.runtime.plan.plan import Alloc, used_buffers
from weft.runtime.run.execution import RunOptions, run_bundle
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

RECIPE = "concurrent_convs"
POSTED = Path(__file__).with_name("posted_convs.mlir")
SIZES = [(1, 1, 1), (2, 3, 2), (3, 5, 7), (1, 64, 28)]
"""Batch, filters, rows and columns."""


def settings(size: tuple[int, int, int]) -> dict[str, str]:
    return {name: str(value) for name, value in zip(("batch", "filters", "size"), size, strict=True)}


@cache
def made(size: tuple[int, int, int], **more: str) -> Planned:
    return planned(applied(Choice(RECIPE, None, {**settings(size), **more}).open()))


def images(batch: int, size: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((batch, 1, size, size), np.float32)


def convolved(given: np.ndarray, filters: int) -> np.ndarray:
    """What the module computes, in f64 and tap by tap: weights 1 and 0.5, biases 0.1 and 0.2, zeros around the image."""
    batch, _, size, _ = given.shape
    out = np.zeros((batch, filters, size, size))
    for weight, bias in ((1.0, 0.1), (0.5, 0.2)):
        for row in range(size):
            for column in range(size):
                window = given[:, 0, max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].astype(np.float64)
                out[:, :, row, column] += (weight * window).sum(axis=(1, 2))[:, None] + bias
    return out


def test_the_builder_makes_the_posted_text_letter_by_letter() -> None:
    lines = POSTED.read_text().splitlines(keepends=True)
    posted = "".join(line for line in lines if not line.startswith("//"))
    assert builders()[RECIPE].build(batch=1024, filters=64, size=28) == posted


def test_the_posted_text_takes_the_schedule_at_its_full_size() -> None:
    done = planned(applied(Choice(RECIPE, POSTED).open()))
    assert [(launch.grid, launch.block) for launch in done.plan.launches] == [((200704, 1, 1), (256, 1, 1))] * 3
    shapes = {b.name: b.shape for b in done.plan.buffers if b.role in ("input", "output")}
    assert shapes == {"arg0": (1024, 1, 28, 28), "result0": (1024, 64, 28, 28)}
    assert compile_cubin(done.cuda, ARCHITECTURES[0]).spill_bytes == 0


def test_places_of_ops_are_those_of_the_posted_text() -> None:
    source = Source(POSTED.name, POSTED.read_text())
    module = parse_payload(source)  # kept: its ops must not outlive it
    ops = [op for op in operations(module.operation) if op.name.startswith("affine.") and op.name != "affine.yield"]
    assert len(ops) == 43
    for op in ops:
        line, column = (int(n) for n in str(op.location).rstrip(")").split(":")[-2:])
        assert source.line(line)[column - 1 :].startswith(op.name), (op.name, line, column)


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_both_references_agree(size: tuple[int, int, int]) -> None:
    batch, filters, side = size
    given = images(batch, side)
    module = parse_payload(Source("p.mlir", builders()[RECIPE].build(batch=batch, filters=filters, size=side)))
    found = reference(module, None, {"arg0": given})["result0"]
    np.testing.assert_allclose(found, convolved(given, filters), rtol=1e-5, atol=1e-5)
    baseline = builders()[RECIPE].baseline(np, {"arg0": given}, batch=batch, filters=filters, size=side)
    np.testing.assert_allclose(baseline, found, rtol=1e-5, atol=1e-5)


SPACE = [(member, size) for member in members(RECIPE) for size in SIZES]
MEMBERS = SPACE if "WEFT_SOAK" in os.environ else [one for n, one in enumerate(SPACE) if one[1] != SIZES[-1] or n // 4 in (0, 3)]
"""Few threads and many at the largest size; all that there are in a soak."""


@pytest.mark.few(4)
@pytest.mark.parametrize(("member", "size"), MEMBERS, ids=str)
def test_right_and_race_free(member: dict[str, str], size: tuple[int, int, int]) -> None:
    report = run_schedule(RECIPE, None, {**member, **settings(size)}, None, RunOptions("sim", 3)).report
    expect_report(report)


@pytest.mark.parametrize("size", SIZES[1:3], ids=str)
def test_text_and_simulator_against_numpy(size: tuple[int, int, int]) -> None:
    batch, filters, side = size
    given, done = images(batch, side), made(size, threads="64")
    device = NativeDevice("tsan")
    for text, where in ((done.cuda, NativeDevice()), (done.cuda, device), (done.applied.text, SimDevice())):
        found = run_plan(done.plan, where, {"arg0": given}, text=text).outputs["result0"]
        np.testing.assert_allclose(found, convolved(given, filters), rtol=1e-5, atol=1e-5)
    assert device.races == []


def test_the_compiler_takes_it_everywhere() -> None:
    for size in ((3, 5, 7), (4, 64, 28)):
        for arch in ARCHITECTURES:
            assert compile_cubin(made(size).cuda, arch).spill_bytes == 0


def test_weights_travel_with_the_bundle(tmp_path: Path) -> None:
    done = made((2, 3, 4))
    folder = write_bundle(tmp_path / "bundle", done.plan, done.cuda, done.applied.text)
    constants = {b.name: np.frombuffer(b.data or b"", np.float32) for b in read_bundle(folder).plan.buffers if b.role == "constant"}
    assert {name: (len(v), set(v.tolist())) for name, v in constants.items()} == {
        "constant_0": (27, {1.0}),
        "constant_1": (3, {float(np.float32(0.1))}),
        "constant_2": (27, {0.5}),
        "constant_3": (3, {float(np.float32(0.2))}),
    }
    assert run_bundle(folder, RunOptions("sim", 0, None, None, "none")).report.races == ()


def test_the_convolutions_run_on_two_streams_and_the_sum_after_both() -> None:
    plan = made((2, 3, 4)).plan
    first, second, both = plan.launches
    assert first.stream != second.stream and not first.after and not second.after
    other = second if both.stream == first.stream else first
    waiting = plan.steps[plan.steps.index(both) - 1]  # the memory of the sum is allocated once both are done
    assert isinstance(waiting, Alloc) and waiting.buffer in used_buffers(both) and waiting.stream == both.stream
    assert both.stream in (first.stream, second.stream) and waiting.after == (plan.steps.index(other),) and not both.after
    assert len({step.stream for step in plan.steps}) == 2


def test_any_order_of_the_streams_gives_the_same() -> None:
    done = made((2, 3, 4)).applied
    for seed in range(6):
        report = run_applied(done, None, RunOptions("sim", seed), SimDevice()).report
        assert report.ok and report.streams_created == report.streams_destroyed == 2, report


def test_the_scheduled_module_is_verified() -> None:
    assert verify_source(Source("scheduled.mlir", made((3, 5, 7)).applied.text)).ok
