"""The commands that move: step, undo, redo, skip, goto, reset, set; what is typed by hand; and what a step shows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from rich.text import Text

from ..dsl.diagnostics import count
from ..interpreter.ir.cloning import tagged
from ..interpreter.session.state import State
from ..output import changes, colors
from ..output.report import duration
from ..payloads.settings import parse_settings
from .command import Desk, Misuse, command, number_of

AT_END = "the schedule is at its end"


@command("step [n]", "execute the next statement, or n of them", "number")
def step(desk: Desk, text: str) -> None:
    number = number_of(text, 1)
    for done in range(number):
        with desk.progress(desk.bench.coming) as clock:
            clock.share(done / number)
            made = desk.session.step()
        if made is None:
            desk.note(f"{AT_END}; type a statement, `run` it, or `save` what was done")
            return
        report(desk, desk.bench.position, brief=number > 1)


@command("undo [n]", "undo the last statement, or n of them", "number")
def undo(desk: Desk, text: str) -> None:
    target = max(0, desk.bench.position - number_of(text, 1))
    undone = [s.text for s in reversed(desk.session.steps[target:])]
    if not undone:
        desk.note("nothing was done yet")
        return
    desk.bench.goto(target)
    for done in undone:
        desk.say(Text("undone ", "dim") + colors.statement(done))


@command("redo [n]", "redo what was undone", "number")
def redo(desk: Desk, text: str) -> None:
    number = min(number_of(text, 1), desk.session.undone)
    if not number:
        desk.note("nothing was undone")
    for _ in range(number):
        desk.session.redo()
        report(desk, desk.bench.position, brief=number > 1)


@command("skip", "skip the next statement; `undo` reverts that, too")
def skip(desk: Desk, text: str) -> None:
    left = desk.bench.coming
    if left:
        desk.session.skip()
    desk.say(Text("left out ", "dim") + colors.statement(left) if left else Text(AT_END, "dim"))


@command("goto n", "go back or forth to where n statements are done", "number")
def goto(desk: Desk, text: str) -> None:
    if not text:
        raise Misuse("`goto` needs a position")
    _jump(desk, number_of(text, 0, "position"))


@command("reset", "go back to the start")
def reset(desk: Desk, text: str) -> None:
    _jump(desk, 0)


def _jump(desk: Desk, number: int) -> None:
    before = desk.bench.position
    with desk.progress(f"goto {number}"):
        desk.bench.goto(number)
    now = desk.bench.position
    if now == before:
        desk.note(f"at {now} already")
    else:
        way = "back" if now < before else "forward"
        desk.say(Text.assemble(f"{way} from {before} to ", (str(now), "bold")))


@command("set name=value …", "set parameters; what was done is redone with them", "parameter")
def set_values(desk: Desk, text: str) -> None:
    pairs = re.sub(r"\s*=\s*", "=", text).split()
    if not pairs:
        raise Misuse("`set` needs a name and a value")
    values = parse_settings(pairs, "set")
    with desk.progress(f"set {', '.join(pairs)}"):
        again = desk.bench.set(values)
    done = f"; {count(again, 'statement')} done again with {'them' if len(pairs) > 1 else 'it'}" if again else ""
    desk.say(Text.assemble("set ", (", ".join(pairs), "bold"), (done, "dim")))


def typed(desk: Desk, text: str) -> None:
    """Do statements that were typed."""
    before = desk.bench.position
    with desk.progress(text):
        steps = desk.bench.type(text)
    for number in range(before + 1, before + len(steps) + 1):
        report(desk, number, brief=len(steps) > 1)
    if not steps and text.split("//")[0].strip():
        desk.note("nothing to do: that holds")


# ---- what a step did -------------------------------------------------------------------------------------------------------


def report(desk: Desk, number: int, brief: bool = False) -> None:
    """Show what a step did: the statement, a line each on what it made, and the difference in the IR."""
    before, state = desk.session.states[number - 1 : number + 1]
    done = state.step
    if done is None:
        return
    difference = changes.change(before.module, state.module)
    desk.say(Text.assemble((f"{number:>3} ", "bold")) + colors.statement(done.text))
    for line in (*(Text(f"    {remark}") for remark in done.remarks), *_names(before, state)):
        desk.wrap(line, 6)
    if not brief:
        everything = f"`diff {number - 1}`" if number == desk.bench.position else f"`diff {number - 1} {number}`"
        _show_rows(desk, changes.rows(difference, desk.width, brief=True), everything)
    for line in (line for shown in done.shown for line in shown.splitlines()):
        desk.wrap(colors.ir(f"    {line}"), 8)
    desk.note(f"    {difference.summary}, {'nothing to do' if done.skipped else duration(done.seconds)}")


def _names(before: State, after: State) -> list[Text]:
    """`made tiles (scf.forall), tile_mm (linalg.matmul); consumed gemm`."""
    ops = tagged(after.module)
    made = [f"{m.name} ({ops[n].name})" for n, m in after.made.items() if n not in before.made and n in ops]
    gone = [before.made[n].name for n in after.dead if n not in before.dead and n in before.made]
    parts: list[tuple[str, str]] = [("made ", "dim"), (", ".join(made), "green")] if made else []
    if gone:
        parts += [("; consumed " if made else "consumed ", "dim"), (", ".join(gone), "yellow")]
    return [Text.assemble("    ", *parts)] if parts else []


def _show_rows(desk: Desk, rows: Sequence[Sequence[Text]], everything: str) -> None:
    """Show the lines of a diff, its middle left out where it is long."""
    most = desk.folded
    if sum(map(len, rows)) <= most + 3:
        desk.say(*itertools.chain(*rows))
        return
    head, tail = _fitting(rows, most * 2 // 3), _fitting(rows[::-1], most // 3)
    desk.say(*itertools.chain(*rows[:head]))
    desk.say(Text(f"  ⋯ {len(rows) - head - tail} more lines; {everything} shows them", "dim italic"))
    desk.say(*itertools.chain(*rows[len(rows) - tail :]))


def _fitting(lines: Sequence[Sequence[Text]], most: int) -> int:
    """How many of the first lines take `most` rows at most; one at least."""
    ends = itertools.accumulate(map(len, lines))
    return max(sum(end <= most for end in ends), 1)
