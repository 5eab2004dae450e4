"""`weft payloads [NAME]`: the payloads that ship, with their parameters and layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from ...recipes.builder import Builder


@click.command(short_help="List the payloads that ship, or one's parameters and layers.")
@click.argument("name", required=False)
def payloads(name: str | None) -> None:
    """List the payloads that a schedule can name; with NAME, its parameters, and its layers for `--layer`."""
    from ...payloads.builder_values import builder_named
    from ...recipes import builders
    from ..console import emit

    if name is None:
        emit(_columns((b.name, b.summary, f"{len(b.layers)} layers" if b.layers else "") for b in builders().values()))
    else:
        emit(_described(builder_named(name)))


def _described(builder: Builder) -> str:
    rows = [(p.name, p.type, str(p.default), p.legal, p.meaning) for p in builder.parameters]
    text = f"{builder.name}: {builder.summary}\n\n" + _columns([("name", "type", "default", "values", "what it is"), *rows])
    if not builder.layers:
        return text
    names = list(dict.fromkeys(name for layer in builder.layers.values() for name in layer))
    layers = [(name, *(str(layer.get(p, "")) for p in names)) for name, layer in builder.layers.items()]
    return f"{text}\n\nLayers, for --layer:\n\n" + _columns([("name", *names), *layers])


def _columns(rows: Iterable[tuple[str, ...]]) -> str:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
