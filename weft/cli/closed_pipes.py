"""A reader that has seen enough (`weft golden igemm 2>&1 | head -2`) ends what is printed, not what is done.

The command goes on to its own exit code, and what else it would say goes nowhere. This is done below Python's streams: Click and
Rich end the process with 1 when they meet a closed pipe.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.FileIO):
    """The writing end of a pipe; of one that nobody reads any more, as good as none."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)


def outlive_readers() -> None:
    """Put that below `sys.stdout` and `sys.stderr`, where they are pipes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and _is_pipe(stream.fileno()):
            stream.flush()
            raw = _Pipe(stream.fileno(), "w", closefd=False)
            patient = io.TextIOWrapper(
                raw if stream.write_through else io.BufferedWriter(raw), stream.encoding, stream.errors,
                line_buffering=stream.line_buffering, write_through=stream.write_through,
            )  # fmt: skip
            setattr(sys, name, patient)


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
