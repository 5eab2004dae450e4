"""Comparison of kernels with the payload that they implement, on the same inputs, in a separate
process: the check of `weft build` before it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record
from ..plan.dtypes import poisoned
from ..plan.signature import Argument
from ..plan.snapshots import Snapshot, touched, with_snapshots
from .compare import Comparison, OutputComparison, compare
from .judging import Arbiter, Arrays
from .runner import RunResult, resolved, run_plan

if TYPE_CHECKING:
    import numpy as np

    from ..cpu.reference import CompiledPayload
    from ..devices.device import Device, DeviceTarget
    from ..plan.dtypes import Floats
    from ..plan.plan import Plan
    from ..plan.signature import FunctionSignature

NATIVE = "W0725"
"""The code for kernels that the CPU cannot run, but perhaps the simulator."""
SMALL_WORK = 200_000_000
"""Most operations for which optimizing the code takes longer than running it unoptimized."""


@record
class Task:
    """A comparison to run.

    Args:
        plan, module: of the kernels; the module as text.
        payload, signature: of the payload, as bytecode.
        sizes: the sizes to try, each for all dynamic dimensions; (None,) if there are none.
        work: operations of the payload, at the largest size.
        most_simulated: most operations for which the simulator may run the kernels.
        indexed: integers of arrays are used as indices, so that inputs are drawn from below the
            smallest of all sizes.
        partial: the payload has ops with an undefined result for some operands: the simulator
            checks whether the inputs lead to these.
        most: inputs are integers of at most this magnitude, and outputs must be equal; None: random
            numbers, and the tolerance of `weft run`.
        seed: of the inputs.
        snapshots: buffers after launches that are compared; the payload returns additional values
            for them.
    """

    plan: Plan
    module: str
    payload: bytes
    signature: FunctionSignature
    sizes: tuple[int | None, ...]
    work: int
    most_simulated: int
    most: int | None
    indexed: bool = False
    partial: bool = False
    seed: int = 0
    snapshots: tuple[Snapshot, ...] = ()


@record
class LaunchComparison:
    """A snapshot compared with the payload's value `of`; `comparison` has a reason if they differ."""

    snapshot: Snapshot
    of: str
    comparison: OutputComparison


@record
class ComparedRun:
    """One run of both.

    Args:
        size: of `Task.sizes`.
        target: where the kernels ran.
        comparison: of all outputs of the payload.
        found: races and faults that the simulator found, one line each.
        version: the version that ran, if there are several.
        undefined: the fault that makes the kernels' outputs for these inputs undefined: an access
            out of bounds, or a shift by too many bits.
        launches: comparisons of intermediate buffers after launches.
    """

    size: int | None
    target: DeviceTarget
    comparison: Comparison
    found: tuple[str, ...] = ()
    version: int | None = None
    undefined: str | None = None
    launches: tuple[LaunchComparison, ...] = ()

    @property
    def wrong_launch(self) -> LaunchComparison | None:
        """The first launch that differs."""
        return next((one for one in self.launches if not one.comparison.ok), None)

    @property
    def ok(self) -> bool:
        """Whether everything that was compared is equal."""
        return self.comparison.ok and self.wrong_launch is None


@record
class ComparedRuns:
    """All runs, up to the first that differs.

    Attributes:
        refused: sizes that the kernels do not support.
        too_long: nothing ran, since only the simulator can run the kernels, and would take too
            long.
        exact: inputs were integers, and outputs had to be equal.
    """

    done: tuple[ComparedRun, ...]
    refused: tuple[int | None, ...] = ()
    too_long: bool = False
    exact: bool = False


def side_by_side(task: Task) -> ComparedRuns:
    """Runs the kernels natively, or on the simulator where the CPU cannot, and the payload. Called
    in a worker.

    Errors: those of `CompiledPayload`, and of both devices.
    """
    task = replace(task, plan=with_snapshots(task.plan, task.snapshots))
    inputs = dict(_inputs(task))
    refused = tuple(size for size in task.sizes if size not in inputs)
    from ..cpu.device import CpuDevice
    from ..cpu.worker import begin

    begin("the kernels")
    device: Device = CpuDevice(1, _effort(task))
    try:
        ran = list(_run(task, device, inputs))
    except WeftError as error:
        if error.diagnostics[0].code != NATIVE:
            raise
        if task.work > task.most_simulated:
            return ComparedRuns((), refused, too_long=True)
        from ..simulator.device import SimDevice  # its import takes as long as many comparisons

        device = SimDevice()
        ran = list(_run(task, device, inputs))
    payload = _payload(task)
    done: list[ComparedRun] = []
    for size, result in zip(inputs, ran, strict=True):
        done.append(_Sides(task, payload, device, size, inputs[size], result).compared())
        if (task.partial or (task.indexed and not done[-1].ok)) and task.work <= task.most_simulated:
            done[-1] = replace(done[-1], undefined=_undefined(task, inputs[size], result))
        if not done[-1].ok or done[-1].found or done[-1].undefined is not None:
            break
    return ComparedRuns(tuple(done), refused, exact=task.most is not None)


