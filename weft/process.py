"""What a process that does one command line tells its parent, should it be ended; and Ctrl-C, made safe.

Without such a parent nothing is told, and Ctrl-C is safe all the same: the Python API has no other process.
"""

from __future__ import annotations

import mmap
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ANSWERED, STAYS, DOING, JOURNAL, SIZE = 0, 1, 4, 2048, 4096
"""Where things stand on the page."""

_page: mmap.mmap | None = None


def share(page: mmap.mmap) -> None:
    """This process is a child that does one command line, and that is the page it shares with its parent."""
    global _page
    _page = page


def is_child() -> bool:
    """Whether this process does nothing but one command line: it may be forked before it makes threads."""
    return _page is not None


def doing(text: str) -> None:
    """What is begun now, should it be the end: "`fuse a into b` (x.weft:3:5)"; empty when it is done."""
    _write(DOING, text, JOURNAL)


def stays(journal: str) -> None:
    """Ctrl-C does not end this process, which goes on from `journal` if it is ended; empty for no journal."""
    if _page is not None:
        _page[STAYS] = 1
    _write(JOURNAL, journal, SIZE)


def answered() -> None:
    """Ctrl-C was heard."""
    if _page is not None:
        _page[ANSWERED] = _page[ANSWERED] % 255 + 1


def _write(at: int, text: str, end: int) -> None:
    if _page is not None:
        data = text.encode("utf-8", "surrogateescape")[: end - at - 1]
        _page[at : at + len(data) + 1] = data + b"\0"


def read(page: mmap.mmap, at: int) -> str:
    """The text that a page has at a place."""
    return page[at : page.find(b"\0", at)].decode("utf-8", "surrogateescape")


# ---- Ctrl-C, made safe: a `KeyboardInterrupt` must not fly through compiled code that does not expect it ---
#
# While modules are imported (NumPy and the bindings crash), while the bindings call back into Python (they turn it into
# another error), while a weak reference is dropped and while a process is forked (what Python calls then may not
# raise), the signal is put off for a moment; anywhere else it raises as usual. Signals that come together are one: a
# terminal and a parent may send the same Ctrl-C.

RETRY_SECONDS = 0.02

TOGETHER_SECONDS = 0.3

CALLED_BACK = {
    ("interpreter.ir.mlir", "walk"),
    ("interpreter.ir.mlir", "operations"),
    ("interpreter.ir.mlir", "execution_engine"),
    ("interpreter.statements.insert_barriers.trials", "_outermost"),
    ("interpreter.focus.modules", "content"),
    ("interpreter.focus.versions", "sections"),
    ("runtime.cpu.worker", "forked"),
}
"""Functions of Weft's modules from which the bindings, or Python before and behind a fork, call back; and those that
change what versions of a module share."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle SIGINT this way inside; a no-op where the host has its own handler, and off the main thread."""
    default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or not default:
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
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
    """At the end of what can be interrupted: a signal that came in time is not lost."""
    global _put_off
    if _again is not None:
        _again.cancel()
        _again.join()  # it may be sending just now, and then the signal is raised here
    if _put_off > NEVER:
        _put_off = NEVER
        raise KeyboardInterrupt


def interrupt(number: int, frame: FrameType | None) -> None:
    """The handler of SIGINT: raises, or puts the signal off where raising is not safe."""
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
