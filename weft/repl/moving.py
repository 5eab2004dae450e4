"""The commands that move: step, undo, redo, goto, reset, set, and what is typed by hand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from . import changes, colors, handles
from .command import Command, Desk, expect_nothing, misused, number_of

if TYPE_CHECKING:
    from ..interpreter.session.state import State, Step


def step(desk: Desk, text: str) -> None:
    count = number_of(text, "step [n]", 1)
    for _ in range(count):
        done = desk.bench.step()
        if done is None:
            desk.say(Text("the schedule is at its end; type a statement, `run` it, or `save` what was done", "dim"))
            return
        report(desk, brief=count > 1)


def undo(desk: Desk, text: str) -> None:
    count = number_of(text, "undo [n]", 1)
    before = desk.bench.position
    undone = [s.text for s in reversed(desk.bench.session.steps[max(0, before - count) :])]
    if not undone:
        desk.say(Text("nothing was done yet", "dim"))
        return
    desk.bench.goto(max(0, before - count))
    for done in undone:
        desk.say(Text("undone ", "dim") + colors.weft(done))


def redo(desk: Desk, text: str) -> None:
    count = min(number_of(text, "redo [n]", 1), desk.bench.session.undone)
    if not count:
        desk.say(Text("nothing was undone", "dim"))
    for _ in range(count):
        desk.bench.session.redo()
        report(desk, brief=count > 1)


def skip(desk: Desk, text: str) -> None:
    expect_nothing(text, "skip")
    left = desk.bench.skip()
    desk.say(Text("left out ", "dim") + colors.weft(left) if left else Text("the schedule is at its end", "dim"))


def goto(desk: Desk, text: str) -> None:
    if not text:
        raise misused("goto n", "`goto` needs a position")
    before = desk.bench.position
    desk.bench.goto(number_of(text, "goto n", 0))
    moved(desk, before)


def reset(desk: Desk, text: str) -> None:
    expect_nothing(text, "reset")
    before = desk.bench.position
    desk.bench.reset()
    moved(desk, before)


def set_values(desk: Desk, text: str) -> None:
    from ..settings import parse_settings

    pairs = re.sub(r"\s*=\s*", "=", text).split()
    if not pairs:
        raise misused("set name=value …", "`set` needs a name and a value")
    again = desk.bench.set(parse_settings(pairs, "set"))
    done = (
        f"; {again} statement{'s' * (again != 1)} done again with {'them' if len(pairs) > 1 else 'it'}" if again else ""
    )
    desk.say(Text.assemble("set ", (", ".join(pairs), "bold"), (done, "dim")))


def typed(desk: Desk, text: str) -> None:
    """Do statements that were typed."""
    before = desk.bench.position
    steps = desk.bench.type(text)
    for number in range(before + 1, before + len(steps) + 1):
        report(desk, number=number, brief=len(steps) > 1)
    if not steps and text.split("//")[0].strip():
        desk.say(Text("nothing to do: that holds", "dim"))


def moved(desk: Desk, before: int) -> None:
    """Say where a jump has led, and what changed on the way in figures."""
    now = desk.bench.position
    if now == before:
        desk.say(Text(f"at {now} already", "dim"))
        return
    way = "back" if now < before else "on"
    desk.say(Text.assemble(f"{way} to ", (str(now), "bold"), (f" from {before}", "dim")))


# ---- what a step did -------------------------------------------------------------------------------------------------------


def report(desk: Desk, number: int | None = None, brief: bool = False) -> None:
    """Show what a step did: the statement, a line each on what it made, and the difference in the IR."""
    states = desk.bench.session.states
    at = desk.bench.position if number is None else number
    before, state = states[at - 1], states[at]
    done = state.step
    if done is None:
        return
    difference = _difference(before, state)
    desk.say(Text.assemble((f"{at:>3} ", "bold")) + colors.weft(done.text))
    for remark in done.remarks:
        desk.say(*colors.wrapped(Text(f"    {remark}"), desk.width, 6))
    for line in _names(before, state):
        desk.say(*colors.wrapped(line, desk.width, 6))
    if not brief:
        show_rows(
            desk,
            changes.rows(difference, desk.width, brief=True),
            f"`diff {at - 1}`" if at == desk.bench.position else f"`diff {at - 1} {at}`",
        )
    for shown in done.shown:
        for line in shown.splitlines():
            desk.say(*colors.wrapped(colors.ir(f"    {line}"), desk.width, 8))
    desk.say(Text(f"    {difference.summary}, {_duration(done)}", "dim"))


def _difference(before: State, after: State) -> changes.Change:
    if before.module is after.module:
        return changes.Change((), 0, 0)
    return changes.change(changes.text_of(before.module), changes.text_of(after.module))


def _names(before: State, after: State) -> Sequence[Text]:
    """`made tiles (scf.forall), tile_mm (linalg.matmul); consumed gemm`."""
    ops = handles.tagged(after.module)
    made = [f"{m.name} ({ops[n].name})" for n, m in after.made.items() if n not in before.made and n in ops]
    gone = [before.made[n].name for n in after.dead if n not in before.dead and n in before.made]
    parts: list[tuple[str, str] | str] = []
    if made:
        parts += [("made ", "dim"), (", ".join(made), "green")]
    if gone:
        parts += [("; " if made else "", "dim"), ("consumed ", "dim"), (", ".join(gone), "yellow")]
    return [Text.assemble("    ", *parts)] if parts else []


def show_rows(desk: Desk, rows: Sequence[Sequence[Text]], everything: str) -> None:
    """Show the lines of a diff, its middle left out where it is long."""
    most = desk.folded
    total = sum(map(len, rows))
    if total <= most + 3:
        desk.say(*itertools.chain(*rows))
        return
    head, tail = _fitting(rows, most * 2 // 3), _fitting(rows[::-1], most // 3)
    desk.say(*itertools.chain(*rows[:head]))
    desk.say(Text(f"  ⋯ {len(rows) - head - tail} more lines; {everything} shows them", "dim italic"))
    desk.say(*itertools.chain(*rows[len(rows) - tail :]))


def _fitting(lines: Sequence[Sequence[Text]], most: int) -> int:
    """How many of the first lines take `most` rows at most; one at least."""
    taken = 0
    for number, line in enumerate(lines):
        taken += len(line)
        if taken > most and number:
            return number
    return len(lines)


def _duration(done: Step) -> str:
    from ..cli.report import duration

    return "nothing to do" if done.skipped else duration(done.seconds)


COMMANDS = (
    Command("step", "step [n]", "do the next statement, or n of them", step, "number"),
    Command("undo", "undo [n]", "take back the last statement, or n of them", undo, "number"),
    Command("redo", "redo [n]", "do again what was undone", redo, "number"),
    Command("skip", "skip", "leave the next statement out; `undo` takes that back, too", skip),
    Command("goto", "goto n", "to where n statements are done, back or forth", goto, "number"),
    Command("reset", "reset", "to the start", reset),
    Command(
        "set", "set name=value …", "set parameters; what was done is done again with them", set_values, "parameter"
    ),
)