def _inputs(task: Task) -> Iterator[tuple[int | None, Mapping[str, np.ndarray]]]:
    """For each size that the plan supports, an array per argument. Raises the plan's error if it
    supports none."""
    from ..files.fitting_sizes import fitted
    from ..files.inputs import integral_inputs, random_inputs

    refusals: list[WeftError] = []
    for size in task.sizes:
        signature = task.signature if size is None else fitted(task.signature, task.plan, size)
        made = (
            random_inputs(signature, task.seed)
            if task.most is None
            else integral_inputs(signature, task.most, task.seed)
        )
        try:
            if task.indexed:
                made |= _indices(signature, task.seed)
            resolved(task.plan, made)
        except WeftError as error:
            if size is None:
                raise
            refusals.append(error)
        else:
            yield size, made
    if len(refusals) == len(task.sizes):
        raise refusals[0]


def _indices(signature: FunctionSignature, seed: int) -> dict[str, np.ndarray]:
    """Random integers that are valid indices wherever they are used as such. Raises W0719 if there
    are none."""
    import numpy as np

    from ..plan.dtypes import is_float, narrow

    arrays = [a for a in signature.arguments if a.shape is not None]
    below = min((n for a in arrays for n in a.shape or () if n is not None), default=1)
    if below == 0:
        raise fail("W0719", "there is no index into an array without elements")
    generator = np.random.default_rng(seed)
    integers = [a for a in arrays if not is_float(a.dtype) and a.dtype != "i1"]
    below = min(below, 127)  # of any integer type
    sizes = {a.name: tuple(n for n in a.shape or () if n is not None) for a in integers}
    return {a.name: narrow(np.asarray(generator.integers(0, below, sizes[a.name])), a.dtype) for a in integers}


def _undefined(task: Task, arrays: Arrays, result: RunResult) -> str | None:
    """The first fault that makes the kernels' outputs undefined; found by the simulator."""
    from ..simulator.device import SimDevice
    from .execution import UNDEFINED

    if result.faults is None:
        (result,) = _run(task, SimDevice(), {None: arrays})
    return next((str(fault) for fault in result.faults or () if fault.kind in UNDEFINED), None)


def _effort(task: Task) -> int:
    return 0 if task.work * len(task.sizes) <= SMALL_WORK else 2


def _run(task: Task, device: Device, inputs: Mapping[int | None, Mapping[str, np.ndarray]]) -> Iterator[RunResult]:
    """The kernels' results, for each size. The kernels are compiled once."""
    for number, arrays in enumerate(inputs.values()):
        order = task.seed if device.target == "sim" else None
        yield run_plan(task.plan, device, arrays, text=None if number else task.module, order=order)


def _payload(task: Task) -> CompiledPayload:
    from ..cpu.reference import CompiledPayload

    return CompiledPayload(task.payload, task.signature.entry, effort=_effort(task))


