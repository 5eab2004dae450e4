"""A session that is cut off goes on: killed from outside, killed by what it did, or stuck where no Ctrl-C reaches."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from terminal import Terminal

from weft.dsl.diagnostics import WeftError
from weft.interpreter.session.environment import named_handles
from weft.pipeline import Choice
from weft.repl import journal, steps
from weft.repl.command import Desk
from weft.repl.journal import Journal, Start, choose, cut_off
from weft.repl.shell import Shell, _resumed
from weft.repl.workbench import Workbench

WEFT = [sys.executable, "-m", "weft", "repl"]
SMALL = {"m": "40", "n": "36", "k": "20"}
LINES = {
    "steps": ["step 3", "step"],
    "back and forth": ["step 6", "undo 3", "redo 2", "goto 2", "skip", "step 2"],
    "typed": ["step 2", "let (a, b) = tile gemm [8, 8]", "foreach n in [8, 16] {\n  print b\n}"],
    "typed handles": ["step 2", "foreach op in [gemm, init] {\n  print op\n}"],
    "settings": ["step 4", "set bm=8 m=64", "step", "reset", "step 2"],
    "what fails changes nothing": ["step 3", "fuse innit into tiles", "goto 99", "set bm=7", "step"],
    "half of what was asked for": ["set bk=3", "step 20"],
}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "weft" / "sessions"


def session(*lines: str) -> Shell:
    """A session with a journal, in which `lines` were typed."""
    bench = Workbench.open(Choice("shared", None, SMALL))
    shell = Shell(bench, Console(file=io.StringIO()), interactive=True)
    shell.journal = Journal.begin(Start.of(bench))
    for line in lines:
        shell.kept(line)
    return shell


def die(shell: Shell) -> None:
    """As the system does it: the file is closed, and nothing else."""
    assert shell.journal is not None
    shell.journal._file.close()


def looks(shell: Shell) -> tuple[object, ...]:
    bench = shell.desk.bench
    values = {**bench.recipe.values, **bench.recipe.payload_values}
    return bench.position, bench.coming, sorted(dict(named_handles(bench.session.environment))), bench.session.ir, values


@pytest.mark.parametrize("case", LINES)
def test_the_same_again(case: str, state: Path) -> None:
    """Position, handles, IR and values."""
    shell = session(*LINES[case])
    die(shell)
    again = _resumed(choose(""), Console(file=io.StringIO()), False)
    assert looks(again) == looks(shell)
    assert len(list(state.glob("*"))) == 1, "what is read by a pipe stays"


def test_what_was_under_way_is_named_and_not_done(state: Path) -> None:
    shell = session("step 3")
    assert shell.journal is not None
    shell.journal.do("fuse init into tiles")
    die(shell)
    again = _resumed(choose(""), Console(file=io.StringIO()), False)
    assert again.desk.bench.position == 3
    assert "it was interrupted in `fuse init into tiles`" in "\n".join(note.plain for note in again.notes)


def test_half_a_line_is_none(state: Path) -> None:
    """The machine went down while it was written."""
    shell = session("step 3")
    die(shell)
    (path,) = state.glob("*.journal")
    path.write_text(path.read_text() + '["done", "ste')
    assert choose("").lines == ("step 3",)


DAMAGED = {
    "nothing": "",
    "no journal": "hello\n",
    "other things": '["start", {"a": 1}]\n["done", "step"]\n',
    "a number": "3\n4\n",
    "no start": '["done", "step"]\n',
    "nothing done": '["start", {"file": "shared", "payload": null, "settings": {}, "layer": null, "digest": "", "began": 1.0}]\n',
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_is_no_journal_is_taken_away(case: str, state: Path) -> None:
    state.mkdir(parents=True)
    (state / "x.journal").write_text(DAMAGED[case])
    assert cut_off() == [] and not list(state.iterdir())
    with pytest.raises(WeftError, match="W0067"):
        choose("")


def test_several_at_once(state: Path) -> None:
    """Each has its own; one that lives is none that was cut off; the newest comes first; leaving takes it away."""
    first, second, third = session("step 1"), session("step 2"), session("step 3")
    assert cut_off() == [] and len(list(state.iterdir())) == 3
    die(first)
    die(second)
    assert [one.lines for one in cut_off()] == [("step 2",), ("step 1",)]
    assert choose(cut_off()[1].path.stem).lines == ("step 1",)
    with pytest.raises(WeftError, match=r"W0067.*no journal `x`"):
        choose("x")
    assert third.journal is not None
    third.journal.leave()
    assert len(cut_off()) == 2


def test_old_ones_go(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT", 2)
    for count in range(4):
        die(session(f"step {count + 1}"))
    assert [one.lines for one in cut_off()] == [("step 4",), ("step 3",)] and len(list(state.iterdir())) == 2
    os.utime(cut_off()[0].path, (0, time.time() - 31 * 86400))
    assert [one.lines for one in cut_off()] == [("step 3",)]


def test_a_payload_that_has_changed(state: Path, tmp_path: Path) -> None:
    fill = "linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)"
    (tmp_path / "p.mlir").write_text(f"func.func @f(%x: memref<8xf32>, %v: f32) {{ {fill} return }}")
    bench = Workbench.open(Choice("", tmp_path / "p.mlir"))
    shell = Shell(bench, Console(file=io.StringIO()), interactive=True)
    shell.journal = Journal.begin(Start.of(bench))
    for line in ("let f = match linalg.fill", "map f to grid(x)"):
        shell.kept(line)
    die(shell)
    (tmp_path / "p.mlir").write_text("func.func @f(%x: memref<8xf32>) { return }")
    again = _resumed(choose(""), Console(file=io.StringIO()), False)
    said = "\n".join(note.plain for note in again.notes)
    assert "has changed since" in said and "error[" in said and "`let f = match linalg.fill` fails now, and 1 more" in said
    assert again.desk.bench.position == 0 and list(state.iterdir()), "its journal stays"


def test_nowhere_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
    shell = session("step 2")
    assert shell.journal is None and shell.desk.bench.position == 2 and cut_off() == []


# ---- on a terminal ---------------------------------------------------------------------------------------------------------

CHILD = """
import collections, itertools, os, sys
from weft.__main__ import main

