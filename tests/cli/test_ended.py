"""What ends the process that does the work: a word, an exit code, and nothing that goes on behind it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SMALL = ("apply", "naive", "--set", "m=40", "--set", "n=36", "--set", "k=20")

CHILD = """
import collections, ctypes, itertools, os, signal, sys
from weft.__main__ import main

def strike(frame, event, argument):
    if event == "call" and frame.f_code.co_name == {function!r} and frame.f_globals.get("__name__") == {module!r}:
        sys.setprofile(None)
        print("struck", os.getpid(), os.getppid(), file=sys.stderr, flush=True)
        {strike}

sys.argv = ["weft", *{arguments}]
sys.setprofile(strike)
main()
"""
STATEMENT = ("weft.interpreter.statements.tile", "apply")
NATIVE = "collections.deque(itertools.repeat(0), maxlen=0)"
"""Compiled code that lets no Python run meanwhile, as upstream's passes."""


def weft(strike: str, place: tuple[str, str] = STATEMENT, arguments: tuple[str, ...] = SMALL) -> subprocess.Popen[str]:
    code = CHILD.format(module=place[0], function=place[1], strike=strike, arguments=list(arguments))
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


ENDS = {
    "upstream gives up": ("os.abort()", 1, "W0070.*SIGABRT.*in the middle of `let .* = tile"),
    "an invalid access": ("ctypes.string_at(0)", 1, "W0070.*SIGSEGV"),
    "no more memory": ("os.kill(os.getpid(), signal.SIGKILL)", 1, "W0070.*SIGKILL"),
    "somebody ends it": ("os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
}


@pytest.mark.parametrize("case", ENDS)
def test_ended(case: str) -> None:
    strike, code, message = ENDS[case]
    process = weft(strike)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (code, ""), err
    assert "Traceback" not in err and err.count("error[") == bool(message)
    if message:
        assert re.search(message, err), err


def test_a_division_by_zero_in_the_payload(tmp_path: Path) -> None:
    """The simulator's findings are shown all the same."""
    (tmp_path / "div.mlir").write_text(
        "func.func @div(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> { %e = tensor.empty() : tensor<64xi32>\n"
        "%z = linalg.div ins(%x, %y : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xi32>) -> tensor<64xi32>\n"
        "return %z : tensor<64xi32> }"
    )
    (tmp_path / "div.weft").write_text(
        'payload "div.mlir"\nschedule s() { let op = match linalg.div\nmap op to grid(x)\nlaunch op }'
    )
    done = subprocess.run(
        [sys.executable, "-m", "weft", "run", "div.weft", "--target", "sim"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1 and "division by zero" in done.stderr and "SIGFPE" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and "✗ wrong on simulator: 1 fault" in done.stderr


@pytest.mark.parametrize(("strike", "code"), [("os.abort()", 1), ("os.kill(os.getpid(), signal.SIGTERM)", 143), (NATIVE, 130)])
def test_the_cursor_of_a_terminal_is_shown_again(strike: str, code: int) -> None:
    """A progress line hides it, and what is ended does not show it."""
    master, slave = pty.openpty()
    child = CHILD.format(module=STATEMENT[0], function=STATEMENT[1], strike=strike, arguments=list(SMALL))
    process = subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    written = b""
    while True:
        try:
            read = os.read(master, 4096)
        except OSError:  # nobody holds the other end any more
            break
        if not read:
            break
        if strike == NATIVE and b"struck" in read:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        written += read
    os.close(master)
    assert process.wait(timeout=30) == code
    assert written.rfind(b"\x1b[?25h") > written.rfind(b"\x1b[?25l") >= 0


@pytest.mark.parametrize("to", ["the process", "the group"])
def test_interrupted_within_a_second(to: str) -> None:
    """In the middle of compiled code that no signal reaches: `kill -INT`, and Ctrl-C on a terminal."""
    process = weft(NATIVE)
    assert process.stderr is not None
    pid = int(process.stderr.readline().split()[1])
    time.sleep(0.2)
    started = time.monotonic()
    (os.kill if to == "the process" else os.killpg)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    took = time.monotonic() - started
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert took < 5, took  # 0.7 s and a process's end, on a machine that does other things, too
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_killed_as_a_whole() -> None:
    """Whoever kills the command's process has killed the command: what waits for its output does not wait for ever."""
    process = weft(NATIVE)
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
