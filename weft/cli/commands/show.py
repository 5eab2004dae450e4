"""The commands that show what a schedule does with its payload: `show-map` and `show-ops`.

Their dependencies are imported when a command runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .schedules import FILE, PATH, applied_with_progress, entry_option, json_option, schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command("show-map", short_help="Show which processor owns which element.")
@schedule_options(FILE)
@click.argument("handles", metavar="[HANDLE]...", nargs=-1)
@click.option("--thread", type=click.IntRange(0), metavar="T", help="Show what this thread (block, warp) owns.")
@click.option("--banks", is_flag=True, help="Also show the banks of the shared memory that a copy fills.")
@click.option("-o", "output", type=PATH, metavar="FILE.svg", help="Also draw it to this file.")
def show_map(chosen: Choice, handles: tuple[str, ...], thread: int | None, banks: bool, output: Path | None) -> None:
    """Show which processor owns which iteration of a mapped loop, or which element of a mapped op, in the first block.

    HANDLEs are names in the schedule; the default is all maps. The owners are found by running the
    mapped code.
    """
    from rich.console import Console

    from ...dsl.diagnostics import count
    from ...maps.drawing import drawn, picture
    from ...maps.ownership import live_maps, ownership
    from ...runtime.files.writing import write_file

    done = applied_with_progress(replace(chosen, unproven=True), "show-map", output, ".svg")  # a map is not built
    shown = [ownership(live) for live in live_maps(done.session, handles)]
    if thread is not None and all(thread >= one.processors for one in shown):
        known = ", ".join(f"`{one.name}` is mapped to {count(one.processors, one.processor)}" for one in shown)
        raise click.UsageError(f"there is no number {thread}: {known}, numbered from 0")
    if banks and all(one.banks is None for one in shown):
        raise click.UsageError("--banks shows copies into shared memory of static shape, and no map shown is of one")
    console = Console(highlight=False, soft_wrap=True)
    for one in shown:
        for line in drawn(one, console.width, banks=banks, thread=thread):
            console.print(line)
    if output is not None:
        write_file(output, picture(shown, banks=banks, thread=thread).encode())


@click.command("show-ops", short_help="Show which schedule mapped each op, and which kernels execute it.")
@schedule_options(FILE, unproven_option, entry_option)
@click.option("--all", "every", is_flag=True, help="A row for each op instead of one for each kernel.")
@click.option("-o", "output", type=PATH, metavar="FILE.svg", help="Also draw the table of all ops to this file.")
@json_option
def show_ops(chosen: Choice, entry: str | None, every: bool, output: Path | None, as_json: bool) -> None:
    """Show, for each op of the payload, the schedule that mapped it, and the kernels and launches that execute it."""
    from rich.console import Console

    from ...op_table import op_table
    from ...output.console import emit
    from ...output.ops import lines_of, picture
    from ...pipeline import planned
    from ...runtime.files.writing import write_file
    from ...runtime.run.report import USES, plain

    ops = op_table(planned(applied_with_progress(chosen, "show-ops", output, ".svg"), entry))
    if as_json:
        emit(plain(ops, USES) or [])
    else:
        console = Console(highlight=False)
        for line in lines_of(ops, every):
            console.print(line)
    if output is not None:
        write_file(output, picture(ops).encode())
