"""Ctrl-C, made safe: a `KeyboardInterrupt` must not fly through compiled code that does not expect it.

While modules are imported (NumPy and the bindings crash), while the bindings call back into Python (they turn it into another
error) and while a process is forked (what Python calls then may not raise), the signal is put off for a moment; anywhere else it
raises `KeyboardInterrupt` as usual. Signals that come together are one: a terminal and a parent may send the same Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

RETRY_SECONDS = 0.02

TOGETHER_SECONDS = 0.3

CALLED_BACK = {
    ("interpreter.ir.mlir", "walk"),
    ("interpreter.ir.mlir", "operations"),
    ("interpreter.ir.mlir", "execution_engine"),
    ("interpreter.proof.kernels.trial", "_outermost"),
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
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def handle_interrupts() -> None:
    """Handle SIGINT this way from now on."""
    signal.signal(signal.SIGINT, _interrupt)


_last = _put_off = float("-inf")
"""When the last signal came, and when the last one was put off that has not been raised."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _last, _put_off
    now = time.monotonic()
    if now - _last < TOGETHER_SECONDS and _put_off < _last:
        return
    _last = now
    if _delicate(frame):
        _put_off = now
        again = threading.Timer(RETRY_SECONDS, _send, [number])
        again.daemon = True
        again.start()
        return
    _put_off = float("-inf")
    raise KeyboardInterrupt


def _send(number: int) -> None:
    """To the main thread, which may wait for something by then: what is sent to another wakes it from nothing."""
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, number)
    else:
        signal.raise_signal(number)


def _delicate(frame: FrameType | None) -> bool:
    """Whether an import, a call-back or a fork is under way anywhere up the stack."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("importlib._bootstrap"):
            return True
        if (module.partition(".")[2], frame.f_code.co_name) in CALLED_BACK:
            return True
        frame = frame.f_back
    return False
