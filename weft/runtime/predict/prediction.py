"""The predicted time of a plan's launches on a chip: resident blocks per multiprocessor, rounds of
blocks, the limit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np

from ...dsl.diagnostics import alternatives, fail
from ...dsl.records import record
from ...interpreter.hardware.limits import WARP
from ..cuda.nvrtc import CompileResult, KernelResources, compile_cubin
from ..devices.device import DeviceView
from ..plan.dtypes import itemsize
from ..plan.plan import BufferView, KernelEntry, Launch, Plan, ScalarValue, TensorMapOf, integers, triple, views
from ..run.cupy_work import ALIGNMENT as MAP_ALIGNMENT
from ..run.cupy_work import BYTES as MAP_BYTES
from ..run.cupy_work import parameters
from ..run.work import scalar
from .chips import CHIPS, RESERVED, Gpu
from .load_balance import busiest
from .operands import Grid
from .pipes import SCHEDULERS, flops, multiplied, pipe_of
from .processor.clocks import Clocks
from .processor.multiprocessor import Multiprocessor
from .processor.ports import PORT
from .sass import Disassembly, clusters, disassembled
from .trace import Execution, working

LOST = {
    "bank": "register bank conflicts",
    "latency": "waiting for results of arithmetic",
    "pipe": "waiting for a pipe of the arithmetic",
    "shared": "waiting for shared memory",
    "global": "waiting for global memory",
    "queue": "waiting for the queue of memory instructions",
    "barrier": "waiting at barriers",
    "signal": "waiting at memory barriers",
    "cluster": "waiting for the cluster",
    "ended": "no warp is left",
    "start": "waiting for blocks to begin",
    "launch": "beginning and ending the launch",
}
"""Reason for a clock without an issued instruction → its name in reports."""
PIPES = {"fma": "fp32 arithmetic", "alu": "integer arithmetic", "tensor": "tensor cores"}
PIPES |= {"fp64": "fp64 arithmetic", "special": "special functions", "shared": "shared memory and L1"}
SAMPLE = 1 << 18
"""Threads in the sample of blocks that is tested for memory accesses."""
PARAMETERS = 0x198
"""Offset in the constant bank of the word that holds the offset of the parameters."""
NEARLY = 0.75
"""The busy share of a resource from which it is the limit; if every share is below, the limit is a
kind of waiting."""


@record
class KernelPrediction:
    """The prediction of one launch.

    Args:
        seconds: time from this launch to the next one.
        flops: floating-point operations in the machine code, those on padding included.
        peak: the chip's peak, in FLOP/s.
        limit: the resource or the kind of waiting that limits the launch.
        grid, threads: blocks along x, y, z; threads of a block.
        working: blocks that access memory, estimated from a sample.
        cluster: blocks of a cluster.
        work: operations of the payload; None if unknown, or if several kernels share them.
        resident: blocks that one multiprocessor holds at a time.
        idle: multiprocessors without a block.
        rounds: rounds of resident blocks per multiprocessor; fractional if the last round is not
            full.
        issue: share of the schedulers' clocks, by kind of instruction issued or by reason why none
            was.
        busy: utilization of the pipes, L2 and DRAM, relative to their achievable rates.
        assumed: memory instructions with data-dependent addresses; each thread is assumed to access
            its own sector.
    """

    name: str
    seconds: float
    flops: int
    peak: float
    limit: str
    grid: tuple[int, int, int]
    threads: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    resident: int
    rounds: float
    issue: dict[str, float]
    busy: dict[str, float]
    working: int
    idle: int
    assumed: int = 0
    cluster: int = 1
    work: int | None = None

    @property
    def rate(self) -> float:
        """FLOP/s: of the payload's operations if their count is known for this kernel, else of the
        machine code's."""
        return (self.flops if self.work is None else self.work) / self.seconds

    @property
    def beside(self) -> float:
        """The share of operations that are not the payload's: on padding, within functions, or
        recomputed."""
        return _beside(self.work, self.flops)

    @property
    def share(self) -> float:
        """The rate as a share of the chip's peak."""
        return self.rate / self.peak


