"""Running what was scheduled: on a device, compared with the untouched payload; and bundles.

A schedule and a bundle are run in one way: a plan, a device, inputs, and perhaps something to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .cli.banks import bank_accesses
from .clock import Clock
from .dsl.diagnostics import Diagnostic, WeftError, fail
from .pipeline import Applied, Planned, Recipe, applied, planned
from .result import ComparedOutput, Report

if TYPE_CHECKING:
    import numpy as np

    from .interpreter.session.session import Step
    from .runtime.plan.plan import Plan
    from .runtime.plan.signature import FunctionSignature
    from .runtime.run.device import Device
    from .runtime.run.runner import RunResult
    from .runtime.trace.timeline import Timeline

Target = Literal["auto", "sim", "cuda"]
Reference = Literal["jit", "gpu", "none"]
Arrays = Mapping[str, "np.ndarray"]

UNDEFINED = {"out-of-bounds read", "out-of-bounds write", "division by zero"}
"""Faults that are found on the simulator, and leave what a CPU computes undefined."""


@dataclass(frozen=True)
class RunOptions:
    """How to run: where, on which inputs (a file, else random ones of this seed), compared with what."""

    target: Target = "auto"
    seed: int = 0
    inputs: Path | None = None
    save: Path | None = None
    reference: Reference = "jit"
    trace: Path | None = None
    """Where the timeline goes, in Chrome's trace format; its picture goes beside it."""
    graph: bool = False
    """Capture the plan once, and replay it. There is no timeline of that."""

    def expect_outputs(self, read: Mapping[Path, str]) -> None:
        """Refuse `save` and `trace` where they can't be written, or would overwrite what is read. Raises W0054, W0714."""
        from .runtime.trace.text import expect_results

        expect_results(self.save, self.trace, self.inputs, read)


@dataclass(frozen=True)
class Executed:
    """A run, with what a report shows beside its result."""

    report: Report
    title: str
    steps: Sequence[Step] = ()
    cuda: str | None = None
    timeline: Timeline | None = None
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class _Program:
    """What is run, of a schedule or of a bundle.

    Args:
        demanded: the signature, with the outputs that are compared.
        module: the text for a device that is no GPU.
        expected: of the inputs and what a run of them found, what should come out; and what that is.
        carried: inputs that come along.
    """

    title: str
    plan: Plan
    signature: FunctionSignature
    demanded: FunctionSignature
    cuda: str
    module: Callable[[], str]
    expected: Callable[[Arrays, RunResult], tuple[Arrays | None, str]]
    clock: Clock
    steps: Sequence[Step] = ()
    carried: Arrays | None = None

    def run(self, options: RunOptions, device: Device) -> Executed:
        """Run it, compare, save. Right means: nothing raced, nothing faulted, and the outputs match; None if nothing contradicts
        but none was compared."""
        from .runtime.files.inputs import random_inputs, read_npz, write_npz
        from .runtime.run.compare import compare
        from .runtime.run.runner import run_plan

        on_gpu, clock, plan = device.wants == "cuda", self.clock, self.plan
        with clock.phase("inputs"):
            expect_memory(plan)
            arrays = self.carried
            if options.inputs is not None:
                arrays = read_npz(options.inputs, self.signature)
            elif arrays is None:
                arrays = random_inputs(self.signature, options.seed)
        text = self.cuda if on_gpu else self.module()
        order = None if on_gpu else options.seed  # it says how streams take turns; a GPU decides that by itself
        with clock.watched("run"):
            result = run_plan(plan, device, arrays, text=text, order=order, trace=options.trace is not None, graph=options.graph)
        clock.add(result.seconds)
        inout = {a.name: arrays[a.name] for a in self.signature.arguments if a.role == "inout"}
        outputs = {name: array for name, array in inout.items() if name not in result.outputs} | dict(result.outputs)
        timeline = _traced(options.trace, result, plan, counted=not on_gpu)
        expected, reference = self.expected(arrays, result)
        dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
        compared = [ComparedOutput(name, dtypes[name], array.shape) for name, array in outputs.items()]
        comparison = None
        if expected is not None:
            with clock.phase("compare"):
                comparison = compare(self.demanded, outputs, expected)
            compared = [
                ComparedOutput(o.name, o.dtype, outputs[o.name].shape, o.error, o.tolerance, o.ok, o.reason)
                for o in comparison.outputs
            ]
        if options.save is not None:
            write_npz(options.save, outputs)
        clean = not result.races and not result.faults
        report = Report(
            ok=(clean and comparison.ok) if comparison is not None else (None if clean else False),
            target="cuda" if on_gpu else "sim",
            entry=plan.entry,
            reference=reference,
            max_rel_error=comparison.max_rel_error if comparison is not None else None,
            outputs=tuple(compared),
            races=result.races,
            faults=None if result.faults is None else tuple(map(str, result.faults)),
            fewest_streams=plan.fewest_streams,
            seconds={**clock.seconds},
            bank_conflicts=bank_accesses(result.banks, self.steps),
            device=result.device,
            barriers=result.barriers,
            kernels=result.kernels,
            streams_created=result.streams_created,
            streams_destroyed=result.streams_destroyed,
            graphs_created=result.graphs_created,
            graphs_destroyed=result.graphs_destroyed,
        )
        return Executed(report, self.title, self.steps, self.cuda, timeline)


def run_recipe(recipe: Recipe, entry: str | None, options: RunOptions) -> Executed:
    """Apply a schedule to its payload, run the kernels, and compare with the payload on the CPU."""
    options.expect_outputs(recipe.reads)
    if options.reference == "jit":
        _prepare_reference(recipe.clock)
    device = open_device(options.target)
    return run_applied(applied(recipe), entry, options, device)


