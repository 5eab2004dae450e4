"""`docs/warpgroups.md` is made from prose and the tool (`pytest --update tests/docs/test_warpgroups_page.py`), and is right."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from ladder import page
from pinned import pinned
from rung import ROOT
from scheduled import run_schedule
from warpgroups_page import LADDER, TEMPLATE, expanded, prediction, speed

from weft import cli
from weft.dsl.formatter import format_text
from weft.execution import predicted
from weft.pipeline import Choice, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
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


@pytest.mark.parametrize("path", LADDER.rungs, ids=lambda p: p.stem)
def test_a_rung_is_right(path: Path) -> None:
    """Where tiles divide nothing, and where they do."""
    assert format_text(path.read_text(), path.name) == path.read_text()
    for m, n, k in ((136, 264, 72), (256, 256, 512)):
        sizes = {"m": str(m), "n": str(n), "k": str(k)}
        report = run_schedule(str(path), None, sizes, None, RunOptions("sim", 3)).report
        assert report.ok and report.races == () and report.faults == (), report


def test_what_the_rungs_claim() -> None:
    assert all(compile_cubin(LADDER.made(number).cuda, "sm_90a").spill_bytes == 0 for number in NUMBERS)
    speeds = [speed(number) for number in (0, *NUMBERS)]
    assert speeds[2] > 1.1 * speeds[1] and abs(speeds[3] / speeds[2] - 1) < 0.02 and speeds[4] > 1.3 * speeds[3]
    assert speeds[4] > 1.3 * speeds[0] and speeds[5] >= speeds[4]


def test_the_last_rung_is_the_recipe() -> None:
    settings = dict.fromkeys("mnk", "8192")
    shipped = predicted(planned(applied(Choice("hopper", None, settings).open())), "h200").kernels[0]
    assert shipped.seconds == prediction(NUMBERS[-1]).seconds
