"""`weft bench [PAYLOAD]`: times the recipes of a payload against the array library's function, on a
GPU or as native code on the CPU; and `weft tune`, which is not implemented yet.

Kernels are timed with the device's clock over several runs, after a first run that is not counted.
The baseline is timed in the same way in the same process, so that their ratio does not depend on
the machine. On the simulator only the host's work is timed: the simulator is no model of a GPU's
speed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import rich_click as click

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record
from ...recipes import schedules
from ...runtime.run.execution import TARGETS, Arrays, Target, open_device
from .schedules import set_option

if TYPE_CHECKING:
    from rich.table import Table

    from ...pipeline import Planned
    from ...recipes.builder import Builder, Value
    from ...runtime.devices.device import DeviceTarget

SIZES = {"cuda": ("1024", "2048", "4096"), "cpu": ("256", "512", "1024"), "sim": ("64", "128", "256")}
"""The default sizes, by target."""


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

    With `--target sim` only the host's work and the simulation are timed. Integer parameters of the payload that are
    not set are set to several sizes, all of them to the same. If the payload has layers, there is a GPU and no size is set, each
    layer is timed instead.
    """
    from ...output.console import progress, say, stderr
    from ...payloads.settings import builder_named, parse_settings
    from ...recipes.builder import OPEN
    from ...runtime.run.cupy_device import cuda_problem

    one = payload in schedules() or payload.endswith((".weft", ".mlir"))
    hint = f"`bench` takes a built-in payload and times all its recipes; `weft run {payload}` times one schedule"
    builder, given = builder_named(payload, hint=hint if one else None), parse_settings(settings)
    if OPEN in given.values():
        name = next(name for name, value in given.items() if value == OPEN)
        raise fail(
            "W0483", f"`--set {name}={OPEN}`: a size to be timed has to be known", hint=f"write `--set {name}=1024`"
        )
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


@record
class Case:
    """The parameters of one measurement: the payload's sizes, those of a layer included."""

    settings: Mapping[str, str]
    layer: str | None = None
    title: str = ""


@record
class Timing:
    """The times of one recipe in one case, in seconds: `seconds` of the kernels, `baseline` of the
    library's function; `phases` of the host's work."""

    recipe: str
    layer: str | None
    values: Mapping[str, int | str]
    """The payload's parameters without those that the layer's name states."""
    seconds: float
    baseline: float
    operations: int
    phases: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The speed relative to the baseline; 1 is equal."""
        return self.baseline / self.seconds


@record
class Refusal:
    """A recipe that is not timed in one case, with the diagnostic."""

    recipe: str
    title: str
    error: WeftError

    def __str__(self) -> str:
        first = self.error.diagnostics[0]
        return f"{' '.join(filter(None, (self.recipe, self.title)))} is not timed: {first.code}: {first.message}"


def cases(
    builder: Builder, settings: Mapping[str, str], layers: Sequence[str], sizes: Sequence[str], *, gpu: bool
) -> list[Case]:
    """The cases to time. Named layers, each once. Otherwise all layers of the builder, if it has
    layers, there is a GPU and no size is set. Otherwise `sizes` (a builder with layers: its own
    sizes) for all integer parameters that are not set and not restricted. Raises W0491, W0492."""
    from ...payloads.settings import find_layer

    for name in layers:
        find_layer(name, builder)
    if builder.layers:
        known = {name for layer in builder.layers.values() for name in layer}
        every = tuple(builder.layers) if gpu and not known & set(settings) else ()
        return [Case(settings, name, name) for name in dict.fromkeys(layers or every)] or [Case(settings)]
    free = [p.name for p in builder.parameters if p.type == "int" and not p.domain and p.name not in settings]
    return [Case({**settings, **dict.fromkeys(free, size)}, None, size) for size in sizes] if free else [Case(settings)]


def timed(builder: Builder, case: Case, repeat: int, target: DeviceTarget) -> Iterator[Timing | Refusal]:
    """The times of every recipe of `builder` in one case, or the diagnostic that refuses the recipe
    or the device."""
    from ...output.console import show
    from ...pipeline import Choice, applied, planned, read_schedule

    for name, path in schedules().items():
        file = read_schedule(str(path))
        if file.payload is None or file.payload.builder != builder.name:
            continue
        known = {p.name for p in (*file.main.parameters, *builder.parameters)}
        settings = {n: v for n, v in case.settings.items() if n in known}
        try:
            recipe = Choice(name, None, settings, case.layer).open()
            if recipe.warnings:
                show(recipe.warnings)
            yield _timed(builder, planned(applied(recipe)), case, repeat, target)
        except WeftError as error:
            yield Refusal(name, case.title, error)


def _timed(builder: Builder, made: Planned, case: Case, repeat: int, target: DeviceTarget) -> Timing:
    from ...runtime.files.inputs import random_inputs
    from ...runtime.host.functions import signature
    from ...runtime.run.runner import run_plan

    recipe = made.applied.recipe
    device, values = open_device(target), recipe.payload_values
    arrays = random_inputs(signature(made.applied.payload, made.plan.entry))
    text = made.cuda if device.wants == "cuda" else made.applied.text
    result = run_plan(made.plan, device, arrays, text=text, repeat=repeat)
    best = min(result.repeats)
    phases = {**recipe.clock.seconds, "load": result.seconds["load"]}
    operations = builder.operations(**values)
    named = builder.layers[case.layer] if case.layer is not None else {}
    others = {n: v for n, v in values.items() if n not in named or n in case.settings}
    library = _library(builder, values, arrays, repeat, gpu=target == "cuda")
    return Timing(recipe.choice.file, case.layer, others, best, library, operations, phases)


def _library(builder: Builder, values: Mapping[str, Value], arrays: Arrays, repeat: int, *, gpu: bool) -> float:
    """The seconds of the fastest of several calls of the library's function, after one that is not
    counted."""
    import numpy

    def on_cpu() -> float:
        start = time.perf_counter()
        builder.baseline(numpy, arrays, **values)
        return time.perf_counter() - start

    def on_gpu() -> float:
        start.record()
        builder.baseline(cupy, there, **values)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    once = on_cpu
    if gpu:
        import cupy

        there = {name: cupy.asarray(array) for name, array in arrays.items()}
        start, end, once = cupy.cuda.Event(), cupy.cuda.Event(), on_gpu
    once()
    return min(once() for _ in range(repeat))


SPEED = {"cuda": ("TFLOP/s", 1e12, 2), "cpu": ("GFLOP/s", 1e9, 1)}
"""The unit of the kernels' speed by target: its name, its size in operations per second, and its
digits."""


def table(timings: list[Timing], target: DeviceTarget) -> Table:
    """A table of the times: the speed relative to the library; for the simulator the milliseconds
    of each phase."""
    from ...output.report import duration
    from ...output.tables import columns

    unit, size, digits = SPEED.get(target, ("", 1, 0))
    heads = ("kernel", unit, "library", "of the library") if unit else ("schedule", "emit", "simulator", "NumPy")
    made = columns("recipe", "payload", *(f">{head}" for head in heads))
    for t in timings:
        payload = " ".join([*filter(None, [t.layer]), *(f"{name}={value}" for name, value in t.values.items())])
        if unit:
            speed = f"{t.operations / t.seconds / size:.{digits}f}"
            cells = (duration(t.seconds), speed, duration(t.baseline), f"{t.ratio:.1%}")
        else:
            cells = (*(duration(t.phases[p]) for p in ("schedule", "emit")), duration(t.seconds), duration(t.baseline))
        made.add_row(t.recipe, payload, *cells)
    return made