def run_applied(done: Applied, entry: str | None, options: RunOptions, device: Device) -> Executed:
    """Run what a schedule, or a part of it, has made of its payload; and compare."""
    from .runtime.host import functions

    made = planned(done, entry)

    def expected(arrays: Arrays, result: RunResult) -> tuple[Arrays | None, str]:
        if options.reference == "none":
            return None, "nothing"
        try:
            return _expected(made, arrays, options.reference, result), "the payload, compiled for the CPU"
        except WeftError as error:
            if not (result.races or result.faults):
                raise
            return None, f"nothing: {error.diagnostics[0].message}"  # what was found must not be lost

    signature = functions.signature(done.payload, made.plan.entry)
    recipe, steps = done.recipe, done.session.steps
    program = _Program(
        recipe.name, made.plan, signature, signature, made.cuda, lambda: done.located_text, expected, recipe.clock, steps
    )
    return program.run(options, device)


def run_bundle(folder: Path, options: RunOptions, clock: Clock | None = None) -> Executed:
    """Run a bundle; compared with the outputs it carries, if it is run on the inputs it carries."""
    from .runtime.files.bundle import comparable, read_bundle

    clock = clock or Clock()
    options.expect_outputs({folder: "the bundle"})
    with clock.phase("read"):
        bundle = read_bundle(folder)
    device = open_device(options.target)
    own = options.inputs is None and bundle.inputs is not None and options.reference != "none"
    wanted = bundle.expected if own else None
    reference = "the outputs in the bundle" if wanted is not None else "nothing: the bundle was built without data"
    program = _Program(
        str(folder), bundle.plan, bundle.signature, comparable(bundle), bundle.cuda, lambda: bundle.module,
        lambda *_: (wanted, reference), clock,         carried=bundle.inputs,
    )  # fmt: skip
    done = program.run(options, device)
    return replace(done, report=replace(done.report, edited=bundle.edited), warnings=bundle.warnings)


def _prepare_reference(clock: Clock) -> None:
    """Have the reference's process ready, where that costs nothing: before this one has threads."""
    from .cli.supervisor import is_child

    if is_child():
        with clock.phase("import"):
            from .runtime.reference.reference import prepare

            prepare()


def open_device(target: Target) -> Device:
    """The device to run on; `auto` is the GPU where there is one, else the simulator. Raises W072x."""
    from .runtime.run.cupy_device import CupyDevice, cuda_problem
    from .runtime.simulator import SimDevice

    if target == "sim" or (target == "auto" and cuda_problem() is not None):
        return SimDevice()
    return CupyDevice()


def expect_memory(plan: Plan) -> None:
    """Refuse buffers that this machine can't hold, before anything is allocated. Raises W0490."""
    from .runtime.plan.dtypes import itemsize

    wanted = sum(prod(s for s in b.shape if isinstance(s, int)) * itemsize(b.dtype) for b in plan.buffers)
    if (there := physical_memory()) is not None and wanted > there:
        raise fail(
            "W0490",
            f"the buffers of @{plan.entry} take {wanted / 2**30:.1f} GiB; this machine has {there / 2**30:.1f} GiB",
            hint="run a smaller payload: with a builder, `--set m=256`",
        )


def physical_memory() -> int | None:
    """Bytes of memory of this machine, or None where the system does not say."""
    import os

    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _traced(path: Path | None, result: RunResult, plan: Plan, counted: bool) -> Timeline | None:
    """Write the timeline and its picture, if they are asked for. On the simulator, steps are counted: it has no clock."""
    from .runtime.files.writing import write_file
    from .runtime.trace.text import trace_files
    from .runtime.trace.timeline import timeline

    if path is None:
        return None
    shown = timeline(plan.steps, result.timeline or (), result.device, plan.entry, counted=counted)
    for target, data in trace_files(path, shown).items():
        write_file(target, data)
    return shown


def _expected(made: Planned, arrays: Arrays, how: Reference, result: RunResult) -> Arrays:
    from .runtime.host import functions
    from .runtime.reference.reference import reference

    if how == "gpu":
        hint = "`--reference jit` runs the payload on the CPU"
        raise fail("W0059", "`--reference gpu` is not in this version", hint=hint)
    payload = made.applied.payload
    if UNDEFINED.intersection(f.kind for f in result.faults or ()) and any(map(functions.launches, functions.functions(payload))):
        raise fail("W0802", "the payload's own kernels fault, and what they compute is undefined")
    with made.applied.recipe.clock.phase("reference"):
        return reference(payload, made.plan.entry, dict(arrays))


def build_bundle(recipe: Recipe, entry: str | None, output: Path, data_seed: int | None) -> Applied:
    """Write a bundle; with a `data_seed`, inputs and the outputs that the payload gives for them go along."""
    from .runtime.files.bundle import expect_place, write_bundle
    from .runtime.files.inputs import random_inputs
    from .runtime.files.writing import Output, expect_apart
    from .runtime.host.functions import signature
    from .runtime.reference.reference import reference

    expect_apart([Output("-o", output)], recipe.reads)
    expect_place(output)
    clock = recipe.clock
    if data_seed is not None:
        _prepare_reference(clock)
    done = applied(recipe)
    made = planned(done, entry)
    inputs = expected = None
    if data_seed is not None:
        expect_memory(made.plan)
        inputs = random_inputs(signature(done.payload, made.plan.entry), data_seed)
        with clock.phase("reference"):
            expected = reference(done.payload, made.plan.entry, inputs)
    with clock.phase("write"):
        write_bundle(output, made.plan, made.cuda, done.text, inputs=inputs, expected=expected)
    return done
