"""`weft run FILE|DIR`: apply, run, compare with the reference, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .options import PATH, entry_option, json_option, schedule_options, unproven_option

if TYPE_CHECKING:
    from ...pipeline import Choice
    from ...runtime.run.execution import Reference, Target


@click.command(short_help="Apply, run, compare with the reference, report.")
@schedule_options(unproven_option, entry_option)
@click.option("--target", type=click.Choice(["auto", "sim", "cuda"]), default="auto", help="Where to run.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, metavar="N",
    help="Of the random inputs; on the simulator also of how streams take turns.",
)  # fmt: skip
@click.option("--inputs", type=PATH, metavar="X.npz", help="Inputs by name, instead of random ones.")
@click.option("--save", type=PATH, metavar="Y.npz", help="Write the outputs here.")
@click.option(
    "--trace", type=PATH, metavar="T.json",
    help="Write the timeline here, as Chrome's trace viewer reads it, and a picture of it to T.svg.",
)  # fmt: skip
@click.option("--graph", is_flag=True, help="Capture the launches and copies once into a graph, and replay it.")
@click.option(
    "--reference", type=click.Choice(["jit", "gpu", "none"]), default="jit",
    help="What to compare with: the payload on the CPU, or nothing. (`gpu` is not in this version.)",
)  # fmt: skip
@json_option
def run(
    chosen: Choice,
    entry: str | None,
    target: Target,
    seed: int,
    inputs: Path | None,
    save: Path | None,
    trace: Path | None,
    graph: bool,
    reference: Reference,
    as_json: bool,
) -> int:
    """Run a schedule on its payload, or a bundle that `weft build` wrote, and compare with the untouched payload.

    The exit code is 0 when the outputs are right and nothing raced.
    """
    from ...execution import run_recipe
    from ...pipeline import Choice
    from ...runtime.run.execution import RunOptions, run_bundle
    from ..console import emit, progress, say, show, stderr

    if graph and trace is not None:
        raise click.UsageError("--graph replays a plan as a whole, which leaves nothing to --trace: trace it without --graph")
    options = RunOptions(target, seed, inputs, save, reference, trace, graph)
    with progress(f"weft run {chosen.file}") as clock:
        if Path(chosen.file).is_dir():
            if chosen != Choice(chosen.file) or entry is not None:
                raise click.UsageError(
                    "a bundle is run as it was built: it takes no --payload, --set, --layer, --entry or --unproven"
                )
            done = run_bundle(Path(chosen.file), options, clock)
        else:
            done = run_recipe(chosen.open(clock), entry, options)
    if done.warnings:
        show(done.warnings)
    if as_json:
        emit(json.dumps(done.report.to_json(), indent=2, allow_nan=False))
    else:
        from ..report import show_report

        show_report(stderr(), done.report, title=done.title, steps=done.steps, cuda=done.cuda, timeline=done.timeline)
    if trace is not None:
        say(f"{trace}, {trace.with_suffix('.svg')}: written")
    return 1 if done.report.ok is False else 0
