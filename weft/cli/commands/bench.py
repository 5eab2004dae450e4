"""`weft bench [PAYLOAD]`: the recipes that ship against the array library's own function; `weft tune`, which is not there yet."""

from __future__ import annotations

import rich_click as click

from ...dsl.diagnostics import fail
from .schedules import set_option

SIZES = ("1024", "2048", "4096")
SMALL_SIZES = ("64", "128", "256")
"""On the simulator, which is not a stopwatch for kernels."""


@click.command(short_help="Time the recipes against CuPy's own function.")
@click.argument("payload", default="matmul")
@set_option(help="A parameter of recipes or payload.")
@click.option("--layer", "layers", multiple=True, metavar="NAME", help="Sizes of the payload by name; may be repeated.")
@click.option("--repeat", type=click.IntRange(1), default=5, metavar="N", help="Runs of each recipe; the best counts.")
def bench(payload: str, settings: tuple[str, ...], layers: tuple[str, ...], repeat: int) -> None:
    """Time every recipe of PAYLOAD on the GPU against CuPy's own function; without one, only the CPU work.

    Integer parameters of the payload that are not set take several sizes, all the same value. If the payload has
    layers, there is a GPU and no size is set, each layer is timed instead.
    """
    from ...payloads.settings import builder_named, parse_settings
    from ...runtime.run.cupy_device import cuda_problem
    from ..bench import bench as timed
    from ..bench import cases, table
    from ..console import progress, say, stderr

    builder, given = builder_named(payload), parse_settings(settings)
    problem = cuda_problem()
    chosen = cases(builder, given, layers, SMALL_SIZES if problem is not None else SIZES, gpu=problem is None)
    if problem is not None:
        say(f"no GPU here ({problem}): schedule, emission and simulation are timed, the kernels are not")
    timings = []
    with progress(f"weft bench {payload}") as clock:
        for case in chosen:
            with clock.watched(case.title):
                timings += timed(builder, case, repeat, gpu=problem is None)
    stderr().print(table(timings, gpu=problem is None))


@click.command(short_help="Search a schedule's parameters (not in this version).")
@click.argument("file", required=False)
def tune(file: str | None) -> None:
    """Search a schedule's parameters for the fastest values. Not in this version."""
    raise fail("W0059", "`weft tune` is not in this version", "`weft bench` times the values you give with `--set`")
