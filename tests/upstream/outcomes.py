"""Pieces of MLIR given to a worker process, one after the other; a worker that dies or hangs is a finding, and is started anew."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WALL_SECONDS = 120
"""A worker that says nothing for so long waits for something: one that computes is ended after `worker.SECONDS`."""


@dataclass(frozen=True)
class Judgement:
    """One case: `right` (free of races, or computed right), `refused`, `wrong`, or one of `BAD`."""

    piece: str
    case: str
    outcome: str
    said: str
    schedule: str | None = None


BAD = ("traceback", "abort", "hang")


def judged(found: Iterable[tuple[str, str]], share: int = 1) -> Iterator[Judgement]:
    """Every case of every piece (a name and a text); or of the schedules one in `share`."""
    worker: _Worker | None = None
    try:
        for name, text in found:
            first: int | None = 0
            while first is not None:
                worker = worker or _Worker()
                answers = _Answers(name, first, share)
                yield from answers.read(worker, text)
                first = answers.next
                if first is not None:
                    worker.end()
                    worker = None
    finally:
        if worker is not None:
            worker.end()


class _Answers:
    """What a worker says of one piece; `next` is the case to go on with in another worker, None when all is said."""

    def __init__(self, piece: str, first: int, share: int) -> None:
        self.piece, self.share = piece, share
        self.next: int | None = first

    def read(self, worker: _Worker, text: str) -> Iterator[Judgement]:
        begun: dict[str, Any] = {"begins": "reading"}
        worker.ask({"text": text, "first": self.next, "share": self.share})
        while (answer := worker.answer()) is not None:
            if "done" in answer:
                self.next = None
                return
            if "begins" in answer:
                begun = answer
            else:
                yield Judgement(self.piece, answer["ends"], answer["outcome"], answer["said"], begun.get("schedule"))
        outcome, said = worker.last_words()
        yield Judgement(self.piece, begun["begins"], outcome, said, begun.get("schedule"))
        self.next = begun["number"] + 1 if "number" in begun else None


class _Worker:
    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env={**os.environ, "NO_COLOR": "1"},
        )  # fmt: skip
        self._waited = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._waited.register(self._process.stdout, selectors.EVENT_READ)
        self._rest = b""

    def ask(self, question: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead, which `answer` tells
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any] | None:
        """The next line; None if it has died, or says nothing any more."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            if not self._waited.select(WALL_SECONDS):
                self._process.kill()
                return None
            read = os.read(self._process.stdout.fileno(), 1 << 16)
            if not read:
                return None
            self._rest += read
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def last_words(self) -> tuple[str, str]:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-6000:]
        return ("hang" if -code in (signal.SIGPROF, signal.SIGKILL) else "abort"), f"exit {code}\n{said}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._waited.close()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
