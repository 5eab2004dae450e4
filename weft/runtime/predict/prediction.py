"""The time of a plan's launches on a chip: how many blocks a multiprocessor holds, how many rounds, what limits."""

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
from .operands import Grid
from .pipes import SCHEDULERS, flops, multiplied, pipe_of
from .processor.clocks import Clocks
from .processor.multiprocessor import Multiprocessor
from .processor.ports import PORT
from .sass import Disassembly, clusters, disassembled
from .shares import busiest
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
"""Why a scheduler issues nothing."""
PIPES = {"fma": "fp32 arithmetic", "alu": "integer arithmetic", "tensor": "tensor cores"}
PIPES |= {"fp64": "fp64 arithmetic", "special": "special functions", "shared": "shared memory and L1"}
SAMPLE = 1 << 18
"""Threads, the blocks of which are asked whether they do anything."""
PARAMETERS = 0x198
"""Where in the constant bank stands where it has the parameters."""
NEARLY = 0.75
"""Where nothing is busier than this, it is waiting that limits."""


@record
class KernelPrediction:
    """One launch.

    Args:
        seconds: from its launch to the next one's.
        flops: operations on numbers in its machine code, those on padding too. `peak`: the chip's most, a second.
        limit: what limits it.
        grid, threads: how many blocks, of how many threads. `working`: of them with anything to do, by a sample.
        cluster: how many of them run in a cluster.
        work: operations that the payload says to do; None where that is not known, or several kernels share them.
        resident: how many of them a multiprocessor has at a time. `idle`: multiprocessors without any.
        rounds: so often it gets new ones; a part of it where fewer are left.
        issue: what became of the schedulers' clocks: share by what was issued, or by why nothing was.
        busy: shares of what pipes, L2 and DRAM are known to reach that are in use.
        assumed: accesses whose addresses depend on data, which are taken as a sector for each thread.
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
        """FLOP/s: of the payload, where its count is known and this kernel's; else of the machine code."""
        return (self.flops if self.work is None else self.work) / self.seconds

    @property
    def beside(self) -> float:
        """The share of its operations that the payload has not: those on padding, in functions, or done again."""
        return _beside(self.work, self.flops)

    @property
    def share(self) -> float:
        """Of the chip's peak."""
        return self.rate / self.peak


def _beside(work: int | None, flops: int) -> float:
    """The share of operations that are done beside those of the payload."""
    return 0.0 if work is None else max(0.0, 1 - work / flops) if flops else 0.0


@record
class Prediction:
    """A plan on a chip: its launches, one after the other.

    Args:
        work: operations that the payload says to do, by its own count; None where that is not known.
    """

    chip: str
    title: str
    arch: str
    kernels: tuple[KernelPrediction, ...]
    work: int | None = None

    @property
    def seconds(self) -> float:
        """Of all launches."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def flops(self) -> int:
        """Operations on numbers that the machine code does."""
        return sum(kernel.flops for kernel in self.kernels)

    @property
    def rate(self) -> float | None:
        """FLOP/s of the payload; None where its count is not known."""
        return None if self.work is None else self.work / self.seconds

    @property
    def beside(self) -> float:
        """The share of the operations that the payload has not."""
        return _beside(self.work, self.flops)

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        kernels = [_told(kernel) for kernel in self.kernels]
        whole = {"work": self.work, "flops": self.flops, "flops_per_second": self.rate}
        return {"chip": self.chip, "arch": self.arch, "seconds": self.seconds, **whole, "kernels": kernels}


def _told(kernel: KernelPrediction) -> dict[str, Any]:
    known = kernel.work is not None
    speed = {"flops_per_second": kernel.rate if known else None, "share_of_peak": kernel.share if known else None}
    return asdict(kernel) | speed


class CompiledKernels(NamedTuple):
    """What a text compiles to: its kernels' resources, and by their names their instructions and their clusters."""

    compiled: CompileResult
    programs: dict[str, Disassembly]
    together: dict[str, tuple[int, int, int]]


