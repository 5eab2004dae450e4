"""`weft build FILE -o DIR`: write a bundle that runs with CuPy and NumPy alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .options import PATH, entry_option, schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice


@click.command(short_help="Write a bundle that runs without MLIR.")
@schedule_options(unproven_option, entry_option)
@click.option("-o", "output", type=PATH, required=True, metavar="DIR", help="The bundle's folder.")
@click.option("--with-data", is_flag=True, help="Put inputs and the outputs expected for them into the bundle.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of the inputs that `--with-data` makes.")
def build(chosen: Choice, entry: str | None, output: Path, with_data: bool, seed: int) -> None:
    """Write the kernels' CUDA text, the scheduled module and the host plan into DIR.

    `weft run DIR` runs it; so does `python -m weft.runtime DIR`, on a machine that has only NumPy and CuPy.
    """
    from ...execution import build_bundle
    from ..console import progress, say

    with progress(f"weft build {chosen.file}") as clock:
        done = build_bundle(chosen.open(clock), entry, output, seed if with_data else None)
    for remark in done.unproven:
        say(remark)
    say(f"{output}: written")
