"""What can be counted of a rung of the tutorial without a GPU: its traffic by the simulator, its instructions by the disassembly.

A step of k costs the same in every block and every time, so two small launches of the same schedule are compared that
differ in nothing but k: the difference is the loop's own, without what stands before and behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import sass
from places import ROOT

from weft.interpreter.ir.mlir import operations
from weft.maps.ownership import live_maps, ownership
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.plan.plan import Launch, integers
from weft.runtime.simulator.kernel import SimKernel
from weft.runtime.simulator.machine.memory import Global

RUNGS = tuple(sorted((ROOT / "docs" / "tutorial").glob("*.weft")))
CHIP = "sm_90a"
SIDE, SHORT, LONG = 128, 64, 96
"""The launches that are counted: SIDE x SIDE elements of C, SHORT and LONG of k."""
SECTOR, LINE = 32, 128
"""Bytes that a cache moves at a time, and bytes that one access of a warp gets at a time."""


@dataclass(frozen=True)
class Counts:
    """One rung.

    Args:
        threads, blocks: of the counted launch; `products`: multiplications and additions of its difference in k.
        lines: 128-byte lines that warps ask for, of A and B; `conflict_free` and `wavefronts` in shared memory, loads and stores.
        sectors: 32-byte sectors of A and B, each once per block.
        barriers: in a step of the loop over k, as the compiled loop has them; 0: it has none.
        step_products: multiplications and additions of one block in one step of k.
        loop: the innermost loop of the disassembly; `resources`: by the assembler.
    """

    name: str
    threads: int
    blocks: int
    products: int
    lines: int
    sectors: int
    wavefronts: int
    conflict_free: int
    load_wavefronts: int
    barriers: float
    step_products: float
    loop: sass.Counts
    resources: Any

    @property
    def product_warps(self) -> int:
        """FFMA instructions of warps."""
        return self.products // 32

    @property
    def share(self) -> float:
        """Of the innermost loop's instructions, those that compute."""
        return self.loop.ffma / sum(self.loop.by_mnemonic.values())

    @property
    def bytes_per_flop(self) -> float:
        return self.sectors * SECTOR / (2 * self.products)


@dataclass
class Traffic:
    """What warps read of some buffers in one launch."""

    names: frozenset[str]
    lines: int = 0
    sectors: int = 0

    def note(self, memory: Global, flat: Any, mask: Any) -> None:
        if memory.name not in self.names:
            return
        nt, blocks = memory.lanes.shape
        vector = np.shape(flat)[2:]
        where = np.broadcast_to(flat, (nt, blocks, *vector)).reshape(nt, blocks, -1)
        where = np.where(memory.lanes.full(mask)[..., None], where, -1) * memory.dtype.itemsize
        warps = where.reshape(nt // 32, 32, blocks, -1).transpose(0, 2, 1, 3).reshape(nt // 32 * blocks, -1)
        self.lines += _distinct(warps // LINE, axis=1)
        self.touched.setdefault(memory.name, []).append((memory.lanes.blocks, where))

    def __post_init__(self) -> None:
        self.touched: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}

    def close(self) -> None:
        """Count each sector once per block."""
        for accesses in self.touched.values():
            found = [np.unique(((blocks[None, :, None] << 40) + where // SECTOR)[where >= 0]) for blocks, where in accesses]
            self.sectors += len(np.unique(np.concatenate(found)))


def _distinct(rows: np.ndarray, axis: int) -> int:
    """How many different numbers that are not negative each row has, all rows together."""
    ordered = np.sort(rows, axis=axis)
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return int(fresh.sum())


@contextmanager
def watching(traffic: Traffic) -> Iterator[None]:
    """Have the simulator's loads of global memory counted."""
    plain = Global.load

    def load(memory: Global, flat: Any, mask: Any, site: int) -> Any:
        traffic.note(memory, flat, mask)
        return plain(memory, flat, mask, site)

    with mock.patch.object(Global, "load", load):
        yield
    traffic.close()


Settings = tuple[tuple[str, int], ...]
"""Names and values."""


@cache
def scheduled(path: Path, settings: Settings) -> Planned:
    return planned(applied(Choice(str(path), None, {name: str(value) for name, value in settings}).open()))


def made(path: Path, m: int, n: int, k: int) -> Planned:
    return scheduled(path, (("m", m), ("n", n), ("k", k)))


@cache
def launched(path: Path, k: int) -> tuple[Traffic, Any, Launch]:
    """Run the rung at SIDE x SIDE x k; a race or a fault is an error."""
    ready = made(path, SIDE, SIDE, k)
    (function,) = operations(ready.applied.module.operation, "gpu.func")
    (step,) = (s for s in ready.plan.steps if isinstance(s, Launch))
    arrays = [np.ones((SIDE, k), np.float32), np.ones((k, SIDE), np.float32), np.zeros((SIDE, SIDE), np.float32)]
    traffic = Traffic(frozenset("AB"))
    with watching(traffic):
        report = SimKernel(function).launch(step.grid, step.block, arrays, names=["A", "B", "C"])  # type: ignore[arg-type]
    if report.races or report.faults or not (arrays[2] == k).all():
        raise ValueError(f"{path.name} is wrong: {report.races} {report.faults}")
    return traffic, report, step


@cache
def counts(path: Path, size: int = 4096) -> Counts:
    """The counts of a rung: traffic from small launches, instructions from the text for size x size x size."""
    (before, short, step), (after, long, _) = launched(path, SHORT), launched(path, LONG)
    text, kernel = made(path, size, size, size).cuda, "matmul"
    loop = sass.inner_loop(text, kernel, CHIP)

    def banks(what: str, kinds: tuple[str, ...] = ("load", "store")) -> int:
        long_sum, short_sum = (sum(getattr(u, what) for u in r.banks if u.kind in kinds) for r in (long, short))
        return long_sum - short_sum

    steps, blocks, products = _steps(path), int(np.prod(integers(step.grid))), SIDE * SIDE * (LONG - SHORT)
    return Counts(
        path.stem, int(np.prod(integers(step.block))), blocks, products,
        after.lines - before.lines, after.sectors - before.sectors, banks("wavefronts"), banks("ideal"),
        banks("wavefronts", ("load",)), (long.barriers - short.barriers) / steps, products / steps / blocks, loop,
        sass.resources(text, kernel, CHIP),
    )  # fmt: skip


def _steps(path: Path) -> int:
    """How many steps of k the longer launch has more: the tile of k stands in the schedule, `tile tile_mm [_, _, bk]`."""
    for one in made(path, SIDE, SIDE, LONG).applied.session.steps:
        if one.text.startswith("let (k, step) = tile"):
            return (LONG - SHORT) // int(one.text.rstrip("]").rsplit(",", 1)[1])
    return LONG - SHORT


def kinds_of_load(loop: sass.Counts) -> str:
    """`2 x LDS.128`, the shared loads of a loop by width."""
    widths: Counter[int] = loop.shared_loads
    return ", ".join(f"{n} × {w}-bit" for w, n in sorted(widths.items(), reverse=True)) or "none"


@cache
def panels(path: Path, size: int, together: int) -> float:
    """Panels of A (rows of tiles) and B (columns) that `together` successive blocks read, on average over all such groups."""
    session = made(path, size, size, size).applied.session
    (live,) = live_maps(session, ["tiles"])
    owners = ownership(live).owners
    order = np.argsort(owners, axis=None)
    rows, columns = np.unravel_index(order, owners.shape)
    groups = range(0, len(order), together)
    return sum(
        len(set(rows[g : g + together].tolist())) + len(set(columns[g : g + together].tolist())) for g in groups
    ) / len(groups)
