"""`weft apply FILE`: print the scheduled module."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .options import PATH, schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command(short_help="Print the scheduled module.")
@schedule_options(unproven_option)
@click.option("-o", "output", type=PATH, metavar="OUT", help="Write the module here instead of to stdout.")
@click.option("--print-ir-after-all", "every", is_flag=True, help="Print the module after each step, to stderr.")
@click.option("--diff", is_flag=True, help="Print what each step changed, to stderr.")
def apply(chosen: Choice, output: Path | None, every: bool, diff: bool) -> None:
    """Apply a schedule to its payload and print the scheduled module."""
    from ...pipeline import applied
    from ...runtime.files.writing import Output, expect_outputs, write_file
    from ..console import emit, progress, say, stderr

    with progress(f"weft apply {chosen.file}") as clock:
        recipe = chosen.open(clock)
        if output is not None:
            expect_outputs([Output("-o", output, ".mlir")], recipe.reads)
        done = applied(recipe)
    if every or diff:
        from ..report import show_steps

        show_steps(done, stderr(), snapshots=every, diffs=diff)
    else:
        for step in done.session.steps:
            for text in step.shown:
                stderr().print(f"// {step.text}", text, sep="\n", markup=False, highlight=False, soft_wrap=True)
    for remark in done.unproven:
        say(remark)
    if output is not None:
        write_file(output, done.text.encode())
    else:
        emit(done.text)
