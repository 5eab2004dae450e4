"""`weft show-map FILE [HANDLE…]`: which processor owns which element."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .options import PATH, schedule_options

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command("show-map", short_help="Show which processor owns which element.")
@schedule_options()
@click.argument("handles", metavar="[HANDLE]...", nargs=-1)
@click.option("--thread", type=click.IntRange(0), metavar="T", help="Show what this thread (block, warp) owns.")
@click.option("--banks", is_flag=True, help="Show the banks of the shared memory that a copy fills, too.")
@click.option("-o", "output", type=PATH, metavar="FILE.svg", help="Draw it, too.")
def show_map(chosen: Choice, handles: tuple[str, ...], thread: int | None, banks: bool, output: Path | None) -> None:
    """Show which processor owns which iteration of a mapped loop, or which element of a mapped op, in the first block.

    HANDLEs are names of the schedule; all maps by default. What is shown was run: the launch's own code made it.
    """
    from rich.console import Console

    from ...maps.alive import live_maps
    from ...maps.drawing import drawn, picture
    from ...maps.ownership import ownership
    from ...pipeline import applied
    from ...runtime.files.writing import Output, expect_outputs, write_file
    from ..console import progress

    with progress(f"weft show-map {chosen.file}") as clock:
        recipe = replace(chosen, unproven=True).open(clock)  # what is shown is not built
        if output is not None:
            expect_outputs([Output("-o", output, ".svg")], recipe.reads)
        done = applied(recipe)
    shown = [ownership(live) for live in live_maps(done.session, handles)]
    console = Console(highlight=False, soft_wrap=True)
    for one in shown:
        for line in drawn(one, console.width, banks=banks, thread=thread):
            console.print(line)
    if output is not None:
        write_file(output, picture(shown, banks=banks, thread=thread).encode())
