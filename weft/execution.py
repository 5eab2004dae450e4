"""Runs scheduled modules and compares them with the unscheduled payload; writes bundles of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .dsl.diagnostics import WeftError, fail
from .pipeline import Applied, Planned, Recipe, applied, bundled, planned
from .recipes import shortened
from .runtime.run.execution import (
    UNDEFINED,
    Arrays,
    Clock,
    Executed,
    Program,
    Reference,
    RunOptions,
    expect_memory,
    open_device,
    outputs_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .comparison.comparison import ComparedOnce
    from .interpreter.session.session import Step
    from .runtime.devices.device import Device
    from .runtime.plan.dtypes import Floats
    from .runtime.predict.prediction import Prediction
    from .runtime.run.report import OpUse
    from .runtime.run.runner import RunResult


def run_recipe(recipe: Recipe, entry: str | None, options: RunOptions) -> Executed:
    """Applies a schedule to its payload, runs the kernels, and compares with the payload on the
    CPU."""
    ((_, done),) = run_sweep(recipe, entry, options, (options.rest,))
    return done


def run_sweep(
    recipe: Recipe, entry: str | None, options: RunOptions, sizes: Iterable[int | None]
) -> Iterator[tuple[int | None, Executed]]:
    """`run_recipe` for each of `sizes` as the value of all open sizes; the schedule is applied
    once."""
    options.expect_outputs(recipe.reads)
    if options.reference == "jit":
        _prepare_reference(recipe.clock)
    device = open_device(options.target)
    options = replace(options, sizes=_by_axis(recipe, options.sizes))
    program = _program(applied(recipe), entry, options.reference, text=device.wants == "cuda")
    for size in sizes:
        yield size, program.run(replace(options, rest=size), device)


def _by_axis(recipe: Recipe, sizes: Mapping[str, str]) -> dict[str, str]:
    """The sizes by axis of an argument: the names of the payload's builder are replaced by the axes
    that have these sizes."""
    named = recipe.open_axes
    return {named.get(place, place): size for place, size in sizes.items()}


def run_applied(done: Applied, entry: str | None, options: RunOptions, device: Device) -> Executed:
    """Runs the kernels of a schedule, or of a part of it, and compares with the payload."""
    return _program(done, entry, options.reference, text=device.wants == "cuda").run(options, device)


def _program(done: Applied, entry: str | None, against: Reference | Path, *, text: bool) -> Program:
    """The program of a scheduled module with its reference, the payload. `text`: whether CUDA text
    is needed."""
    from .runtime.host import functions

    made = planned(done, entry, text=text)
    signature = functions.signature(done.payload, made.plan.entry)

    def expected(arrays: Arrays, result: RunResult | None) -> tuple[Arrays | None, str]:
        faults = (result and result.faults) or ()
        if against == "none":
            return None, "nothing"
        if isinstance(against, Path):
            return outputs_of(against, signature), f"the outputs in `{against}`"
        try:
            if against == "gpu":
                hint = "`--reference jit` runs the payload on the CPU"
                raise fail("W0059", "`--reference gpu` is not in this version", hint=hint)
            undefined = UNDEFINED.intersection(f.kind for f in faults)
            if undefined and any(map(functions.launches, functions.functions(done.payload))):
                raise fail("W0802", "the payload's own kernels fault, and what they compute is undefined")
            return computed(arrays, "f32"), "the payload, compiled for the CPU"
        except WeftError as error:
            if not (faults or (result and result.races)):
                raise
            # the races and faults that were found must not be lost
            return None, f"nothing: {error.diagnostics[0].message}"

    def computed(arrays: Arrays, floats: Floats = "f64") -> Arrays:
        from .runtime.cpu.reference import reference

        with done.recipe.clock.phase("reference"):
            return reference(done.payload, made.plan.entry, dict(arrays), floats)

    def ops() -> tuple[OpUse, ...]:
        from .op_table import op_table

        return op_table(made)

    recipe = done.recipe
    return Program(
        title=recipe.name,
        plan=made.plan,
        signature=signature,
        demanded=signature,
        cuda=made.cuda,
        module=lambda: done.located_text,
        expected=expected,
        precise=computed if against == "jit" else None,
        computed=computed if against == "jit" else None,
        clock=recipe.clock,
        statements=lambda: _statements(done.session.steps),
        steps=done.session.steps,
        ops=ops,
    )


def _statements(steps: Sequence[Step]) -> dict[str, str]:
    """Shared buffer → the statement that created it: the first after which a buffer of that name
    exists."""
    from .interpreter.ir.functions import name_of
    from .interpreter.ir.mlir import operations

    found: dict[str, str] = {}
    for step in steps:
        for alloc in operations(step.module.operation, "memref.alloc"):
            if (name := name_of(alloc.results[0])) is not None:
                found.setdefault(name, shortened(f"{step.span.source.name}:{step.span.line}: {step.text}"))
    return found


def _prepare_reference(clock: Clock) -> None:
    """Starts the reference's process if that is cheap: this process has no threads yet."""
    from .process import is_child

    if is_child():
        with clock.phase("import"):
            from .runtime.cpu.reference import prepare

            prepare()


