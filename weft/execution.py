"""Running what was scheduled: on a device, compared with the untouched payload; and bundles.

`run_schedule` and `run_bundle` end in the same place: a plan, a device, inputs, and perhaps something to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .cli.banks import bank_accesses
from .clock import Clock
from .dsl.diagnostics import Diagnostic, WeftError, fail
from .pipeline import Applied, Planned, Recipe, applied, planned
from .result import BankAccess, Found, KernelShape, OutputError, Report

if TYPE_CHECKING:
    import numpy as np

    from .interpreter.session.session import Step
    from .runtime.plan.plan import Plan
    from .runtime.plan.signature import FunctionSignature
    from .runtime.run.compare import Comparison
    from .runtime.run.device import Device
    from .runtime.run.runner import RunResult
    from .runtime.trace.timeline import Timeline

Target = Literal["auto", "sim", "cuda"]
Reference = Literal["jit", "gpu", "none"]

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
        from .cli.files import expect_outputs, expect_writable
        from .runtime.files.writing import Output
        from .runtime.trace.files import outputs

        written = [] if self.save is None else [Output("--save", self.save, ".npz")]
        if self.trace is not None:
            expect_writable(self.trace)
            written += outputs(self.trace)
        expect_outputs(written, {**read, **({} if self.inputs is None else {self.inputs: "--inputs"})})


@dataclass(frozen=True)
class Executed:
    """A run, with what a report shows beside its result."""

    report: Report
    title: str
    steps: Sequence[Step] = ()
    cuda: str | None = None
    timeline: Timeline | None = None
    warnings: tuple[Diagnostic, ...] = ()


def run_schedule(
    name: str,
    payload: Path | None,
    settings: Mapping[str, str],
    entry: str | None,
    options: RunOptions,
    clock: Clock | None = None,
    layer: str | None = None,
    unproven: bool = False,
) -> Executed:
    """Apply a schedule to its payload, run the kernels, and compare with the payload on the CPU."""
    recipe = Recipe.open(name, payload, settings, clock or Clock(), layer, unproven)
    options.expect_outputs(recipe.reads)
    if options.reference == "jit":
        _prepare_reference(recipe.clock)
    device = open_device(options.target)
    return run_applied(applied(recipe), entry, options, device)


def run_applied(done: Applied, entry: str | None, options: RunOptions, device: Device) -> Executed:
    """Run what a schedule, or a part of it, has made of its payload; and compare."""
    from .runtime.host import functions

    clock = done.recipe.clock
    made = planned(done, entry)
    signature = functions.signature(done.payload, made.plan.entry)
    with clock.phase("inputs"):
        arrays = _inputs(made.plan, signature, options)
    text = made.cuda if device.wants == "cuda" else done.located_text
    result = _with_untouched(_run(made.plan, device, arrays, text, clock, options), signature, arrays)
    shown = _traced(options.trace, result, made.plan, device)
    reference = _reference_name(options.reference)
    try:
        expected = _expected(made, arrays, options.reference, clock, result)
    except WeftError as error:
        if not (result.races or result.faults):
            raise
        expected, reference = None, f"nothing: {error.diagnostics[0].message}"  # what was found must not be lost
    comparison = _compared(signature, result, expected, clock)
    _save(options.save, result)
    banks = bank_accesses(result.banks, done.session.steps)
    report = _report(made.plan, device, result, comparison, reference, clock, banks)
    return Executed(report, done.recipe.name, done.session.steps, made.cuda, shown)


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


def _inputs(plan: Plan, signature: FunctionSignature, options: RunOptions) -> dict[str, np.ndarray]:
    from .runtime.files.inputs import random_inputs, read_npz

    expect_memory(plan)
    if options.inputs is not None:
        return read_npz(options.inputs, signature)
    return random_inputs(signature, options.seed)


def expect_memory(plan: Plan) -> None:
    """Refuse buffers that this machine can't hold, before anything is allocated. Raises W0490."""
    from .runtime.plan.dtypes import itemsize

    wanted = 0
    for buffer in plan.buffers:
        sizes = [s for s in buffer.shape if isinstance(s, int)]
        wanted += prod(sizes) * itemsize(buffer.dtype)
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


def _run(
    plan: Plan, device: Device, arrays: Mapping[str, np.ndarray], text: str, clock: Clock, options: RunOptions
) -> RunResult:
    """On the simulator, the seed also says how streams take turns; a GPU decides that by itself."""
    from .runtime.run.runner import run_plan

    with clock.watched("run"):
        order = options.seed if device.wants == "mlir" else None
        result = run_plan(plan, device, arrays, text=text, order=order, trace=options.trace is not None, graph=options.graph)
    clock.add(result.seconds)
    return result


def _with_untouched(result: RunResult, signature: FunctionSignature, given: Mapping[str, np.ndarray]) -> RunResult:
    """The result with those arguments, too, that the payload writes (or may write) and the scheduled module does not: as given."""
    untouched = {a.name: given[a.name] for a in signature.arguments if a.role == "inout" and a.name not in result.outputs}
    return replace(result, outputs={**untouched, **result.outputs})


def _traced(path: Path | None, result: RunResult, plan: Plan, device: Device) -> Timeline | None:
    """Write the timeline and its picture, if they are asked for. On the simulator, steps are counted: it has no clock."""
    from .cli.files import write_atomically
    from .runtime.trace.files import trace_files
    from .runtime.trace.timeline import timeline

    if path is None:
        return None
    shown = timeline(plan.steps, result.timeline or (), result.device, plan.entry, counted=device.wants == "mlir")
    for target, data in trace_files(path, shown).items():
        write_atomically(target, data)
    return shown


