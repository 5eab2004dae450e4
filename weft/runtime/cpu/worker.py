"""A process of its own for what may take its process along, or can't be ended otherwise: compiled code of the user's.

`call(function, *arguments)` does `function(*arguments)` in a worker and gives what it returns, or raises what it
raises. A worker does one call at a time and is kept for the next. One that dies takes nothing along: `Died` says of
what. A call that is interrupted ends its worker.

A worker is a fresh interpreter (`python -m weft.runtime.cpu.worker`): a process that has threads, as MLIR's contexts
make them, can't be forked safely. A command line that has made none yet, and is on its way to a call, forks one in
advance (`fork_early`), which shares all that was imported and costs next to nothing.
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from typing import IO, Any, NoReturn, Protocol, TypeVar

from ...dsl.diagnostics import WeftError
from ...dsl.records import record

T = TypeVar("T")

HANDED_BACK = (WeftError, MemoryError, RecursionError)
"""What a call may raise. Anything else is a defect of Weft, and ends the worker with a traceback."""

SAID_BYTES = 1 << 16
"""What is read at most of a dead worker's last words."""

ENDING_SECONDS = 5.0
"""How long an idle worker may take to end."""

_CODE = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


class Died(Exception):
    """The worker's process is gone, in the middle of a call.

    Args:
        status: its exit status; of a signal, the negative of its number.
        stage: what it was about, where it has said so (`begin`).
        said: what it wrote to standard error.
    """

    def __init__(self, status: int, stage: str, said: str) -> None:
        super().__init__(f"the worker ended with {status} {stage}")
        self.status, self.stage, self.said = status, stage, said


class _WasGone(Exception):
    """The worker had ended before the call reached it."""


def call(function: Callable[..., T], *arguments: object) -> T:
    """`function(*arguments)`, of a module's top level, done in a worker; arguments and result are pickled.

    Raises what the function raises of `HANDED_BACK`, and `Died`.
    """
    while True:
        worker = _taken()
        try:
            kind, value = worker.ask((function, arguments))
        except _WasGone:  # somebody ended it while it had nothing to do
            worker.end(now=True)
            continue
        except BaseException:  # interrupted, too
            worker.end(now=True)
            raise
        _idle.append(worker)
        if kind == "raised":
            raise value
        return value


def fork_early() -> None:
    """Have a worker ready that shares what is imported here: before a thread can hold a lock which the worker needs, so
    before the first MLIR context. Where processes can't be forked, a fresh one is started later."""
    if sys.platform == "linux" and not any(worker.owner == os.getpid() for worker in _idle):
        _idle.append(forked())


def begin(stage: str) -> None:
    """Inside of a call: what it does from now on, should it be its end."""
    if _replies is not None:
        _write(_replies, ("stage", stage))


# ---- the caller's side -----------------------------------------------------------------------------------------------


class _Process(Protocol):
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class _Worker:
    """A process and the two pipes to it."""

    def __init__(self, process: _Process, requests: IO[bytes], replies: IO[bytes], errors: IO[bytes]) -> None:
        self.process, self.requests, self.replies, self.errors = process, requests, replies, errors
        self.owner, self.used = os.getpid(), False

    def ask(self, request: object) -> tuple[str, Any]:
        stage = None
        self.errors.seek(0)
        self.errors.truncate()
        try:
            _write(self.requests, request)
            while True:
                kind, value = pickle.load(self.replies)
                if kind != "stage":
                    self.used = True
                    return kind, value
                stage = value
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read(SAID_BYTES).decode("utf-8", "replace")
        if status == 1 and "Traceback" in said:
            raise RuntimeError(f"a worker failed:\n{said}")
        if stage is None and self.used:
            raise _WasGone
        raise Died(status, stage or "", said)

    def end(self, now: bool = False) -> None:
        """End the process; at once, or by closing the pipe that it reads."""
        if now:
            self.process.kill()
        for pipe in (self.requests, self.replies, self.errors):
            try:
                pipe.close()
            except BrokenPipeError:  # it is dead, and something was still to be written
                continue
        try:
            self.process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_idle: list[_Worker] = []


