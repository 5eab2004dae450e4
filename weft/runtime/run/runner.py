"""Runs a plan on a device. One runner for all devices; it releases all resources, also after a
failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import prod

import numpy as np

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..devices.device import Device, Event, Replayed, Stream, Telling
from ..devices.report import BankUse, Fault, LaunchReport, Race, Traffic
from ..files.inputs import check_inputs
from ..plan.dtypes import NUMPY, poison_byte
from ..plan.plan import Buffer, Copy, Fill, KernelEntry, Launch, Plan, integers, triple
from ..plan.resolve import resolve
from ..plan.signature import plan_signature
from ..plan.storage import Storage, storage_of
from ..trace.timeline import Timed
from .work import WHOLE_DEVICE, Action, Pool, Work, interleaved


@record
class KernelRun:
    """One launch of the plan.

    Args:
        shared_bytes: all shared memory of a block.
        temporary_bytes: of the temporaries that are allocated during the launch.
        unproven: the kernel's.
    """

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    temporary_bytes: int = 0
    unproven: str | None = None


@record
class RunResult:
    """The result of a run.

    Args:
        outputs: every output and inout buffer, by name.
        seconds: wall time of the phases `load`, `upload`, `run`, `download`.
        kernels: the launches, in order.
        races, faults: findings of the simulator; None on other devices.
        barriers: barriers that a thread executed, summed over the launches; None as for races.
        banks: kernel name and cost of an op on shared memory, launch by launch; None as for races.
        traffic: kernel name and reads or writes of a buffer, launch by launch; None as for races.
        printed: output of `gpu.printf`, launch by launch; None on a device that prints to the
            process's own output.
        streams_created, streams_destroyed, events_created, events_destroyed: counted as they
            happened.
        timeline: launches and copies in the order in which they began; None if not requested, or if
            the device keeps no time.
        repeats: seconds of each additional run of the steps, as requested by `repeat`.
        issued: seconds that the host took to issue each additional run.
        graphs_created, graphs_destroyed: counted as they happened.
        version: the number of the version that ran, from 0; None if there is only one.
        storage: of the temporaries; None if there are none.
    """

    device: str
    outputs: Mapping[str, np.ndarray]
    seconds: Mapping[str, float]
    kernels: tuple[KernelRun, ...]
    races: tuple[Race, ...] | None
    faults: tuple[Fault, ...] | None
    barriers: int | None
    streams_created: int
    streams_destroyed: int
    repeats: tuple[float, ...] = ()
    banks: tuple[tuple[str, BankUse], ...] | None = None
    traffic: tuple[tuple[str, Traffic], ...] | None = None
    printed: str | None = None
    events_created: int = 0
    events_destroyed: int = 0
    timeline: tuple[Timed, ...] | None = None
    issued: tuple[float, ...] = ()
    version: int | None = None
    graphs_created: int = 0
    graphs_destroyed: int = 0
    storage: Storage | None = None


def resolved(plan: Plan, inputs: Mapping[str, np.ndarray]) -> tuple[Mapping[str, np.ndarray], Plan]:
    """The inputs in the plan's form, and the plan resolved for them. Errors: W0716, W0717 for
    inputs that do not fit, W0702 … W0709 and W0739 for a plan that is unsound for these shapes."""
    given = check_inputs(plan_signature(plan), inputs)
    scalars = {s.name: given[s.name].item() for s in plan.scalars}
    shapes = {b.name: given[b.name].shape for b in plan.inputs}
    return given, resolve(plan, shapes, scalars)


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
    share: Callable[[float], None] = lambda _: None,
) -> RunResult:
    """Runs the plan once on `inputs`, and `repeat` more times for measuring.

    Args:
        inputs: an array per input and inout buffer and per scalar, by name; they are not changed.
        text: the kernels, in the form of `device.wants`; None: they are loaded already.
        order: a seed for the interleaving of streams on a device that runs everything immediately;
            None: the plan's order.
        trace: time every launch and copy, for `RunResult.timeline`: in this run on the simulator,
            in a second one on a GPU.
        graph: capture the steps once into a graph of the device, and replay it, for this run and
            each repeat. Temporaries stay allocated meanwhile.
        share: called with the completed fraction of the first run, 0 to 1, with launches weighted
            by their threads.

    Errors: W0724 for steps that a graph cannot capture, W0716, W0717 for inputs that do not fit,
    W0702 … W0709 for a plan that is unsound for these shapes, and the device's errors (W072x).
    Nothing stays allocated then.
    """
    if graph and trace:
        raise fail(
            "W0724",
            "a graph is replayed as a whole: when each of its steps begins and ends cannot be told",
            hint="leave `--graph` out: the plan has the same streams and events",
        )
    given, fixed = resolved(plan, inputs)
    run = _Run(fixed, device, order, share)
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
            if graph:
                run.replay()
            else:
                run.steps(record=True, trace=trace and device.wants == "mlir")
        with run.phase("download"):
            outputs = run.download()
        if trace and device.wants == "cuda":  # warm: the first launch of a kernel loads it, which waits for all streams
            run.steps(record=False, trace=True)
        repeats = run.repeats(repeat)
    return run.result(outputs, repeats)


class _Run:
    def __init__(self, plan: Plan, device: Device, order: int | None, share: Callable[[float], None]) -> None:
        self.plan, self.device, self.share = plan, device, share
        self.seconds: dict[str, float] = {}
        self.reports: list[tuple[str, LaunchReport | None]] = []
        self.timeline: tuple[Timed, ...] | None = None
        self.again: Callable[[], Sequence[Replayed]] | None = None
        self.pool = Pool(device)
        self.work = Work(plan, device, self.pool, None if order is None else interleaved(plan.steps, order))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    @contextmanager
    def resources(self) -> Iterator[None]:
        """Creates streams and the caller's buffers on entry; releases everything on exit."""
        with ExitStack() as stack:
            stack.callback(self.work.free_all)
            stack.callback(self.pool.close)
            stack.callback(setattr, self, "again", None)  # it refers to memory
            for number in sorted({WHOLE_DEVICE, *(s.stream for s in self.plan.steps)}):
                self.pool.stream(number)
            for buffer in self.plan.buffers:
                if buffer.role != "temp":
                    self.work.alloc(buffer)
            yield
            self.device.synchronize()

    @property
    def first(self) -> Stream:
        return self.pool.stream(WHOLE_DEVICE)

    # ---- phases ------------------------------------------------------------------------------------------------------

    def upload(self, given: Mapping[str, np.ndarray]) -> None:
        for buffer in self.plan.buffers:
            if buffer.role == "output":
                self.device.poison(self.work.memory[buffer.name], poison_byte(buffer.dtype), self.first)
            elif buffer.role != "temp":
                self.device.upload(self.work.memory[buffer.name], contents(buffer, given), self.first)
        self.device.synchronize()

    def steps(self, *, record: bool, trace: bool) -> None:
        """Runs all steps. `record`: keep the reports, poison temporaries. `trace`: time them."""
        sizes = {
            n: prod((*triple(s.grid), *triple(s.block))) for n, s in enumerate(self.plan.steps) if isinstance(s, Launch)
        }
        done, total = 0, sum(sizes.values()) or 1
        start = self._stamp(WHOLE_DEVICE) if trace else None
        stamps: list[tuple[int, Launch | Copy | Fill, Event, Event]] = []
        for number, action in self.work.once(poison=record):
            step = self.plan.steps[number] if number is not None else None
            timed = step if trace and isinstance(step, Launch | Copy | Fill) else None
            begin = self._stamp(timed.stream) if timed is not None else None
            size = sizes.get(number, 0) if number is not None else 0
            if record and size and isinstance(self.device, Telling):
                self.device.told = partial(_tell, self.share, done / total, size / total)
            report = action()
            done += size
            self.share(done / total)
            if record and isinstance(step, Launch):
                self.reports.append((step.kernel, report))
            if number is not None and timed is not None:
                stamps.append((number, timed, begin, self._stamp(timed.stream)))
        self.device.synchronize()
        if trace:
            self.timeline = self._timeline(start, stamps)
            self.pool.give_back(start, *(event for *_, begin, end in stamps for event in (begin, end)))

    def _stamp(self, stream: int) -> Event:
        """An event that records when the stream reaches this point."""
        event = self.pool.take()
        self.device.record(event, self.pool.stream(stream))
        return event

    def _timeline(
        self, start: Event, stamps: Sequence[tuple[int, Launch | Copy | Fill, Event, Event]]
    ) -> tuple[Timed, ...] | None:
        found: list[Timed] = []
        for number, step, *events in stamps:
            since, until = (self.device.elapsed(start, event) for event in events)
            if since is None or until is None:
                return None
            found.append(Timed(_name(step), number, step.stream, since, until))
        return tuple(sorted(found, key=lambda t: t.begin))

    def capture(self) -> None:
        """Captures a run as a graph, without running it."""
        actions = self.work.again(poison=True)
        self.device.synchronize()
        graph = self.pool.capture(self.first, actions)
        self.again = partial(self.device.launch_graph, graph, self.first)

    def replay(self) -> None:
        """Runs the graph, and keeps the reports."""
        self.reports += self.again() if self.again is not None else ()
        self.device.synchronize()

    def repeats(self, count: int) -> list[tuple[float, float]]:
        """For each of `count` additional runs, its seconds (by the device's clock, or the host's if
        the device keeps no time), and those that the host took to issue it."""
        if not count:
            return []
        start, end = self.pool.take(), self.pool.take()
        if self.again is None:
            self.again = partial(_all, self.work.again(poison=False))
        found: list[tuple[float, float]] = []
        for _ in range(count):
            begun = time.perf_counter()
            self.device.record(start, self.first)
            issuing = time.perf_counter()
            self.again()
            issued = time.perf_counter() - issuing
            self.device.record(end, self.first)
            self.device.synchronize()
            mine = time.perf_counter() - begun
            theirs = self.device.elapsed(start, end)
            found.append((mine if theirs is None else theirs, issued))
        return found

    def download(self) -> dict[str, np.ndarray]:
        outputs: dict[str, np.ndarray] = {}
        for buffer in self.plan.outputs:
            array = np.empty(integers(buffer.shape), NUMPY[buffer.dtype])
            self.device.download(self.work.memory[buffer.name], array, self.first)
            outputs[buffer.name] = array
        return outputs

    def result(self, outputs: Mapping[str, np.ndarray], repeats: Sequence[tuple[float, float]]) -> RunResult:
        found = [r for _, r in self.reports if r is not None]
        looked = self.device.target == "sim"
        banks = [(kernel, use) for kernel, r in self.reports if r is not None for use in r.banks or ()]
        traffic = [(kernel, use) for kernel, r in self.reports if r is not None for use in r.traffic or ()]
        storage = storage_of(self.plan)
        launched = [
            KernelRun(s.kernel, triple(s.grid), triple(s.block), _shared(s, kernel), live, kernel.unproven)
            for s, live in zip(self.plan.launches, storage.live, strict=True)
            if (kernel := self.work.kernels[s.kernel])
        ]
        created, destroyed = self.pool.created, self.pool.destroyed
        return RunResult(
            device=self.device.name,
            outputs=outputs,
            seconds=dict(self.seconds),
            kernels=tuple(launched),
            races=(*(race for r in found for race in r.races), *self.device.unordered) if looked else None,
            faults=tuple(fault for r in found for fault in r.faults) if looked else None,
            barriers=sum(r.barriers for r in found) if looked else None,
            printed="".join(r.printed for r in found) if looked else None,
            streams_created=created["streams"],
            streams_destroyed=destroyed["streams"],
            events_created=created["events"],
            events_destroyed=destroyed["events"],
            timeline=self.timeline,
            repeats=tuple(seconds for seconds, _ in repeats),
            issued=tuple(seconds for _, seconds in repeats),
            version=self.plan.taken,
            graphs_created=created["graphs"],
            graphs_destroyed=destroyed["graphs"],
            storage=storage if storage.apart else None,
            banks=tuple(banks) if looked and all(r.banks is not None for r in found) else None,
            traffic=tuple(traffic) if looked and all(r.traffic is not None for r in found) else None,
        )


def _tell(share: Callable[[float], None], done: float, more: float, part: float) -> None:
    """Reports progress inside a launch: the fraction done before it, plus this part of the launch's
    fraction."""
    share(done + more * part)


def _all(actions: Sequence[Action]) -> tuple[()]:
    for action in actions:
        action()
    return ()


def contents(buffer: Buffer, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """The initial array of an input or a constant."""
    if buffer.role == "constant":
        return np.frombuffer(buffer.data or b"", NUMPY[buffer.dtype]).reshape(integers(buffer.shape))
    return np.asarray(given[buffer.name], order="C")


def _name(step: Launch | Copy | Fill) -> str:
    """The name of a step in a timeline."""
    match step:
        case Launch():
            return step.kernel
        case Copy():
            return f"{step.source.buffer} → {step.target.buffer}"
        case Fill():
            return f"{step.value.value} → {step.target.buffer}"


def _shared(step: Launch, kernel: KernelEntry) -> int:
    return kernel.shared_bytes + sum(integers([step.shared_bytes]))