def strike(frame, event, argument):
    place = frame.f_globals.get("__name__"), frame.f_code.co_name
    if event == "call" and place == ("weft.interpreter.statements.fuse", "apply"):
        sys.setprofile(None)
        {strike}

sys.argv = ["weft", "repl", *{arguments}]
sys.setprofile(strike)
main()
"""


def terminal(folder: Path, strike: str = "pass") -> Terminal:
    arguments = ["shared", *(part for name, value in SMALL.items() for part in ("--set", f"{name}={value}"))]
    return Terminal([sys.executable, "-c", CHILD.format(strike=strike, arguments=arguments)], folder)


def handles(one: Terminal, prompt: str) -> str:
    one.type("handles", "enter")
    one.until("made by")
    found = re.findall(r"(?m)^(\w+) +(?:op|loop) .*alive$", one.settle(prompt).rpartition("made by")[2])
    assert found
    return " ".join(found)


def test_killed(tmp_path: Path) -> None:
    """kill -9 in the middle of a session; the next one says so, and goes on."""
    with terminal(tmp_path) as one:
        one.settle("[0/15]")
        one.type("step 3", "enter")
        one.settle("[3/15]")
        before = handles(one, "[3/15]")
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
    with terminal(tmp_path) as other:
        other.until("a session was interrupted: shared, 1 line")
        other.settle("[0/15]")
        other.type("quit", "enter")
        assert other.wait() == 0
    with Terminal([*WEFT, "--resume"], tmp_path) as again:
        assert "resumed: shared, 1 line" in again.settle("[3/15]")
        assert handles(again, "[3/15]") == before
        again.type("", "ctrl-d")
        assert again.wait() == 0
    assert not list((tmp_path / "state" / "weft" / "sessions").iterdir()), "a session that is left takes its journal with it"


ENDS = {
    "upstream gives up": ("os.abort()", "error[W0070]: Weft was ended by SIGABRT"),
    "compiled code that hears no Ctrl-C": (
        "collections.deque(itertools.repeat(0), maxlen=0)", "interrupted in the middle of `fuse init into tiles`"
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_it_goes_on_by_itself(case: str, tmp_path: Path) -> None:
    strike, word = ENDS[case]
    with terminal(tmp_path, strike) as one:
        one.settle("[0/15]")
        one.type("step 3", "enter")
        one.settle("[3/15]")
        before = handles(one, "[3/15]")
        one.type("step", "enter")
        if "Ctrl-C" in case:
            one.busy(0.5)
            one.type("", "ctrl-c")
        one.until(word)
        one.until("it was interrupted in `fuse init into tiles`, which is not done")
        one.settle("[3/15]")
        assert handles(one, "[3/15]") == before
        one.type("quit", "enter")
        assert one.wait() == 0 and "Traceback" not in one.everything


def test_journals_are_lines_of_json(state: Path) -> None:
    shell = session("step 2", "handles", "undo")
    assert shell.journal is not None
    kinds = [json.loads(line)[0] for line in shell.journal.path.read_text().splitlines()]
    assert kinds == ["start", "do", "done", "do", "end", "do", "done"]


def test_an_interrupted_step_keeps_the_statements_before_it(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, show = session(), steps.report

    def interrupted(desk: Desk, number: int, brief: bool) -> None:
        show(desk, number, brief)
        if number == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(steps, "report", interrupted)
    assert not shell.handle("step 99") and shell.desk.bench.position == 2
    assert "interrupted; 2 statements done, none partly" in shell.desk.console.file.getvalue()  # type: ignore[attr-defined]