def _beside(work: int | None, flops: int) -> float:
    """The share of `flops` that exceeds the payload's `work`; 0 if that is unknown."""
    return 0.0 if work is None else max(0.0, 1 - work / flops) if flops else 0.0


@record
class Prediction:
    """The prediction of a plan on a chip: its launches in order.

    Args:
        work: operations of the payload, by its own count; None if unknown.
    """

    chip: str
    title: str
    arch: str
    kernels: tuple[KernelPrediction, ...]
    work: int | None = None

    @property
    def seconds(self) -> float:
        """The time of all launches, in seconds."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def flops(self) -> int:
        """Floating-point operations in the machine code of all launches."""
        return sum(kernel.flops for kernel in self.kernels)

    @property
    def rate(self) -> float | None:
        """FLOP/s of the payload; None if its operation count is unknown."""
        return None if self.work is None else self.work / self.seconds

    @property
    def beside(self) -> float:
        """The share of operations that are not the payload's."""
        return _beside(self.work, self.flops)

    def to_json(self) -> dict[str, Any]:
        """Returns plain data for `json.dumps`."""
        kernels = [_told(kernel) for kernel in self.kernels]
        whole = {"work": self.work, "flops": self.flops, "flops_per_second": self.rate}
        return {"chip": self.chip, "arch": self.arch, "seconds": self.seconds, **whole, "kernels": kernels}


def _told(kernel: KernelPrediction) -> dict[str, Any]:
    known = kernel.work is not None
    speed = {"flops_per_second": kernel.rate if known else None, "share_of_peak": kernel.share if known else None}
    return asdict(kernel) | speed


class CompiledKernels(NamedTuple):
    """The compiled CUDA text: the resources of its kernels; by kernel name, its instructions
    (`programs`) and the blocks of its clusters along x, y, z (`together`)."""

    compiled: CompileResult
    programs: dict[str, Disassembly]
    together: dict[str, tuple[int, int, int]]


def predict(
    plan: Plan, cuda: str, chip: Gpu, work: int | None = None, code: CompiledKernels | None = None
) -> Prediction:
    """Predicts the time of each launch of a plan in which every size is a number.

    Args:
        work: operations of the payload, by its own count.
        code: the result of compiling `cuda` for the chip, if available.

    Raises:
        WeftError: W0505, W0780 if the compiler or the disassembler is missing, W0726 if a block
            does not fit the chip, W0727 if the chip lacks instructions, W0782 if the model cannot
            determine what a kernel does.
    """
    _expect_chip(plan, chip)
    compiled, programs, together = code or machine_code(cuda, chip.arch)
    entries = {kernel.name: kernel for kernel in plan.kernels}
    bases = {buffer.name: number << 40 for number, buffer in enumerate(plan.buffers, 1)}
    found: dict[Launch, KernelPrediction] = {}
    kernels: list[KernelPrediction] = []
    for step in plan.steps:
        if isinstance(step, Launch) and 0 not in step.grid:
            if step not in found:
                entry = entries[step.kernel]
                given = constants(plan, step, entry, bases, chip)
                copied = boxes(plan, step, entry, bases, chip)
                made = programs[entry.name], compiled.kernels[entry.name], together.get(entry.name, (1, 1, 1))
                kernel = _Kernel(chip, step, entry, *made, given, copied)
                found[step] = kernel.predicted(_moved(plan, step, chip))
            kernels.append(found[step])
    if sum(kernel.flops > 0 for kernel in kernels) == 1:  # the payload's operations belong to this kernel
        kernels = [replace(kernel, work=work) if kernel.flops else kernel for kernel in kernels]
    return Prediction(chip.name, chip.title, chip.arch, tuple(kernels), work)


