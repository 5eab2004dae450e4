"""Compares kernels with their payload before they are built: chooses the sizes and inputs, runs
both, and reports the result."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, WeftError, fail
from ..dsl.records import record
from ..interpreter.ir.functions import VERSION_OF
from ..pipeline import Applied, Planned, Recipe, applied, planned
from ..runtime.run.comparison_process import ComparedRuns, Task, side_by_side
from ..runtime.run.execution import Clock
from . import cache
from .launches import snapshots
from .report import ACCEPTED, MOST_WORK, comparison_lines, not_proven, too_long
from .sizes import TRIES, open_sizes, smaller
from .work import PayloadWork, work_of

if TYPE_CHECKING:
    from ..runtime.plan.plan import Plan
    from ..runtime.plan.signature import FunctionSignature

MOST_SIMULATED = 1 << 26
"""The operations of a payload that the simulator executes in about half a second. For a larger
payload of a builder a smaller one is compared."""
FOREIGN = ("run-pass", "transform")
"""Statements that run MLIR passes or transforms."""
ASKED = "`--unchecked` was given"
"""The reason that is reported for a comparison that the user switched off."""


@record
class ComparedOnce:
    """The result of a comparison of kernels with their payload.

    Args:
        equal: a line for each run with equal results; empty if nothing was compared.
        summary: the comparison in one line.
        unchecked: the reason why nothing was compared; None if something was compared, or if there
            are no launches.
    """

    equal: tuple[str, ...] = ()
    unchecked: str | None = None
    summary: str | None = None

    @property
    def line(self) -> str | None:
        """The line that a command prints; None if nothing is launched."""
        if self.unchecked is not None:
            return f"values not compared: {self.unchecked}"
        return None if self.summary is None else f"values compared: {self.summary}"

    def marked(self, plan: Plan) -> Plan:
        """The plan; it is marked as not compared if nothing was compared."""
        return replace(plan, compared=self.summary, unchecked=self.unchecked)


def _equal(lines: tuple[str, ...]) -> ComparedOnce:
    """The result of a comparison that found equal values, from the lines of `comparison_lines`."""
    return ComparedOnce(lines[1:], summary=lines[0])


def expected(recipe: Recipe, entry: str | None) -> bool:
    """Whether a recipe will be compared, as far as this is known before it is applied."""
    return not recipe.choice.unchecked and cache.found(_recipe_key(recipe, entry)) is None


def compared(made: Planned, entry: str | None) -> ComparedOnce:
    """Compares kernels with their payload, unless the result is in the cache.

    Raises W0080 if they differ, W0081 if they cannot be compared.
    """
    recipe = made.applied.recipe
    if not made.plan.launches:
        return ComparedOnce()
    if recipe.choice.unchecked:
        return ComparedOnce(unchecked=ASKED)
    of_recipe = _recipe_key(recipe, entry)
    texts = [made.applied.text, recipe.payload.text, made.plan.entry]
    key = cache.key_of(*texts, *([of_recipe] if recipe.payload_values else []))
    with recipe.clock.phase("check"):
        lines = cache.found(key)
        if lines is None:
            found = _compared(made, entry)
            if found.summary is None:
                return found
            cache.keep(key, lines := (found.summary, *found.equal))
        cache.keep(of_recipe, lines)
        return _equal(lines)


def _expect_proven(made: Planned, found: ComparedOnce) -> ComparedOnce:
    """Accepts kernels without a comparison of values if their reductions are proven. Raises W0081
    otherwise."""
    if not (assumed := made.assumed):
        return found
    message = (
        f"the payload is too large to be compared with ({found.unchecked}), and what its kernels combine is not proven"
    )
    hint = f"compare it yourself: `weft run {made.applied.recipe.choice.file or '…'} --target cpu`; {ACCEPTED}"
    raise fail("W0081", message, hint=hint, notes=tuple(assumed[:3]))


def expect_proven(made: Planned, found: ComparedOnce) -> None:
    """Requires a proof of the kernels' reductions, or `--assumed`: equal values at a few sizes
    prove nothing for other sizes. Raises W0082."""
    recipe, assumed = made.applied.recipe, made.assumed
    if not assumed or recipe.choice.assumed or recipe.choice.unchecked:
        return
    notes = [*assumed[1:3], *([found.line] if found.line else [])]
    hint = "`--assumed` (`assumed=True` in Python) builds it as it was compared, and marks it"
    raise fail("W0082", not_proven(recipe.name, assumed), hint=hint, notes=tuple(notes))


def compared_all(done: Applied) -> list[ComparedOnce]:
    """Compares each function of a scheduled module that launches kernels. Raises W0080, W0081."""
    from ..interpreter.ir.functions import symbol
    from ..runtime.host import functions

    if done.recipe.choice.unchecked:
        return [ComparedOnce(unchecked=ASKED)]
    hosts = [f for f in functions.functions(done.module) if functions.is_public(f) and functions.launches(f)]
    found: list[ComparedOnce] = []
    for entry in [symbol(host) for host in hosts if VERSION_OF not in host.attributes]:
        try:
            made = planned(done, entry)
        except WeftError as error:
            raise _not_comparable(done.recipe.name, error) from error
        found.append(compared(made, entry))
    return found


def _recipe_key(recipe: Recipe, entry: str | None) -> str:
    values = [sorted((name, repr(value)) for name, value in recipe.values.items()), entry, recipe.choice.unproven]
    return cache.key_of(recipe.name, *recipe.texts, recipe.payload.text, repr(values))


def _compared(made: Planned, entry: str | None) -> ComparedOnce:
    from ..runtime.host.functions import signature
    from ..runtime.run.execution import expect_memory

    payload = made.applied.payload
    named = signature(payload, made.plan.entry)
    if not any(None in (a.shape or ()) for a in named.arguments):
        work = work_of(payload, named, 1)
        if work.operations > MOST_WORK:
            return _smaller(made, entry, work)
        expect_memory(made.plan)
        simulated = MOST_SIMULATED if made.applied.recipe.payload_values and not work.partial else MOST_WORK
        done = _tried(made, named, work, (None,), simulated)
        if done.too_long:  # the simulator is too slow for it
            with suppress(_NotSmallerError):
                return _smaller(made, entry, work)
            done = _tried(made, named, work, (None,))
        return _equal(comparison_lines(made, named, done))
    sizes = open_sizes(made.plan)
    works = {size: work_of(payload, named, size) for size in sizes}
    sizes = tuple(size for size in sizes if works[size].operations <= MOST_WORK)
    if not sizes:
        return _expect_proven(made, ComparedOnce(unchecked=too_long(works[1])))
    try:
        done = _tried(made, named, works[max(sizes)], sizes)
    except _NoSizesError as none:
        return ComparedOnce(
            unchecked=f"none of the sizes {', '.join(map(str, sizes))} for all that is open fits: {none}"
        )
    if done.too_long:
        return _expect_proven(made, ComparedOnce(unchecked=too_long(works[max(sizes)])))
    return _equal(comparison_lines(made, named, done))


def _smaller(made: Planned, entry: str | None, work: PayloadWork) -> ComparedOnce:
    """Compares the kernels that the same schedule makes from a smaller payload of the same builder.
    Preferred is a payload that is tiled and guarded in the same way."""
    from ..runtime.host.functions import signature

    recipe = made.applied.recipe
    if not recipe.payload_values:
        return _expect_proven(made, ComparedOnce(unchecked=too_long(work)))
    steps = [step.text for step in made.applied.session.steps]
    others: list[Planned] = []
    refused: WeftError | None = None
    for one in islice(smaller(recipe), TRIES):
        try:
            other = planned(applied(replace(one, clock=Clock())), entry)
        except WeftError as error:
            refused = refused or error
            continue
        named = signature(other.applied.payload, other.plan.entry)
        if work_of(other.applied.payload, named, 1).operations > MOST_WORK:
            break
        others.append(other)
        if [step.text for step in other.applied.session.steps] == steps:
            others = [other]
            break
    for other in others:
        named = signature(other.applied.payload, other.plan.entry)
        less = work_of(other.applied.payload, named, 1)
        done = _tried(other, named, less, (None,))
        if not done.too_long:
            return _equal(comparison_lines(other, named, done, smaller=True))
    notes = () if refused is None else (f"of a smaller payload: {refused.diagnostics[0].message}",)
    message = (
        f"the payload is too large to be compared with ({too_long(work)}), and this schedule accepts no smaller one"
    )
    hint = f"compare it yourself: `weft run {recipe.choice.file} --target cpu`; {ACCEPTED}"
    raise _NotSmallerError(Diagnostic("W0081", message, hint=hint, notes=notes))


def _tried(
    made: Planned, named: FunctionSignature, work: PayloadWork, sizes: Sequence[int | None], simulated: int = MOST_WORK
) -> ComparedRuns:
    """Runs the plan and the payload at each size; the simulator executes at most `simulated`
    operations. Raises W0081."""
    from ..runtime.cpu.worker import Died, call

    payload = made.applied.payload
    rewritten = any(step.keyword in FOREIGN for step in made.applied.session.steps)
    looked, trace = snapshots(made.applied.module, made.plan, payload, rewritten=rewritten)
    code = io.BytesIO()
    (payload if trace is None else trace.module).operation.write_bytecode(code)
    what = made.plan, made.applied.located_text, code.getvalue(), named, tuple(sizes)
    task = Task(*what, work.operations, simulated, work.most, work.indexed, work.partial, snapshots=looked)
    name = made.applied.recipe.name
    try:
        return call(side_by_side, task)
    except WeftError as error:
        if error.diagnostics[0].code == SIZES and sizes != (None,):
            raise _NoSizesError(error.diagnostics[0].message) from error
        raise _not_comparable(name, error) from error
    except Died as death:
        from ..runtime.cpu.worker import ended_by

        words = ended_by(death.status)
        notes = (f"probably {words.cause}",) if words.cause else ()
        message = (
            f"`{name}` cannot be compared with its payload: {words.signal} has ended {death.stage or 'the comparison'}"
        )
        raise fail(
            "W0081", message, hint=f"`weft run … --target sim` shows what it does; {ACCEPTED}", notes=notes
        ) from None


class _NotSmallerError(WeftError):
    """No smaller payload of the builder is legal."""


SIZES = "W0717"
"""Arguments with sizes that are inconsistent."""


class _NoSizesError(Exception):
    """The program accepts none of the tried sizes."""


def _not_comparable(name: str, error: WeftError) -> WeftError:
    first = error.diagnostics[0]
    message = f"the kernels of `{name}` cannot be compared with their payload: {first.message}"
    return WeftError(Diagnostic("W0081", message, notes=first.notes, hint=ACCEPTED, payload=first.payload))
