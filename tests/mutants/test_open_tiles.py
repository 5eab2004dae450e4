"""Blocks that stay and take tile after tile of products whose sizes only a run knows: steps are counted through all tiles, in both
roles alike. Right as it stands, at any size; and each mistake in counts, waits and arrivals is found by both witnesses."""

from __future__ import annotations

import re
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from hopper_verdicts import proof
from mutations import context
from native_device import NativeDevice
from places import ROOT

import weft
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.pipeline import Planned, applied, planned
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import Order

DOCS = ROOT / "docs" / "warpgroups"
ORDERS: list[Order] = ["forward", "reverse", 0]
SIZES = {"bm": 64, "bn": 64, "bk": 64, "m": "?", "n": "?", "k": "?"}
BLOCKS = "map tiles to blocks(x: 2) cyclic"


@cache
def made(rung: str, stages: int, tiles: str = BLOCKS, **sizes: int) -> Planned:
    text = (DOCS / f"{rung}.weft").read_text()
    text = re.sub(r"map tiles to .*", tiles, text)
    aligned = "  assume gemm.lhs.1 % 8 == 0\n  assume gemm.rhs.1 % 8 == 0\n"
    text = text.replace("  let init", f"{aligned}  let init", 1)
    settings = {name: str(value) for name, value in {**SIZES, **sizes, "stages": stages}.items()}
    return planned(applied(weft.load(text, settings=settings)))


def product(m: int, n: int, k: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(m * n + k)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    return {"A": a, "B": b}, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.few(4)
@pytest.mark.parametrize(("rung", "stages"), [("3-producer", 3), ("3-producer", 1), ("3-producer", 4), ("5-stores", 3)])
@pytest.mark.parametrize(("m", "n", "k"), [(120, 192, 136), (200, 136, 72), (64, 64, 320), (1, 8, 8)])
def test_right_at_any_size(rung: str, stages: int, m: int, n: int, k: int) -> None:
    """Tiles of three, two, five and one step on rings of one, three and four: more tiles than blocks, and fewer."""
    done = made(rung, stages)
    inputs, wanted = product(m, n, k)
    for device in (*(SimDevice(order=order) for order in ORDERS[:2]), NativeDevice("quick")):
        ran = run_plan(done.plan, device, inputs, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
        assert not ran.races and not ran.faults
        assert np.array_equal(next(iter(ran.outputs.values())), wanted), device.name


COUNT = r"arith\.muli (%\w+), (%\w+) : index\n(?=\s+(?:%\w+ = )?scf\.for)"
"""The steps of the tiles before, in front of a loop over those of one: of the consumers, then of the producer."""


def counted(text: str, role: int, new: str) -> str:
    """`new`: what stands in place of the count of a role (of both: -1)."""
    places = list(re.finditer(COUNT, text))
    assert len(places) == 2, text
    for number, found in reversed(list(enumerate(places))):
        if role in (number, -1):
            before = text.rindex("\n", 0, found.start()) + 1
            first, _, last = found.expand(new).rpartition(";")
            lines = "".join(f"{line}\n" for line in first.split(";") if line)
            text = f"{text[:before]}{lines}{text[before : found.start()]}{last} : index\n{text[found.end() :]}"
    return text


def without(text: str, pattern: str, number: int = 0) -> str:
    found = list(re.finditer(pattern, text))[number]
    return text[: found.start()] + text[found.end() :]


def bounded(text: str, role: int, op: str) -> str:
    """A role's loop over tiles ends two later or earlier: its blocks take more tiles, or fewer."""
    inside = list(re.finditer(COUNT, text))[role].start()
    *_, found = re.finditer(r"scf\.for %\w+ = %\w+ to (%\w+) step", text[:inside])
    start = text.rindex("\n", 0, found.start()) + 1
    new = f"%two = arith.constant 2 : index\n%end = arith.{op} {found[1]}, %two : index\n"
    return f"{text[:start]}{new}{text[start : found.start(1)]}%end{text[found.end(1) :]}"


WAIT, ARRIVAL = r"nvgpu\.mbarrier\.try_wait\.parity [^\n]*\n", r"%\w+ = nvgpu\.mbarrier\.arrive %[^\n]*\n"
FEWER, MORE = (
    rf"%one = arith.constant 1 : index;%off = arith.{op} \2, %one : index;arith.muli \1, %off" for op in ("subi", "addi")
)
MISTAKES = {
    "consumers count anew in each tile": lambda t: counted(t, 0, r"%no = arith.constant 0 : index;arith.muli %no, \2"),
    "the producer counts anew in each tile": lambda t: counted(t, 1, r"%no = arith.constant 0 : index;arith.muli %no, \2"),
    "both count anew": lambda t: counted(t, -1, r"%no = arith.constant 0 : index;arith.muli %no, \2"),
    "consumers count a step too few": lambda t: counted(t, 0, FEWER),
    "the producer counts a step too few": lambda t: counted(t, 1, FEWER),
    "the producer counts a step too many": lambda t: counted(t, 1, MORE),
    "both count a step too few": lambda t: counted(t, -1, FEWER),
    "both count a step too many": lambda t: counted(t, -1, MORE),
    "the producer counts twice as many tiles": lambda t: counted(t, 1, r"%more = arith.addi \1, \1 : index;arith.muli %more, \2"),
    "consumers have a tile more": lambda t: bounded(t, 0, "addi"),
    "the producer has a tile more": lambda t: bounded(t, 1, "addi"),
    "the producer has a tile fewer": lambda t: bounded(t, 1, "subi"),
    "consumers do not wait": lambda t: without(t, WAIT, 0),
    "the producer does not wait": lambda t: without(t, WAIT, 1),
    "nobody releases": lambda t: without(t, ARRIVAL),
}


MEETING, READ = r"nvvm\.barrier [^\n]*\n", r"nvvm\.cp\.async\.bulk\.wait_group [^\n]*read[^\n]*\n"


@pytest.mark.few(3)
@pytest.mark.parametrize(("pattern", "number"), [(MEETING, 0), (MEETING, 1), (READ, 1), (ARRIVAL, 0), (WAIT, 0), (WAIT, 1)])
def test_what_a_tile_does_beside_its_steps(pattern: str, number: int) -> None:
    """A result that is stored in boxes while the producer is ahead: what its barriers order is not lost."""
    right = made("5-stores", 3).applied.text
    wrong = without(right, pattern, number)
    assert not proof(right) and proof(wrong)
    inputs, _ = product(200, 192, 136)
    plan = make_plan(mlir.parse(wrong, context()))
    found = (run_plan(plan, SimDevice(order=order), inputs, text=wrong) for order in ORDERS)
    assert any(ran.races or ran.faults for ran in found)


@pytest.mark.few(8)
@pytest.mark.parametrize("sizes", [{}, {"m": 120, "n": 192}], ids=["open", "tiles that are known"])
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name: str, sizes: dict[str, int]) -> None:
    done = made("3-producer", 3, **sizes)
    right = done.applied.text
    assert not proof(right)
    wrong = MISTAKES[name](right)
    assert proof(wrong), "the proof"
    inputs, _ = product(120, 192, 136)
    for order in ORDERS:
        try:
            plan = make_plan(mlir.parse(wrong, context()))
            ran = run_plan(plan, SimDevice(order=order), inputs, text=wrong)
        except WeftError:
            continue
        assert ran.races or ran.faults, ("the simulator", order)


def test_what_is_started_in_front_of_a_loop_is_not_counted() -> None:
    with pytest.raises(WeftError, match="W0405") as caught:
        made("2-stages", 3)
    assert "`pipeline … producer`" in str(caught.value.diagnostics[0].hint)
