"""Ctrl-C, made safe: a `KeyboardInterrupt` must not fly through compiled code that does not expect it.

While modules are imported (NumPy and the bindings crash) and while the bindings call back into Python (they turn it into
another error), the signal is put off for a moment; anywhere else it raises `KeyboardInterrupt` as usual.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

RETRY_SECONDS = 0.02

CALLED_BACK = {"walk", "execution_engine"}
"""Functions of `interpreter/mlir.py` from which the bindings call back."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle SIGINT this way inside; a no-op off the main thread, where Python allows no handler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _delicate(frame):
        again = threading.Timer(RETRY_SECONDS, signal.raise_signal, [number])
        again.daemon = True
        again.start()
        return
    raise KeyboardInterrupt


def _delicate(frame: FrameType | None) -> bool:
    """Whether an import or a call-back is under way anywhere up the stack."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("importlib._bootstrap"):
            return True
        if module.endswith(".interpreter.mlir") and frame.f_code.co_name in CALLED_BACK:
            return True
        frame = frame.f_back
    return False
