"""How much work something is: the lines of Python that run, and the time that a processor computes. No clock on the wall: other
programs, and slow machines, change neither the lines nor a ratio of two processor times."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def lines_run(work: Callable[[], T]) -> tuple[T, int]:
    """What `work` returns, and how many lines of Python ran for it: the same number each time."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    with _nothing_collected():
        sys.settrace(line)
        try:
            made = work()
        finally:
            sys.settrace(before)
    return made, count


def seconds_computed(make: Callable[[], Callable[[], Any]], times: int = 3) -> float:
    """The processor's seconds of what `make` prepares, the least of several times: what compiled code does shows here alone."""
    found = []
    for _ in range(times):
        work = make()
        with _nothing_collected():
            started = time.process_time()
            work()
            found.append(time.process_time() - started)
    return min(found)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """How much there is to collect depends on the tests before."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
