"""Launches a kernel on the CPU, and reports its faults. A launch that would take hours is refused
early."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ...dsl.diagnostics import WeftError, fail
from ...interpreter.hardware.hopper.mbarriers import REGISTERS, registers_of
from ...interpreter.hardware.lanes import WARP_BARRIER
from ...interpreter.hardware.limits import registers_at_start
from ...interpreter.ir.functions import CLUSTER_SIZE, register_cap, sizes_of
from ...interpreter.ir.mlir import ir, operations
from ..devices.report import LaunchReport, Recorder, Statistics, Triple
from ..form.kernel_lowering import LOWERED, normal
from . import (
    ops,  # noqa: F401 - it fills the table of handlers
    roles,
)
from .arguments import bind
from .machine import copies, fragments, warp
from .machine.banks import BankCounter, bank_uses
from .machine.lanes import Lanes
from .machine.local_memory import Private, Shared
from .machine.memory import Global, constant
from .machine.shadow import KeyLayout
from .translate import place
from .undefined_lanes import FollowingTranslator
from .values import conversion, numeric, vector_values
from .values.numeric import COMBINE

VARIABLE = "WEFT_SIM_SECONDS"
DEFAULT = 600.0
PROBE = 1.0
"""Seconds of a launch after which its duration is estimated from its first batches."""


def seconds_allowed() -> float:
    """The number of seconds in `WEFT_SIM_SECONDS`: infinity for `0`, ten minutes by default. Raises
    W0760 if it is not a number."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return DEFAULT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise fail("W0760", f"{VARIABLE}={text} is not a number of seconds", hint=f"`{VARIABLE}=0` lifts the limit")
    return seconds or math.inf