@lru_cache(maxsize=4)
def machine_code(cuda: str, arch: str) -> CompiledKernels:
    """Compiles and disassembles a CUDA text. Raises W0505, and W0780 if the compiler or the
    disassembler is missing."""
    compiled = compile_cubin(cuda, arch)
    return CompiledKernels(compiled, disassembled(compiled.cubin), clusters(compiled.cubin))


def _expect_chip(plan: Plan, chip: Gpu) -> None:
    """Raises W0727 if the chip lacks instructions of a kernel: before the compiler would report
    each of them."""
    for kernel in plan.kernels:
        lacking = kernel.lacking(f"the {chip.title}", chip.arch)
        if lacking is not None:
            message, without = lacking
            able = [one.name for one in CHIPS.values() if all(entry.runs_on(one.arch) for entry in plan.kernels)]
            raise fail("W0727", message, hint=f"take `--chip` {alternatives(able)}, or {without}" if able else without)


def resident_blocks(chip: Gpu, threads: int, registers: int, shared: int) -> int:
    """Blocks that a multiprocessor holds. Registers are allocated to a warp in units of 256; CUDA
    reserves 1 KiB of shared memory per block."""
    warps = -(-threads // WARP)
    per_warp = -(-registers * WARP // 256) * 256
    by_shared = chip.shared_bytes // (shared + RESERVED)
    return min(chip.registers // per_warp // warps, chip.threads // (warps * WARP), chip.blocks, by_shared)


class _Kernel:
    """One launch on a chip."""

    def __init__(
        self, chip: Gpu, step: Launch, entry: KernelEntry, program: Disassembly, resources: KernelResources,
        cluster: tuple[int, int, int], constants: dict[int, int], boxes: dict[int, int],
    ) -> None:  # fmt: skip
        self.chip, self.entry, self.program, self.resources = chip, entry, program, resources
        self.constants, self.boxes, self.cluster, self.together = constants, boxes, cluster, math.prod(cluster)
        self.meant, self.block = triple(step.grid), triple(step.block)
        self.grid = entry.text_grid(self.meant)
        self.threads, self.blocks = math.prod(self.block), math.prod(self.grid)
        (passed,) = integers([step.shared_bytes])
        self.shared = resources.shared_bytes + entry.dynamic_shared_bytes + passed
        if self.shared > chip.shared_most:
            message = f"a block of `{entry.name}` takes {self.shared} bytes of shared memory, and an {chip.title} has "
            hint = "`tile` by smaller sizes, `pipeline` with fewer `stages`, or take another `--chip`"
            raise fail("W0726", f"{message}{chip.shared_most} for one", hint=hint)
        self.resident = resident_blocks(chip, self.threads, resources.registers, self.shared)
        self.processors = chip.usable(self.together)
        sample = _spread(self.clusters, max(1, SAMPLE // (self.threads * self.together)))
        accessing = set(working(program, self._grid(sample)))
        self.busy = [n for n in sample if accessing.intersection(self._grid([n]).blocks)] or sample
        self.working = -(-self.clusters * len(self.busy) // len(sample)) * self.together

    def predicted(self, memory: int) -> KernelPrediction:
        """Returns the prediction. `memory`: bytes that DRAM transfers."""
        chip, every = self.chip, self.program.instructions
        each = -(-self.working // self.processors)  # the number of blocks of the busiest multiprocessor
        total, assumed, share = Clocks(), 0, 1.0
        for times, count in ((each // self.resident, self.resident), (1, each % self.resident)):
            if times and count:
                clocks, assumed, share = self._timing(count, alone=each <= self.resident)
                total.add(clocks, times)
        l2 = total.moved["loaded"] / self._l2(chip.l2) + total.moved["stored"] / self._l2(chip.l2_stores)
        dram = memory / (chip.dram * chip.dram_share) * chip.gigahertz * 1e9
        total.wait(
            "global", max(l2, dram) - total.clocks
        )  # no warp waits for its stores, but the launch lasts until they are complete
        total.wait("launch", chip.launch * chip.gigahertz * 1e9)
        products: dict[str, float] = defaultdict(float)
        issued: dict[str, float] = defaultdict(float)
        for code, number in total.issued.items():
            done = flops(every[code])
            issued["products" if done else "other instructions"] += number
            products[multiplied(every[code]) if pipe_of(every[code]) == "tensor" else "fp32"] += number * done
        slots = total.clocks * SCHEDULERS
        seconds = total.clocks / (chip.gigahertz * 1e9)
        issue = {name: issued[name] / slots for name in ("products", "other instructions") if issued[name]}
        issue |= {name: total.lost[key] / slots for key, name in LOST.items() if total.lost[key]}
        busy = {name: total.busy[pipe] / (total.clocks if pipe == "shared" else slots) for pipe, name in PIPES.items()}
        busy["L2"], busy["DRAM"] = l2 / total.clocks, dram / total.clocks
        busy["instruction issue"] = sum(issued.values()) / slots
        limit = max(busy, key=lambda name: busy[name])
        if busy[limit] < NEARLY:
            limit = max(LOST.values(), key=lambda name: issue.get(name, 0))
        tensor = [kind for kind in products if kind != "fp32"]
        return KernelPrediction(
            self.entry.name, seconds, round(share * sum(products.values()) / each * self.working),
            chip.tensor_peak(tensor[0]) if tensor else chip.peak, limit, self.meant, self.threads, self.resources.registers,
            self.resources.spill_bytes, self.shared, self.resident, each / self.resident, issue,
            {name: share for name, share in sorted(busy.items(), key=lambda one: -one[1]) if share},
            self.working, chip.processors - min(self.processors, self.working), assumed, self.together,
        )  # fmt: skip

    @property
    def clusters(self) -> int:
        """The number of clusters; without clusters, each block counts as one."""
        return self.blocks // self.together

    def _l2(self, whole: float) -> float:
        """A multiprocessor's share of the L2 bandwidth `whole`, in bytes per clock, at most `PORT`."""
        return min(PORT, whole / min(self.processors, self.working))

    def _grid(self, numbers: Sequence[int]) -> Grid:
        """The grid of the blocks of the clusters `numbers`."""
        (x, y, _), (cx, cy, cz) = self.grid, self.cluster
        starts = [
            (n % (x // cx) * cx, n // (x // cx) % (y // cy) * cy, n // (x // cx) // (y // cy) * cz) for n in numbers
        ]
        inside = [(i, j, k) for k in range(cz) for j in range(cy) for i in range(cx)]
        blocks = [(bx + i, by + j, bz + k) for bx, by, bz in starts for i, j, k in inside]
        return Grid(self.block, blocks, self.constants, self.boxes, self.cluster)

    def _placed(self, count: int) -> list[list[int]]:
        """For each multiprocessor (or for each group of them that runs a cluster), the numbers of
        its `count` clusters."""
        if self.working < self.blocks:
            most, every = len(self.busy), self.busy
            return [[every[(start + n) % most] for n in range(count)] for start in range(most)]
        each = self.processors // self.together
        side = min(each, self.clusters)
        return [[min(start + n * each, self.clusters - 1) for n in range(count)] for start in range(side)]

    def _timing(self, count: int, *, alone: bool) -> tuple[Clocks, int, float]:
        """Simulates `count` blocks on one multiprocessor.

        The multiprocessor is one in the middle of the chip; if no further round follows (`alone`),
        the one with most work, as for persistent blocks that share tiles. Returns the clocks, the
        number of instructions with data-dependent addresses, and the average work of a
        multiprocessor as a share of the simulated one's.
        """
        chip, placed, share = self.chip, self._placed(count), 1.0
        middle = len(placed) // 2
        grid = self._grid(placed[middle])
        trace = Execution(self.program, grid).run()
        if alone:
            some = placed[:: -(-len(placed) * count * self.threads * self.together // SAMPLE)]
            most, share = busiest(self.program, trace, placed[middle], some, self._grid)
            if most != placed[middle]:
                grid = self._grid(most)
                trace = Execution(self.program, grid).run()
        cache = max(chip.l1_bytes - count * (self.shared + RESERVED), 8 * 1024)
        l2 = self._l2(chip.l2), self._l2(chip.l2_stores)
        return Multiprocessor(self.program, trace, grid, chip, cache, *l2).run(), len(trace.unknown), share


def _spread(count: int, most: int) -> list[int]:
    """At most `most` numbers below `count`, at irregular distances; all numbers if `count` is not
    greater."""
    return list(range(count)) if count <= most else sorted({int(count * (n * 0.6180339887 % 1)) for n in range(most)})


def _moved(plan: Plan, step: Launch, chip: Gpu) -> int:
    """A lower bound of the bytes that DRAM transfers: each argument once. Temporaries remain in L2
    if all arguments fit into half of it."""
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    each = [
        (buffers[view.buffer].role, math.prod(integers(view.shape)) * itemsize(buffers[view.buffer].dtype))
        for _, view in views(step)
    ]
    fits = sum(size for _, size in each) <= chip.l2_bytes // 2
    return sum(size for role, size in each if role != "temp" or not fits)


def constants(plan: Plan, step: Launch, entry: KernelEntry, bases: dict[str, int], chip: Gpu) -> dict[int, int]:
    """The constant bank of a launch, offset → 32 bits: block and grid sizes, then the parameters,
    each aligned to its size."""
    found = dict(enumerate([*triple(step.block), *entry.text_grid(triple(step.grid))]))
    words = {4 * at: number for at, number in found.items()} | {PARAMETERS: chip.parameters, PARAMETERS + 4: 0}
    for place, value in _placed(chip, _values(plan, step, entry, bases)):
        raw = value.tobytes().ljust(4, b"\0")
        for at in range(0, len(raw), 4):
            words[place + at & ~3] = int.from_bytes(raw[at : at + 4], "little")
    return words


def boxes(plan: Plan, step: Launch, entry: KernelEntry, bases: dict[str, int], chip: Gpu) -> dict[int, int]:
    """Offset of each tensor map in the constant bank → bytes of its box."""
    dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
    maps = (arg for arg in step.args if isinstance(arg, TensorMapOf))
    sizes = (math.prod(arg.layout.box) * itemsize(dtypes[arg.tensor.buffer]) for arg in maps)
    places = (
        place for place, value in _placed(chip, _values(plan, step, entry, bases)) if value.dtype.itemsize == MAP_BYTES
    )
    return dict(zip(places, sizes, strict=True))


def _placed(chip: Gpu, values: Iterable[np.generic]) -> Iterator[tuple[int, np.generic]]:
    """Each parameter's offset in the constant bank, with its value."""
    place = chip.parameters
    for value in values:
        size = value.dtype.itemsize
        alignment = min(size, MAP_ALIGNMENT)
        place = -(-place // alignment) * alignment
        yield place, value
        place += size


def _values(plan: Plan, step: Launch, entry: KernelEntry, bases: dict[str, int]) -> Iterator[np.generic]:
    dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
    given: list[Any] = [*step.args, *map(np.int64, integers(step.reciprocals))]
    for arg, param in zip(given, entry.text_params, strict=True):
        if isinstance(arg, TensorMapOf):
            yield np.void(bytes(MAP_BYTES))  # only the tensor memory accelerator reads it
            continue
        if isinstance(arg, BufferView):
            memory = cast(Any, SimpleNamespace(address=bases[arg.buffer]))
            (offset,) = integers([arg.offset])
            arg = DeviceView(memory, arg.buffer, dtypes[arg.buffer], offset, integers(arg.shape), integers(arg.strides))
        elif isinstance(arg, ScalarValue):
            arg = scalar(arg)
        yield from parameters(arg, param)
