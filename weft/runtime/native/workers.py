"""Threads that do the blocks of a launch side by side."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

CHUNKS = 4
"""Pieces of a launch for each thread: who is done early takes another one."""


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(count: int, threads: int, do: Callable[[int, int, int], None]) -> None:
    """`do(worker, first, end)` for ranges that make up 0 … `count`, on so many threads, this one among them.

    No two calls with the same `worker` (0 … `threads` - 1) overlap. All are done when this returns.
    """
    workers = min(threads, count)
    if workers <= 1:
        do(0, 0, count)
        return
    size = -(-count // (workers * CHUNKS))
    numbers = itertools.count()

    def work(worker: int) -> None:
        while (first := next(numbers) * size) < count:
            do(worker, first, min(first + size, count))

    others = [_pool(os.getpid()).submit(work, worker) for worker in range(1, workers)]
    try:
        work(0)
    finally:
        for other in others:
            if not other.cancel():
                other.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads of this process: a fork has none of its parent's."""
    return ThreadPoolExecutor(usable_processors(), thread_name_prefix="weft-cpu")
