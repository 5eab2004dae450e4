"""Running a program (a schedule's or a bundle's: a plan, a device, inputs) and comparing its
outputs with the expected ones, for `weft run`, `python -m weft.runtime` and the API. The result is
a `report.Report`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...dsl.diagnostics import Diagnostic, fail, quoted
from ...dsl.records import record
from .report import Report, ran

if TYPE_CHECKING:
    import numpy as np

    from ..devices.device import Device
    from ..plan.dtypes import Floats
    from ..plan.plan import Plan
    from ..plan.signature import FunctionSignature
    from ..trace.timeline import Timeline
    from .report import OpUse
    from .runner import RunResult

Target = Literal["auto", "sim", "cuda", "cpu"]
TARGETS: tuple[Target, ...] = get_args(Target)
Reference = Literal["jit", "gpu", "none"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)
Arrays = Mapping[str, "np.ndarray"]

UNDEFINED = frozenset({"out-of-bounds read", "out-of-bounds write", "division by zero", "undefined result"})
"""Faults that the simulator finds, and that make the outputs of a native run undefined."""

UNTRACED = "--graph replays the whole plan in one call, so --trace sees nothing: trace it without --graph"


# ---- running -------------------------------------------------------------------------------------


@record
class RunOptions:
    """Options of a run: the target, the inputs (a file, or arrays by name; random ones for the
    rest), the reference."""

    target: Target = "auto"
    seed: int = 0
    inputs: Path | Arrays | None = None
    save: Path | None = None
    reference: Reference | Path = "jit"
    """Or a file with the outputs to compare with, as `save` writes it."""
    trace: Path | None = None
    """The file for the timeline, in Chrome's trace format; its picture is written next to it."""
    graph: bool = False
    """Captures the plan once, and replays it; there is no timeline then."""
    repeat: int = 0
    """Number of additional runs, for measuring."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Inputs by name: a range of random numbers, a constant, a file (`files/inputs.py`)."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """Sizes of dynamic dimensions, by argument and axis, or by the name in the payload's builder."""
    rest: int | None = None
    """The size of all other dynamic dimensions."""

    def expect_outputs(self, read: Mapping[Path, str]) -> None:
        """Checks that `save` and `trace` can be written, and would not overwrite a file that is
        read: W0054, W0714."""
        from ..trace.text import expect_results

        files = {Path(text): "--input" for text in self.asked.values() if text.endswith(".npy")}
        if isinstance(self.reference, Path):
            files[self.reference] = "--reference"
        expect_results(self.save, self.trace, self.inputs if isinstance(self.inputs, Path) else None, {**files, **read})


@record
class Executed:
    """A run: its report, and further data for a reader.

    Attributes:
        steps: of the schedule, if there is one.
        repeats, issued: for each additional run, its seconds, and those that the host took to issue
            it.
    """

    report: Report
    title: str
    cuda: str
    timeline: Timeline | None = None
    repeats: tuple[float, ...] = ()
    issued: tuple[float, ...] = ()
    steps: Sequence[Any] = ()
    warnings: tuple[Diagnostic, ...] = ()


