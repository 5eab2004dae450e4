"""Commands that are spoken for and not there yet: refused plainly."""

from __future__ import annotations

import rich_click as click

from ...dsl.diagnostics import fail


@click.command(short_help="Search a schedule's parameters (not in this version).")
@click.argument("file", required=False)
def tune(file: str | None) -> None:
    """Search the parameters of a schedule for the fastest. Not in this version."""
    raise fail(
        "W0059", "`weft tune` is not in this version", hint="`weft bench` times the values you give with `--set`"
    )