@dataclass
class Budget:
    """The time limit of one launch.

    Args:
        seconds: the limit; infinity for none.
        probe: the seconds before the first estimate.
        told: receives, from time to time, the completed fraction of the launch, 0 to 1.
    """

    seconds: float = math.inf
    probe: float = PROBE
    start: float = field(default_factory=time.perf_counter)
    told: Callable[[float], None] = lambda _: None

    def spent(self, done: int, total: int) -> float | None:
        """The estimated seconds of the whole launch, at the rate of its first `done` blocks, if
        they exceed the limit; else None."""
        self.told(done / total)
        elapsed = time.perf_counter() - self.start
        if done >= total or elapsed < min(self.probe, self.seconds):
            return None
        expected = elapsed * total / done
        return expected if expected > self.seconds else None

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed. Loops check this, because one batch of blocks may take
        long."""
        return time.perf_counter() - self.start > self.seconds


def too_long(kernel: str, grid: Triple, block: Triple, expected: float | None, allowed: float) -> WeftError:
    """The error W0760. `expected`: the estimated seconds of the whole launch; None if the limit
    passed inside a loop."""
    blocks, threads = math.prod(grid), math.prod(block)
    sizes = " × ".join(map(str, grid))
    message = f"its grid of {sizes} blocks would be simulated for about {_duration(expected or 0)}"
    if expected is None:
        message = f"loops in its grid of {sizes} blocks have been simulated for {_duration(allowed)} without an end"
    return fail(
        "W0760",
        f"kernel `{kernel}`: {message}",
        notes=(
            f"{blocks} blocks of {threads} threads; a simulated launch may take {_duration(allowed)}",
            f"{VARIABLE} sets that limit, in seconds; 0 lifts it",
        ),
        hint="simulate a smaller payload or grid, e.g. `--set m=256`, or run on a GPU: `--target cuda`",
    )


def _duration(seconds: float) -> str:
    """`3 seconds`, `42 minutes`, `7 hours`, `3 days`."""
    unit, size = next(((u, s) for u, s in UNITS if seconds >= 2 * s), UNITS[-1])
    return f"{seconds / size:.0f} {unit}" if seconds >= 2 else f"{seconds:.2g} {unit}"


UNITS = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))

# ---- how long a launch may take --------------------------------------------------------------------------------------

BATCH = 16384
"""Lanes executed at a time: few enough that their arrays stay in the cache, many enough to amortize
a NumPy call."""

MOST_THREADS = 1024
MOST_BLOCKS = 1 << 31

Order = Literal["forward", "reverse"] | int | roles.Ranking


class SimKernel:
    """A `gpu.func`, translated once.

    Args:
        function: the `gpu.func`. Its module must live during this call, in which it is translated.

    Attributes:
        source: the generated Python text.

    Raises:
        WeftError: W0750 for an op, W0751 for a type that the simulator does not support.
    """

    def __init__(self, function: ir.Operation | ir.OpView) -> None:
        operation, _module = normal(function.operation)
        lowered = operations(function, *(name for name in LOWERED if name.startswith("affine.")), "memref.copy")
        translator = FollowingTranslator(operation, {place(op): op.name for op in lowered})
        self.name = ir.StringAttr(operation.attributes["sym_name"]).value
        self.source = translator.source()
        self.sites = translator.sites
        self.atomics = frozenset(translator.atomics)
        self.updates = translator.updates
        self.grouped = translator.grouped
        self.has_turns = not self.grouped and any(True for _ in operations(operation, WARP_BARRIER))
        self.known_block = sizes_of(operation, "known_block_size")
        self.known_grid = sizes_of(operation, "known_grid_size")
        self.cluster = sizes_of(operation, CLUSTER_SIZE) or (1, 1, 1)
        self.most_registers = max((registers_of(op)[0] for op in operations(operation, REGISTERS)), default=0)
        self.register_cap = register_cap(operation)
        self.arguments = translator.arguments
        namespace: dict[str, Any] = {"np": np, "N": numeric, "V": vector_values, "M": numeric.MATH, "C": COMBINE}
        namespace |= {"T": conversion, "W": warp, "A": copies, "F": fragments, **roles.CALLED}
        namespace |= {"Shared": Shared, "Private": Private, "constant": constant, **translator.constants}
        exec(compile(self.source, f"<kernel {self.name}>", "exec"), namespace)
        self._run = namespace["kernel"]

    def launch(
        self,
        grid: Triple,
        block: Triple,
        args: Sequence[Any],
        check: bool = True,
        names: Sequence[str] | None = None,
        written: Sequence[np.ndarray | None] | None = None,
        order: Order = "forward",
        batch: int = BATCH,
        budget: Budget | None = None,
        banks: bool | None = None,
        touched: list[Global] | None = None,
    ) -> LaunchReport:
        """Runs the kernel. Arrays are changed in place.

        Args:
            grid, block: sizes (x, y, z).
            args: for each argument, an array for a memref (it may be strided), or a number for a
                scalar.
            check: whether to detect races, and reads of memory that was never written. Accesses out
                of bounds, divergent barriers and divisions by zero are always detected.
            names: the names of the arguments in reports; by default their `weft.name`, else `arg0`,
                ….
            written: for each argument, a boolean array, laid out like the argument, that marks the
                written elements; None: all are written. Updated in place.
            order: the order of lanes within one op, and of blocks; a number is a seed that shuffles
                them. A ranking orders warp groups, if these diverge.
            batch: the number of lanes that are executed at a time.
            budget: the time limit; None: none.
            banks: whether to count bank conflicts of shared memory, and traffic of global memory;
                None: as `check`.
            touched: a list to which the memory of the arguments is added; it records which elements
                are read and written.

        Raises:
            WeftError: W0752 to W0756 for a launch that does not fit the kernel; W0760 for a launch
                that takes too long.
        """
        start, budget = time.perf_counter(), budget or Budget()
        self._check_sizes(grid, block)
        nt, total = int(np.prod(block)), int(np.prod(grid, dtype=np.int64))
        memories, values = bind(self.arguments, args, names, written)
        found = Recorder()
        batches = loads = stores = barriers = 0
        together = int(np.prod(self.cluster)) if self.grouped else 1
        rows = nt * together + roles.MOST_OPERATIONS if self.grouped else nt
        site, thread = (max(count.bit_length(), 1) for count in (len(self.sites), rows - 1))
        number, counted = (total - 1).bit_length(), check if banks is None else banks
        layout = KeyLayout(site, thread, number, (63 - site - thread - number) // 2 if self.has_turns else 0)
        for memory in memories:
            memory.layout = layout
            if touched is not None:
                memory.remember(self.updates)
                touched.append(memory)
            if check:
                memory.watch(layout, self.atomics, single_block=total == 1)
            else:
                memory.written = None
            if counted:
                memory.count()
        threads, blocks = _Order(nt, order).ids(0, nt), _Order(total // together, order)
        counter = BankCounter(threads) if counted else None
        width = together if self.grouped else max(1, batch // nt)
        ranking = order if isinstance(order, roles.Ranking) else None
        seed = order + 2 if isinstance(order, int) else 2 if ranking is not None else int(order == "reverse")

        def watch() -> None:
            if budget.is_over:
                raise too_long(self.name, grid, block, None, budget.seconds)

        launch = roles.GroupLaunch(
            self._run, values, grid, block, self.sites, found, layout, check, self.atomics, threads, seed, watch, counter,
            self.cluster, registers_at_start(nt, self.most_registers, self.register_cap), ranking,
        )  # fmt: skip
        if self.grouped and check:
            launch.follow(memories)
        with np.errstate(all="ignore"):
            for first in range(0, total, width):
                last = min(first + width, total)
                if self.grouped:
                    (number,) = blocks.ids(first // together, last // together)
                    ran = launch.run_cluster(int(number))
                else:
                    lanes = Lanes(grid, block, threads, blocks.ids(first, last), self.sites, found)
                    lanes.watch = watch
                    lanes.seed = (seed, first)
                    lanes.most_barriers = 1 << max(63 - layout.interval, 0) if check else None
                    lanes.most_turns = 1 << layout.turn if check else None
                    lanes.check, lanes.layout, lanes.atomics, lanes.banks = check, layout, self.atomics, counter
                    for memory in memories:
                        memory.attach(lanes)
                        lanes.memories.append(memory)
                    self._run(lanes, *values)
                    for memory in memories:
                        memory.end_batch()
                    ran = [lanes]
                batches, loads = batches + 1, loads + sum(l.loads for l in ran)
                stores += sum(l.stores for l in ran)
                barriers = max(barriers, *(l.barriers for l in ran))
                if (expected := budget.spent(last, total)) is not None:
                    raise too_long(self.name, grid, block, expected, budget.seconds)
        seconds = time.perf_counter() - start
        statistics = Statistics(total, nt, batches, loads, stores, seconds, launch.turns)
        banks_used = None if counter is None else bank_uses(counter, self.sites)
        traffic = tuple(used for memory in memories for used in memory.counted(self.sites)) if counted else None
        counts = found.race_count, found.fault_count, barriers
        return LaunchReport(found.races, found.faults, *counts, statistics, banks_used, traffic, found.text)

    def _check_sizes(self, grid: Triple, block: Triple) -> None:
        for what, sizes, known, most in (
            ("block", block, self.known_block, MOST_THREADS),
            ("grid", grid, self.known_grid, MOST_BLOCKS - 1),
        ):
            if len(sizes) != 3 or min(sizes) < 1 or int(np.prod([int(n) for n in sizes], dtype=object)) > most:
                raise fail("W0753", f"kernel `{self.name}`: {what} size {tuple(sizes)} is not in 1 … {most}")
            if known is not None and tuple(sizes) != known:
                raise fail("W0753", f"kernel `{self.name}` is made for {what} size {known}, not {tuple(sizes)}")
        if any(n % size for n, size in zip(grid, self.cluster, strict=True)):
            raise fail(
                "W0753", f"kernel `{self.name}`: a grid of {tuple(grid)} is not whole clusters of {self.cluster} blocks"
            )


class _Order:
    """A permutation of 0 … n-1, generated piece by piece, because a grid may have very many
    blocks."""

    def __init__(self, n: int, order: Order) -> None:
        self.n, self.backward = n, order == "reverse"
        self.shuffled = np.random.default_rng(order).permutation(n) if isinstance(order, int) else None

    def ids(self, first: int, last: int) -> np.ndarray:
        if self.shuffled is not None:
            return self.shuffled[first:last]
        return self.n - 1 - np.arange(first, last) if self.backward else np.arange(first, last)