@record
class Program:
    """A program to run, from a schedule or a bundle.

    Args:
        demanded: the signature, with the outputs that are compared.
        module: the text for a device that is not a GPU.
        expected: computes the expected outputs, with a description, from the inputs and the result
            of the run on the simulator. For other devices it is computed before the kernels run,
            without their result.
        carried: inputs that are part of the program.
        precise: computes the outputs from the inputs, with all floats in f64; used only if the
            expected outputs may be inaccurate.
        computed: computes the outputs from other inputs, or in the payload's own types; used only
            in the same case.
        statements: shared buffer → the statement that created it.
        steps: of the schedule, if there is one.
        ops: the table of the payload's ops, if there is a schedule.
    """

    title: str
    plan: Plan
    signature: FunctionSignature
    demanded: FunctionSignature
    cuda: str
    module: Callable[[], str]
    expected: Callable[[Arrays, RunResult | None], tuple[Arrays | None, str]]
    clock: Clock
    carried: Arrays | None = None
    precise: Callable[[Arrays], Arrays] | None = None
    computed: Callable[[Arrays, Floats], Arrays] | None = None
    statements: Callable[[], Mapping[str, str]] = dict
    steps: Sequence[Any] = ()
    ops: Callable[[], tuple[OpUse, ...] | None] = lambda: None

    def run(self, options: RunOptions, device: Device) -> Executed:
        """Runs it, compares, saves. It is right if there are no races and faults, and the outputs
        match; None if none was compared."""
        from ..files.inputs import chosen_inputs, sized, write_npz
        from .compare import OutputComparison, compare
        from .judging import Arbiter
        from .report import bank_accesses, buffer_traffic
        from .runner import run_plan

        simulated, clock, plan = device.target == "sim", self.clock, self.plan
        with clock.phase("inputs"):
            expect_memory(plan)
            arrays = self.carried
            if arrays is None or options.inputs is not None or options.asked:
                signature = sized(self.signature, options.sizes, plan.agreements, options.rest)
                arrays = chosen_inputs(signature, options.seed, options.inputs, options.asked)
        # machine code may end the process at an index out of bounds, which the reference reports
        before = None if simulated else self.expected(arrays, None)
        with clock.watched("run"):
            text = self.cuda if device.wants == "cuda" else self.module()
            result = run_plan(
                plan,
                device,
                arrays,
                text=text,
                repeat=options.repeat,
                order=options.seed
                if simulated
                else None,  # the simulated interleaving of streams, which a GPU decides on its own
                trace=options.trace is not None,
                graph=options.graph,
                share=clock.share,
            )
        clock.add(result.seconds)

        def again(inputs: Arrays) -> Arrays:
            return self._outputs(inputs, run_plan(plan, device, inputs, text=text))

        outputs = self._outputs(arrays, result)
        timeline = _traced(options.trace, result, plan, counted=simulated)
        expected, reference = before or self.expected(arrays, result)
        comparison = None
        if expected is not None:
            with clock.phase("compare"):
                comparison = compare(self.demanded, outputs, expected, rounded=plan.rounded)
            if self.precise is not None and self.computed is not None and not comparison.ok:
                arbiter = Arbiter(self.demanded, self.precise, self.computed, again, plan.rounded)
                comparison, reference = arbiter.reconsidered(arrays, outputs, expected, comparison) or (
                    comparison,
                    reference,
                )
            compared = comparison.outputs
        else:
            dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
            compared = tuple(OutputComparison(name, dtypes[name], array.shape) for name, array in outputs.items())
        if options.save is not None:
            write_npz(options.save, outputs)
        clean = not result.races and not result.faults
        report = Report(
            ok=(clean and comparison.ok) if comparison is not None else (None if clean else False),
            target=device.target,
            entry=plan.entry,
            reference=reference,
            max_rel_error=comparison.max_rel_error if comparison is not None else None,
            outputs=tuple(replace(output, array=outputs.get(output.name)) for output in compared),
            races=result.races,
            faults=None if result.faults is None else tuple(map(str, result.faults)),
            version=ran(plan, result.version),
            storage=result.storage,
            fewest_streams=plan.fewest_streams,
            compared=plan.compared,
            unchecked=plan.unchecked,
            seconds={**clock.seconds},
            bank_conflicts=bank_accesses(result.banks, self.statements),
            traffic=buffer_traffic(result.traffic),
            device=result.device,
            barriers=result.barriers,
            printed=result.printed,
            kernels=result.kernels,
            streams_created=result.streams_created,
            streams_destroyed=result.streams_destroyed,
            graphs_created=result.graphs_created,
            graphs_destroyed=result.graphs_destroyed,
            ops=self.ops(),
        )
        return Executed(report, self.title, self.cuda, timeline, result.repeats, result.issued, self.steps)

    def _outputs(self, arrays: Arrays, result: RunResult) -> Arrays:
        """All outputs to compare: arguments that no kernel writes keep their inputs."""
        inout = {a.name: arrays[a.name] for a in self.signature.arguments if a.role == "inout"}
        return {name: array for name, array in inout.items() if name not in result.outputs} | dict(result.outputs)


def outputs_of(file: Path, signature: FunctionSignature) -> Arrays:
    """The outputs in a file, to compare with. Raises W0715 if it is no such file, W0716 if it lacks
    an output."""
    from ..files.inputs import read_npz

    arrays, names = read_npz(file), [output.name for output in signature.outputs]
    if missing := [name for name in names if name not in arrays]:
        held = f"it holds {quoted(arrays)}" if arrays else "it is empty"
        hint = f"name its arrays {quoted(names)}, as in the file that `--save` writes"
        raise fail("W0716", f"`{file}` has no {quoted(missing)}, to compare with: {held}", hint=hint)
    return {name: arrays[name] for name in names}


