"""Two processes for one command line: a child that does the work, and a parent that does nothing
that can fail.

An abnormal end of the child (an `abort` in MLIR, a signal, lack of memory) becomes a diagnostic and
the exit code 1. Ctrl-C is forwarded to the child, which usually reacts at once; a child inside
compiled code that does not react is ended. If a session (`weft repl`) ends abnormally, another
child resumes it from its journal.

Both processes share a page of memory, in which the child records what the parent reports after an
abnormal end. On systems without `fork` there is only one process, as for the Python API.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from ..process import ANSWERED, DOING, JOURNAL, SIZE, STAYS, interrupt, read, share

GRACE_SECONDS = 0.7
"""Seconds from Ctrl-C until a child that does not react is ended."""


def supervised(command: Callable[[], int], resumed: Callable[[str], int]) -> int:
    """Runs `command` in a child and returns its exit code, in the child and in the parent.

    Args:
        resumed: resumes a session from the journal with this name, after its process ended
            abnormally.
    """
    if not hasattr(os, "fork"):
        return command()
    page = mmap.mmap(-1, SIZE)
    restore_terminal = _terminal()
    while True:
        page[:] = bytes(SIZE)
        watch = _Watch(page)
        if watch.fork() == 0:
            share(page)
            return command()
        status = watch.wait()
        if status >= 0:
            return status
        if sys.stderr.isatty():  # an interrupted progress line leaves the cursor hidden
            print(end="\x1b[?25h", file=sys.stderr, flush=True)
        if status in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP):  # this was requested by a signal
            return 128 - status
        restore_terminal()
        journal = read(page, JOURNAL)
        _say(status, watch.killed, page, bool(journal))
        if not journal:
            return 130 if watch.killed else 1
        command = partial(resumed, journal)


class _Watch:
    """A child process, and the parent's signal handlers while the child runs."""

    def __init__(self, page: mmap.mmap) -> None:
        self.page, self.pid, self.killed, self.answered = page, 0, False, 0

    def fork(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, interrupt)
            _die_with(parent)
        else:
            signal.signal(signal.SIGINT, self._forward)
            signal.signal(signal.SIGALRM, self._end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return self.pid

    def wait(self) -> int:
        """The child's exit code; if a signal ended it, the negative number of that signal."""
        _, status = os.waitpid(self.pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return os.waitstatus_to_exitcode(status)

    def _forward(self, number: int, frame: FrameType | None) -> None:
        """Forwards a signal to the child, and ends the child if it does not react in time. A
        terminal sends Ctrl-C to both processes, so that the child may get it twice; it counts both
        as one."""
        self.answered = self.page[ANSWERED]
        os.kill(self.pid, number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.page[STAYS] and self.page[ANSWERED] != self.answered:
            return
        self.killed = True
        os.kill(self.pid, signal.SIGKILL)


def _die_with(parent: int) -> None:
    """Makes the system end the child when its parent is killed, whatever the child does. On other
    systems it continues to its own end."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the request
        os._exit(1)


def _terminal() -> Callable[[], None]:
    """A function that restores the terminal's present settings, which an ended process may have
    changed."""
    if not os.isatty(0):
        return lambda: None
    import termios

    return partial(termios.tcsetattr, 0, termios.TCSANOW, termios.tcgetattr(0))


def _say(status: int, killed: bool, page: mmap.mmap, goes_on: bool) -> None:
    """Reports the abnormal end of the child."""
    from ..dsl.diagnostics import Diagnostic
    from ..output.console import say, show
    from ..runtime.cpu.worker import ended_by

    doing = read(page, DOING)
    if killed:
        if not page[ANSWERED]:
            what = f" in the middle of {doing}" if doing and goes_on else ""
            say("\n" * sys.stderr.isatty() + f"interrupted{what}")
        return
    words = ended_by(status)
    message = f"Weft was ended by {words.signal}" + (f" in the middle of {doing}" if doing else "")
    cause = (f"probably {words.cause}",) if words.cause else ()
    hint = None if goes_on else "leave this statement out, or write it in another way" if doing else None
    show((Diagnostic("W0070", message, notes=cause, hint=hint),))