def predict(
    plan: Plan, cuda: str, chip: Gpu, work: int | None = None, code: CompiledKernels | None = None
) -> Prediction:
    """The time of each launch of a plan of plain numbers. `work`: operations of the payload, by its own count. `code`:
    what `cuda` compiles to for the chip, where that is known.

    Raises:
        WeftError: W0505, W0780 where the compiler or the disassembler is missing, W0726 where a block does not fit the
            chip, W0727 where the chip lacks instructions, W0782 where the model does not know what a kernel does.
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
    if sum(kernel.flops > 0 for kernel in kernels) == 1:  # the payload's operations are this one's
        kernels = [replace(kernel, work=work) if kernel.flops else kernel for kernel in kernels]
    return Prediction(chip.name, chip.title, chip.arch, tuple(kernels), work)


@lru_cache(maxsize=4)
def machine_code(cuda: str, arch: str) -> CompiledKernels:
    """What a text compiles to. Raises W0505, and W0780 where the compiler or the disassembler is missing."""
    compiled = compile_cubin(cuda, arch)
    return CompiledKernels(compiled, disassembled(compiled.cubin), clusters(compiled.cubin))


def _expect_chip(plan: Plan, chip: Gpu) -> None:
    """W0727: before the text is compiled, of which the compiler would say it of each instruction."""
    for kernel in plan.kernels:
        lacking = kernel.lacking(f"the {chip.title}", chip.arch)
        if lacking is not None:
            message, without = lacking
            able = [one.name for one in CHIPS.values() if all(entry.runs_on(one.arch) for entry in plan.kernels)]
            raise fail("W0727", message, hint=f"take --chip {alternatives(able)}, or {without}" if able else without)


def resident_blocks(chip: Gpu, threads: int, registers: int, shared: int) -> int:
    """How many blocks a multiprocessor holds: warps get registers 256 at a time; a KiB of shared memory is CUDA's."""
    warps = -(-threads // WARP)
    per_warp = -(-registers * WARP // 256) * 256
    by_shared = chip.shared_bytes // (shared + RESERVED)
    return min(chip.registers // per_warp // warps, chip.threads // (warps * WARP), chip.blocks, by_shared)


class _Kernel:
    """A launch on a chip."""

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
            hint = "take smaller tiles or fewer stages, or another chip"
            raise fail("W0726", f"{message}{chip.shared_most} for one", hint=hint)
        self.resident = resident_blocks(chip, self.threads, resources.registers, self.shared)
        self.processors = chip.usable(self.together)
        sample = _spread(self.clusters, max(1, SAMPLE // (self.threads * self.together)))
        accessing = set(working(program, self._grid(sample)))
        self.busy = [n for n in sample if accessing.intersection(self._grid([n]).blocks)] or sample
        self.working = -(-self.clusters * len(self.busy) // len(sample)) * self.together

    def predicted(self, memory: int) -> KernelPrediction:
        """The prediction. `memory`: bytes that DRAM moves."""
        chip, every = self.chip, self.program.instructions
        each = -(-self.working // self.processors)  # the blocks of the multiprocessor that has most
        total, assumed, share = Clocks(), 0, 1.0
        for times, count in ((each // self.resident, self.resident), (1, each % self.resident)):
            if times and count:
                clocks, assumed, share = self._timing(count, alone=each <= self.resident)
                total.add(clocks, times)
        l2 = total.moved["loaded"] / self._l2(chip.l2) + total.moved["stored"] / self._l2(chip.l2_stores)
        dram = memory / (chip.dram * chip.dram_share) * chip.gigahertz * 1e9
        total.wait(
            "global", max(l2, dram) - total.clocks
        )  # no warp waits for what is stored, but the launch lasts until it is
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
        """How many there are; of blocks that run alone, each is one."""
        return self.blocks // self.together

    def _l2(self, whole: float) -> float:
        """Bytes per clock that a multiprocessor has of what the whole chip gets from L2, or puts there."""
        return min(PORT, whole / min(self.processors, self.working))

    def _grid(self, numbers: Sequence[int]) -> Grid:
        """The blocks of the clusters of these numbers."""
        (x, y, _), (cx, cy, cz) = self.grid, self.cluster
        starts = [
            (n % (x // cx) * cx, n // (x // cx) % (y // cy) * cy, n // (x // cx) // (y // cy) * cz) for n in numbers
        ]
        inside = [(i, j, k) for k in range(cz) for j in range(cy) for i in range(cx)]
        blocks = [(bx + i, by + j, bz + k) for bx, by, bz in starts for i, j, k in inside]
        return Grid(self.block, blocks, self.constants, self.boxes, self.cluster)

    def _placed(self, count: int) -> list[list[int]]:
        """The numbers of so many clusters of each multiprocessor, or of as many multiprocessors as one has."""
        if self.working < self.blocks:
            most, every = len(self.busy), self.busy
            return [[every[(start + n) % most] for n in range(count)] for start in range(most)]
        each = self.processors // self.together
        side = min(each, self.clusters)
        return [[min(start + n * each, self.clusters - 1) for n in range(count)] for start in range(side)]

    def _timing(self, count: int, *, alone: bool) -> tuple[Clocks, int, float]:
        """That many blocks on a multiprocessor in the middle of the chip; on the one that has most to do where no
        others follow (`alone`), as of blocks that share tiles. With it the share that a multiprocessor has of that on
        average."""
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
    """So many numbers below `count`, at no regular distance; or all of them."""
    return list(range(count)) if count <= most else sorted({int(count * (n * 0.6180339887 % 1)) for n in range(most)})


def _moved(plan: Plan, step: Launch, chip: Gpu) -> int:
    """Bytes that DRAM moves at least: of each argument once. Temporaries stay in L2 where all fits into half of it."""
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    each = [
        (buffers[view.buffer].role, math.prod(integers(view.shape)) * itemsize(buffers[view.buffer].dtype))
        for _, view in views(step)
    ]
    fits = sum(size for _, size in each) <= chip.l2_bytes // 2
    return sum(size for role, size in each if role != "temp" or not fits)


def constants(plan: Plan, step: Launch, entry: KernelEntry, bases: dict[str, int], chip: Gpu) -> dict[int, int]:
    """The constant bank of a launch: its sizes, then from where they begin the parameters, each aligned to its size."""
    found = dict(enumerate([*triple(step.block), *entry.text_grid(triple(step.grid))]))
    words = {4 * at: number for at, number in found.items()} | {PARAMETERS: chip.parameters, PARAMETERS + 4: 0}
    for place, value in _placed(chip, _values(plan, step, entry, bases)):
        raw = value.tobytes().ljust(4, b"\0")
        for at in range(0, len(raw), 4):
            words[place + at & ~3] = int.from_bytes(raw[at : at + 4], "little")
    return words


def boxes(plan: Plan, step: Launch, entry: KernelEntry, bases: dict[str, int], chip: Gpu) -> dict[int, int]:
    """By where in the constant bank a tensor map lies: the bytes of a box."""
    dtypes = {buffer.name: buffer.dtype for buffer in plan.buffers}
    maps = (arg for arg in step.args if isinstance(arg, TensorMapOf))
    sizes = (math.prod(arg.layout.box) * itemsize(dtypes[arg.tensor.buffer]) for arg in maps)
    places = (
        place for place, value in _placed(chip, _values(plan, step, entry, bases)) if value.dtype.itemsize == MAP_BYTES
    )
    return dict(zip(places, sizes, strict=True))


def _placed(chip: Gpu, values: Iterable[np.generic]) -> Iterator[tuple[int, np.generic]]:
    """Where in the constant bank each parameter lies."""
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
            yield np.void(bytes(MAP_BYTES))  # nothing but the tensor memory accelerator reads it
            continue
        if isinstance(arg, BufferView):
            memory = cast(Any, SimpleNamespace(address=bases[arg.buffer]))
            (offset,) = integers([arg.offset])
            arg = DeviceView(memory, arg.buffer, dtypes[arg.buffer], offset, integers(arg.shape), integers(arg.strides))
        elif isinstance(arg, ScalarValue):
            arg = scalar(arg)
        yield from parameters(arg, param)
