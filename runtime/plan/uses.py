"""Which buffers a step of a plan names."""

from __future__ import annotations

from collections.abc import Iterator

from .plan import Alloc, AnyStep, BufferView, Copy, Fill, Free


def used_buffers(step: AnyStep, place: str) -> Iterator[tuple[str, str]]:
    """The buffers a step names, each with its place."""
    if isinstance(step, Alloc | Free):
        yield step.buffer, f"{place}.buffer"
    elif isinstance(step, Copy):
        yield step.source.buffer, f"{place}.source.buffer"
        yield step.target.buffer, f"{place}.target.buffer"
    elif isinstance(step, Fill):
        yield step.target.buffer, f"{place}.target.buffer"
    else:
        for i, arg in enumerate(step.args):
            if isinstance(arg, BufferView):
                yield arg.buffer, f"{place}.args[{i}].buffer"
