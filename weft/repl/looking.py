"""The commands that look and change nothing: handles, show, ir, diff, sync, cuda, next, params, help."""

from __future__ import annotations

import inspect
import itertools

from rich.table import Table
from rich.text import Text

from ..dsl.diagnostics import fail
from ..dsl.expressions import show as literal
from ..dsl.wording import did_you_mean
from . import changes, colors, handles, judging, trying
from .command import Command, Desk, expect_nothing, misused, number_of
from .marked import marked


def show_handles(desk: Desk, text: str) -> None:
    expect_nothing(text, "handles")
    found = handles.known(desk.bench.session)
    if not found:
        desk.say(Text("no handles yet; `let x = match …` makes the first", "dim"))
        return
    table = _table("name", "kind", "op", "made by", "state")
    for one in found:
        style = "" if one.alive else "dim"
        name = Text(one.name, "bold" if one.alive else "dim")
        table.add_row(
            name, one.kind, one.op or "–", one.made, Text(one.state, "green" if one.alive else "yellow"), style=style
        )
    desk.table(table)


def show(desk: Desk, text: str) -> None:
    name, _, rest = text.partition(" ")
    if not name or rest not in ("", "all"):
        raise misused("show HANDLE [all]", "`show` needs the name of a handle")
    handle = handles.find(desk.bench.session, name)
    op = handles.tagged(desk.bench.session.module)[handle.number]
    desk.say(Text.assemble((name, "bold"), f" is {op.name}", (_place(str(op.location)), "dim")))
    rows = marked(desk.bench.session.module, handle.tag, None if rest else desk.folded)
    left = 0
    for row in rows:
        if row.text is None:
            bar = Text("▌", "bold cyan") if row.own else Text(" ")
            left += row.own
            desk.say(bar + Text("   ⋯" + (f" `show {name} all` shows all of it" if row.own else ""), "dim"))
        elif row.own:
            desk.say(*_barred(colors.wrapped(colors.ir(row.text), desk.width - 2, _hanging(row.text) - 2)))
        else:
            desk.say(*colors.wrapped(Text("  " + row.text, "dim"), desk.width, _hanging(row.text)))


def show_ir(desk: Desk, text: str) -> None:
    from ..interpreter.ir.clone import strip_tags

    module = desk.bench.ir_at(number_of(text, "ir [n]", desk.bench.position))
    for line in str(strip_tags(module)).rstrip().splitlines():
        desk.say(*colors.wrapped(colors.ir(line), desk.width, _hanging(line)))


def diff(desk: Desk, text: str) -> None:
    words = text.split()
    if len(words) > 2:
        raise misused("diff [a [b]]", "`diff` takes two positions at most")
    now = desk.bench.position
    a = number_of(words[0], "diff [a [b]]", 0) if words else max(now - 1, 0)
    b = number_of(words[1], "diff [a [b]]", 0) if len(words) > 1 else now
    difference = changes.change(changes.text_of(desk.bench.ir_at(a)), changes.text_of(desk.bench.ir_at(b)))
    desk.say(
        Text.assemble(
            ("from ", "dim"), (str(a), "bold"), (" to ", "dim"), (str(b), "bold"), (f": {difference.summary}", "dim")
        )
    )
    desk.say(*itertools.chain(*changes.rows(difference, desk.width)))


def sync(desk: Desk, text: str) -> None:
    expect_nothing(text, "sync")
    judged = judging.judge(desk.bench.session)
    for kernel in judged.kernels:
        mark = Text("✗ ", "bold red") if kernel.conflicts else Text("✓ ", "bold green")
        verdict = "not race-free" if kernel.conflicts else "race-free"
        desk.say(mark + Text.assemble((kernel.name, "bold"), f": {verdict}", (f"  ({kernel.summary})", "dim")))
        if kernel.superfluous:
            desk.say(Text(f"  {kernel.superfluous} of its barriers could go", "dim"))
        if kernel.conflicts:
            desk.show(kernel.conflicts)
    for remark in judged.remedy:
        desk.say(*colors.wrapped(Text.assemble(("`insert-barriers` would place ", "dim"), remark), desk.width, 2))
    if judged.refused is not None:
        desk.say(Text("no barrier separates them: `insert-barriers` would be refused", "bold"))
        desk.show(judged.refused.diagnostics)


def cuda(desk: Desk, text: str) -> None:
    from rich.syntax import Syntax

    expect_nothing(text, "cuda")
    made, supposed = judging.kernel_text(desk.bench)
    if supposed:
        desk.say(Text(f"nothing is launched yet; this is what {supposed} would make", "dim italic"))
    if desk.plain:
        desk.say(made.rstrip())
    else:
        desk.console.print(Syntax(made.rstrip(), "cuda", theme="ansi_dark", background_color="default", word_wrap=True))


