"""A schedule and what it includes, as one text."""

from __future__ import annotations

from collections.abc import Sequence

from ..dsl import tree
from ..dsl.formatter import format_text
from ..dsl.parser import parse_file


def whole_text(file: tree.File) -> str:
    """The text of a file that needs no other: what it includes stands in the place of its first `include`."""
    if not file.includes:
        return file.source.text
    sources = dict.fromkeys(schedule.span.source for schedule in file.schedules if schedule.span.source != file.source)
    included = (parse_file(source.name) for source in sources)
    texts = [_edited(one, [(node, "") for node in (*one.includes, one.payload) if node is not None]) for one in included]
    first, *others = file.includes
    edits = [(first, "\n" + "\n\n".join(text.strip() for text in texts)), *((include, "") for include in others)]
    return format_text(_edited(file, edits), file.source.name)


def _edited(file: tree.File, edits: Sequence[tuple[tree.Node, str]]) -> str:
    source, text = file.source, file.source.text
    for node, new in sorted(edits, key=lambda edit: edit[0].span.line, reverse=True):
        span = node.span
        text = text[: source.offset(span.line, span.column)] + new + text[source.offset(span.end_line, span.end_column) :]
    return text