def run_bundle(folder: Path, options: RunOptions, clock: Clock | None = None) -> Executed:
    """Runs a bundle; on the inputs that it carries, compares with the outputs that it carries."""
    from ..files.bundle import comparable, read_bundle

    clock = clock or Clock()
    options.expect_outputs({folder: "the bundle"})
    with clock.phase("read"):
        bundle = read_bundle(folder)
    device = open_device(options.target)
    own = options.inputs is None and not options.asked and bundle.inputs is not None and options.reference != "none"
    wanted: Arrays | None = bundle.expected if own else None
    reference = "the outputs in the bundle" if wanted is not None else "nothing: the bundle was built without data"
    if isinstance(options.reference, Path):
        wanted, reference = outputs_of(options.reference, comparable(bundle)), f"the outputs in `{options.reference}`"

    def computed(_: Arrays, floats: Floats) -> Arrays:
        if floats != "own" or bundle.own is None:
            raise fail("W0710", "the bundle has no outputs but those that it was built with")
        return bundle.own

    program = Program(
        title=str(folder),
        plan=bundle.plan,
        signature=bundle.signature,
        demanded=comparable(bundle),
        cuda=bundle.cuda,
        module=lambda: bundle.module,
        expected=lambda *_: (wanted, reference),
        precise=lambda inputs: computed(inputs, "f64"),
        computed=computed,
        clock=clock,
        carried=bundle.inputs,
    )
    done = program.run(options, device)
    return replace(done, report=replace(done.report, edited=bundle.edited), warnings=bundle.warnings)


def open_device(target: Target) -> Device:
    """The device to run on; `auto` is a GPU if there is one, else the simulator. Raises W072x."""
    from .cupy_device import CupyDevice, cuda_problem

    if target == "cpu":
        from ..cpu.device import CpuDevice

        return CpuDevice()
    if target == "cuda" or (target == "auto" and cuda_problem() is None):
        return CupyDevice()
    from ..simulator.device import SimDevice

    return SimDevice()


def expect_memory(plan: Plan) -> None:
    """Checks, before anything is allocated, that the buffers fit in this machine's memory. Raises
    W0490."""
    from ..plan.dtypes import itemsize
    from ..plan.storage import storage_bytes

    others = [b for b in plan.buffers if b.role != "temp"]
    wanted = sum(prod(s for s in b.shape if isinstance(s, int)) * itemsize(b.dtype) for b in others)
    wanted += storage_bytes(plan)
    if (there := physical_memory()) is not None and wanted > there:
        raise fail(
            "W0490",
            f"the buffers of @{plan.entry} take {wanted / 2**30:.1f} GiB; this machine has {there / 2**30:.1f} GiB",
            hint="run a smaller payload: with a builder, `--set m=256`",
        )


def physical_memory() -> int | None:
    """Bytes of memory of this machine, or None if the system does not report it."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _traced(path: Path | None, result: RunResult, plan: Plan, counted: bool) -> Timeline | None:
    """Writes the timeline and its picture, if requested. On the simulator, which has no clock,
    steps are counted."""
    from ..files.writing import write_file
    from ..trace.text import trace_files
    from ..trace.timeline import timeline

    if path is None:
        return None
    shown = timeline(plan.steps, result.timeline or (), result.device, plan.entry, counted=counted)
    for target, data in trace_files(path, shown).items():
        write_file(target, data)
    return shown


class Clock:
    """Seconds by phase, in the order in which the phases first began.

    Args:
        watch: called with a phase's name when it begins, and with None when it ends; the progress
            bar uses it.
        share: called with the completed fraction of the phase, 0 to 1, if it is known.
    """

    def __init__(
        self, watch: Callable[[str | None], None] | None = None, share: Callable[[float], None] = lambda _: None
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.share = share
        self._watch = watch or (lambda _: None)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time spent inside to `name`. Phases do not nest."""
        start = time.perf_counter()
        try:
            with self.watched(name):
                yield
        finally:
            self.add({name: time.perf_counter() - start})

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """Reports a phase to `watch` for work that measures its own time; `add` adds the result."""
        self._watch(name)
        try:
            yield
        finally:
            self._watch(None)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Adds phases that were measured elsewhere."""
        for name, more in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + more
