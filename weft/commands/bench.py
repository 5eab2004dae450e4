"""`weft bench [PAYLOAD]`: the recipes that ship against the array library's own function."""

from __future__ import annotations

import rich_click as click

SIZES = ("1024", "2048", "4096")
SMALL_SIZES = ("64", "128", "256")
"""On the simulator, which is no stopwatch for kernels."""


@click.command(short_help="Time the recipes against CuPy's own function.")
@click.argument("payload", default="matmul")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the recipes or of the payload.")
@click.option("--repeat", type=click.IntRange(1), default=5, metavar="N", help="Runs of each; the best counts.")
def bench(payload: str, settings: tuple[str, ...], repeat: int) -> None:
    """Time every recipe of PAYLOAD on the GPU against CuPy's own function; without a GPU, time what can be timed here.

    Integer parameters of the payload that are not set take several sizes, all the same.
    """
    from ..bench import bench as timed
    from ..bench import subject, table
    from ..console import progress, say, stderr
    from ..runtime.cupy_device import cuda_problem
    from ..settings import parse_settings

    builder, given = subject(payload), parse_settings(settings)
    problem = cuda_problem()
    if problem is not None:
        say(f"no GPU here ({problem}): schedule, emission and simulation are timed, the kernels are not")
    free = [p.name for p in builder.parameters if p.type == "int" and p.name not in given]
    sizes = (SMALL_SIZES if problem is not None else SIZES) if free else ("",)
    timings = []
    with progress(f"weft bench {payload}") as watch:
        for size in sizes:
            watch(size)
            timings += timed(builder, {**given, **dict.fromkeys(free, size)}, repeat, gpu=problem is None)
    stderr().print(table(timings, gpu=problem is None))
