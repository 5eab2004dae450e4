"""Two processes for one command line: a child that does the work, and its parent, which does nothing that could fail.

What ends the child (upstream's `abort`, a signal, the system short of memory) becomes a diagnostic and exit code 1.
Ctrl-C goes on to the child, which mostly answers at once; one that is inside compiled code and does not is ended. A
session (`weft repl`) that is ended goes on in another child, from its journal.

The two share a page of memory, on which the child writes what is needed if it can't say anything any more. Where
processes can't be forked there is one process, as there is for the Python API.
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
"""From Ctrl-C to the end of a child that does not answer."""


def supervised(command: Callable[[], int], resumed: Callable[[str], int]) -> int:
    """Do `command` in a child; its exit code, in the child and in its parent.

    Args:
        resumed: goes on with a session whose journal that is, after its process was ended.
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
        if sys.stderr.isatty():  # in the middle of a progress line the cursor is hidden
            print(end="\x1b[?25h", file=sys.stderr, flush=True)
        if status in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP):  # somebody wanted just that
            return 128 - status
        restore_terminal()
        journal = read(page, JOURNAL)
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
            signal.signal(signal.SIGINT, interrupt)
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
        self.answered = self.page[ANSWERED]
        os.kill(self.pid, number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.page[STAYS] and self.page[ANSWERED] != self.answered:
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
