"""`weft bench [PAYLOAD]`: the recipes that ship against the array library's own function; `weft tune`, which is not
there yet."""

from __future__ import annotations

import rich_click as click

from ...dsl.diagnostics import fail
from ...runtime.run.execution import TARGETS, Target
from .schedules import set_option

SIZES = {"cuda": ("1024", "2048", "4096"), "cpu": ("256", "512", "1024"), "sim": ("64", "128", "256")}
"""By target."""


@click.command(short_help="Time the recipes against CuPy's or NumPy's own function.")
@click.argument("payload", default="matmul")
@set_option(help="A parameter of recipes or payload.")
@click.option("--layer", "layers", multiple=True, metavar="NAME", help="Sizes of the payload by name; may be repeated.")
@click.option("--repeat", type=click.IntRange(1), default=5, metavar="N", help="Runs of each recipe; the best counts.")
@click.option(
    "--target", type=click.Choice(TARGETS), default="auto", help="Where to run; without a GPU, natively on the CPU."
)
def bench(payload: str, settings: tuple[str, ...], layers: tuple[str, ...], repeat: int, target: Target) -> None:
    """Time every recipe of PAYLOAD against the library's own function: CuPy's on a GPU, NumPy's on the CPU.

    With `--target sim` only what the host does is timed, and the simulation. Integer parameters of the payload that are
    not set take several sizes, all the same value. If the payload has layers, there is a GPU and no size is set, each
    layer is timed instead.
    """
    from ...output.console import progress, say, stderr
    from ...payloads.settings import builder_named, parse_settings
    from ...recipes.builder import OPEN
    from ...runtime.run.cupy_device import cuda_problem
    from ..bench import Refusal, Timing, cases, table
    from ..bench import bench as timed

    builder, given = builder_named(payload), parse_settings(settings)
    if OPEN in given.values():
        name = next(name for name, value in given.items() if value == OPEN)
        raise fail("W0483", f"`--set {name}={OPEN}`: what is timed has a size", hint=f"write `--set {name}=1024`")
    if target == "auto":
        problem = cuda_problem()
        target = "cpu" if problem is not None else "cuda"
        if problem is not None:
            say(f"no GPU here ({problem}): the kernels run natively on the CPU")
    chosen = cases(builder, given, layers, SIZES[target], gpu=target == "cuda")
    timings: list[Timing] = []
    refusals: list[Refusal] = []
    with progress(f"weft bench {payload}") as clock:
        for number, case in enumerate(chosen):
            with clock.watched(case.title):
                clock.share(number / len(chosen))
                for one in timed(builder, case, repeat, target):
                    if isinstance(one, Refusal):
                        refusals.append(one)
                    else:
                        timings.append(one)
    if refusals and not timings:
        raise refusals[0].error
    for refusal in refusals:
        say(str(refusal))
    stderr().print(table(timings, target))


@click.command(short_help="Search a schedule's parameters (not in this version).")
@click.argument("file", required=False)
def tune(file: str | None) -> None:
    """Search a schedule's parameters for the fastest values. Not in this version."""
    raise fail("W0059", "`weft tune` is not in this version", "`weft bench` times the values you give with `--set`")
