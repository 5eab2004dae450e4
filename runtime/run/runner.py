"""Run a plan on a device. One runner for all devices; everything it makes is given back, whatever fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ...dsl.diagnostics import fail
from ..files.inputs import check_inputs
from ..plan.dtypes import NUMPY, poison_byte
from ..plan.plan import Alloc, AnyStep, Buffer, Copy, Fill, Free, Kernel, Launch, Plan
from ..plan.resolve import concrete_shape, resolve
from ..plan.signature import plan_signature
from ..simulator.bank_report import BankUse
from ..simulator.report import LaunchReport
from ..trace.timeline import Timed
from .actions import Actions, triple
from .device import Device, Event, Memory, Stream
from .interleaving import interleaved
from .issue import commands
from .pool import Pool
from .replay import WHOLE_DEVICE, Replay
from .result import KernelRun, RunResult


def run_plan(
    plan: Plan,
    device: Device,
    inputs: Mapping[str, np.ndarray],
    *,
    text: str | None = None,
    repeat: int = 0,
    order: int | None = None,
    trace: bool = False,
    graph: bool = False,
) -> RunResult:
    """Run the plan once on `inputs`, and `repeat` times more to measure.

    Args:
        inputs: an array per input and inout buffer and per scalar, by name; they are not changed.
        text: the kernels, as `device.wants` says; None: they are loaded already.
        order: a seed, for a device that does everything at once: its streams take turns as it says; None: as the plan
            stands.
        trace: time every launch and copy, for `RunResult.timeline`: of this run on the simulator, of a second one on a GPU.
        graph: capture the steps once into a graph of the device's, and let it replay that, for this run and each repeat.
            Temporaries then stay allocated all the while.

    Errors: W0724 for what a graph cannot do, W0716, W0717 for inputs that do not fit, W0702 … W0709 for a plan that is unsound
        for these shapes, and what the device raises (W072x). Nothing stays allocated then.
    """
    if graph and trace:
        raise fail(
            "W0724",
            "a graph is replayed as a whole: when each of its steps begins and ends cannot be told",
            hint="trace the plan without a graph: its streams and events are the same",
        )
    signature = plan_signature(plan)
    given = check_inputs(signature, inputs)
    scalars = {s.name: given[s.name].item() for s in plan.scalars}
    shapes = {b.name: given[b.name].shape for b in plan.inputs}
    fixed = resolve(plan, shapes, scalars)
    run = _Run(fixed, device, order)
    with run.phase("load"):
        if text is not None:
            device.load(text, fixed.kernels)
    with run.resources():
        with run.phase("upload"):
            run.upload(given)
        if graph:
            with run.phase("capture"):
                run.capture()
        with run.phase("run"):
            if run.replay is not None:
                run.replayed(run.replay)
            else:
                run.steps(record=True, trace=trace and device.wants == "mlir")
        with run.phase("download"):
            outputs = run.download()
        if trace and device.wants == "cuda":  # warm: the first launch of a kernel loads it, which waits for all streams
            run.steps(record=False, trace=True)
        repeats = run.repeats(repeat)
    return run.result(outputs, repeats)


@dataclass
class _Run:
    plan: Plan
    device: Device
    order: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)
    events: dict[int, Event] = field(default_factory=dict)
    reports: list[LaunchReport | None] = field(default_factory=list)
    banks: list[tuple[str, BankUse]] = field(default_factory=list)
    timeline: tuple[Timed, ...] | None = None
    replay: Replay | None = None

    def __post_init__(self) -> None:
        self.buffers: dict[str, Buffer] = {b.name: b for b in self.plan.buffers}
        steps = self.plan.steps
        turns = None if self.order is None else interleaved(steps, self.order)
        self.commands = commands(steps, turns)
        self.pool = Pool(self.device)
        self.streams = self.pool.streams
        self.actions = Actions(self.plan, self.device, self.streams)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    # ---- what is made and given back ---------------------------------------------------------------------------------

    @contextmanager
    def resources(self) -> Iterator[None]:
        """Streams and the caller's buffers, made on entry; all that is left of anything is given back on exit."""
        with ExitStack() as stack:
            stack.callback(self._free_all)
            stack.callback(self.pool.close)
            stack.callback(setattr, self, "replay", None)  # it knows of memory
            self.pool.open(sorted({WHOLE_DEVICE, *(s.stream for s in self.plan.steps)}))
            for buffer in self.plan.buffers:
                if buffer.role != "temp":
                    self._alloc(buffer)
            yield
            self.device.synchronize()

    def _alloc(self, buffer: Buffer, poison: Stream | None = None) -> None:
        """Memory for a buffer; filled with poison, if there is a stream to do it on.

        A temporary that the plan never frees keeps the memory that it got in an earlier run of the steps.
        """
        if buffer.name not in self.memory:
            count = prod(concrete_shape(buffer))
            self.memory[buffer.name] = self.device.alloc(buffer.name, buffer.dtype, count)
        if poison is not None:
            self.device.poison(self.memory[buffer.name], poison_byte(buffer.dtype), poison)

    def _free_all(self) -> None:
        self._each(self.memory, self.device.free)

    @staticmethod
    def _each(things: dict[Any, Any], give_back: Callable[[Any], None]) -> None:
        """Give back all of `things`, also those after one that fails."""
        with ExitStack() as stack:
            while things:
                _, thing = things.popitem()
                stack.callback(give_back, thing)

    # ---- phases ------------------------------------------------------------------------------------------------------

    def upload(self, given: Mapping[str, np.ndarray]) -> None:
        stream = self.streams[WHOLE_DEVICE]
        for buffer in self.plan.buffers:
            if buffer.role == "output":
                self.device.poison(self.memory[buffer.name], poison_byte(buffer.dtype), stream)
            elif buffer.role != "temp":
                self.device.upload(self.memory[buffer.name], contents(buffer, given), stream)
        self.device.synchronize()

    def steps(self, *, record: bool, trace: bool) -> None:
        """Do all steps. `record`: keep the reports, poison temporaries. `trace`: time them."""
        start = self._stamp(WHOLE_DEVICE) if trace else None
        stamps: list[tuple[int, Event, Event]] = []
        for command in self.commands:
            match command.action:
                case "do":
                    step = self.plan.steps[command.step]
                    timed = trace and isinstance(step, Launch | Copy | Fill)
                    begin = self._stamp(step.stream) if timed else None
                    self._do(step, record)
                    if timed:
                        stamps.append((command.step, begin, self._stamp(step.stream)))
                case "record":
                    event = self.events[command.step] = self.pool.take()
                    self.device.record(event, self.streams[command.stream])
                case "wait":
                    self.device.wait(self.streams[command.stream], self.events[command.step])
                case "release":
                    self.pool.give_back(self.events.pop(command.step))
        self.device.synchronize()
        if trace:
            self.timeline = self._timeline(start, stamps)
            for event in (start, *(e for _, *both in stamps for e in both)):
                self.pool.give_back(event)

    def _stamp(self, stream: int) -> Event:
        """An event that tells when the stream got here."""
        event = self.pool.take()
        self.device.record(event, self.streams[stream])
        return event

    def _timeline(self, start: Event, stamps: Sequence[tuple[int, Event, Event]]) -> tuple[Timed, ...] | None:
        found: list[Timed] = []
        for number, begin, end in stamps:
            step = self.plan.steps[number]
            since, until = self.device.elapsed(start, begin), self.device.elapsed(start, end)
            if since is None or until is None or not isinstance(step, Launch | Copy | Fill):
                return None
            found.append(Timed(_name(step), number, step.stream, since, until))
        return tuple(sorted(found, key=lambda t: t.begin))

    def _do(self, step: AnyStep, record: bool) -> None:
        if isinstance(step, Alloc):
            self._alloc(self.buffers[step.buffer], self.streams[step.stream] if record else None)
        elif isinstance(step, Free):
            self.device.free(self.memory.pop(step.buffer))
        elif (action := self.actions.of(step, self.memory)) is not None:
            report = action()
            if record and isinstance(step, Launch):
                self._report(step.kernel, report)

    def _report(self, kernel: str, report: LaunchReport | None) -> None:
        self.reports.append(report)
        if report is not None and report.banks is not None:
            self.banks += [(kernel, use) for use in report.banks]

    # ---- again and again ---------------------------------------------------------------------------------------------

    def prepare(self, *, poison: bool) -> Replay:
        """Allocate the temporaries, to stay, and work out all that is to be issued for a run."""
        stream = self.streams[WHOLE_DEVICE] if poison else None
        for step in self.plan.steps:
            if isinstance(step, Alloc):
                self._alloc(self.buffers[step.buffer], stream)
        actions = self.actions.replayed(self.commands, self.memory, self.pool)
        self.replay = Replay(self.device, self.pool, actions)
        return self.replay

    def capture(self) -> None:
        """Make a graph of a run. Nothing of it is done yet."""
        replay = self.prepare(poison=True)
        self.device.synchronize()
        replay.capture()

    def replayed(self, replay: Replay) -> None:
        """Run the graph, and keep the reports."""
        for kernel, report in replay.start():
            self._report(kernel, report)
        self.device.synchronize()

    def repeats(self, count: int) -> list[tuple[float, float]]:
        """Seconds of so many more runs, and of the host for each."""
        if not count:
            return []
        return (self.replay or self.prepare(poison=False)).measure(count)

    def download(self) -> dict[str, np.ndarray]:
        outputs: dict[str, np.ndarray] = {}
        for buffer in self.plan.outputs:
            array = np.empty(concrete_shape(buffer), NUMPY[buffer.dtype])
            self.device.download(self.memory[buffer.name], array, self.streams[WHOLE_DEVICE])
            outputs[buffer.name] = array
        return outputs

    def result(self, outputs: Mapping[str, np.ndarray], repeats: Sequence[tuple[float, float]]) -> RunResult:
        found = [r for r in self.reports if r is not None]
        looked = bool(found) or not self.reports
        kernels = tuple(
            KernelRun(s.kernel, triple(s.grid), triple(s.block), _shared(s, kernel), kernel.unproven)
            for s, kernel in ((s, self.actions.kernels[s.kernel]) for s in self.plan.launches)
        )
        return RunResult(
            device=self.device.name,
            outputs=outputs,
            seconds=dict(self.seconds),
            kernels=kernels,
            races=(*(race for r in found for race in r.races), *self.device.unordered) if looked else None,
            faults=tuple(fault for r in found for fault in r.faults) if looked else None,
            barriers=sum(r.barriers for r in found) if looked else None,
            streams_created=self.pool.created,
            streams_destroyed=self.pool.destroyed,
            events_created=self.pool.events_created,
            events_destroyed=self.pool.events_destroyed,
            timeline=self.timeline,
            repeats=tuple(seconds for seconds, _ in repeats),
            issued=tuple(seconds for _, seconds in repeats),
            graphs_created=self.pool.graphs_created,
            graphs_destroyed=self.pool.graphs_destroyed,
            banks=tuple(self.banks) if looked and all(r.banks is not None for r in found) else None,
        )


def contents(buffer: Buffer, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """The array that an input or a constant starts with."""
    if buffer.role == "constant":
        return np.frombuffer(buffer.data or b"", NUMPY[buffer.dtype]).reshape(concrete_shape(buffer))
    return np.asarray(given[buffer.name], order="C")


def _name(step: Launch | Copy | Fill) -> str:
    """What a timeline calls it."""
    match step:
        case Launch():
            return step.kernel
        case Copy():
            return f"{step.source.buffer} → {step.target.buffer}"
        case Fill():
            return f"{step.value.value} → {step.target.buffer}"


def _shared(step: Launch, kernel: Kernel) -> int:
    return kernel.shared_bytes + int(step.shared_bytes)  # type: ignore[arg-type]
