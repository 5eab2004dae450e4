"""The grammar's parse tables, kept beside the compiled Python files: making them anew takes longer than all of a parse.

They stand where Python keeps its own compiled code of the package and are as trusted as that; no other place is read.
Where Python writes no compiled code (a read-only installation, `-B`), the tables are made anew each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import marshal
import os
import pickle
import sys
from pathlib import Path

from lark import Lark, __version__

from .. import grammar
from .lines import Lines, end_keywords_at_word_ends

Spellings = dict[str, str]


def load() -> tuple[Lark, Spellings]:
    """The parser, and what its terminals look like."""
    text = Path(grammar.__path__[0], "weft.lark").read_text("utf-8")
    place = _place()
    if place is None:
        return _make(text)
    key = _key(text)
    return _read(place, key) or _write(place, key, _make(text))


def _make(text: str) -> tuple[Lark, Spellings]:
    spellings: Spellings = {}
    parser = Lark(
        text,
        parser="lalr",
        start=["file", "body"],
        propagate_positions=True,
        maybe_placeholders=False,
        postlex=Lines(),
        edit_terminals=lambda terminal: end_keywords_at_word_ends(spellings, terminal),
    )
    return parser, spellings


def _key(text: str) -> bytes:
    """Changes with all that the tables depend on."""
    edits = marshal.dumps(end_keywords_at_word_ends.__code__)
    return hashlib.sha256(b"\0".join((text.encode(), edits, __version__.encode(), sys.version.encode()))).digest()


def _place() -> Path | None:
    """Beside the compiled file of the grammar's package; None where there is no such place."""
    if grammar.__file__ is None:
        return None
    try:
        compiled = Path(importlib.util.cache_from_source(grammar.__file__))
    except NotImplementedError:
        return None
    return compiled.with_name("weft.lark.tables")


def _read(place: Path, key: bytes) -> tuple[Lark, Spellings] | None:
    """What was kept; None where it is missing, damaged, or of another grammar, Lark or Python."""
    try:
        data = place.read_bytes()
        digest, rest = data[:32], data[64:]
        if digest != key or data[32:64] != hashlib.sha256(rest).digest():
            return None
        tables, spellings = pickle.loads(rest)
    except (OSError, pickle.UnpicklingError, EOFError):
        return None
    return Lark.__new__(Lark)._load(io.BytesIO(tables), postlex=Lines(), propagate_positions=True), spellings


def _write(place: Path, key: bytes, made: tuple[Lark, Spellings]) -> tuple[Lark, Spellings]:
    import tempfile  # slow to import, and seldom needed

    parser, spellings = made
    tables = io.BytesIO()
    parser.save(tables, exclude_options=("edit_terminals", "postlex", "propagate_positions"))
    rest = pickle.dumps((tables.getvalue(), spellings))
    if sys.dont_write_bytecode:
        return made
    with contextlib.suppress(OSError):  # it only saves time
        place.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".weft-", delete=False) as file:
            file.write(key + hashlib.sha256(rest).digest() + rest)
        os.chmod(file.name, 0o644)
        os.replace(file.name, place)
    return made
