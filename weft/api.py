"""The Python API: what the command line does, as functions.

Each takes a schedule by path or recipe name, `payload` (the path of an `.mlir` file, instead of the schedule's own) and
`settings` (parameters of the schedule and of its payload, as values or as text) and `layer` (sizes of the payload by name), and
raises `WeftError` with diagnostics. Kernels that are not proven race-free are refused, unless `unproven` lets them through.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from .cli.interrupt import interruptible
from .execution import Reference, RunOptions, Target, build_bundle, run_bundle, run_schedule
from .pipeline import Applied, Recipe, applied
from .result import Report

__all__ = ["Applied", "Recipe", "Report", "apply", "build", "load", "run"]

Name = str | PathLike[str]
Setting = int | float | bool | str


@interruptible()
def load(
    schedule: Name, *, payload: Name | None = None, settings: Mapping[str, Setting] | None = None, layer: str | None = None,
    unproven: bool = False,
) -> Recipe:  # fmt: skip
    """Read and check a schedule, bind its parameters, and read its payload's text."""
    return Recipe.open(str(schedule), _path(payload), _texts(settings), layer=layer, unproven=unproven)


@interruptible()
def apply(
    schedule: Name | Recipe,
    *,
    payload: Name | None = None,
    settings: Mapping[str, Setting] | None = None,
    layer: str | None = None,
    unproven: bool = False,
) -> Applied:
    """Apply a schedule to its payload: `.text` is the scheduled module, `.session.steps` what each statement did."""
    if not isinstance(schedule, Recipe):
        schedule = load(schedule, payload=payload, settings=settings, layer=layer, unproven=unproven)
    return applied(schedule)


@interruptible()
def run(
    schedule: Name,
    *,
    payload: Name | None = None,
    settings: Mapping[str, Setting] | None = None,
    layer: str | None = None,
    entry: str | None = None,
    target: Target = "auto",
    seed: int = 0,
    inputs: Name | None = None,
    save: Name | None = None,
    reference: Reference = "jit",
    unproven: bool = False,
) -> Report:
    """Run a schedule, or a bundle's folder, and compare with the untouched payload."""
    options = RunOptions(target, seed, _path(inputs), _path(save), reference)
    if Path(schedule).is_dir():
        return run_bundle(Path(schedule), options).report
    return run_schedule(str(schedule), _path(payload), _texts(settings), entry, options, layer=layer, unproven=unproven).report


@interruptible()
def build(
    schedule: Name,
    output: Name,
    *,
    payload: Name | None = None,
    settings: Mapping[str, Setting] | None = None,
    layer: str | None = None,
    entry: str | None = None,
    data_seed: int | None = None,
    unproven: bool = False,
) -> Path:
    """Write a bundle into the folder `output`; with `data_seed`, inputs and expected outputs go into it as well."""
    build_bundle(str(schedule), _path(payload), _texts(settings), entry, Path(output), data_seed, layer=layer, unproven=unproven)
    return Path(output)


def _path(name: Name | None) -> Path | None:
    return None if name is None else Path(name)


def _texts(settings: Mapping[str, Setting] | None) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in (settings or {}).items()}
