"""Compares a golden with the current output of its schedule, and rewrites it.

Goldens of one schedule with the same payload and settings share one application of it. A step is
named by a name that its `let` binds, or by the beginning of its statement:

    let (a, copy_a) = promote-to-shared step.lhs     a, copy_a, promote-to-shared, "promote-to-shared step.lhs"
    map copy_a to threads(*) cyclic                  "map copy_a"

Steps have no numbers: a new statement before a step would change its number. If several steps
match, `#2` is the second: `--after "map lanes #2"`, for a statement in a `foreach` or in a schedule
that is called twice.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, WeftError, count, did_you_mean, fail, printable
from ..dsl.records import record
from ..pipeline import Applied, Choice, applied
from ..recipes import schedules
from ..runtime.files.writing import Output, expect_apart, write_file
from . import checks
from .golden import Golden, read_golden, text_of

if TYPE_CHECKING:
    from ..interpreter.session.session import Step

FOLDED = 60
"""The number of diff lines that are shown; of a longer diff, the beginning and the end."""

_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_RESET = "\x1b[0m"
_NUMBERED = re.compile(r"(.*?)\s+#([1-9][0-9]{0,5})")
_SHOWN = 20


class Maker:
    """Applies schedules for goldens, and keeps the last result: consecutive goldens are mostly of
    one schedule."""

    def __init__(self, warned: Callable[[tuple[Diagnostic, ...]], object] = lambda _: None) -> None:
        self.warned = warned
        """A function that receives the warnings of a schedule when it is read."""
        self._last: tuple[Choice, Applied] | None = None

    def text(self, golden: Golden, *, whole: bool = False) -> str:
        """The current module or CUDA text of the golden's schedule.

        Args:
            whole: a CUDA text with its prelude, as CHECK lines get it, too; else with the names of its pieces.

        Raises:
            WeftError: W0904 for a missing schedule, W0905 for a missing step, W0908 if nothing is
                launched; and the errors of applying the schedule.
        """
        done = self._applied(golden)
        if golden.after is not None:
            return f"{named_step(done.session.steps, golden).ir.rstrip()}\n"
        if not golden.cuda:
            return f"{done.text.rstrip()}\n"
        from ..runtime.cuda.module import emit

        text = emit(done.module, named=not whole and golden.kind == "cuda").rstrip()
        if not text:
            raise fail("W0908", f"`{golden.schedule}` launches no kernel: there is no CUDA text", span=golden.span)
        return f"{text}\n"

    def reads(self, golden: Golden) -> dict[Path, str]:
        """The files that a golden is made from, each with its name in messages."""
        return self._applied(golden).recipe.reads

    def check(self, golden: Golden) -> tuple[str, ...]:
        """Compares the kernels with their payload. Returns a line for each comparison. Raises
        W0080, W0081."""
        from ..comparison.comparison import compared_all

        return tuple(one.line for one in compared_all(self._applied(golden)) if one.line is not None)

    def _applied(self, golden: Golden) -> Applied:
        ships = not golden.schedule.endswith(".weft")
        schedule = schedules().get(golden.schedule) if ships else golden.path.parent / golden.schedule
        if schedule is None or not schedule.is_file():
            renamed = f"was it renamed? `{golden.path.name}` moves along, or is deleted"
            message = f"the schedule of `{golden.path}` does not exist: `{schedule or golden.schedule}`"
            hint = (did_you_mean(golden.schedule, schedules()) if ships else None) or renamed
            raise fail("W0904", message, span=golden.span, hint=hint)
        payload = golden.choice.payload and golden.path.parent / golden.choice.payload
        choice = replace(golden.choice, file=str(schedule), payload=payload)
        if self._last is None or self._last[0] != choice:
            self._last = None  # the old modules are freed before new ones are made
            recipe = choice.open()
            if recipe.warnings:
                self.warned(recipe.warnings)
            self._last = (choice, applied(recipe))
        return self._last[1]


def named_step(steps: Sequence[Step], golden: Golden) -> Step:
    """The step that `golden.after` names. Raises W0905 if there is none, or several."""
    wanted = " ".join((golden.after or "").split())
    numbered = _NUMBERED.fullmatch(wanted)
    words, number = (numbered[1], int(numbered[2])) if numbered else (wanted, None)
    found = [step for step in steps if fits(step.text, words)]
    if number is not None and number <= len(found):
        return found[number - 1]
    if number is None and len(found) == 1:
        return found[0]
    raise _unclear(golden, words, number, steps, found)


def fits(text: str, words: str) -> bool:
    """Whether `words` name a statement: it binds that name, or begins with these words."""
    names, statement = bound(text)
    return words in names or f"{statement} ".startswith(f"{words} ")


def bound(text: str) -> tuple[tuple[str, ...], str]:
    """`let (a, copy) = promote-to-shared x` → the names that it binds, and the statement."""
    if not text.startswith("let "):
        return (), text
    targets, _, statement = text.removeprefix("let ").partition("=")
    return tuple(n for n in re.findall(r"[^\s,()]+", targets) if n != "_"), statement.strip()


def _unclear(golden: Golden, words: str, number: int | None, steps: Sequence[Step], found: Sequence[Step]) -> WeftError:
    lines = [f"{Path(step.span.source.name).name}:{step.span.line}: {step.text}" for step in found or steps]
    more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    what, led, hint = f"names {count(len(found), 'step')} of `{golden.schedule}`, not {number}", "found", None
    if found and number is None:
        what, led = f"names {len(found)} steps of `{golden.schedule}`", "they are"
        hint = f"write more of the statement, or `{words} #1` for the first"
    message = f"`{words}` {what}"
    if not found:
        message, led = f"`{golden.schedule}` has no step `{words}` with these settings", "its steps are"
        names = [name for step in steps for name in (*bound(step.text)[0], bound(step.text)[1])]
        hint = did_you_mean(words, names) or f"name one of the steps, or delete `{golden.path.name}`"
    notes = ("\n".join([led, *lines[:_SHOWN], *more]),)
    return fail("W0905", message, span=golden.span, notes=notes, hint=hint)


@record
class GoldenChange:
    """The difference between a golden and the current output, as the lines of a unified diff; empty
    if they are equal. `compared`: a line for each comparison of the kernels with their payload that
    was made before writing."""

    path: str
    lines: tuple[str, ...]
    new: bool = False
    compared: tuple[str, ...] = ()

    @classmethod
    def between(cls, path: str, kept: str, now: str) -> GoldenChange:
        named = (f"{path} (kept)", f"{path} (made now)")
        return cls(path, tuple(difflib.unified_diff(kept.split("\n"), now.split("\n"), *named, lineterm="", n=3)))

    @property
    def summary(self) -> str:
        """The numbers of added and removed lines: `+3 −2 lines`."""
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
        """The diff for display: control characters as escapes, a long diff folded. `more`: the
        option that unfolds it."""
        lines: Sequence[str] = self.lines
        if folded and len(lines) > FOLDED + 1:
            head, tail = FOLDED * 2 // 3, FOLDED // 3
            rest = len(lines) - head - tail
            lines = [*lines[:head], f"@@ {rest} more lines of the diff; `{more}` shows them @@", *lines[-tail:]]
        plain = [printable(line) for line in lines]
        return [f"{_COLORS[line[0]]}{line}{_RESET}" if color and line[:1] in _COLORS else line for line in plain]


def compare(golden: Golden, maker: Maker) -> GoldenChange | None:
    """The difference, or None if the golden is equal to the current output. Raises W0906, W0907,
    and the errors of making the text."""
    now = maker.text(golden)
    if golden.kind == "checks":
        checks.check(golden, now)
        return None
    change = _change(golden, now)
    if change is None or golden.kind != "cuda":
        return change
    whole = _change(golden, maker.text(golden, whole=True))  # what goldens held before they named the prelude
    return whole and min(change, whole, key=lambda one: len(one.lines))


def update(golden: Golden, maker: Maker) -> GoldenChange | None:
    """Rewrites a golden that differs, and returns the difference. Never written are check files,
    files that are no goldens, files that the golden is made from, and outputs of kernels that
    differ from their payload. Raises W0902, W0714, W0080, W0081."""
    now = maker.text(golden)
    expect_apart([Output("--update", golden.path, golden.path.suffix)], maker.reads(golden))
    new = not golden.path.exists()
    if not new and (kept := read_golden(golden.path)).schedule != golden.schedule:
        hint = "give the new one a name: `--name NAME`"
        raise fail("W0902", f"`{golden.path}` is a golden of `{kept.schedule}`", hint=hint)
    change = GoldenChange(str(golden.path), (), new=True) if new else _change(golden, now)
    if change is not None:
        change = replace(change, compared=maker.check(golden))
        write_file(golden.path, f"{golden.header}\n{now}".encode())
    return change


def _change(golden: Golden, now: str) -> GoldenChange | None:
    kept, made = text_of(golden.path), f"{golden.header}\n{now}"
    return None if kept == made else GoldenChange.between(str(golden.path), kept, made)
