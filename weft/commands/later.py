"""Commands that are spoken for and not there yet: refused plainly."""

from __future__ import annotations

import rich_click as click

from ..dsl.diagnostics import fail


@click.command(short_help="Step through a schedule (not in this version).")
@click.argument("file", required=False)
@click.option("--payload", metavar="P.mlir", help="The program to schedule.")
def repl(file: str | None, payload: str | None) -> None:
    """Step through a schedule interactively. Not in this version."""
    raise fail("W0059", "`weft repl` is not in this version", hint="`weft apply FILE --diff` shows what each step does")


@click.command(short_help="Search a schedule's parameters (not in this version).")
@click.argument("file", required=False)
def tune(file: str | None) -> None:
    """Search the parameters of a schedule for the fastest. Not in this version."""
    raise fail(
        "W0059", "`weft tune` is not in this version", hint="`weft bench` times the values you give with `--set`"
    )
