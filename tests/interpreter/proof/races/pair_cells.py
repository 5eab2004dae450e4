"""The table of pairs: two accesses of one element, one of which writes it, and which of its cells kernels have.

Agents (two copies, a copy and another access, two others) x (read-write, write-read, write-write, in the order of the program) x
(same op, two ops) x (same thread, its warp, other warps, other blocks) x (same group, another group, another iteration).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

from random_pairs import WARP, Copy, Event, Kernel

MOST = 40
"""Accesses of an element whose pairs are counted."""
Cell = tuple[str, str, str, str, str]
AGENTS, KINDS, OPS = ("copies", "a copy", "others"), ("RW", "WR", "WW"), ("same op", "two ops")
THREADS = ("same thread", "same warp", "other warps", "other blocks")
WHEN = ("same group", "other group", "other iteration")


def possible(cell: Cell) -> bool:
    """Copies write shared memory, which is a block's own; one op does one thing; without a copy there are no groups."""
    agents, kind, ops, threads, when = cell
    if agents == "copies" and (kind != "WW" or threads == "other blocks"):
        return False
    if ops == "same op" and (kind != "WW" or agents == "a copy" or (threads == "same thread" and when != "other iteration")):
        return False
    if agents == "a copy" and kind == "WW" and threads == "other blocks":
        return False
    return agents != "others" or when != "other group"


TABLE = frozenset(filter(possible, product(AGENTS, KINDS, OPS, THREADS, WHEN)))


def cells_of(kernel: Kernel) -> set[Cell]:
    """Those that a kernel has."""
    by_place: dict[tuple[str, int, int], list[Event]] = {}
    for event in kernel.events(kernel.flags, kernel.size):
        by_place.setdefault(event.place, []).append(event)
    return {cell for some in by_place.values() for cell in _cells(some[:MOST])}


def _cells(some: list[Event]) -> Iterator[Cell]:
    if not any(event.writes for event in some):
        return
    for p, q in combinations(some, 2):
        if not (p.writes or q.writes) or (p.thread == q.thread and p.begin == q.begin):
            continue
        first, second = (q, p) if p.thread == q.thread and q.begin < p.begin else (p, q)
        yield _cell(first, second)


def _cell(p: Event, q: Event) -> Cell:
    assert p.doing is not None and q.doing is not None
    (one, at), (other, then) = p.doing, q.doing
    copies = isinstance(one, Copy) + isinstance(other, Copy)
    if p.thread == q.thread:
        threads = "same thread"
    elif p.block != q.block:
        threads = "other blocks"
    else:
        threads = "same warp" if p.thread // WARP == q.thread // WARP else "other warps"
    again = {k: v for k, v in at if k != "t" and k != "b"} != {k: v for k, v in then if k != "t" and k != "b"}
    when = "other iteration" if again else "other group" if copies and p.group != q.group else "same group"
    kind = ("W" if p.writes else "R") + ("W" if q.writes else "R")
    return AGENTS[2 - copies], kind, "same op" if one is other else "two ops", threads, when


def histogram(kernels: Iterator[Kernel]) -> Counter[Cell]:
    """How many of them have each cell."""
    return Counter(cell for kernel in kernels for cell in cells_of(kernel))
