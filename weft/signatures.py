"""The signatures of the statements, cached beside the parse tables: checking a schedule then
imports no statement.

The cache depends on Weft's source (`source`). Like the parse tables it is among the compiled Python
files; if Python writes none, every start computes it.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from .dsl.signature import Signature
from .dsl.syntax import tables
from .source import source


@cache
def signatures() -> Mapping[str, Signature]:
    """The signatures of all statements by keyword."""
    beside = "" if sys.dont_write_bytecode else tables()
    place = os.path.join(os.path.dirname(beside), "statements.signatures") if beside else ""
    key = (source(), sys.version)
    if (found := _kept(place, key)) is not None:
        return found
    from .interpreter.session import statement

    made = statement.signatures()
    if place:
        _keep(place, key, made)
    return made


def _kept(place: str, key: tuple[str, ...]) -> Mapping[str, Signature] | None:
    damaged = (pickle.PickleError, EOFError, AttributeError, ImportError, ValueError, IndexError)
    with suppress(OSError, *damaged), open(place, "rb") as file:
        if pickle.load(file) == key:
            return pickle.load(file)
    return None


def _keep(place: str, key: tuple[str, ...], made: Mapping[str, Signature]) -> None:
    aside = f"{place}.{os.getpid()}"
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(aside, "wb") as file:
            file.write(pickle.dumps(key) + pickle.dumps(dict(made)))
        os.replace(aside, place)
