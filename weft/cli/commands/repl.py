"""`weft repl [FILE]`: a schedule, one statement at a time."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .options import layer_option, payload_option, set_option, unproven_option


@click.command(short_help="Step through a schedule, forth and back.")
@click.argument("file", metavar="[FILE]", required=False)
@payload_option
@set_option
@layer_option
@click.option(
    "--resume", is_flag=False, flag_value="", metavar="[JOURNAL]",
    help="Go on with a session that was cut off: the last one, or that of JOURNAL.",
)  # fmt: skip
@unproven_option
def repl(
    file: str | None, payload: Path | None, settings: tuple[str, ...], layer: str | None, resume: str | None,
    unproven: bool,
) -> int:  # fmt: skip
    """Step through a schedule and look at the IR: step, undo, diff, handles, show, next, cuda, run, save.

    Without FILE, statements are typed for the payload. What is piped in is done line by line; the exit code is then 1 if
    something failed.
    """
    from ...repl.start import start
    from ...settings import parse_settings

    if resume is not None and (file is not None or payload is not None or settings or layer is not None or unproven):
        raise click.UsageError("--resume goes on with what the session worked on: no FILE and no other option")
    if file is None and payload is None and resume is None:
        raise click.UsageError(
            "the REPL needs something to work on: `weft repl shared`, or `weft repl --payload gemm.mlir` to type the "
            "statements yourself"
        )
    return start(file, payload, parse_settings(settings), layer, resume, unproven=unproven)
