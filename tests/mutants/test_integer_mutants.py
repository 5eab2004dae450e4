"""Mistakes in products of integers by warp groups, which are instructions with a wait of their own: in a small kernel of the recipe
`hopper`, by hand."""

from __future__ import annotations

import re

import pytest
from hopper_kernels import Made
from hopper_verdicts import Runs, proof
from mutations import context

from weft.interpreter.ir import mlir
from weft.pipeline import Choice, applied
from weft.runtime.cuda.module import emit

SETTINGS = {"type": "i8", "m": "120", "n": "120", "k": "440", "bm": "128", "bn": "64", "stages": "3"}
ADDED = r"(?:.* = arith.*\n)*"
PRODUCTS = r"(?:.*nvvm\.wgmma\..*\n(?:.* = arith\..*\n)*)+"
RELEASE = r"(?:.*scf\.if .*\n.*nvgpu\.mbarrier\.arrive %.*\n.*\}\n)"
WAIT_FULL = r".*nvgpu\.mbarrier\.try_wait\.parity.*\n(?=(?:.*\n){1,12}?.*nvvm\.wgmma\.fence)"
ORDER: dict[str, tuple[str, str, set[str], set[str]]] = {
    "no wait": (r"nvvm\.wgmma\.wait\.group\.sync\.aligned 0", "", {"W0640"}, {"refused"}),
    "a wait for all but one": (r"(nvvm\.wgmma\.wait\.group\.sync\.aligned) 0", r"\1 1", {"W0640"}, {"refused"}),
    "no group": (r"nvvm\.wgmma\.commit\.group\.sync\.aligned", "", {"W0640"}, {"refused"}),
    "a wait in front of the group": (
        r"(nvvm\.wgmma\.commit\.group\.sync\.aligned)(\s+)(nvvm\.wgmma\.wait.*)", r"\3\2\1", {"W0640"}, {"refused"}),
    "no fence": (r"nvvm\.wgmma\.fence\.aligned", "", {"W0640"}, {"refused"}),
    "an instruction leaves its sum alone": (
        rf"(mma_async %\w+, %\w+, )(%arg\w+)(.*\n{ADDED}.*mma_async %\w+, %\w+, )%\w+", r"\1\2\3\2", {"W0640"}, {"refused"}),
    "beside a row": (r"(%c2_i64 = arith\.constant) 2", r"\1 3", {"W0640"}, {"refused"}),
    "behind the matrix": (r"(%c2_i64 = arith\.constant) 2", r"\1 8", {"W0640"}, {"refused"}),
    "a matrix on the right of fewer columns than the instruction has": (
        r"(?s)-> <tensor = memref<128x64(x.*?)memref<128x64", r"-> <tensor = memref<128x32\1memref<128x32", {"W0640"}, {"refused"}),
    "a loop around an instruction": (
        r"( = nvvm.*mma_async %\w+, %\w+, )(%arg\w+)(,.* -> )(.*)",
        r" = scf.for %once = %c0 to %c1 step %c1 iter_args(%sums = \2) -> (\4) {%one\1%sums\3\4 scf.yield %one : \4 }",
        {"W0640"}, {"refused"}),
    "nobody waits for full stages": (WAIT_FULL, "", {"W0667"}, {"in-flight", "uninitialized read"}),
    "a stage is released in front of its products": (
        rf"({PRODUCTS})((?:.*builtin.*\n)?)({RELEASE})", r"\3\1\2", {"W0667"}, {"in-flight", "WAR"}),
    "nobody releases a stage": (rf"(?<=wait.group.sync.aligned 0\n){RELEASE}", "", {"W0665"}, {"deadlock"}),
}  # fmt: skip
"""What is edited, once; what the proof says, and the simulator."""
VALUES = {
    "a part of the sum is added twice": (r"(%c2_i64 = arith\.constant) 2", r"\1 4"),
    "of the right operand alone": (rf"(mma_async )(%\w+)(, %\w+, %arg.*\n{ADDED}.*mma_async )%\w+", r"\1\2\3\2"),
}
WAITED = "nvvm.wgmma.commit.group.sync.aligned nvvm.wgmma.wait.group.sync.aligned 0 nvvm.wgmma.fence.aligned"
EQUAL = {
    "waited for one by one": (r"(mma_async %\w+, %\w+, %arg.*)", rf"\1 {WAITED}"),
    "in another order": (r"(%c4_i64 = arith\.constant) 4(.*\n.*%c2_i64 = arith\.constant) 2", r"\1 2\2 4"),
}


@pytest.fixture(scope="module")
def right() -> Made:
    done = applied(Choice("hopper", None, SETTINGS).open())
    return Made(done.payload, done.text)


@pytest.fixture(scope="module")
def runs(right: Made) -> Runs:
    return Runs(right)


def edited(right: Made, pattern: str, new: str) -> str:
    text, count = re.subn(pattern, new, right.text)
    assert count == 1, f"{count} times: {pattern}"
    return text


def test_right(right: Made, runs: Runs) -> None:
    assert not proof(right.text)
    assert not runs.simulated(right.text) and not runs.simulated(right.text, 0) and not runs.native(right.text)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ORDER)
def test_order(name: str, right: Made, runs: Runs) -> None:
    pattern, new, codes, found = ORDER[name]
    text = edited(right, pattern, new)
    assert proof(text) & codes, proof(text)
    assert all(runs.simulated(text, order) & found for order in ("forward", 0))


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, right: Made, runs: Runs) -> None:
    text = edited(right, *VALUES[name])
    assert not proof(text) and runs.simulated(text) == runs.native(text) == {"values"}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name: str, right: Made, runs: Runs) -> None:
    text = edited(right, *EQUAL[name])
    assert not proof(text) and not runs.simulated(text) and not runs.native(text)


def test_the_text_waits_where_the_module_does(right: Made) -> None:
    """A sum that goes on behind a wait is not in flight there."""
    text = emit(mlir.parse(edited(right, *EQUAL["waited for one by one"]), context()))
    lines = re.findall(r"(begin|product|end)\w*\(acc", text)
    assert lines == ["begin", "product", "end", "begin", *["product"] * 3, "end"]
