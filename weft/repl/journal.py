"""The journal of a session: its executed lines, from which an interrupted session is resumed.

Each REPL on a terminal keeps a file of JSON lines in the user's state folder and locks it while it
runs. A file without a lock belongs to a session that was interrupted. The first line records the
schedule and its settings. The lines after it are `do` (a line begins), `done` (the line changed
something; the text repeats the change) and `end` (the line changed nothing). A session that ends
normally removes its journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ..dsl.diagnostics import count, fail
from ..dsl.records import record
from ..pipeline import Choice
from ..runtime.files.cache import state_folder
from .workbench import Workbench

KEPT, KEPT_DAYS = 20, 30
"""The number of journals of interrupted sessions that are kept, and for how many days."""

MAX_BYTES = 1 << 26


@record
class Start:
    """The schedule and the settings that a session works on.

    Args:
        choice: the schedule, payload and settings; paths are absolute, a recipe is given by name.
        digest: the hash of the texts that were read; it shows whether they have changed since.
        began: the session's start, in seconds since 1970.
    """

    choice: Choice
    digest: str
    began: float

    @classmethod
    def of(cls, bench: Workbench) -> Start:
        file, payload = bench.choice.file, bench.choice.payload
        file = os.path.abspath(file) if os.path.exists(file) else file
        return cls(replace(bench.choice, file=file, payload=payload and payload.absolute()), digest(bench), time.time())

    @classmethod
    def read(cls, file: str | None, payload: str | None, digest: str, began: float, **choice: Any) -> Start:
        """The start that the first line of a journal records."""
        return cls(Choice(file or "", Path(payload) if payload else None, **choice), digest, began)

    @property
    def json(self) -> dict[str, Any]:
        payload = self.choice.payload
        return {**vars(self.choice), "payload": payload and str(payload), "digest": self.digest, "began": self.began}

    @property
    def name(self) -> str:
        return os.path.basename(self.choice.file or self.choice.payload or "nothing")


@record
class CutOffSession:
    """A session that was interrupted. `lines` repeat its changes; `doing` is the line that was in
    progress, or empty."""

    path: Path
    start: Start
    lines: tuple[str, ...]
    doing: str

    @property
    def summary(self) -> str:
        """A line such as `simt, 12 lines, of 2026-11-22 11:02`."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.start.began))
        return f"{self.start.name}, {count(len(self.lines), 'line')}, of {when}"


def digest(bench: Workbench) -> str:
    """The SHA-256 of the texts of the schedule and the payload."""
    sources = {s.span.source.name: s.span.source.text for s in bench.recipe.file.schedules}
    texts = [*(text for _, text in sorted(sources.items())), bench.recipe.payload.text]
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def folder() -> Path:
    return state_folder() / "sessions"


class Journal:
    """The journal of this process's session."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self.path, self._file = path, file

    @classmethod
    def begin(cls, start: Start, lines: Iterable[str] = ()) -> Journal | None:
        """Creates a journal in which `lines` are already executed. None if it cannot be written:
        the session then runs without a journal."""
        try:
            folder().mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(prefix=".new-", dir=folder())
            file = os.fdopen(number, "w", encoding="utf-8", errors="surrogatepass")
            _lock(file)
            journal = cls(Path(name), file)
            journal._write("start", start.json)
            for line in lines:
                journal._write("done", line)
            os.fsync(file.fileno())
            journal.path = folder() / f"{time.strftime('%Y%m%d-%H%M%S')}-{name.rpartition('-')[2]}.journal"
            # locked first: no other process may take it for an interrupted session's journal
            os.replace(name, journal.path)
        except OSError:
            return None
        return journal

    def do(self, line: str) -> None:
        """Records that `line` begins."""
        self._write("do", line)

    def done(self, line: str | None) -> None:
        """Records that the line is complete. `line` repeats its change; None: it changed nothing."""
        if line is None:
            self._write("end", None)
            return
        self._write("done", line)
        try:
            os.fsync(self._file.fileno())
        except OSError:
            return

    def leave(self) -> None:
        """Removes the journal: the session ended normally."""
        self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, what: str, value: object) -> None:
        try:
            self._file.write(json.dumps([what, value]) + "\n")
            self._file.flush()
        except OSError:  # the disk is full: the session continues, and its journal ends here
            return


def cut_off() -> list[CutOffSession]:
    """The interrupted sessions, the newest first. Removes journals that are too old or record no
    change."""
    found: list[CutOffSession] = []
    for path in folder().glob("*.journal"):
        try:
            with path.open("r+", encoding="utf-8") as file:
                if not _lock(file):
                    continue
                one = _read(path, file)
                old = time.time() - path.stat().st_mtime > KEPT_DAYS * 86400
                if one is None or not one.lines or old:
                    path.unlink()
                else:
                    found.append(one)
        except OSError:
            continue
    found.sort(key=lambda one: one.start.began, reverse=True)
    for one in found[KEPT:]:
        one.path.unlink(missing_ok=True)
    return found[:KEPT]


def choose(name: str) -> CutOffSession:
    """The interrupted session of the journal `name` (a path, or the name of a file in the folder),
    or the newest one if the name is empty. Raises W0067."""
    if name and os.path.isfile(name):
        with open(name, "r+", encoding="utf-8") as file:
            if _lock(file) and (one := _read(Path(name), file)) is not None:
                return one
    there = cut_off()
    if not name and there:
        return there[0]
    for one in there:
        if name in (str(one.path), one.path.name, one.path.stem):
            return one
    notes = tuple(f"{one.path.stem}: {one.summary}" for one in there)
    if not name:
        raise fail("W0067", "there is no interrupted session", notes=notes)
    raise fail("W0067", f"there is no journal `{name}` of an interrupted session", notes=notes)


def _read(path: Path, file: IO[str]) -> CutOffSession | None:
    """The session that a journal records; its last line may be incomplete. None for a file that is
    no journal."""
    start: Start | None = None
    lines: list[str] = []
    doing = ""
    try:
        for text in file.read(MAX_BYTES).split("\n")[:-1]:
            what, value = json.loads(text)
            if what == "start":
                start = Start.read(**value)
            elif what == "done":
                lines.append(str(value))
            doing = str(value) if what == "do" else ""
    except (ValueError, TypeError):
        return None
    return None if start is None else CutOffSession(path, start, tuple(lines), doing)


def _lock(file: IO[str]) -> bool:
    """Locks the file until it is closed. False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 30)  # far after all lines: a locked range cannot be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            file.seek(0)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