def _taken() -> _Worker:
    """A worker that is free: of this process (one that was forked meanwhile has copies of its parent's), and alive."""
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            if worker.process.poll() is None:
                return worker
            worker.end()
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - the worker's, as long as it lives
    code = _CODE.format(path=sys.path, module=__spec__.name if __spec__ else __name__)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    )
    assert process.stdin is not None and process.stdout is not None
    return _Worker(process, process.stdin, process.stdout, errors)


class _Fork:
    """A child that was forked, with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid, self.status = pid, None

    def poll(self) -> int | None:
        return self._waited(os.WNOHANG)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        status = self._waited(0)
        assert status is not None
        return status

    def _waited(self, flags: int) -> int | None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, flags)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status


def forked() -> _Worker:
    """A worker that is a copy of this process."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - the worker's, as long as it lives
    (theirs, mine), (read, write) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(mine)
        os.close(read)
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        serve(os.fdopen(theirs, "rb"), os.fdopen(write, "wb"))
    os.close(theirs)
    os.close(write)
    return _Worker(_Fork(pid), os.fdopen(mine, "wb"), os.fdopen(read, "rb"), errors)


@atexit.register
def _end_all() -> None:
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            worker.end()


def _write(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe, protocol=5)
    pipe.flush()


# ---- the worker's side -----------------------------------------------------------------------------------------------

_replies: IO[bytes] | None = None


def serve(requests: IO[bytes], replies: IO[bytes]) -> NoReturn:
    """Do calls until nobody sends any more. Whoever reads the terminal's Ctrl-C ends this process, which does not."""
    global _replies
    _idle.clear()
    _replies = replies
    inbox: queue.SimpleQueue[tuple[Callable[..., object], tuple[object, ...]]] = queue.SimpleQueue()
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
        while True:
            function, arguments = inbox.get()
            begin("")
            try:
                answer = ("returned", function(*arguments))
            except HANDED_BACK as error:
                answer = ("raised", error)
            _write(replies, answer)
    finally:  # a defect: neither does a fork go on as a second caller, nor does Python wait for the thread that reads
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _receive(requests: IO[bytes], inbox: queue.SimpleQueue) -> None:
    """Hand requests on, and end the process with their sender, even while compiled code runs."""
    while True:
        try:
            inbox.put(pickle.load(requests))
        except EOFError:
            os._exit(0)


def main() -> NoReturn:
    """Of a fresh interpreter: requests come through standard input; output of compiled code is no reply."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, replies)


@record
class Death:
    """`signal`: `SIGFPE (arithmetic error)`, or the exit code. `cause`: the likely one; empty where unknown."""

    signal: str
    cause: str


_KNOWN = {
    "SIGFPE": ("arithmetic error", "an integer division or remainder by zero, or of the smallest integer by -1"),
    "SIGSEGV": ("invalid memory access", "an index out of bounds, or more memory on the stack than there is"),
    "SIGBUS": ("invalid memory access", "an index out of bounds"),
    "SIGILL": ("illegal instruction", "something without a defined result, for which LLVM puts a trap"),
    "SIGTRAP": ("trap", "something without a defined result, for which LLVM puts a trap"),
    "SIGABRT": ("abort", "a failed check of MLIR, LLVM or the C library: an op unknown to them, or memory overwritten"),
    "SIGKILL": ("killed", "the system, which had no more memory"),
    "SIGXCPU": ("processor time used up", "a limit of the shell: `ulimit -t`"),
}
"""Of each signal, what it is and what sends it."""

_WINDOWS = {0xC0000005: "SIGSEGV", 0xC00000FD: "SIGSEGV", 0xC000001D: "SIGILL"}
_WINDOWS |= {0xC0000094: "SIGFPE", 0xC0000095: "SIGFPE"}
"""Exit codes of Windows for what is a signal elsewhere."""


def ended_by(status: int) -> Death:
    """Words for an exit status; a signal's is the negative of its number."""
    name = _WINDOWS.get(status & 0xFFFFFFFF, "") if status > 0 or status < -64 else ""
    if not name and -64 <= status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:  # a real-time signal has no name
            return Death(f"signal {-status}", "")
    if not name:
        return Death(f"exit code {status}", "")
    what, cause = _KNOWN.get(name, ("", ""))
    return Death(f"{name} ({what})" if what else name, cause)
