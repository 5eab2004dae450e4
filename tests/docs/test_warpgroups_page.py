"""`docs/warpgroups.md` is made from prose and the tool (`pytest --update tests/docs/test_warpgroups_page.py`), and is right."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from executors import expect_report
from kept_predictions import predicted
from ladder import page
from pinned import pinned
from rung import ROOT
from scheduled import run_schedule
from warpgroups_page import LADDER, PEAK, SIZE, TEMPLATE, expanded, prediction, read_together, speed

from weft import cli
from weft.dsl.formatter import format_text
from weft.pipeline import Choice, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.predict.prediction import KernelPrediction
from weft.runtime.run.execution import RunOptions

NUMBERS = range(1, len(LADDER.rungs) + 1)


def test_the_page(update: bool) -> None:
    pinned(ROOT / "docs" / "warpgroups.md", page(TEMPLATE, expanded), update)


def test_every_rung_is_shown() -> None:
    text = TEMPLATE.read_text()
    assert all(f"\n@schedule {number}\n" in text and f"\n@effect {number}" in text.replace(f"{number - 1} {number}", f"{number}")
               for number in NUMBERS)  # fmt: skip


def test_the_commands_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", TEMPLATE.read_text(), re.DOTALL) for line in block.splitlines()]
    assert lines and all(cli.run(shlex.split(line)[1:]) == 0 for line in lines)
    assert all(Path(words[2]).is_file() for words in map(shlex.split, lines))


@pytest.mark.few()
@pytest.mark.parametrize("sizes", [(136, 264, 72), (256, 256, 512)], ids=str)
@pytest.mark.parametrize("path", LADDER.rungs, ids=lambda p: p.stem)
def test_a_rung_is_right(path: Path, sizes: tuple[int, int, int]) -> None:
    """Where tiles divide nothing, and where they do."""
    assert format_text(path.read_text(), path.name) == path.read_text()
    settings = {name: str(size) for name, size in zip("mnk", sizes, strict=True)}
    expect_report(run_schedule(str(path), None, settings, None, RunOptions("sim", 3)).report)


def test_what_the_rungs_claim() -> None:
    assert all(compile_cubin(LADDER.made(number).cuda, "sm_90a").spill_bytes == 0 for number in NUMBERS)
    speeds = [speed(number) for number in (0, *NUMBERS)]
    assert speeds[2] > 1.05 * speeds[1] and speeds[3] > 1.15 * speeds[2] and speeds[4] > 1.05 * speeds[3]
    assert speeds[4] > 1.3 * speeds[0] and abs(speeds[5] / speeds[4] - 1) < 0.01
    assert abs(speeds[6] / speeds[5] - 1) < 0.01 and abs(speeds[7] / speeds[6] - 1) < 0.01
    loaded = [prediction(number).busy["L2"] * prediction(number).seconds for number in (5, 6)]
    assert loaded[1] / loaded[0] == pytest.approx(2 / 3, rel=0.04) and prediction(6).limit == "tensor cores"
    assert read_together(7) < 0.9 * read_together(6) == 0.9 * read_together(5)


def of_the_recipe(**settings: str) -> KernelPrediction:
    given = {**dict.fromkeys("mnk", "8192"), **settings}
    return predicted(planned(applied(Choice("hopper", None, given).open())), "h200").kernels[0]


def test_rungs_that_are_the_recipe() -> None:
    assert of_the_recipe().seconds == prediction(5).seconds
    assert of_the_recipe(cluster="2").seconds == prediction(6).seconds


def test_what_the_page_says_of_blocks_that_stay() -> None:
    command = next(line for line in TEMPLATE.read_text().splitlines() if line.startswith("$ weft run"))
    words = re.findall(r"--set (\w+)=(\w+)", command)
    said = re.search(r"That is (\d+) TFLOP/s, (\d+) % of the peak", TEMPLATE.read_text())
    kernel = of_the_recipe(**dict(words))
    found = 2 * SIZE**3 / kernel.seconds / 1e12
    told = f"{found:.0f}", f"{found / PEAK:.0%}"
    assert kernel.rate == pytest.approx(found * 1e12) and said is not None and told == (said[1], f"{said[2]}%"), told
