"""`weft explain [CODE]`, `weft statements [NAME]`, `weft payloads [NAME]`, `weft recipes [NAME]`:
the reference on the command line."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .. import completion

if TYPE_CHECKING:
    from ...dsl import tree
    from ...recipes.builder import Builder

PATH = click.Path(path_type=Path)


@click.command(short_help="Explain the code of a diagnostic.")
@click.argument("codes", nargs=-1, metavar="[CODE…]", shell_complete=completion.codes)
def explain(codes: tuple[str, ...]) -> None:
    """Print the page of a diagnostic's code: what happened, a wrong → right example, why, and the way out; without
    CODE, list all codes."""
    from ...output import console

    if codes:
        console.explain(codes)
    else:
        console.page(console.explanation(None))


@click.command(short_help="List the statements, or show one with its example.")
@click.argument("name", required=False, shell_complete=completion.statements)
def statements(name: str | None) -> None:
    """List the statements of the language; with NAME, its arguments, results, errors and example."""
    from ...dsl.diagnostics import did_you_mean, fail, in_lines
    from ...interpreter.session.statement import signatures
    from ...output.console import columns_of, emit, page

    known = signatures()
    if name is None:
        width = max(map(len, known))
        room = max((columns_of(sys.stdout) or 10_000) - width - 2, 40)
        indent = "\n" + " " * (width + 2)
        emit("\n".join(f"{k:<{width}}  {indent.join(in_lines(s.summary, room))}" for k, s in known.items()))
        return
    if (signature := known.get(name)) is None:
        hint = did_you_mean(name, known) or "`weft statements` lists them"
        raise fail("W0058", f"there is no statement `{name}`", hint=hint)
    page(f"{signature.keyword}\n\n{signature.page(columns_of(sys.stdout))}")


@click.command(short_help="List the built-in payloads, or the parameters and layers of one.")
@click.argument("name", required=False, shell_complete=completion.payloads)
def payloads(name: str | None) -> None:
    """List the payloads that a schedule can name; with NAME, list its parameters, and its layers for `--layer`."""
    from ...output.console import emit
    from ...payloads.settings import builder_named
    from ...recipes import builders

    if name is None:
        emit(_columns((b.name, b.summary, f"{len(b.layers)} layers" if b.layers else "") for b in builders().values()))
    else:
        emit(_described(builder_named(name)))


@click.command(short_help="List the built-in schedules, print one, or copy it.")
@click.argument("name", required=False, shell_complete=completion.recipes)
@click.option(
    "--copy", "target", type=PATH, metavar="FILE", help="Copy it to this file, or into this folder, to change it."
)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
def recipes(name: str | None, target: Path | None, overwrite: bool) -> None:
    """List the built-in schedules with their parameters; with NAME, print one, or copy it to a file of your own."""
    from ...dsl.diagnostics import fail
    from ...dsl.parser import parse_file
    from ...output.console import emit, say
    from ...pipeline import resolve_schedule
    from ...recipes import schedules
    from ...runtime.files.writing import write_file

    if name is None:
        if target is not None or overwrite:
            raise click.UsageError("--copy and --overwrite are for one recipe: name it")
        emit("\n\n".join(_summary(name, parse_file(path)) for name, path in schedules().items()))
        return
    if overwrite and target is None:
        raise click.UsageError("--overwrite is for the file of --copy, which is not given")
    text = _whole(parse_file(resolve_schedule(name, shipped=True)))
    if target is None:
        emit(text)
        return
    target = target / f"{name}.weft" if target.is_dir() else target
    if (target.exists() or target.is_symlink()) and not overwrite:
        raise fail(
            "W0064", f"`{target}` exists already", hint=f"`weft recipes {name} --copy {target} --overwrite` replaces it"
        )
    write_file(target, text.encode())
    say(f"{target}: written")


def _whole(file: tree.File) -> str:
    """The text of a schedule file as one that includes no other: the included schedules take the
    place of its first `include`."""
    from ...dsl.formatter import format_text
    from ...dsl.parser import parse_file

    if not file.includes:
        return file.source.text
    sources = dict.fromkeys(schedule.span.source for schedule in file.schedules if schedule.span.source != file.source)
    included = (parse_file(source.name) for source in sources)
    texts = [f.source.edited((n.span, "") for n in (*f.includes, f.payload) if n is not None).strip() for f in included]
    first, *others = file.includes
    edits = [(first.span, "\n" + "\n\n".join(texts)), *((include.span, "") for include in others)]
    return format_text(file.source.edited(edits), file.source.name)


def _summary(name: str, file: tree.File) -> str:
    """The line of a recipe: its name and the first sentence of its comment; its payload and
    parameters in their own syntax; after a computed default, its value for the payload's default
    sizes."""
    from ...dsl.expressions import show
    from ...pipeline import Choice

    lines = itertools.takewhile(lambda line: line.startswith("//"), file.source.text.splitlines())
    comment = " ".join(line.removeprefix("//").strip() for line in lines).partition(". ")[0].rstrip(".")
    values = Choice(name).open().values
    valued = [p for p in file.main.parameters if p.name in values]
    shown = {p.name: show(values[p.name]) for p in valued}
    computed = (p for p in valued if p.default is not None and p.default.span.text != shown[p.name])
    notes = {p.name: f"  // {shown[p.name]}" for p in computed}
    parameters = [" ".join(p.span.text.split()) + notes.get(p.name, "") for p in file.main.parameters]
    payload = file.payload.span.text if file.payload is not None else "payload: `--payload P.mlir`"
    return "\n".join([f"{name}: {comment}", f"  {payload}", *(f"  {parameter}" for parameter in parameters)])


def _described(builder: Builder) -> str:
    rows = [("name", "type", "default", "values", "what it is")]
    rows += [(p.name, p.type, str(p.default), p.legal, p.meaning) for p in builder.parameters]
    text = f"{builder.name}: {builder.summary}\n\n{_columns(rows)}"
    if not builder.layers:
        return text
    names = list(dict.fromkeys(name for layer in builder.layers.values() for name in layer))
    layers = [(name, *(str(layer.get(p, "")) for p in names)) for name, layer in builder.layers.items()]
    return f"{text}\n\nLayers, for --layer:\n\n" + _columns([("name", *names), *layers])


def _columns(rows: Iterable[tuple[str, ...]]) -> str:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return "\n".join(map(str.rstrip, lines))
