"""Two processes for one command line: a child that does the work, and its parent, which does nothing that could fail.

What ends the child (upstream's `abort`, a signal, the system short of memory) becomes a diagnostic and exit code 1. Ctrl-C goes on
to the child, which mostly answers at once; one that is inside compiled code and does not is ended. A session (`weft repl`) that is
ended goes on in another child, from its journal.

The two share a page of memory, on which the child writes what is needed if it can't say anything any more. Where processes can't be
forked there is one process, as there is for the Python API.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

GRACE_SECONDS = 0.7
"""From Ctrl-C to the end of a child that does not answer."""

_ANSWERED, _STAYS, _DOING, _JOURNAL, _SIZE = 0, 1, 4, 2048, 4096
"""Where things stand on the page."""

_page: mmap.mmap | None = None


def supervised(command: Callable[[], int], resumed: Callable[[str], int]) -> int:
    """Do `command` in a child; its exit code, in the child and in its parent.

    Args:
        resumed: goes on with a session whose journal that is, after its process was ended.
    """
    global _page
    if not hasattr(os, "fork"):
        return command()
    page = mmap.mmap(-1, _SIZE)
    restore_terminal = _terminal()
    while True:
        page[:] = bytes(_SIZE)
        watch = _Watch(page)
        if watch.fork() == 0:
            _page = page
            return command()
        status = watch.wait()
        if status >= 0:
            return status
        if sys.stderr.isatty():  # in the middle of a progress line the cursor is hidden
            print(end="\x1b[?25h", file=sys.stderr, flush=True)
        if status in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP):  # somebody wanted just that
            return 128 - status
        restore_terminal()
        journal = _read(page, _JOURNAL)
        _say(status, watch.killed, page, bool(journal))
        if not journal:
            return 130 if watch.killed else 1
        command = partial(resumed, journal)


class _Watch:
    """A child, and what its parent does with signals meanwhile."""

    def __init__(self, page: mmap.mmap) -> None:
        self.page, self.pid, self.killed, self.answered = page, 0, False, 0

    def fork(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, _interrupt)
            _die_with(parent)
        else:
            signal.signal(signal.SIGINT, self._forward)
            signal.signal(signal.SIGALRM, self._end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return self.pid

    def wait(self) -> int:
        """The child's exit code; of a signal, the negative of its number."""
        _, status = os.waitpid(self.pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return os.waitstatus_to_exitcode(status)

    def _forward(self, number: int, frame: FrameType | None) -> None:
        """A terminal sends Ctrl-C to both processes, `kill` to this one alone: twice is once for the child."""
        self.answered = self.page[_ANSWERED]
        os.kill(self.pid, number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.page[_STAYS] and self.page[_ANSWERED] != self.answered:
            return
        self.killed = True
        os.kill(self.pid, signal.SIGKILL)


def _die_with(parent: int) -> None:
    """A child whose parent is killed goes, too, whatever it is about. Elsewhere than on Linux it ends by itself."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was quicker
        os._exit(1)


def _terminal() -> Callable[[], None]:
    """Sets the terminal to what it is set to now: a process that is ended leaves it as it was just then."""
    if not os.isatty(0):
        return lambda: None
    import termios

    return partial(termios.tcsetattr, 0, termios.TCSANOW, termios.tcgetattr(0))


def _say(status: int, killed: bool, page: mmap.mmap, goes_on: bool) -> None:
    """What has happened to the child, on its behalf."""
    from ..dsl.diagnostics import Diagnostic
    from ..runtime.reference.deaths import ended_by
    from .console import say, show

    doing = _read(page, _DOING)
    if killed:
        if not page[_ANSWERED]:
            what = f" in the middle of {doing}" if doing and goes_on else ""
            say("\n" * sys.stderr.isatty() + f"interrupted{what}")
        return
    words = ended_by(status)
    message = f"Weft was ended by {words.signal}" + (f" in the middle of {doing}" if doing else "")
    cause = (f"probably {words.cause}",) if words.cause else ()
    hint = None if goes_on else "leave this statement out, or write it in another way" if doing else None
    show((Diagnostic("W0070", message, notes=cause, hint=hint),))


# ---- for the child -------------------------------------------------------------------------------------------------------


def is_child() -> bool:
    """Whether this process does nothing but one command line: it may be forked before it makes threads."""
    return _page is not None


def doing(text: str) -> None:
    """What is begun now, should it be the end: "`fuse a into b` (x.weft:3:5)"; empty when it is done."""
    _write(_DOING, text, _JOURNAL)


def stays(journal: str) -> None:
    """Ctrl-C does not end this process, which goes on from `journal` if it is ended; empty for no journal."""
    if _page is not None:
        _page[_STAYS] = 1
    _write(_JOURNAL, journal, _SIZE)


def answered() -> None:
    """Ctrl-C was heard."""
    if _page is not None:
        _page[_ANSWERED] = _page[_ANSWERED] % 255 + 1


def _write(at: int, text: str, end: int) -> None:
    if _page is not None:
        data = text.encode("utf-8", "surrogateescape")[: end - at - 1]
        _page[at : at + len(data) + 1] = data + b"\0"


def _read(page: mmap.mmap, at: int) -> str:
    return page[at : page.find(b"\0", at)].decode("utf-8", "surrogateescape")


# ---- Ctrl-C, made safe: a `KeyboardInterrupt` must not fly through compiled code that does not expect it -----------------
#
# While modules are imported (NumPy and the bindings crash), while the bindings call back into Python (they turn it into another
# error), while a weak reference is dropped and while a process is forked (what Python calls then may not raise), the signal is put
# off for a moment; anywhere else it raises as usual. Signals that come together are one: a terminal and a parent may send the same
# Ctrl-C.

RETRY_SECONDS = 0.02

TOGETHER_SECONDS = 0.3

CALLED_BACK = {
    ("interpreter.ir.mlir", "walk"),
    ("interpreter.ir.mlir", "operations"),
    ("interpreter.ir.mlir", "execution_engine"),
    ("interpreter.launch.trials", "_outermost"),
    ("interpreter.focus.modules", "content"),
    ("interpreter.focus.versions", "sections"),
    ("runtime.reference.worker", "forked"),
}
"""Functions of Weft's modules from which the bindings, or Python before and behind a fork, call back; and those that change what
versions of a module share."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle SIGINT this way inside; a no-op where the host has a handler of its own, and off the main thread, where Python allows
    none."""
    default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or not default:
        yield
        return
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        try:
            yield
        finally:
            raise_what_was_put_off()
    finally:
        signal.signal(signal.SIGINT, before)


NEVER = float("-inf")

_last = _put_off = NEVER
"""When the last signal came, and when the last one was put off that has not been raised."""

_again: threading.Timer | None = None
"""Sends the one that was put off once more."""


def raise_what_was_put_off() -> None:
    """At the end of what can be interrupted: a signal that came in time is not lost because all that was left was delicate."""
    global _put_off
    if _again is not None:
        _again.cancel()
        _again.join()  # it may be sending just now, and then the signal is raised here
    if _put_off > NEVER:
        _put_off = NEVER
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _last, _put_off, _again
    now = time.monotonic()
    if now - _last < TOGETHER_SECONDS and _put_off < _last:
        return
    _last = now
    if _delicate(frame):
        _put_off = now
        _again = threading.Timer(RETRY_SECONDS, _send, [number])
        _again.daemon = True
        _again.start()
        return
    _put_off = NEVER
    raise KeyboardInterrupt


def _send(number: int) -> None:
    """To the main thread, which may wait for something by then: what is sent to another wakes it from nothing."""
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, number)
    else:
        signal.raise_signal(number)


def _delicate(frame: FrameType | None) -> bool:
    """Whether an import, a call-back (of a weak reference, too) or a fork is under way anywhere up the stack."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("importlib._bootstrap") or module == "weakref":
            return True
        if (module.partition(".")[2], frame.f_code.co_name) in CALLED_BACK:
            return True
        frame = frame.f_back
    return False
