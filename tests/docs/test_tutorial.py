"""`docs/tutorial.md` and `docs/performance.md` are made from prose and the tool; `pytest --update tests/docs` writes them anew."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from pinned import pinned
from rung import ROOT as REPOSITORY
from rung import RUNGS, counts, made
from tutorial_page import page, prediction, tile_of

import weft
from weft import cli
from weft.dsl.formatter import format_text

DOCS = REPOSITORY / "docs"
LAST = RUNGS[-1]


@pytest.mark.parametrize("name", ["tutorial", "performance"])
def test_the_page(name: str, update: bool) -> None:
    pinned(DOCS / f"{name}.md", page(DOCS / name / "page.md"), update)


def test_every_rung_is_shown() -> None:
    text = (DOCS / "tutorial" / "page.md").read_text()
    for number in range(1, len(RUNGS) + 1):
        assert all(f"\n@{what} {number}" in text for what in ("schedule", "ir", "cuda", "effect")), number


def test_the_commands_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    text = (DOCS / "tutorial" / "page.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    run = [shlex.split(line)[1:] for line in lines if line.startswith("weft run")]
    assert run and all(cli.run(words) == 0 for words in run)
    assert all(Path(words[2]).is_file() for words in map(shlex.split, lines))
    for name, value in (("bk", 8), ("bn", 256)):
        assert f"--set {name}={value}`" in text
        weft.load("simt_pipelined", settings={name: value})


@pytest.mark.parametrize("path", RUNGS, ids=lambda p: p.stem)
def test_a_rung_is_right(path: Path) -> None:
    """At a ragged size; `rung.counts` runs each at an even one."""
    assert format_text(path.read_text(), path.name) == path.read_text()
    report = weft.run(path, settings={"m": 67, "n": 45, "k": 39}, target="sim")
    expect_report(report)


def test_the_last_rung_is_the_recipe() -> None:
    recipe = weft.load("simt_pipelined", settings={"m": 1024, "n": 1024, "k": 1024, "tm": 8})
    assert weft.apply(recipe).text == made(LAST, 1024, 1024, 1024).applied.text


# ---- the counts, against what can be worked out on paper --------------------------------------------------------------------


def test_counts_of_the_naive_kernels() -> None:
    """A warp down a column of A: 32 lines, and one of B. Along a row: one of each."""
    assert [counts(path).lines / counts(path).product_warps for path in RUNGS[:2]] == [33, 2]


@pytest.mark.parametrize("path", RUNGS[2:], ids=lambda p: p.stem)
def test_a_staging_block_reads_its_tiles_once(path: Path) -> None:
    """A step of k: a column of the tile's rows and a row of its columns, for rows times columns products."""
    rows, columns = tile_of(path, 4096)
    assert counts(path).bytes_per_flop == pytest.approx((rows + columns) * 4 / (2 * rows * columns))


def test_what_the_rungs_claim() -> None:
    found = {path.stem: counts(path) for path in RUNGS}
    assert all(c.resources.spill_bytes == 0 for c in found.values())
    assert {n: c.barriers for n, c in found.items() if c.barriers != 2} == {"1-naive": 0, "2-coalesced": 0, "9-pipelined": 1}
    for name in ("5-vectors", "6-warps", "7-unrolled", "8-grouped", "9-pipelined"):
        assert set(found[name].loop.shared_loads) == {128} and found[name].loop.ffma == 16 * found[name].loop.shared_loads[128]


def test_each_rung_is_predicted_to_be_no_slower() -> None:
    """But for those that the page says are not faster yet: of them only the share of the peak is not less by a tenth."""
    rates = [prediction(number).rate for number in range(1, len(RUNGS) + 1)]
    assert all(later > 0.9 * earlier for earlier, later in itertools.pairwise(rates)) and rates[-1] > 6 * rates[1]


def test_a_sector_counts_once_per_block() -> None:
    """What two warps of a block read together is one read of L2: the naive kernel's 32 x 8 threads share rows and columns."""
    found = counts(RUNGS[0])
    rows, columns = tile_of(RUNGS[0], 4096)
    per_k = rows / 8 + columns / 8  # sectors of 8 floats: 8 steps of k lie in one of A, 8 columns in one of B
    assert found.sectors == found.blocks * per_k * 32 and np.isclose(found.bytes_per_flop, 0.3125)