def show_next(desk: Desk, text: str) -> None:
    session = desk.bench.session
    if text:
        handle = handles.find(session, text)
        op = handles.tagged(session.module)[handle.number]
        desk.say(Text.assemble(("for ", "dim"), (text, "bold"), (f", {op.name}, each tried on a copy:", "dim")))
        _tried(desk, list(trying.try_all(session, text)))
        return
    if desk.bench.coming:
        desk.say(Text("the schedule goes on with  ", "dim") + colors.weft(desk.bench.coming))
    _tried(desk, list(trying.try_all(session, None)))
    names = list(handles.live(session))
    if names:
        desk.say(Text.assemble(("`next HANDLE` tries them on one of  ", "dim"), ", ".join(names)))
    else:
        desk.say(Text("no handles yet; `let x = match …` makes the first", "dim"))


def _tried(desk: Desk, found: list[trying.Tried]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in sorted(found, key=lambda t: not t.legal):
        if one.legal:
            texts = Text("\n").join(colors.weft(text) for text in one.legal)
            table.add_row(Text("✓", "bold green"), Text(one.keyword, "bold"), texts)
        elif one.refusal:
            table.add_row(Text("✗", "red"), one.keyword, Text(one.refusal, "dim"))
        else:
            table.add_row(Text("–", "dim"), one.keyword, Text("nothing here to try it with", "dim"))
    desk.table(table)


def params(desk: Desk, text: str) -> None:
    from ..payloads.builder_values import builder_of

    expect_nothing(text, "params")
    bench = desk.bench
    recipe = bench.recipe
    table = _table("name", "type", "value", "domain", "from", "of")
    builder = builder_of(recipe.file, bench.override)
    for p in recipe.file.main.parameters:
        domain = ", ".join(literal(v) for v in _domain(p.domain)) if p.domain is not None else "–"
        source = "set" if p.name in bench.settings else "default"
        table.add_row(Text(p.name, "bold"), p.type, literal(recipe.values[p.name]), domain, source, recipe.name)
    layer = builder.layers[bench.layer] if builder is not None and bench.layer is not None else {}
    for p in builder.parameters if builder is not None else ():
        domain = ", ".join(map(str, p.domain)) or f"{p.minimum} … {p.maximum}"
        source = "set" if p.name in bench.settings else "layer" if p.name in layer else "payload"
        value = str(recipe.payload_values[p.name])
        table.add_row(Text(p.name, "bold"), p.type, value, domain, source, builder.name if builder is not None else "")
    if not table.row_count:
        desk.say(Text("neither the schedule nor its payload has parameters", "dim"))
        return
    desk.table(table)


def show_help(desk: Desk, text: str) -> None:
    from ..interpreter.session.statement import signatures

    known = signatures()
    if text in desk.commands:
        command = desk.commands[text]
        desk.say(Text.assemble((command.usage, "bold"), f"  {command.summary}"))
    elif text in known:
        signature = known[text]
        results = f"\n\nResults: {', '.join(signature.results)}" if signature.results else ""
        desk.say(Text(signature.keyword, "bold"), "", inspect.cleandoc(signature.doc) + results)
    elif text:
        hint = did_you_mean(text, (*desk.commands, *known))
        raise fail("W0058", f"there is no command and no statement `{text}`", hint=hint or "`help` lists them")
    else:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for command in desk.commands.values():
            table.add_row(Text(command.usage), Text(command.summary))
        desk.table(table)
        others = f"Anything else is a statement and is done here: {', '.join(known)}. `help tile` explains one."
        desk.say("", *colors.wrapped(Text(others), desk.width, 0))


# ---- small parts -----------------------------------------------------------------------------------------------------------


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _hanging(line: str) -> int:
    """How far the later rows of a line are indented."""
    return min(len(line) - len(line.lstrip()) + 6, 24)


def _barred(rows: object) -> list[Text]:
    return [Text("▌ ", "bold cyan") + row for row in rows]  # type: ignore[attr-defined]


def _place(location: str) -> str:
    text = location.removeprefix("loc(").removesuffix(")").replace('"', "")
    return "" if "unknown" in text or "(" in text else f", from {text}"


def _domain(node: object) -> tuple[object, ...]:
    from ..dsl.expressions import evaluate

    value = evaluate(node, {})  # type: ignore[arg-type]
    return value if isinstance(value, tuple) else (value,)


COMMANDS = (
    Command("handles", "handles", "all handles: what each names, where it was made, what became of it", show_handles),
    Command("show", "show HANDLE [all]", "the op of a handle, inside its IR", show, "handle"),
    Command("next", "next [HANDLE]", "which statements are legal now: each is tried on a copy", show_next, "handle"),
    Command("ir", "ir [n]", "the module as it stands, or as it stood after n statements", show_ir, "number"),
    Command(
        "diff", "diff [a [b]]", "what changed between two positions; without them, in the last step", diff, "number"
    ),
    Command("sync", "sync", "the conflicts between threads that there are now, and what separates them", sync),
    Command("cuda", "cuda", "the kernels' CUDA text, or what it would be if it were launched now", cuda),
    Command("params", "params", "the parameters of the schedule and of its payload", params),
    Command("help", "help [NAME]", "this list, a command or a statement", show_help, "topic"),
)
