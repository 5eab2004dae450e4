"""The state that the process of one command line shares with its parent, for a report of an
abnormal end; and a safe handler of Ctrl-C.

Without such a parent nothing is shared, and the handler is safe as well: the Python API runs in one
process.
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
"""The offsets of the entries on the shared page, and its size."""

_page: mmap.mmap | None = None


def share(page: mmap.mmap) -> None:
    """Marks this process as the child that runs one command line, with the page that it shares with
    its parent."""
    global _page
    _page = page


def is_child() -> bool:
    """Whether this process runs only one command line: it may be forked as long as it has no
    threads."""
    return _page is not None


def doing(text: str) -> None:
    """Records the current action, which is reported after an abnormal end: "`fuse a into b`
    (x.weft:3:5)"; empty: none."""
    _write(DOING, text, JOURNAL)


def stays(journal: str) -> None:
    """Records that Ctrl-C does not end this process, and the `journal` from which it is resumed
    after an abnormal end; empty: no journal."""
    if _page is not None:
        _page[STAYS] = 1
    _write(JOURNAL, journal, SIZE)


def answered() -> None:
    """Records that Ctrl-C was handled."""
    if _page is not None:
        _page[ANSWERED] = _page[ANSWERED] % 255 + 1


def _write(at: int, text: str, end: int) -> None:
    if _page is not None:
        data = text.encode("utf-8", "surrogateescape")[: end - at - 1]
        _page[at : at + len(data) + 1] = data + b"\0"


def read(page: mmap.mmap, at: int) -> str:
    """The text at an offset of the page."""
    return page[at : page.find(b"\0", at)].decode("utf-8", "surrogateescape")


# ---- Ctrl-C, made safe: a `KeyboardInterrupt` must not fly through compiled code that does not expect it ---
#
# The signal is deferred for a moment while modules are imported (NumPy and the bindings crash), while the bindings call
# back into Python (they replace the exception by another one), while a weak reference is dropped, and while a process
# forks (Python ignores exceptions of such callbacks). Anywhere else it raises as usual. Signals in quick succession
# count as one: a terminal and a parent may send the same Ctrl-C.

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
"""Functions in Weft's modules that the bindings call back, or Python before and after a fork, and
functions that change data shared by versions of a module."""


@contextmanager
def interruptible() -> Iterator[None]:
    """A context in which SIGINT is handled safely. Without effect if the program has its own
    handler, and outside the main thread."""
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
"""The time of the last signal, and of the last deferred signal that has not been raised yet."""

_again: threading.Timer | None = None
"""The timer that sends the deferred signal again."""


def raise_what_was_put_off() -> None:
    """Raises a deferred signal at the end of the interruptible context, so that it is not lost."""
    global _put_off
    if _again is not None:
        _again.cancel()
        _again.join()  # if the timer has just fired, the signal is raised here
    if _put_off > NEVER:
        _put_off = NEVER
        raise KeyboardInterrupt


def interrupt(number: int, frame: FrameType | None) -> None:
    """The handler of SIGINT: raises `KeyboardInterrupt`, or defers the signal where raising is not
    safe."""
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
    """Sends the signal to the main thread, which may be blocked by then: a signal to another thread
    would not wake it."""
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, number)
    else:
        signal.raise_signal(number)


def _delicate(frame: FrameType | None) -> bool:
    """Whether an import, a callback (also of a weak reference) or a fork is active in any frame of
    the stack."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("importlib._bootstrap") or module == "weakref":
            return True
        if (module.partition(".")[2], frame.f_code.co_name) in CALLED_BACK:
            return True
        frame = frame.f_back
    return False
