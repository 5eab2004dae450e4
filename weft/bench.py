"""`weft bench`: the recipes of a payload against the array library's own function, on a GPU; without one, what can be timed.

Kernels are timed with the device's clock over several runs after one that is not counted; the baseline likewise, in the
same process, so that ratios hold whatever the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .clock import Clock
from .dsl.diagnostics import fail
from .execution import open_device
from .pipeline import Planned, Recipe, applied, planned, read_schedule
from .recipes import builders, schedules
from .recipes.builder import Builder

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table


@dataclass(frozen=True)
class Timing:
    """One recipe at one setting. `seconds` of the kernels, `baseline` of the library; `phases` of the host's work."""

    recipe: str
    values: Mapping[str, int | str]
    seconds: float
    baseline: float
    operations: int
    phases: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Speed against the baseline: 1 is as fast."""
        return self.baseline / self.seconds


def subject(name: str) -> Builder:
    """The builder to bench. Raises W0484."""
    if (builder := builders().get(name)) is None:
        raise fail("W0484", f"there is no payload builder `{name}`", notes=(f"builders that ship: {', '.join(builders())}",))
    return builder


def recipes_of(builder: Builder) -> list[str]:
    """The shipped schedules whose payload this builder makes."""
    files = ((name, read_schedule(str(path))) for name, path in schedules().items())
    return [name for name, file in files if file.payload is not None and file.payload.builder == builder.name]


def bench(builder: Builder, settings: Mapping[str, str], repeat: int, *, gpu: bool) -> Iterator[Timing]:
    """Time every recipe of `builder` at these settings."""
    for name in recipes_of(builder):
        clock = Clock()
        file = read_schedule(name)
        known = {p.name for p in (*file.main.parameters, *builder.parameters)}
        recipe = Recipe.open(name, None, {n: v for n, v in settings.items() if n in known}, clock)
        made = planned(applied(recipe))
        yield _timed(name, builder, made, repeat, gpu)


def _timed(name: str, builder: Builder, made: Planned, repeat: int, gpu: bool) -> Timing:
    from .runtime.functions import signature
    from .runtime.inputs import random_inputs
    from .runtime.runner import run_plan

    device = open_device("cuda" if gpu else "sim")
    arrays = random_inputs(signature(made.applied.payload, made.plan.entry))
    text = made.cuda if gpu else made.applied.text
    result = run_plan(made.plan, device, arrays, text=text, repeat=repeat)
    best = min(result.repeats)
    library = _gpu_baseline if gpu else _cpu_baseline
    phases = {**made.applied.recipe.clock.seconds, "load": result.seconds["load"]}
    values = made.applied.recipe.payload_values
    operations = builder.operations(**values)
    return Timing(name, values, best, library(builder, values, arrays, repeat), operations, phases)


def _cpu_baseline(builder: Builder, values: Mapping[str, int | str], arrays: Mapping[str, np.ndarray], repeat: int) -> float:
    import numpy

    return _best(lambda: builder.baseline(numpy, arrays, **values), repeat)


def _gpu_baseline(builder: Builder, values: Mapping[str, int | str], arrays: Mapping[str, np.ndarray], repeat: int) -> float:
    import cupy

    there = {name: cupy.asarray(array) for name, array in arrays.items()}
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def once() -> float:
        start.record()
        builder.baseline(cupy, there, **values)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    once()
    return min(once() for _ in range(repeat))


def _best(function: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest of several calls, after one that is not counted."""
    function()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def table(timings: list[Timing], *, gpu: bool) -> Table:
    """The timings as a table: on a GPU TFLOP/s against the library, else milliseconds of each phase."""
    from rich.table import Table

    from .report import duration

    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    made.add_column("recipe")
    made.add_column("payload")
    columns = ("kernel", "TFLOP/s", "library", "of the library") if gpu else ("schedule", "emit", "simulator", "NumPy")
    for column in columns:
        made.add_column(column, justify="right")
    for t in timings:
        payload = " ".join(f"{name}={value}" for name, value in t.values.items())
        if gpu:
            cells = (duration(t.seconds), f"{t.operations / t.seconds / 1e12:.2f}", duration(t.baseline), f"{t.ratio:.1%}")
        else:
            cells = (*(duration(t.phases[p]) for p in ("schedule", "emit")), duration(t.seconds), duration(t.baseline))
        made.add_row(t.recipe, payload, *cells)
    return made
