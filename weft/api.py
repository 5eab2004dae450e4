"""The Python API: what the command line does, as functions.

Each takes a schedule by path or recipe name, `payload` (the path of an `.mlir` file, instead of the schedule's own) and
`settings` (parameters of the schedule and of its payload, as values or as text) and `layer` (sizes of the payload by name), and
raises `WeftError` with diagnostics. Kernels that are not proven race-free are refused, unless `unproven` lets them through.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TypedDict, Unpack

from .cli.supervisor import interruptible
from .execution import build_bundle, run_recipe
from .pipeline import Applied, Choice, Recipe, applied
from .runtime.run.execution import Reference, Report, RunOptions, Target, run_bundle

__all__ = ["Applied", "Recipe", "Report", "apply", "build", "load", "run"]

Name = str | PathLike[str]
Setting = int | float | bool | str


class Choices(TypedDict, total=False):
    """What is chosen beside the schedule."""

    payload: Name | None
    settings: Mapping[str, Setting] | None
    layer: str | None
    unproven: bool


@interruptible()
def load(schedule: Name, **choice: Unpack[Choices]) -> Recipe:
    """Read and check a schedule, bind its parameters, and read its payload's text."""
    values = (choice.get("settings") or {}).items()
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values}
    payload, unproven = _path(choice.get("payload")), choice.get("unproven", False)
    return Choice(str(schedule), payload, settings, choice.get("layer"), unproven).open()


@interruptible()
def apply(schedule: Name | Recipe, **choice: Unpack[Choices]) -> Applied:
    """Apply a schedule to its payload: `.text` is the scheduled module, `.session.steps` what each statement did."""
    return applied(schedule if isinstance(schedule, Recipe) else load(schedule, **choice))


@interruptible()
def run(
    schedule: Name,
    *,
    entry: str | None = None,
    target: Target = "auto",
    seed: int = 0,
    inputs: Name | None = None,
    save: Name | None = None,
    reference: Reference = "jit",
    **choice: Unpack[Choices],
) -> Report:
    """Run a schedule, or a bundle's folder, and compare with the untouched payload."""
    options = RunOptions(target, seed, _path(inputs), _path(save), reference)
    if Path(schedule).is_dir():
        return run_bundle(Path(schedule), options).report
    return run_recipe(load(schedule, **choice), entry, options).report


@interruptible()
def build(
    schedule: Name, output: Name, *, entry: str | None = None, data_seed: int | None = None, **choice: Unpack[Choices]
) -> Path:
    """Write a bundle into the folder `output`; with `data_seed`, inputs and expected outputs go into it as well."""
    build_bundle(load(schedule, **choice), entry, Path(output), data_seed)
    return Path(output)


def _path(name: Name | None) -> Path | None:
    return None if name is None else Path(name)
