"""Progress: the share that is done and the time left, where they are known; and a report of many equal launches."""

from __future__ import annotations

import io
import os
import pty
import re
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from weft import api
from weft.dsl.diagnostics import Source
from weft.execution import run_recipe
from weft.output.console import share_done
from weft.output.report import show_report
from weft.pipeline import Choice
from weft.runtime.run.execution import Clock, RunOptions
from weft.verify import verify_source


@pytest.mark.parametrize(
    ("done", "seconds", "text"),
    [(0.0, 5.0, "0 %"), (0.25, 0.5, "25 %"), (0.25, 4.0, "25 %, 12 s left"), (0.1, 60.0, "10 %, 9 min 0 s left")],
)
def test_what_is_said_of_a_share(done: float, seconds: float, text: str) -> None:
    assert share_done(done, seconds) == text


def shares(recipe: str, **settings: str) -> list[float]:
    seen: list[float] = []
    run_recipe(Choice(recipe, None, settings).open(Clock(None, seen.append)), None, RunOptions("sim", reference="none"))
    return seen


def test_a_simulated_launch_tells_how_much_of_it_is_done() -> None:
    seen = shares("naive", m="512", n="256", k="4")
    assert len(seen) > 5 and seen == sorted(seen) and 0 < seen[0] < 0.3 and seen[-1] == 1


def test_launches_count_by_their_threads() -> None:
    seen = shares("concurrent_convs", batch="2", filters="4", size="8")
    assert seen == sorted(seen) and {round(share, 3) for share in seen} == {0, 0.333, 0.667, 1}


def test_verification_tells_how_many_launches_are_judged() -> None:
    seen: list[float] = []
    verify_source(Source("m.mlir", api.apply("concurrent_convs").text), share=seen.append)
    assert seen == [0, 1 / 3, 2 / 3]


def test_equal_launches_are_one_row_with_their_number() -> None:
    report = api.run("naive", settings={"m": 16, "n": 16, "k": 4}, target="sim", reference="none")
    (kernel,) = report.kernels
    other = replace(kernel, name="other")
    shown = io.StringIO()
    show_report(Console(file=shown, width=100), replace(report, kernels=(kernel, other) * 100), title="t")
    assert "200 launches" in shown.getvalue()
    rows = re.findall(r"^ +(?:matmul|other) .*$", shown.getvalue(), re.MULTILINE)
    assert [row.split()[:2] for row in rows] == [["matmul", "100"], ["other", "100"]]
    shown = io.StringIO()
    show_report(Console(file=shown, width=100), report, title="t")
    assert "launches" not in shown.getvalue()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a terminal")
def test_a_terminal_shows_it() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": "120"}
        command = ["-m", "weft", "run", "naive", "--set", "m=512", "--set", "n=512", "--set", "k=64", "--target", "sim"]
        os.execv(sys.executable, [sys.executable, *command, "--reference", "none"])
    shown = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert re.search(rb"run naive.*run.* [1-9][0-9]? %", shown)
