"""`weft repl [FILE]`: a schedule, one statement at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from .options import schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command(short_help="Step through a schedule, forth and back.")
@schedule_options(
    click.option(
        "--resume", is_flag=False, flag_value="", metavar="[JOURNAL]",
        help="Go on with a session that was cut off: the last one, or that of JOURNAL.",
    ),
    unproven_option,
    optional=True,
)  # fmt: skip
def repl(chosen: Choice, resume: str | None) -> int:
    """Step through a schedule and look at the IR: step, undo, diff, handles, show, next, cuda, run, save.

    Without FILE, statements are typed for the payload. What is piped in is done line by line; the exit code is then 1 if
    something failed.
    """
    from ...pipeline import Choice
    from ...repl.start import start

    if resume is not None and chosen != Choice(""):
        raise click.UsageError("--resume goes on with what the session worked on: no FILE and no other option")
    if not chosen.file and chosen.payload is None and resume is None:
        raise click.UsageError(
            "the REPL needs something to work on: `weft repl shared`, or `weft repl --payload gemm.mlir` to type the "
            "statements yourself"
        )
    return start(chosen, resume)
