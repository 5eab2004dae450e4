"""Comparing a golden with what its schedule makes today, and writing it anew."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dsl.diagnostics import WeftError, fail
from ..dsl.render import printable
from ..runtime.files.writing import Output, expect_apart, write_file
from . import checks
from .golden import Golden, read_golden, text_of
from .making import Maker

FOLDED = 60
"""Lines of a diff that are shown; of a longer one its beginning and its end."""

_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class GoldenChange:
    """How a golden and what is made today differ, as the lines of a unified diff; none of them if they are alike."""

    path: str
    lines: tuple[str, ...]
    new: bool = False

    @classmethod
    def between(cls, path: str, kept: str, now: str) -> GoldenChange:
        named = (f"{path} (kept)", f"{path} (made now)")
        return cls(path, tuple(difflib.unified_diff(kept.split("\n"), now.split("\n"), *named, lineterm="", n=3)))

    @property
    def summary(self) -> str:
        """`3 lines more, 2 less`."""
        return f"+{sum(1 for _ in self._body('+'))} −{sum(1 for _ in self._body('-'))} lines"

    def _body(self, sign: str) -> Iterator[str]:
        return (line for line in self.lines[2:] if line.startswith(sign))

    @property
    def message(self) -> str:
        return f"`{self.path}` is not what the schedule makes now: {self.summary}"

    @property
    def error(self) -> WeftError:
        return fail("W0903", self.message, hint=f"if the change is meant: `weft golden {self.path} --update`")

    def shown(self, color: bool, folded: bool = True, more: str = "--full") -> list[str]:
        """The diff for a reader: control characters as escapes, a long one folded. `more`: the option that unfolds."""
        lines: Sequence[str] = self.lines
        if folded and len(lines) > FOLDED + 1:
            head, tail = FOLDED * 2 // 3, FOLDED // 3
            rest = len(lines) - head - tail
            lines = [*lines[:head], f"@@ {rest} more lines of the diff; `{more}` shows them @@", *lines[-tail:]]
        plain = [printable(line) for line in lines]
        return [f"{_COLORS[line[0]]}{line}{_RESET}" if color and line[:1] in _COLORS else line for line in plain]


def compare(golden: Golden, maker: Maker) -> GoldenChange | None:
    """None where all is as kept; else the difference. Raises W0906, W0907 for checks that do not hold, and what making
    the text raises."""
    now = maker.text(golden)
    if golden.kind == "checks":
        checks.check(golden, now)
        return None
    return _change(golden, now)


def update(golden: Golden, maker: Maker) -> GoldenChange | None:
    """Write it anew where it differs, and say what changed. Never a file of checks: those are written by hand; nor one that is no
    golden, or that the golden is made of. Raises W0902, W0714."""
    now = maker.text(golden)
    expect_apart([Output("--update", golden.path, golden.path.suffix)], maker.reads(golden))
    new = not golden.path.exists()
    if not new:
        read_golden(golden.path)
    change = GoldenChange(str(golden.path), (), new=True) if new else _change(golden, now)
    if change is not None:
        write_file(golden.path, f"{golden.header}\n{now}".encode())
    return change


def _change(golden: Golden, now: str) -> GoldenChange | None:
    kept, made = text_of(golden.path), f"{golden.header}\n{now}"
    return None if kept == made else GoldenChange.between(str(golden.path), kept, made)
