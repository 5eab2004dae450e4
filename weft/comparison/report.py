"""The texts of a comparison: a line for each run, one line for all of them, and the differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, WeftError, count, fail
from ..pipeline import Planned
from ..runtime.plan.dtypes import FLOATS
from ..runtime.run.comparison_process import ComparedRun, ComparedRuns, kernels_compared

if TYPE_CHECKING:
    from ..runtime.plan.signature import FunctionSignature
    from .work import PayloadWork

MOST_WORK = 300_000_000
"""The operations of a payload that a CPU executes in about 50 ms, and the simulator in one to two
seconds."""
SECONDS_EACH = 0.05 / MOST_WORK
ACCEPTED = "`--unchecked` (`unchecked=True` in Python) builds it as it is, and marks it"


def comparison_lines(
    made: Planned, named: FunctionSignature, runs: ComparedRuns, *, smaller: bool = False
) -> tuple[str, ...]:
    """A summary of equal runs, then a line for each run. Raises W0080 for results that differ,
    W0081 for undefined results."""
    for run in runs.done:
        if run.undefined is not None:
            name, message = (
                made.applied.recipe.name,
                f"its result for random numbers is undefined: {run.undefined}",
            )
            raise fail("W0081", f"the kernels of `{name}` cannot be compared with their payload: {message}", ACCEPTED)
        if not run.ok or (run.found and not made.unproven):
            raise _differs(made, named, run)
    return (_summary(made, named, runs, smaller), *(_where(made, named, run) for run in runs.done))


def not_proven(name: str, assumed: Sequence[str]) -> str:
    """The message about kernels with unproven reductions. It gives the first reason in
    `assumed`."""
    what = assumed[0].removeprefix("combination assumed: ")
    return f"it is not proven that the kernels of `{name}` combine what the payload does: {what}"


def _summary(made: Planned, named: FunctionSignature, runs: ComparedRuns, smaller: bool) -> str:
    """The summary: `exactly, on integers; A: 4x8xf32, B: 8x4xf32; on the CPU; 1 of 1 kernel`, and
    what is assumed of the kernels."""
    first, *more = runs.done
    sizes = _sizes(made, named, first)
    if more:
        sizes = f"{count(len(runs.done), 'size')} for the open ones, from {first.size} to {more[-1].size}"
    if smaller:
        sizes = f"of a smaller payload: {sizes}"
    assumed = made.assumed
    others = f", and {len(assumed) - 1} more" if len(assumed) > 1 else ""
    beside = f"; {assumed[0]}{others}" if assumed else ""
    return f"{_how(runs)}; {sizes}; {_device(first)}; {_kernels(made, runs.done)}{beside}"


def _how(runs: ComparedRuns) -> str:
    outputs = [output for run in runs.done for output in run.comparison.outputs]
    if runs.exact:
        return "exactly, on integers"
    allowed = max((output.tolerance or 0.0 for output in outputs if output.dtype in FLOATS), default=None)
    return "exactly, on random integers" if allowed is None else f"to {allowed:.2g}, on random numbers"


def _kernels(made: Planned, runs: Iterable[ComparedRun]) -> str:
    """The number of kernels with a comparison of their own: `2 of 3 kernels alone, the others
    together with later ones`."""
    alone: set[str] = set()
    every: set[str] = set()
    for run in runs:
        own, all_ = kernels_compared(made.plan, run.version, run.launches)
        alone |= own
        every |= all_
    if alone >= every:
        return f"{len(every)} of {count(len(every), 'kernel')}"
    return f"{len(alone)} of {count(len(every), 'kernel')} alone, the others together with later ones"


def _sizes(made: Planned, named: FunctionSignature, run: ComparedRun) -> str:
    from ..runtime.files.fitting_sizes import fitted

    given = fitted(named, made.plan, run.size) if run.size is not None else named
    return ", ".join(map(str, given.arguments))


def _device(run: ComparedRun) -> str:
    return "on the simulator" if run.target == "sim" else "on the CPU"


def _where(made: Planned, named: FunctionSignature, run: ComparedRun) -> str:
    """The sizes and the device of a run: `A: 4x8xf32, B: 8x4xf32: on the CPU`."""
    version = f", version {run.version + 1} of {len(made.plan.versions)}" if run.version is not None else ""
    return f"{_sizes(made, named, run)}: {_device(run)}{version}"


def _differs(made: Planned, named: FunctionSignature, run: ComparedRun) -> WeftError:
    recipe = made.applied.recipe
    notes = [f"with {_where(made, named, run)}"]
    wrong = [output for output in run.comparison.outputs if not output.ok]
    what = "do not compute what its payload does" if wrong or run.wrong_launch else "race or fault on the simulator"
    message = f"the kernels of `{recipe.name}` {what}"
    if wrong:
        message += f": `{wrong[0].name}` differs"
    if (one := run.wrong_launch) is not None:
        first, at = one.snapshot, one.of.rpartition(" (")[0]
        after = f"after the launch of @{first.kernel}"
        message += f", and before that `{first.buffer}` {after}" if wrong else f": `{first.buffer}` differs {after}"
        launch = f"launch {first.launch + 1} of {len(made.plan.launches)}, of @{first.kernel}"
        notes.append(f"{launch}: `{first.buffer}` is not what {at} makes: {one.comparison.reason}")
    notes += [f"`{output.name}`: {output.reason}" for output in wrong]
    notes += [*run.found[:3]]
    hint = f"`weft run {recipe.choice.file or '…'} --target sim` shows more; {ACCEPTED}"
    return WeftError(Diagnostic("W0080", message, notes=tuple(notes), hint=hint))


def too_long(work: PayloadWork) -> str:
    """The reason why nothing was compared: the time that the payload would take, and the ops that
    take most of it."""
    parts = sorted(work.parts, key=lambda part: -part.operations)
    long = [part for part in parts if part.operations > MOST_WORK] or parts[:1]
    places = "; ".join(f"{part.place} takes {part.operations * SECONDS_EACH:.1f} s" for part in long[:3])
    seconds = f"the payload takes about {work.operations * SECONDS_EACH:.1f} s on a CPU, more than 50 ms"
    return f"{seconds}, {count(len(long), 'op')} of {len(parts)} too long alone: {places}"
