"""`docs/reductions.md` is made from prose and the tool (`pytest --update tests/docs/test_reductions.py`); what it says is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from attention_rungs import ATTENTION, launches, per_argument, reads, temporaries
from attention_rungs import seconds as seconds_of_attention
from executors import expect_report
from kept_predictions import predicted
from ladder import page
from pinned import pinned
from reductions_page import LADDER, TEMPLATE, counted, expanded, moved, rows_bytes, seconds
from rung import ROOT
from scheduled import run_schedule

import weft
from weft import cli
from weft.dsl.formatter import format_text
from weft.pipeline import Choice, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.run.execution import RunOptions

NUMBERS = range(1, len(LADDER.rungs) + 1)
OF_ATTENTION = range(1, len(ATTENTION.rungs) + 1)


def test_the_page(update: bool) -> None:
    pinned(ROOT / "docs" / "reductions.md", page(TEMPLATE, expanded), update)


def test_every_rung_is_shown() -> None:
    text = TEMPLATE.read_text()
    assert all(f"\n@schedule {number}\n" in text and f"\n@cuda {number} " in text for number in NUMBERS)
    assert all(f"\n@attention.schedule {number}\n" in text for number in OF_ATTENTION)


def test_the_commands_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", TEMPLATE.read_text(), re.DOTALL) for line in block.splitlines()]
    run = [shlex.split(line)[1:] for line in lines if line.startswith("weft run")]
    assert run and all(cli.run(words) == 0 for words in run)
    assert all(Path(words[2]).is_file() for words in map(shlex.split, lines))


@pytest.mark.few()
@pytest.mark.parametrize(("m", "n"), [(37, 332), (16, 512)])
@pytest.mark.parametrize("path", LADDER.rungs, ids=lambda p: p.stem)
def test_a_rung_is_right(path: Path, m: int, n: int) -> None:
    """At rows that threads do not divide (vectors must), and at rows that they do."""
    assert format_text(path.read_text(), path.name) == path.read_text()
    expect_report(run_schedule(str(path), None, {"m": str(m), "n": str(n)}, None, RunOptions("sim", 3)).report)


def test_the_last_rung_is_the_recipe() -> None:
    """But for how many threads a block has."""
    recipe = weft.apply(weft.load("softmax", settings={"m": 8192, "n": 8192, "threads": 256}))
    assert recipe.text == LADDER.made(NUMBERS[-1]).applied.text


# ---- the counts, against what can be worked out on paper ---------------------------------------------------------------------


def test_what_the_rungs_claim() -> None:
    found = [counted(number) for number in NUMBERS]
    assert [one.reads for one in found] == [3, 3, 3, 1, 1] and {one.writes for one in found} == {1}
    assert [one.lines for one in found] == [32, 1, 1, 1, 1]
    assert [one.width for one in found] == [4, 4, 4, 4, 16]
    assert [one.barriers for one in found] == [0, 0, 2, 2, 2]
    assert all(compile_cubin(LADDER.made(number).cuda, "sm_90a").spill_bytes == 0 for number in NUMBERS)


def test_what_dram_moves() -> None:
    """Three reads and a write, or one of each, of 8192 × 8192 floats."""
    assert [moved(number) / rows_bytes(number) for number in NUMBERS] == [4, 4, 2, 2, 2]
    times = [seconds(number) for number in NUMBERS]
    assert times[0] > 10 * times[1] and times[1] > 1.9 * times[2] and times[2] >= times[3] >= times[4]


# ---- attention ---------------------------------------------------------------------------------------------------------------


@pytest.mark.few()
@pytest.mark.parametrize(("n", "m"), [(37, 76), (128, 128)])
@pytest.mark.parametrize("path", ATTENTION.rungs, ids=lambda p: p.stem)
def test_a_rung_of_attention_is_right(path: Path, n: int, m: int) -> None:
    """Where tiles divide nothing (but whole vectors a row of scores), and where they do."""
    assert format_text(path.read_text(), path.name) == path.read_text()
    expect_report(run_schedule(str(path), None, {"b": "2", "n": str(n), "m": str(m)}, None, RunOptions("sim", 3)).report)


@pytest.mark.parametrize(("recipe", "number"), [("attention", 3), ("attention_tensor", 5)])
def test_a_rung_of_attention_is_the_recipe(recipe: str, number: int) -> None:
    """But for the axis of blocks that tiles of the head size have there."""
    sizes = {"b": 32, "n": 2048, "m": 2048}
    shipped = planned(applied(Choice(recipe, None, {name: str(n) for name, n in sizes.items()}).open()))
    mine = ATTENTION.made(number)
    assert predicted(shipped, "h200").kernels[0].registers == ATTENTION.predicted(number).kernels[0].registers
    assert {b.name for b in shipped.plan.buffers} == {b.name for b in mine.plan.buffers} == set("QKVO")


def test_what_attention_moves() -> None:
    """Scores of 32 heads are 512 MiB; a block of one query, then of 128, then of 64."""
    assert [launches(number) for number in OF_ATTENTION] == [7, 3, 1, 1, 1]
    assert [temporaries(number) / 2**29 for number in OF_ATTENTION] == pytest.approx([4, 2, 0, 0, 0], abs=0.01)
    assert [reads(number, "Q") for number in OF_ATTENTION] == [256, 2, 1, 1, 1]
    assert [reads(number, "K") for number in OF_ATTENTION] == [256, 2, 2, 4, 4]
    moved_bytes = [per_argument(number) for number in OF_ATTENTION]
    assert moved_bytes[2:] == [1.5, 2.5, 2.5] and moved_bytes[0] > 10 * moved_bytes[1] > 20 * moved_bytes[2]
    times = [seconds_of_attention(number) for number in OF_ATTENTION]
    assert times[0] > 9 * times[1] and times[1] > 1.1 * times[2] and times[2] > 7 * times[3] and times[3] > 1.1 * times[4]
    assert all(compile_cubin(ATTENTION.made(number).cuda, "sm_90a").spill_bytes == 0 for number in OF_ATTENTION)
