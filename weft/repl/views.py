"""The commands that look and change nothing: handles, show, ir, diff, params, help."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from rich.text import Text

from ..dsl.diagnostics import did_you_mean, fail
from ..dsl.expressions import evaluate
from ..dsl.expressions import show as literal
from ..interpreter.ir.cloning import strip_tags, without_tags
from ..interpreter.ir.mlir import ir
from ..interpreter.session.statement import signatures
from ..output import changes, colors
from ..output.explained import explanation
from ..output.report import columns, listing
from ..payloads.settings import builder_of
from .command import COMMANDS, Desk, Misuse, command, number_of
from .workbench import find_handle, known_handles

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
        table.add_row(Text(p.name, "bold"), p.type, literal(recipe.values[p.name]), domain, source, recipe.name)
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
        desk.page(known[text].page)
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
    """How far the later rows of a line are indented."""
    return min(changes.indent(line) + 6, 24)


# ---- one op inside the IR around it ----------------------------------------------------------------------------------------


def _marked(module: ir.Module, op: ir.Operation, tag: str, most: int | None) -> Iterator[tuple[str | None, bool]]:
    """The lines of the op that bears `tag` (at most `most`), the blocks it stands in, and a few lines around; whether each is
    its own. None stands for lines left out."""
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
