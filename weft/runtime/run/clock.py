"""What a run takes its time for, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


class Clock:
    """Seconds by phase, in the order in which the phases first began.

    Args:
        watch: called with a phase's name when it begins, and with None when it ends; the progress bar listens here.
        share: called with how much of the phase is done, 0 to 1, where that is known.
    """

    def __init__(
        self, watch: Callable[[str | None], None] | None = None, share: Callable[[float], None] = lambda _: None
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.share = share
        self._watch = watch or (lambda _: None)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to `name`. Phases do not nest."""
        start = time.perf_counter()
        try:
            with self.watched(name):
                yield
        finally:
            self.add({name: time.perf_counter() - start})

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """Tell the watcher of work that keeps its own time; `add` what it measured."""
        self._watch(name)
        try:
            yield
        finally:
            self._watch(None)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add phases that were measured elsewhere."""
        for name, more in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + more
