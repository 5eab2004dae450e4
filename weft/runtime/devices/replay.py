"""Graphs on a device that does everything when it is told: what is issued while a stream captures is kept, and done again later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .device import Replayed, Stream
from .report import LaunchReport

Recorded = list[tuple[str | None, Callable[[], LaunchReport | None]]]
"""What was issued while a stream captured, in order: a kernel's name where one is launched, and what does it."""


class Replay:
    """Base of such a device. One stream captures at a time, and all others join it."""

    _capture: Recorded | None = None

    def _issue(self, do: Callable[[], Any], kernel: str | None = None) -> Any:
        """Do it, or keep it for the graph."""
        if self._capture is None:
            return do()
        self._capture.append((kernel, do))
        return None

    def begin_capture(self, stream: Stream) -> None:
        self._capture = []

    def end_capture(self, stream: Stream) -> Recorded:
        made, self._capture = self._capture or [], None
        return made

    def abandon_capture(self, stream: Stream) -> None:
        self._capture = None

    def launch_graph(self, graph: Recorded, stream: Stream) -> list[Replayed]:
        """Issue all of it again, in order."""
        found = [(kernel, do()) for kernel, do in graph]
        return [(kernel, report) for kernel, report in found if kernel is not None and report is not None]

    def destroy_graph(self, graph: Recorded) -> None:
        """Nothing is held but memory of this process."""