def _expected(
    made: Planned, arrays: Mapping[str, np.ndarray], how: Reference, clock: Clock, result: RunResult
) -> Mapping[str, np.ndarray] | None:
    from .runtime.host import functions
    from .runtime.reference.reference import reference

    if how == "none":
        return None
    if how == "gpu":
        raise fail(
            "W0059", "`--reference gpu` is not in this version", hint="`--reference jit` runs the payload on the CPU"
        )
    payload = made.applied.payload
    if UNDEFINED.intersection(f.kind for f in result.faults or ()) and any(map(functions.launches, functions.functions(payload))):
        raise fail("W0802", "the payload's own kernels fault, and what they compute is undefined")
    with clock.phase("reference"):
        return reference(payload, made.plan.entry, dict(arrays))


def _compared(
    signature: FunctionSignature, result: RunResult, expected: Mapping[str, np.ndarray] | None, clock: Clock
) -> Comparison | None:
    from .runtime.run.compare import compare

    if expected is None:
        return None
    with clock.phase("compare"):
        return compare(signature, result.outputs, expected)


def _save(path: Path | None, result: RunResult) -> None:
    from .runtime.files.inputs import write_npz

    if path is not None:
        write_npz(path, result.outputs)


def _reference_name(how: Reference) -> str:
    return "the payload, compiled for the CPU" if how == "jit" else "nothing"


def _report(
    plan: Plan,
    device: Device,
    result: RunResult,
    comparison: Comparison | None,
    reference: str,
    clock: Clock,
    banks: tuple[BankAccess, ...] | None,
) -> Report:
    """Right means: nothing raced, nothing faulted, and the outputs match; None if nothing contradicts but none was compared."""
    clean = not result.races and not result.faults
    ok = (clean and comparison.ok) if comparison is not None else (None if clean else False)
    return Report(
        ok=ok,
        target="cuda" if device.wants == "cuda" else "sim",
        device=result.device,
        entry=plan.entry,
        reference=reference,
        max_rel_error=comparison.max_rel_error if comparison is not None else None,
        outputs=_outputs(plan, result, comparison),
        races=_races(result),
        faults=None if result.faults is None else tuple(str(fault) for fault in result.faults),
        barriers=result.barriers,
        kernels=tuple(KernelShape(k.name, k.grid, k.block, k.shared_bytes, k.unproven) for k in result.kernels),
        streams_created=result.streams_created,
        streams_destroyed=result.streams_destroyed,
        fewest_streams=plan.fewest_streams,
        graphs_created=result.graphs_created,
        graphs_destroyed=result.graphs_destroyed,
        seconds={**clock.seconds},
        bank_conflicts=banks,
    )


def _outputs(plan: Plan, result: RunResult, comparison: Comparison | None) -> tuple[OutputError, ...]:
    if comparison is None:
        dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
        return tuple(
            OutputError(name, dtypes[name], array.shape, None, None, None, None)
            for name, array in result.outputs.items()
        )
    return tuple(
        OutputError(o.name, o.dtype, result.outputs[o.name].shape, o.error, o.tolerance, o.ok, o.reason)
        for o in comparison.outputs
    )


def _races(result: RunResult) -> tuple[Found, ...] | None:
    if result.races is None:
        return None
    return tuple(Found(str(r.kind), r.buffer, tuple(r.element), str(r.first), str(r.second)) for r in result.races)


# ---- bundles ---------------------------------------------------------------------------------------------------------


def run_bundle(folder: Path, options: RunOptions, clock: Clock | None = None) -> Executed:
    """Run a bundle; compared with the outputs it carries, if it is run on the inputs it carries."""
    from .runtime.files.bundle import comparable, read_bundle
    from .runtime.files.inputs import random_inputs, read_npz

    clock = clock or Clock()
    options.expect_outputs({folder: "the bundle"})
    with clock.phase("read"):
        bundle = read_bundle(folder)
    device = open_device(options.target)
    expect_memory(bundle.plan)
    own = options.inputs is None and bundle.inputs is not None
    with clock.phase("inputs"):
        if options.inputs is not None:
            arrays = read_npz(options.inputs, bundle.signature)
        else:
            arrays = bundle.inputs if bundle.inputs is not None else random_inputs(bundle.signature, options.seed)
    text = bundle.cuda if device.wants == "cuda" else bundle.module
    result = _run(bundle.plan, device, arrays, text, clock, options)
    shown = _traced(options.trace, result, bundle.plan, device)
    expected = bundle.expected if own and options.reference != "none" else None
    comparison = _compared(comparable(bundle), result, expected, clock)
    _save(options.save, result)
    reference = "the outputs in the bundle" if expected is not None else "nothing: the bundle was built without data"
    report = replace(
        _report(bundle.plan, device, result, comparison, reference, clock, bank_accesses(result.banks)), edited=bundle.edited
    )
    return Executed(report, str(folder), cuda=bundle.cuda, timeline=shown, warnings=bundle.warnings)


def build_bundle(
    name: str,
    payload: Path | None,
    settings: Mapping[str, str],
    entry: str | None,
    output: Path,
    data_seed: int | None,
    clock: Clock | None = None,
    layer: str | None = None,
    unproven: bool = False,
) -> Applied:
    """Write a bundle; with a `data_seed`, inputs and the outputs that the payload gives for them go along."""
    from .runtime.files.bundle import expect_place, write_bundle
    from .runtime.files.inputs import random_inputs
    from .runtime.files.writing import Output, expect_apart
    from .runtime.host.functions import signature
    from .runtime.reference.reference import reference

    recipe = Recipe.open(name, payload, settings, clock or Clock(), layer, unproven)
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
