"""The REPL as a person meets it: driven through a recipe in a pseudo-terminal, and looked at on its screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminal import Terminal

from weft import cli

WEFT = [sys.executable, "-m", "weft", "repl"]
SMALL = ["--set", "m=40", "--set", "n=36", "--set", "k=20"]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal([*WEFT, "shared", *SMALL], tmp_path) as terminal:
        terminal.settle("[0/15]")
        yield terminal


def test_through_the_recipe(shared: Terminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """step, undo, diff, next, a mistake, save; and the saved file runs."""
    assert "Enter executes the next statement" in shared.text
    assert "[0/15] gemm: handle = match contraction where rank == 2" in shared.text, "what comes next stands at the prompt"
    shared.type("", "enter")
    assert "made gemm (linalg.matmul)" in shared.settle("[1/15]")
    shared.type("step 3", "enter")
    assert "linalg.fill now runs once per tile" in shared.settle("[4/15]")
    shared.type("undo 2", "enter")
    screen = shared.settle("[2/15]")
    assert "undone fuse init into tiles\nundone let (tiles, tile_mm) = tile gemm [bm, bn]" in screen
    shared.type("redo", "enter")
    screen = shared.settle("[3/15]")
    assert "+     %" in screen and "scf.forall" in shared.everything and "more lines; `diff 2` shows them" in screen
    shared.type("diff 0 3", "enter")
    shared.until("from 0 to 3: +")
    shared.settle("[3/15]")
    shared.type("next tile_mm", "enter")
    shared.until("✗ coalesce")
    shared.settle("[3/15]")
    assert "✓ tile" in shared.everything
    shared.type("fuse innit into tiles", "enter")
    shared.until("error[W0220]")
    assert "did you mean `init`?" in shared.settle("[3/15]")
    shared.type("fuse init into tiles", "enter")
    shared.settle("[4/15]")
    shared.type("step 20", "enter")
    assert "the schedule is at its end" in shared.settle("[15/15]")
    shared.type("save mine.weft", "enter")
    shared.until("saved mine.weft: 15 statements")
    shared.settle("[15/15]")
    shared.type("", "ctrl-d")
    assert shared.wait() == 0 and "Traceback" not in shared.everything
    assert cli.run(("run", str(tmp_path / "mine.weft"), "--target", "sim")) == 0, capsys.readouterr().err


def test_colors_mark_what_came_and_what_went(shared: Terminal) -> None:
    shared.type("step 3", "enter")
    shared.settle("[3/15]")
    shared.type("diff", "enter")
    shared.until("from 2 to 3")
    shared.settle("[3/15]")
    colors = {
        line[0].data: line[0].fg
        for line in (shared.screen.buffer[y] for y in range(shared.screen.lines))
        if line[0].data in "+-" and line[0].fg != "default"
    }
    assert colors.get("+") == "green"


def test_ctrl_c_does_not_end_it(tmp_path: Path) -> None:
    """The run would take hours, and may."""
    with Terminal([*WEFT, "shared", *SMALL], tmp_path, environment={"WEFT_SIM_SECONDS": "0"}) as shared:
        shared.settle("[0/15]")
        interrupt(shared)


def interrupt(shared: Terminal) -> None:
    shared.type("step but not yet", "ctrl-c")
    shared.settle("[0/15]")
    shared.type("goto 15", "enter")
    shared.settle("[15/15]")
    shared.type("set m=4096 n=4096 k=1024", "enter")
    shared.until("15 statements done again")
    shared.settle("[15/15]")
    shared.type("run sim", "enter")
    shared.until("run sim")
    shared.busy(1)
    shared.type("", "ctrl-c")
    shared.until("interrupted; nothing was changed")
    shared.settle("[15/15]")
    shared.type("quit", "enter")
    assert shared.wait() == 0


def test_completion_and_several_lines(shared: Terminal) -> None:
    shared.type("step 3", "enter")
    shared.settle("[3/15]")
    shared.type("map tile_", "tab")
    shared.until("map tile_mm")
    shared.type("", "ctrl-c")
    shared.settle("[3/15]")
    shared.type("foreach n in [8, 16] {", "enter")
    shared.until("     ·")
    shared.type("print init", "enter")
    shared.type("}", "enter")
    assert "[5/17]" in shared.settle("[5/17]")
    shared.type("", "up")
    shared.until("foreach n in [8, 16] {\n", "text")


def test_history_stays(tmp_path: Path) -> None:
    for round_, expected in ((0, ""), (1, "handles")):
        with Terminal([*WEFT, "shared", *SMALL], tmp_path) as terminal:
            terminal.settle("[0/15]")
            if round_:
                terminal.type("", "up")
                terminal.until(f"[0/15] {expected}", "text")
                terminal.type("", "ctrl-c")
            else:
                terminal.type("handles", "enter")
                terminal.until("no handles yet")
            terminal.settle("[0/15]")
            terminal.type("", "ctrl-d")
            assert terminal.wait() == 0


SANE = {
    "no color": ({"NO_COLOR": "1"}, 80),
    "dumb": ({"TERM": "dumb"}, 80),
    "no home": ({"XDG_STATE_HOME": "/proc/none", "HOME": "/proc/none"}, 80),
    "wide": ({}, 120),
    "narrow": ({}, 50),
}


@pytest.mark.parametrize("name", SANE)
def test_sane_everywhere(name: str, tmp_path: Path) -> None:
    environment, columns = SANE[name]
    with Terminal([*WEFT, "shared", *SMALL], tmp_path, columns, 40, environment) as terminal:
        terminal.settle("[0/15]")
        terminal.type("step 4", "enter")
        terminal.settle("[4/15]")
        terminal.type("handles", "enter")
        terminal.until("consumed by")
        screen = terminal.settle("[4/15]")
        assert "tile_mm" in screen and "Traceback" not in terminal.everything
        if name in ("no color", "dumb"):
            lines = (terminal.screen.buffer[y] for y in range(40))
            assert all(line[x].fg == "default" for line in lines for x in range(columns))
        terminal.type("", "ctrl-d")
        assert terminal.wait() == 0
