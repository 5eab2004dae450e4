"""Running a program (a schedule's or a bundle's: a plan, a device, inputs) and comparing with what should come out, for
`weft run`, `python -m weft.runtime` and the API. `report.Report` says what was found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...dsl.diagnostics import Diagnostic, fail
from ...dsl.records import record
from .report import Report, ran

if TYPE_CHECKING:
    import numpy as np

    from ..devices.device import Device
    from ..plan.dtypes import Floats
    from ..plan.plan import Plan
    from ..plan.signature import FunctionSignature
    from ..trace.timeline import Timeline
    from .runner import RunResult

Target = Literal["auto", "sim", "cuda", "cpu"]
TARGETS: tuple[Target, ...] = get_args(Target)
Reference = Literal["jit", "gpu", "none"]
Arrays = Mapping[str, "np.ndarray"]

UNDEFINED = frozenset({"out-of-bounds read", "out-of-bounds write", "division by zero", "undefined result"})
"""Faults that are found on the simulator, and leave what a CPU computes undefined."""

UNTRACED = "--graph replays the whole plan in one call, so --trace sees nothing: trace it without --graph"


# ---- running -------------------------------------------------------------------------------------


@record
class RunOptions:
    """How to run: where, on which inputs (a file, or arrays by name; random ones for the rest), compared with what."""

    target: Target = "auto"
    seed: int = 0
    inputs: Path | Arrays | None = None
    save: Path | None = None
    reference: Reference = "jit"
    trace: Path | None = None
    """Where the timeline goes, in Chrome's trace format; its picture goes beside it."""
    graph: bool = False
    """Capture the plan once, and replay it. There is no timeline of that."""
    repeat: int = 0
    """So many more runs, to measure."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Inputs by name: a range of random numbers, a constant, a file (`files/inputs.py`)."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """Sizes of inputs that the payload leaves open, by argument and axis, or by its builder's name for them."""
    rest: int | None = None
    """The size of all else that is open."""

    def expect_outputs(self, read: Mapping[Path, str]) -> None:
        """Refuse `save` and `trace` where they can't be written, or would overwrite what is read: W0054, W0714."""
        from ..trace.text import expect_results

        files = {Path(text): "--input" for text in self.asked.values() if text.endswith(".npy")}
        expect_results(self.save, self.trace, self.inputs if isinstance(self.inputs, Path) else None, {**files, **read})


@record
class Executed:
    """A run: its report, and what else a reader may be shown. `steps`: those of the schedule, where there is one.
    `repeats`, `issued`: seconds of each further run, and that the host took to issue it."""

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
    """What is run, of a schedule or of a bundle.

    Args:
        demanded: the signature, with the outputs that are compared.
        module: the text for a device that is not a GPU.
        expected: of the inputs and what a run of them found, what should come out; and what that is.
        carried: inputs that come along.
        precise: of the inputs what should come out if floats were f64: asked where what is expected may be what is off.
        computed: the same of other inputs, or in the payload's own types: asked likewise.
        statements: shared buffer → the statement that made it.
        steps: those of the schedule, where there is one.
    """

    title: str
    plan: Plan
    signature: FunctionSignature
    demanded: FunctionSignature
    cuda: str
    module: Callable[[], str]
    expected: Callable[[Arrays, RunResult], tuple[Arrays | None, str]]
    clock: Clock
    carried: Arrays | None = None
    precise: Callable[[Arrays], Arrays] | None = None
    computed: Callable[[Arrays, Floats], Arrays] | None = None
    statements: Callable[[], Mapping[str, str]] = dict
    steps: Sequence[Any] = ()

    def run(self, options: RunOptions, device: Device) -> Executed:
        """Run it, compare, save. Right: nothing raced or faulted, and the outputs match; None if none was compared."""
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
        with clock.watched("run"):
            text = self.cuda if device.wants == "cuda" else self.module()
            result = run_plan(
                plan,
                device,
                arrays,
                text=text,
                repeat=options.repeat,
                order=options.seed if simulated else None,  # how streams take turns, which a GPU decides by itself
                trace=options.trace is not None,
                graph=options.graph,
                share=clock.share,
            )
        clock.add(result.seconds)

        def again(inputs: Arrays) -> Arrays:
            return self._outputs(inputs, run_plan(plan, device, inputs, text=text))

        outputs = self._outputs(arrays, result)
        timeline = _traced(options.trace, result, plan, counted=simulated)
        expected, reference = self.expected(arrays, result)
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
        )
        return Executed(report, self.title, self.cuda, timeline, result.repeats, result.issued, self.steps)

    def _outputs(self, arrays: Arrays, result: RunResult) -> Arrays:
        """All that is compared: arguments that no kernel writes are as they were."""
        inout = {a.name: arrays[a.name] for a in self.signature.arguments if a.role == "inout"}
        return {name: array for name, array in inout.items() if name not in result.outputs} | dict(result.outputs)


def run_bundle(folder: Path, options: RunOptions, clock: Clock | None = None) -> Executed:
    """Run a bundle; compared with the outputs it carries, if it is run on the inputs it carries."""
    from ..files.bundle import comparable, read_bundle

    clock = clock or Clock()
    options.expect_outputs({folder: "the bundle"})
    with clock.phase("read"):
        bundle = read_bundle(folder)
    device = open_device(options.target)
    own = options.inputs is None and not options.asked and bundle.inputs is not None and options.reference != "none"
    wanted = bundle.expected if own else None
    reference = "the outputs in the bundle" if wanted is not None else "nothing: the bundle was built without data"

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
    """The device to run on; `auto` is the GPU where there is one, else the simulator. Raises W072x."""
    from .cupy_device import CupyDevice, cuda_problem

    if target == "cpu":
        from ..cpu.device import CpuDevice

        return CpuDevice()
    if target == "cuda" or (target == "auto" and cuda_problem() is None):
        return CupyDevice()
    from ..simulator.device import SimDevice

    return SimDevice()


def expect_memory(plan: Plan) -> None:
    """Refuse buffers that this machine can't hold, before anything is allocated. Raises W0490."""
    from ..plan.dtypes import itemsize

    wanted = sum(prod(s for s in b.shape if isinstance(s, int)) * itemsize(b.dtype) for b in plan.buffers)
    if (there := physical_memory()) is not None and wanted > there:
        raise fail(
            "W0490",
            f"the buffers of @{plan.entry} take {wanted / 2**30:.1f} GiB; this machine has {there / 2**30:.1f} GiB",
            hint="run a smaller payload: with a builder, `--set m=256`",
        )


def physical_memory() -> int | None:
    """Bytes of memory of this machine, or None where the system does not say."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _traced(path: Path | None, result: RunResult, plan: Plan, counted: bool) -> Timeline | None:
    """Write the timeline and its picture, if asked for. On the simulator, steps are counted: it has no clock."""
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
        watch: called with a phase's name when it begins, and with None when it ends; the progress bar listens here.
        share: called with how much of the phase is done, 0 to 1, where that is known.
    """

    def __init__(
        self, watch: Callable[[str | None], None] | None = None, share: Callable[[float], None] = lambda _: None
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.share = share
        self._watch = watch or (lambda _: None)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to `name`. Phases do not nest."""
        start = time.perf_counter()
        try:
            with self.watched(name):
                yield
        finally:
            self.add({name: time.perf_counter() - start})

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """Tell the watcher of work that keeps its own time; `add` what it measured."""
        self._watch(name)
        try:
            yield
        finally:
            self._watch(None)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add phases that were measured elsewhere."""
        for name, more in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + more
