"""Ctrl-C at any time is 130 and one word. The signal comes at places that are named, and not after a while."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SMALL = ("run", "naive", "--target", "sim", "--set", "m=40", "--set", "n=36", "--set", "k=20")

CHILD = """
import os, signal, sys
from weft.__main__ import main

def strike(frame, event, argument):
    if event == "call" and frame.f_code.co_name == {function!r} and frame.f_globals.get("__name__") == {module!r}:
        sys.setprofile(None)
        print("struck", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGINT)

sys.argv = ["weft", *{arguments}]
sys.setprofile(strike)
main()
"""

API = """
import signal, sys
import weft

weft.build

def strike(frame, event, argument):
    if event == "call" and frame.f_code.co_name == {function!r} and frame.f_globals.get("__name__") == {module!r}:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)  # of this thread: another one may get what is sent to the process

{before}
sys.setprofile(strike)
try:
    weft.build("naive", "out", settings={{"m": 40, "n": 36, "k": 20}})
except KeyboardInterrupt:
    print("interrupted")
"""

PLACES = {
    "the command line is imported": ("weft.cli", "<module>"),
    "a command is imported": ("weft.cli.commands.schedules", "<module>"),
    "NumPy is imported": ("numpy._core", "<module>"),
    "the bindings are imported": ("torch_mlir.ir", "<module>"),
    "the schedule is parsed": ("weft.dsl.parser", "_built"),
    "the bindings call back": ("weft.interpreter.ir.mlir", "any_op"),
    "a statement is done": ("weft.interpreter.session.session", "_statement"),
    "the reference is computed": ("weft.runtime.cpu.worker", "ask"),
    "the reference's process is forked": ("weft.runtime.cpu.worker", "forked"),
    "a kernel is translated": ("weft.runtime.simulator.kernel", "__init__"),
    "a kernel is simulated": ("weft.runtime.simulator.kernel", "launch"),
}
"""Module and function."""


@pytest.mark.few(6)
@pytest.mark.parametrize("place", PLACES)
def test_interrupted_while(place: str, tmp_path: Path) -> None:
    module, function = PLACES[place]
    code = CHILD.format(module=module, function=function, arguments=list(SMALL))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert done.stderr.count("struck") == 1, "the place is never reached"
    assert done.returncode == 130 and done.stdout == "", done.stderr
    assert done.stderr.count("interrupted") == 1 and "Traceback" not in done.stderr, done.stderr


PYTHON_S = "signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored"


@pytest.mark.parametrize("place", ["the bindings are imported", "the bindings call back", "a statement is done"])
def test_interrupted_in_somebody_elses_process(place: str, tmp_path: Path) -> None:
    module, function = PLACES[place]
    done = subprocess.run(
        [sys.executable, "-c", API.format(module=module, function=function, before=PYTHON_S)],
        capture_output=True, text=True, cwd=tmp_path, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_interrupted_where_all_that_is_left_is_delicate(tmp_path: Path) -> None:
    module, function = PLACES["a statement is done"]
    before = f"{PYTHON_S}\nimport weft.process\nweft.process._delicate = lambda frame: True"
    done = subprocess.run(
        [sys.executable, "-c", API.format(module=module, function=function, before=before)],
        capture_output=True, text=True, cwd=tmp_path, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
    assert (tmp_path / "out" / "plan.json").exists()


def test_somebody_elses_handler_stays(tmp_path: Path) -> None:
    module, function = PLACES["a statement is done"]
    before = "signal.signal(signal.SIGINT, lambda *_: print('theirs'))"
    done = subprocess.run(
        [sys.executable, "-c", API.format(module=module, function=function, before=before)],
        capture_output=True, text=True, cwd=tmp_path, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "theirs\n"), done.stderr
    assert (tmp_path / "out" / "plan.json").exists()
