"""Text → `tree.File`: one file with what it includes, or the items of a REPL line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from . import tree
from .builder import TreeBuilder
from .diagnostics import Source, fail
from .files import MAX_SCHEDULE_BYTES, read_source, schedule_text
from .syntax import Start, read


def parse_text(text: str, name: str) -> tree.File:
    """Parse a schedule text; `include` paths are relative to the folder of `name`.

    Raises:
        WeftError: W00xx for included files, W0003 if there is no schedule in it, W01xx for syntax.
    """
    return _complete(schedule_text(text, name))


def parse_file(path: str | os.PathLike[str]) -> tree.File:
    """Parse a `.weft` file and what it includes.

    Raises:
        WeftError: W00xx for files that can't be read, W0003 if there is no schedule in it, W01xx for syntax.
    """
    return _complete(read_source(path, limit=MAX_SCHEDULE_BYTES))


def parse_items(text: str, name: str) -> tuple[tree.Item, ...]:
    """Parse the inside of a schedule, such as a line of the REPL."""
    return _built(Source(name, text), "body")


def _built(source: Source, start: Start) -> Any:
    """The tree of one text alone: `include`s are not followed."""
    return TreeBuilder(source).build(read(source, start)[0])


def _complete(source: Source) -> tree.File:
    file = _Includes().follow(_built(source, "file"), (os.path.realpath(source.name),))
    if not any(schedule.span.source == source for schedule in file.schedules):
        what = "holds no schedule" if source.text.strip() else "is empty"
        raise fail("W0003", f"`{source.name}` {what}", hint="a schedule begins with `schedule name() {`")
    return file


@dataclass
class _Includes:
    """Follows includes; each file's schedules come in once, however often it is included."""

    seen: set[str] = field(default_factory=set)

    def follow(self, file: tree.File, path: tuple[str, ...]) -> tree.File:
        """`file` with the schedules it includes in front of its own. `path`: the files that led here, itself last."""
        included: list[tree.Schedule] = []
        for include in file.includes:
            target = os.path.join(os.path.dirname(file.source.name), include.path)
            identity = os.path.realpath(target)
            if identity in path:
                circle = " → ".join(f"`{os.path.basename(p)}`" for p in (*path[path.index(identity) :], identity))
                hint = "move what both need into a third file"
                raise fail("W0007", f"this `include` makes a circle: {circle}", span=include.span, hint=hint)
            if len(path) > 32:
                raise fail("W0007", "includes nest deeper than 32 files", span=include.span)
            if identity in self.seen:
                continue
            self.seen.add(identity)
            source = read_source(target, limit=MAX_SCHEDULE_BYTES, at=include.span)
            included += self.follow(_built(source, "file"), (*path, identity)).schedules
        return replace(file, schedules=(*included, *file.schedules))
