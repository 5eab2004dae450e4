"""`weft emit FILE`: the CUDA C++ text of a schedule's kernels, on stdout alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from .schedules import FILE, applied_with_progress, schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command(short_help="Print the kernels' CUDA C++ text.")
@schedule_options(FILE, unproven_option)
@click.option("--kernel", metavar="NAME", help="This kernel alone, with the constants and functions that it uses.")
def emit(chosen: Choice, kernel: str | None) -> None:
    """Apply a schedule to its payload and print the CUDA C++ text of its kernels, which compiles as it is (NVRTC)."""
    from ...output.console import emit as printed
    from ...output.console import say
    from ...runtime.cuda.module import emit as emitted

    done = applied_with_progress(chosen, "emit")
    text = emitted(done.module, only=kernel)
    for remark in done.unproven:
        say(remark)
    printed(text)