class _Sides:
    """One run of the kernels, and the payload on the same inputs."""

    def __init__(
        self, task: Task, payload: CompiledPayload, device: Device, size: int | None, arrays: Arrays, result: RunResult
    ) -> None:
        self.task, self.device, self.size, self.arrays, self.result = task, device, size, arrays, result
        self.compiled: dict[Floats, CompiledPayload] = {"f32": payload}
        self.got, self.expected = _outputs(task, arrays, result), payload(arrays)

    def compared(self) -> ComparedRun:
        """Compares the outputs, and the snapshots of launches."""
        found = self._judged(self.task.signature, dict, dict)
        launches = tuple(one for snapshot in self.task.snapshots if (one := self._launch(snapshot)) is not None)
        wrong = (*map(str, self.result.races or ()), *map(str, self.result.faults or ()))
        outputs = tuple(replace(o, array=None) for o in found.outputs)
        version = self.result.version
        return ComparedRun(
            self.size, self.device.target, replace(found, outputs=outputs), wrong, version, launches=launches
        )

    def _launch(self, snapshot: Snapshot) -> LaunchComparison | None:
        """The comparison of a snapshot with the value of the payload that it equals; if it equals
        none, with the nearest of the `wanted` values. None if it need not equal any."""
        got, name = self.got[snapshot.name], snapshot.name
        dtype = next(b.dtype for b in self.task.plan.buffers if b.name == name)
        if (left := _unwritten(got, dtype)) is None:
            return None
        inputs = tuple(replace(a, role="input") for a in self.task.signature.arguments)
        signature = replace(
            self.task.signature, arguments=inputs, results=(Argument(name, dtype, got.shape, "output"),)
        )
        found: list[LaunchComparison] = []
        for value in (*snapshot.wanted, *snapshot.other):
            if [n for n in got.shape if n != 1] != [n for n in self.expected[value].shape if n != 1]:
                continue

            def mine(outputs: Arrays) -> Arrays:
                return {name: _without(outputs[name], left)}

            def theirs(outputs: Arrays, value: str = value) -> Arrays:
                return {name: _without(outputs[value], left)}

            (one,) = self._judged(signature, mine, theirs, reconsider=value in snapshot.wanted).outputs
            found.append(LaunchComparison(snapshot, value, replace(one, array=None)))
            if one.ok:
                return found[-1]
        wrong = [one for one in found if one.of in snapshot.wanted]
        return min(wrong, key=lambda one: one.comparison.error or 0.0, default=None)

    def _judged(
        self, signature: FunctionSignature, mine: Selected, theirs: Selected, reconsider: bool = True
    ) -> Comparison:
        """The comparison of parts of the run's arrays (`mine`) with parts of the payload's values
        (`theirs`)."""
        task, rounded = self.task, self.task.plan.rounded
        got, expected = mine(self.got), theirs(self.expected)
        found = compare(signature, got, expected, rounded=rounded, exact=task.most is not None)
        if found.ok or task.most is not None or not reconsider:
            return found

        def run(others: Arrays) -> Arrays:
            (again,) = _run(task, self.device, {self.size: others})
            return mine(_outputs(task, others, again))

        def computed(given: Arrays, floats: Floats) -> Arrays:
            return theirs(self._payload(floats)(given))

        arbiter = Arbiter(signature, lambda given: computed(given, "f64"), computed, run, rounded)
        with suppress(WeftError):  # a payload that cannot be computed in f64 keeps its first comparison
            better = arbiter.reconsidered(self.arrays, got, expected, found)
            found = found if better is None else better[0]
        return found

    def _payload(self, floats: Floats) -> CompiledPayload:
        from ..cpu.reference import CompiledPayload

        if floats not in self.compiled:
            self.compiled[floats] = CompiledPayload(self.task.payload, self.task.signature.entry, floats)
        return self.compiled[floats]


Selected = Callable[[Arrays], Arrays]
"""Selects arrays, by the names under which they are compared."""


def _outputs(task: Task, arrays: Arrays, result: RunResult) -> dict[str, np.ndarray]:
    """All arrays that the kernels have written."""
    return {a.name: arrays[a.name] for a in task.signature.arguments if a.role == "inout"} | dict(result.outputs)


def kernels_compared(
    plan: Plan, version: int | None, compared: Iterable[LaunchComparison]
) -> tuple[set[str], set[str]]:
    """The kernels of a run with a compared launch (by a snapshot, or by the final contents of an
    output that it wrote last), and all kernels that were launched."""
    launches = [step for step in plan.launches if step.in_version in (None, version)]
    last = {name: step.kernel for step in launches for name in touched(step) if name is not None}
    alone = {one.snapshot.kernel for one in compared} | {last[b.name] for b in plan.outputs if b.name in last}
    return alone, {step.kernel for step in launches}


def _unwritten(got: np.ndarray, dtype: str) -> np.ndarray | None:
    """A mask of the elements of a snapshot that no launch has written; None if no element was
    written."""
    left = poisoned(got, dtype)
    return None if got.size and left.all() else left


def _without(array: np.ndarray, left: np.ndarray) -> np.ndarray:
    """An array in the shape of `left`, with 0 where `left` is set."""
    mine = array.reshape(left.shape).copy()
    mine[left] = 0
    return mine
