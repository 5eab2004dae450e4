"""`weft explain [CODE]`, `weft statements [NAME]`, `weft payloads [NAME]`: what there is, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from ...recipes.builder import Builder


@click.command(short_help="Explain the code of a diagnostic.")
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Print what a diagnostic's code means, why, and a wrong → right example; without CODE, list all codes."""
    from ..console import emit

    emit(explanation(code))


def explanation(code: str | None) -> str:
    """What a code means, why, and a wrong → right example; without a code, the list of all. Raises W0057."""
    from ...codes import all_codes
    from ...dsl.diagnostics import fail

    codes = all_codes()
    if code is None:
        return "\n".join(f"{name}  {explained.title}" for name, explained in codes.items())
    wanted = f"W{int(code):04}" if code.isdecimal() and len(code) < 9 else code.upper()
    if (found := codes.get(wanted)) is None:
        raise fail("W0057", f"there is no diagnostic `{code}`", hint="`weft explain` lists all codes")
    return f"{wanted}: {found.title}\n\n{found.text}"


@click.command(short_help="List the statements, or show one with its example.")
@click.argument("name", required=False)
def statements(name: str | None) -> None:
    """List the statements of the language; with NAME, its arguments, results, errors and example."""
    from ...dsl.diagnostics import did_you_mean, fail
    from ...interpreter.session.statement import signatures
    from ..console import emit

    known = signatures()
    if name is None:
        width = max(map(len, known))
        emit("\n".join(f"{keyword:<{width}}  {signature.summary}" for keyword, signature in known.items()))
        return
    if (signature := known.get(name)) is None:
        hint = did_you_mean(name, known) or "`weft statements` lists them"
        raise fail("W0058", f"there is no statement `{name}`", hint=hint)
    emit(f"{signature.keyword}\n\n{signature.page}")


@click.command(short_help="List the built-in payloads, or the parameters and layers of one.")
@click.argument("name", required=False)
def payloads(name: str | None) -> None:
    """List the payloads that a schedule can name; with NAME, list its parameters, and its layers for `--layer`."""
    from ...payloads.settings import builder_named
    from ...recipes import builders
    from ..console import emit

    if name is None:
        emit(_columns((b.name, b.summary, f"{len(b.layers)} layers" if b.layers else "") for b in builders().values()))
    else:
        emit(_described(builder_named(name)))


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
