"""A separate process for calls that may crash or hang: those of the user's compiled code.

`call(function, *arguments)` runs `function(*arguments)` in a worker and returns its result, or
raises its exception. A worker runs one call at a time and is kept for the next. The death of a
worker leaves the caller alive: `Died` reports it. Interrupting a call ends its worker.

A worker is a fresh interpreter (`python -m weft.runtime.cpu.worker`), because a process with
threads, which MLIR contexts create, cannot be forked safely. A command line that has no threads
yet, and is about to make a call, forks a worker in advance (`fork_early`); the fork shares all
imported modules and costs almost nothing.
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
"""Exceptions that a call may raise. Any other is a defect of Weft, and ends the worker with a
traceback."""

OUTPUT_BYTES = 1 << 16
"""Most bytes that are read from a dead worker's standard error."""

ENDING_SECONDS = 5.0
"""Seconds that an idle worker may take to end."""

_CODE = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


class Died(Exception):
    """The worker's process ended during a call.

    Args:
        status: its exit status; for a signal, its negative number.
        stage: the last stage that it announced with `begin`; may be empty.
        output: its output on standard error.
    """

    def __init__(self, status: int, stage: str, output: str) -> None:
        super().__init__(f"the worker ended with {status} {stage}")
        self.status, self.stage, self.output = status, stage, output


class _WasGone(Exception):
    """The worker had ended before the call reached it."""


def call(function: Callable[..., T], *arguments: object) -> T:
    """Runs `function(*arguments)` in a worker. The function must be at the top level of a module;
    arguments and result are pickled.

    Raises the exceptions of the function that are in `HANDED_BACK`, and `Died`.
    """
    while True:
        worker = _taken()
        try:
            kind, value = worker.ask((function, arguments))
        except _WasGone:  # the worker was ended while idle
            worker.end(now=True)
            continue
        except BaseException:  # also after an interrupt
            worker.end(now=True)
            raise
        _idle.append(worker)
        if kind == "raised":
            raise value
        return value


def fork_early() -> None:
    """Forks an idle worker, which shares all modules imported so far. It must be called before a
    thread can hold a lock that the worker needs, that is, before the first pass or JIT runs. If
    processes cannot be forked, the first call starts a fresh one."""
    if sys.platform == "linux" and not any(worker.owner == os.getpid() for worker in _idle):
        _idle.append(forked())


def begin(stage: str) -> None:
    """Inside a call, announces the stage that begins, for the report if the worker dies."""
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
        output = self.errors.read(OUTPUT_BYTES).decode("utf-8", "replace")
        if status == 1 and "Traceback" in output:
            raise RuntimeError(f"a worker failed:\n{output}")
        if stage is None and self.used:
            raise _WasGone
        raise Died(status, stage or "", output)

    def end(self, now: bool = False) -> None:
        """Ends the process: immediately with `now`, otherwise by closing the pipe that it reads."""
        if now:
            self.process.kill()
        for pipe in (self.requests, self.replies, self.errors):
            try:
                pipe.close()
            except BrokenPipeError:  # it is dead with unsent bytes in the pipe
                continue
        try:
            self.process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_idle: list[_Worker] = []


def _taken() -> _Worker:
    """A free, live worker of this process. The copies that a forked process has of its parent's
    workers are ignored."""
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
    """A forked child, with the interface of `subprocess.Popen`."""

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
    """A worker that is a fork of this process."""
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
    """Serves calls until the pipe closes. Ctrl-C is ignored: the caller, which receives it too,
    ends this process."""
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
    finally:  # a defect: a fork must not continue as a second caller, and exit must not wait for the reading thread
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _receive(requests: IO[bytes], inbox: queue.SimpleQueue) -> None:
    """Passes requests on. Ends the process when the sender has ended, even while compiled code
    runs."""
    while True:
        try:
            inbox.put(pickle.load(requests))
        except EOFError:
            os._exit(0)


def main() -> NoReturn:
    """Entry of a fresh interpreter: requests come through standard input; replies do not mix with
    the output of compiled code."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, replies)


@record
class Death:
    """A description of a worker's end.

    Attributes:
        signal: `SIGFPE (arithmetic error)`, or the exit code.
        cause: the likely cause; empty if unknown.
    """

    signal: str
    cause: str


_KNOWN = {
    "SIGFPE": ("arithmetic error", "an integer division or remainder by zero, or of the smallest integer by -1"),
    "SIGSEGV": ("invalid memory access", "an index out of bounds, or a stack overflow"),
    "SIGBUS": ("invalid memory access", "an index out of bounds"),
    "SIGILL": ("illegal instruction", "an op with an undefined result, for which LLVM emits a trap"),
    "SIGTRAP": ("trap", "an op with an undefined result, for which LLVM emits a trap"),
    "SIGABRT": ("abort", "a failed check of MLIR, LLVM or the C library: an op unknown to them, or memory overwritten"),
    "SIGKILL": ("killed", "the system, which had no more memory"),
    "SIGXCPU": ("processor time used up", "a limit of the shell: `ulimit -t`"),
}
"""For each signal: its meaning and its usual causes."""

_WINDOWS = {0xC0000005: "SIGSEGV", 0xC00000FD: "SIGSEGV", 0xC000001D: "SIGILL"}
_WINDOWS |= {0xC0000094: "SIGFPE", 0xC0000095: "SIGFPE"}
"""Exit codes of Windows that correspond to signals elsewhere."""


def ended_by(status: int) -> Death:
    """The description of an exit status; a negative status is a signal's number."""
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
