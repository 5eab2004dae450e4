"""The commands that change the position (`step`, `undo`, `redo`, `skip`, `goto`, `reset`, `set`),
typed statements and the report of a step; and the commands that only show: `handles`, `show`, `ir`,
`diff`, `params`, `help`, `explain`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from ..dsl.diagnostics import count, did_you_mean, fail
from ..dsl.expressions import evaluate
from ..dsl.expressions import show as literal
from ..interpreter.ir.cloning import strip_tags, tagged, without_tags
from ..interpreter.ir.mlir import ir
from ..interpreter.ir.refusing import describe
from ..interpreter.session.frames import around
from ..interpreter.session.rewriter import Handle
from ..interpreter.session.state import State
from ..interpreter.session.statement import signatures
from ..output import changes, colors
from ..output.console import explanation
from ..output.report import duration
from ..output.tables import columns, listing
from ..payloads.settings import builder_of, parse_settings
from .command import COMMANDS, Desk, Misuse, command, number_of
from .workbench import find_handle, known_handles

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
    undone = desk.bench.undo(number_of(text, 1))
    if not undone:
        desk.note("nothing was done yet")
    for done in undone:
        desk.say(Text("undone ", "dim") + colors.statement(done.text))


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


@command("goto n", "go back or forward to the position after n statements", "number")
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


@command("set name=value …", "set parameters; the executed statements are repeated with them", "parameter")
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
    """Executes typed statements."""
    before = desk.bench.position
    with desk.progress(text):
        steps = desk.bench.type(text)
    for number in range(before + 1, before + len(steps) + 1):
        report(desk, number, brief=len(steps) > 1)
    if not steps and text.split("//")[0].strip():
        ends = "the schedule ends with this input: type it and its calls in one block, `if true { … }`"
        desk.note(f"nothing to do: {ends if text.lstrip().startswith('schedule ') else 'that holds'}")


# ---- the report of a step -----------------------------------------------------------------------


def report(desk: Desk, number: int, brief: bool = False) -> None:
    """Shows the effect of a step: the statement, a line per handle or remark, and the difference of
    the IR."""
    before, state = desk.session.states[number - 1 : number + 1]
    done = state.step
    if done is None:
        return
    difference = changes.change(before.module, state.module)
    desk.say(Text.assemble((f"{number:>3} ", "bold")) + colors.statement(done.text))

    def described(handle: Handle) -> str:
        earlier = reversed(desk.session.states[:number])
        found = (op for at in earlier if (op := at.version.tagged(handle.tag)) is not None)
        return next(map(describe, found), "absent")

    if within := ", ".join(around(done.frames, described)):
        desk.wrap(Text(f"    {within}", "dim"), 6)
    for line in (*(Text(f"    {remark}") for remark in done.remarks), *_names(before, state)):
        desk.wrap(line, 6)
    if not brief:
        everything = f"`diff {number - 1}`" if number == desk.bench.position else f"`diff {number - 1} {number}`"
        _show_rows(desk, changes.rows(difference, desk.width, brief=True), everything)
    for line in (line for shown in done.shown for line in shown.splitlines()):
        desk.wrap(colors.ir(f"    {line}"), 8)
    desk.note(f"    {difference.summary}, {'nothing to do' if done.skipped else duration(done.seconds)}")


def _names(before: State, after: State) -> list[Text]:
    """The handles that a step made and consumed: `made tiles (scf.forall), tile_mm (linalg.matmul);
    consumed gemm`."""
    ops = tagged(after.module)
    made = [f"{m.name} ({ops[n].name})" for n, m in after.made.items() if n not in before.made and n in ops]
    gone = [before.made[n].name for n in after.dead if n not in before.dead and n in before.made]
    parts: list[tuple[str, str]] = [("made ", "dim"), (", ".join(made), "green")] if made else []
    if gone:
        parts += [("; consumed " if made else "consumed ", "dim"), (", ".join(gone), "yellow")]
    return [Text.assemble("    ", *parts)] if parts else []


def _show_rows(desk: Desk, rows: Sequence[Sequence[Text]], everything: str) -> None:
    """Shows the rows of a diff; the middle of a long one is left out."""
    most = desk.folded
    if sum(map(len, rows)) <= most + 3:
        desk.say(*itertools.chain(*rows))
        return
    head, tail = _fitting(rows, most * 2 // 3), _fitting(rows[::-1], most // 3)
    desk.say(*itertools.chain(*rows[:head]))
    desk.say(Text(f"  ⋯ {len(rows) - head - tail} more lines; {everything} shows them", "dim italic"))
    desk.say(*itertools.chain(*rows[len(rows) - tail :]))


def _fitting(lines: Sequence[Sequence[Text]], most: int) -> int:
    """How many of the first lines fit into `most` rows; at least one."""
    ends = itertools.accumulate(map(len, lines))
    return max(sum(end <= most for end in ends), 1)


AROUND = 2
"""Lines shown above and below an op."""

NO_HANDLES = "no handles yet; `let x = match …` makes the first"


@command("handles", "all handles: what each names, where it was made, whether it is alive or consumed")
def show_handles(desk: Desk, text: str) -> None:
    found = known_handles(desk.session)
    if not found:
        desk.note(NO_HANDLES)
        return
    table = columns("name", "kind", "op", "made by", "state")
    for one in found:
        named, told, style = ("bold", "green", "") if one.alive else ("dim", "yellow", "dim")
        cells = (Text(one.name, named), one.kind, one.op or "–", one.made, Text(one.state, told))
        table.add_row(*cells, style=style)
    desk.table(table)


@command("show HANDLE [all]", "the op of a handle, in the IR around it", "handle")
def show(desk: Desk, text: str) -> None:
    name, _, rest = text.partition(" ")
    if not name or rest not in ("", "all"):
        raise Misuse("`show` needs the name of a handle")
    handle, op = find_handle(desk.session, name)
    place = str(op.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    aside = "" if "unknown" in place or "(" in place else f", from {place}"
    desk.say(Text.assemble((name, "bold"), f" is {op.name}", (aside, "dim")))
    for line, own in _marked(desk.session.module, op, handle.tag, None if rest else desk.folded):
        bar = Text("▌", "bold cyan") if own else Text(" ")
        if line is None:
            desk.say(bar + Text("   ⋯" + (f" `show {name} all` shows all of it" if own else ""), "dim"))
        elif own:
            desk.say(*(bar + " " + row for row in colors.wrapped(colors.ir(line), desk.width - 2, _hanging(line) - 2)))
        else:
            desk.wrap(Text("  " + line, "dim"), _hanging(line))


@command("ir [n]", "the current module, or the module after n statements", "number")
def show_ir(desk: Desk, text: str) -> None:
    module = desk.bench.ir_at(number_of(text, desk.bench.position, "position"))
    for line in str(strip_tags(module)).rstrip().splitlines():
        desk.wrap(colors.ir(line), _hanging(line))


@command("diff [a [b]]", "what changed between two positions; default: in the last step", "number")
def diff(desk: Desk, text: str) -> None:
    words = text.split()
    if len(words) > 2:
        raise Misuse("`diff` takes two positions at most")
    now = desk.bench.position
    a, b, *_ = [*(number_of(word, 0, "position") for word in words), *([max(now - 1, 0), now] if not words else [now])]
    difference = changes.change(*map(desk.bench.ir_at, (a, b)))
    places = (("from ", "dim"), (str(a), "bold"), (" to ", "dim"), (str(b), "bold"))
    desk.say(Text.assemble(*places, (f": {difference.summary}", "dim")))
    desk.say(*itertools.chain(*changes.rows(difference, desk.width)))


@command("params", "the parameters of the schedule and of its payload")
def params(desk: Desk, text: str) -> None:
    recipe, choice = desk.bench.recipe, desk.bench.choice
    builder = builder_of(recipe.file, choice.payload)
    layer = builder.layers[choice.layer] if builder is not None and choice.layer is not None else {}
    table = columns("name", "type", "value", "domain", "from", "of")
    for p in recipe.file.main.parameters:
        legal = evaluate(p.domain, {}) if p.domain is not None else ()
        domain = ", ".join(map(literal, legal if isinstance(legal, tuple) else (legal,))) or "–"
        source = "set" if p.name in choice.settings else "default"
        value = literal(recipe.values[p.name]) if p.name in recipe.values else p.default.span.text if p.default else "–"
        table.add_row(Text(p.name, "bold"), p.type, value, domain, source, recipe.name)
    if builder is not None:
        for p in builder.parameters:
            source = "set" if p.name in choice.settings else "layer" if p.name in layer else "payload"
            value = str(recipe.payload_values[p.name])
            table.add_row(Text(p.name, "bold"), p.type, value, p.legal, source, builder.name)
    if table.row_count:
        desk.table(table)
    else:
        desk.note("neither the schedule nor its payload has parameters")


@command("help [NAME]", "this list, or help on a command or a statement", "topic")
def show_help(desk: Desk, text: str) -> None:
    known = signatures()
    if text in COMMANDS:
        desk.say(Text.assemble((COMMANDS[text].usage, "bold"), f"  {COMMANDS[text].summary}"))
    elif text in known:
        desk.say(Text(text, "bold"), "")
        desk.page(known[text].page(desk.width if desk.interactive else None))
    elif text:
        hint = did_you_mean(text, (*COMMANDS, *known)) or "`help` lists them"
        raise fail("W0058", f"there is no command and no statement `{text}`", hint=hint)
    else:
        table = listing("bold")
        for one in COMMANDS.values():
            table.add_row(Text(one.usage), Text(one.summary))
        desk.table(table)
        others = f"Anything else is executed as a statement: {', '.join(known)}. `help tile` explains one."
        desk.say("", *colors.wrapped(Text(others), desk.width, 0))


@command("explain [CODE]", "what the code of a diagnostic means", "code")
def explain(desk: Desk, text: str) -> None:
    for line in explanation(text or None).splitlines():
        desk.wrap(Text(line), changes.indent(line))


def _hanging(line: str) -> int:
    """The indentation of a line's later rows."""
    return min(changes.indent(line) + 6, 24)


# ---- one op inside the IR around it --------------------------------------------------------------


def _marked(module: ir.Module, op: ir.Operation, tag: str, most: int | None) -> Iterator[tuple[str | None, bool]]:
    """The lines of the op with the tag `tag` (at most `most`), of its enclosing blocks, and
    `AROUND` lines before and after; each with a flag that marks the op's own lines. None represents
    omitted lines."""
    lines, own_lines = (o.get_asm(use_local_scope=True).splitlines() for o in (module.operation, op))
    tags = ([n for n, line in enumerate(text) if re.search(rf"{tag}[,}}]", line)] for text in (lines, own_lines))
    (at, *_), (before, *_) = tags
    first, last = at - before, at - before + len(own_lines) - 1
    above = ((n, lines[n]) for n in range(first - 1, -1, -1))
    shown = {*changes.around(lines[first], above), *range(max(0, first - AROUND), last + 1 + AROUND)}
    if most is not None and last - first + 1 > most:
        shown -= {*range(first + most * 2 // 3, last - most // 3)}
    left_out = False
    for number, line in enumerate(lines):
        own = first <= number <= last
        if number in shown:
            yield without_tags(line), own
        elif not left_out:
            yield None, own
        left_out = number not in shown
