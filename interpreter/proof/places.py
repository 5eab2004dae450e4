"""Where in a text the findings of a proof are shown, and how many of them."""

from __future__ import annotations

import re
from dataclasses import replace

from ...dsl.diagnostics import Diagnostic, Source, Span

_PLACE = re.compile(r"^(?P<op>\S+) at .*?(?P<line>\d+):(?P<column>\d+)\)*$")


def span(source: Source | None, op: str) -> Span | None:
    """Where `op` stands, as `describe` says it."""
    found = _PLACE.match(op)
    if found is None or source is None:
        return None
    line, column = int(found["line"]), int(found["column"])
    return Span(source, line, column, line, column + len(found["op"]))


def quoted(source: Source | None, op: str) -> str:
    """The line of `op`, below what is said of it."""
    at = span(source, op)
    text = at.source.line(at.line).strip() if at is not None else ""
    return f"\n    {text}" if text else ""


def first_few(found: list[Diagnostic], most: int, where: str) -> list[Diagnostic]:
    """So many of them; the last one says how many more there are."""
    shown = found[:most]
    if len(found) > most:
        more = f"and {len(found) - most} more in this {where}"
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, more))
    return shown
