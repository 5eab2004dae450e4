"""`weft verify P.mlir`: race check of a module that already has its barriers or tokens."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .options import PATH


@click.command(short_help="Race check of a complete module.")
@click.argument("file", type=PATH, metavar="P.mlir")
def verify(file: Path) -> None:
    """Prove a module that already has its barriers or tokens free of races, or show a witness. Not in this version."""
    from ..dsl.diagnostics import fail
    from ..dsl.files import read_source
    from ..payload import parse_payload

    parse_payload(read_source(file))
    raise fail(
        "W0059",
        "`weft verify` is not in this version: the exact analysis of a module's barriers and tokens is not there yet",
        hint="`weft run FILE --target sim` runs a schedule with the simulator's race check",
    )