def predicted(made: Planned, chip: str, sizes: Mapping[str, str] | None = None) -> Prediction:
    """The time of the launches on a chip, from a model that executes their machine code. `sizes`:
    values of open sizes.

    Errors: W0780 … W0782, and W0505, W0726, W0727; W0719 if a size is left open.
    """
    from .payloads.work import operations_of
    from .runtime.files.inputs import sized
    from .runtime.host.functions import signature
    from .runtime.plan.resolve import resolve
    from .runtime.predict.chips import chip_named
    from .runtime.predict.prediction import predict

    done, on = made.applied, chip_named(chip)
    by_axis = _by_axis(done.recipe, sizes or {})
    wanted = sized(signature(done.payload, made.plan.entry), by_axis, made.plan.agreements)
    shapes = {a.name: a.shape for a in wanted.arguments if a.shape is not None}
    if left := [f"{name}.{axis}" for name, shape in shapes.items() for axis, size in enumerate(shape) if size is None]:
        raise fail("W0719", f"these sizes are open: {', '.join(left)}", hint=f"`--size {left[0]}=1024` names one")
    with done.recipe.clock.phase("predict"):
        known = cast("Mapping[str, tuple[int, ...]]", shapes)
        work = operations_of(done.payload, made.plan.entry, known)
        return predict(resolve(made.plan, known, {}), made.cuda, on, work)


def build_bundle(
    recipe: Recipe,
    entry: str | None,
    output: Path,
    data_seed: int | None,
    inputs: Path | Arrays | None = None,
    asked: Mapping[str, str] | None = None,
    sizes: Mapping[str, str] | None = None,
) -> tuple[Applied, ComparedOnce]:
    """Writes a bundle once its kernels are compared with their payload; with a `data_seed`, also
    inputs and the payload's outputs for them. `inputs`, `asked`, `sizes`: as in `RunOptions`.

    Raises W0080, W0081 for kernels that differ or cannot be compared, W0082 if it is not proven
    what they combine: nothing is written then.
    """
    from .comparison import comparison
    from .runtime.cpu.reference import reference
    from .runtime.files.bundle import expect_place, write_bundle
    from .runtime.files.inputs import chosen_inputs, sized
    from .runtime.files.writing import Output, expect_apart
    from .runtime.host.functions import signature
    from .runtime.run.judging import own_outputs
    from .runtime.run.runner import resolved

    expect_apart([Output("-o", output)], recipe.reads)
    expect_place(output)
    clock = recipe.clock
    if data_seed is not None or comparison.expected(recipe, entry):
        _prepare_reference(clock)
    done = applied(recipe)
    made = planned(done, entry)
    found = comparison.compared(made, entry)
    comparison.expect_proven(made, found)
    plan, cuda, module = bundled(made)
    arrays = expected = own = None
    if data_seed is not None:
        expect_memory(made.plan)
        wanted = sized(signature(done.payload, made.plan.entry), _by_axis(recipe, sizes or {}), made.plan.agreements)
        arrays = chosen_inputs(wanted, data_seed, inputs, asked)
        resolved(made.plan, arrays)  # the payload does not check sizes
        with clock.phase("reference"):
            expected = reference(done.payload, made.plan.entry, arrays)
            own = own_outputs(wanted, lambda: reference(done.payload, made.plan.entry, arrays, "own"), expected)
    with clock.phase("write"):
        write_bundle(output, found.marked(plan), cuda, module, inputs=arrays, expected=expected, own=own)
    return done, found
