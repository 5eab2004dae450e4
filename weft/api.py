"""The Python API: the commands of the command line as functions.

Each takes a schedule (a path, a recipe's name, the text itself, or None: `rest`, which schedules
any program), `payload` (in place of the schedule's own payload: the path of an `.mlir` file, a
builder's name, MLIR text, an `ir.Module`, or a function that returns one of these), `settings`
(parameters of the schedule and of its payload, as values or as text) and `layer` (a name for a set
of payload sizes), and raises `WeftError` with diagnostics. Kernels that are not proven race-free
are refused unless `unproven` is set. Kernels that are built or compiled are compared with the
payload first unless `unchecked` is set. If the reductions of kernels are not proven, `build`
refuses the kernels and `compile` warns, unless `assumed` is set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Union, Unpack, cast

from .dsl import tree
from .dsl.diagnostics import Source, Span, fail, plain
from .execution import build_bundle, run_recipe
from .pipeline import Applied, Choice, Recipe, applied
from .process import interruptible
from .recipes import builders
from .runtime.call.targets import Where
from .runtime.run.execution import REFERENCES, Arrays, Reference, RunOptions, Target, run_bundle
from .runtime.run.report import Report

if TYPE_CHECKING:
    from .interpreter.ir.mlir import ir
    from .runtime.call.kernel import Kernel

__all__ = ["Applied", "Recipe", "Report", "apply", "build", "compile", "load", "run"]

Name = str | PathLike[str]
Payload = Union[Name, "ir.Module", Callable[[], "Payload"]]
Setting = int | float | bool | str


class Choices(TypedDict, total=False):
    """The choices besides the schedule."""

    payload: Payload | None
    settings: Mapping[str, Setting] | None
    layer: str | None
    unproven: bool
    unchecked: bool
    assumed: bool


@interruptible()
def load(schedule: Name | None, **choice: Unpack[Choices]) -> Recipe:
    """Reads and checks a schedule, binds its parameters, and reads its payload's text."""
    values = (choice.get("settings") or {}).items()
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values}
    payload, program = _payload(choice.get("payload"))
    text = Source("<schedule>", str(schedule)) if _is_text(schedule) else None
    file, unproven = "" if text or schedule is None else str(schedule), choice.get("unproven", False)
    unchecked, assumed = choice.get("unchecked", False), choice.get("assumed", False)
    chosen = Choice(file, payload, settings, choice.get("layer"), unproven, text, program, unchecked, assumed)
    recipe = (chosen.of_program() if schedule is None else chosen).open()
    for warning in recipe.warnings:
        warnings.warn(plain(warning), stacklevel=5)  # stack frames outside of `load`, `apply` and their wrappers
    return recipe


def _payload(given: object) -> tuple[Path | None, Source | tree.Payload | None]:
    """A payload as a path, or in the form given. Error: W0485 for a value that is no payload."""
    if given is None or isinstance(given, PathLike):
        return (None if given is None else Path(given)), None
    if isinstance(given, str):
        if "\n" in given or "{" in given:
            return None, Source("<payload>", given)
        named = given in builders() and not Path(given).exists()
        line = f"payload {given}"
        span = Span(Source("<payload>", line), 1, 1, 1, 1 + len(line))
        return (None, tree.Payload(span, given, None, ())) if named else (Path(given), None)
    if hasattr(given, "operation"):
        return None, Source("<module>", str(given))
    if callable(given):
        return _payload(given())
    message = f"a {type(given).__module__}.{type(given).__qualname__} is not a payload"
    raise fail(
        "W0485", message, "give a path, a builder's name, MLIR text, an `ir.Module`, or a function that returns one"
    )


@interruptible()
def apply(schedule: Name | Recipe | None, **choice: Unpack[Choices]) -> Applied:
    """Applies a schedule to its payload: `.text` is the scheduled module, `.session.steps` the
    effect of each statement."""
    return applied(schedule if isinstance(schedule, Recipe) else load(schedule, **choice))


@interruptible()
def run(
    schedule: Name | None,
    *,
    entry: str | None = None,
    target: Target = "auto",
    seed: int = 0,
    inputs: Name | Arrays | None = None,
    save: Name | None = None,
    reference: Reference | Name = "jit",
    sizes: Mapping[str, int] | None = None,
    **choice: Unpack[Choices],
) -> Report:
    """Runs a schedule, or a bundle's folder, and compares with the unscheduled payload.

    Args:
        seed: the seed of the random inputs; on the simulator, also of the order of streams.
        inputs: NumPy arrays by argument name, or an `.npz` file with them; they are not changed.
            Other inputs are random.
        reference: `jit`, the payload compiled for the CPU; `none`; or an `.npz` file with the outputs
            to compare with.
        sizes: values of open sizes: of `"A.0"`, the first axis of the argument `A`, or of `"m"`,
            the builder's name for it. Sizes that have to be equal follow.
        save: an `.npz` file for the outputs, which are also in `report.outputs`, each in its
            `array`.
    """
    given = inputs if inputs is None or isinstance(inputs, Mapping) else Path(inputs)
    open_ = {place: str(size) for place, size in (sizes or {}).items()}
    against = cast("Reference", reference) if reference in REFERENCES else Path(reference)
    options = RunOptions(target, seed, given, _path(save), against, sizes=open_)
    if schedule is not None and not _is_text(schedule) and Path(schedule).is_dir():
        return run_bundle(Path(schedule), options).report
    return run_recipe(load(schedule, **choice), entry, options).report


@interruptible()
def build(
    schedule: Name | None,
    output: Name,
    *,
    entry: str | None = None,
    data_seed: int | None = None,
    **choice: Unpack[Choices],
) -> Path:
    """Writes a bundle into the folder `output`; with `data_seed`, also inputs and expected outputs."""
    build_bundle(load(schedule, **choice), entry, Path(output), data_seed)
    return Path(output)


@interruptible()
def compile(
    schedule: Name | None,
    payload: Payload | None = None,
    *,
    settings: Mapping[str, Setting] | None = None,
    layer: str | None = None,
    entry: str | None = None,
    target: Where = "auto",
    unproven: bool = False,
    unchecked: bool = False,
    assumed: bool = False,
) -> Kernel:
    """A schedule applied to its payload, as a function of arrays: `kernel(a, b)`.

    It is compiled once per schedule, payload, settings and device, and cached in memory and on disk
    (`$WEFT_CACHE_DIR`).

    Args:
        entry: the payload's function; None: the only one that launches.
        target: `cuda`, `cpu`, or `auto`: the GPU if there is one, otherwise the CPU.
        assumed: suppresses the warning W0082: the kernel's reductions are not proven, only compared
            with the payload's.
    """
    from .compiled import compiled

    recipe = load(schedule, payload=payload, settings=settings, layer=layer, unproven=unproven, unchecked=unchecked)
    kernel = compiled(recipe, entry, target)
    if kernel.assumed and not (assumed or unchecked):
        from .comparison.report import not_proven

        message = f"W0082: {not_proven(recipe.name, kernel.assumed)}; it was only compared; `assumed=True` accepts that"
        warnings.warn(message, stacklevel=3)
    return kernel


def _is_text(schedule: object) -> bool:
    return isinstance(schedule, str) and "{" in schedule


def _path(name: Name | None) -> Path | None:
    return None if name is None else Path(name)
