"""Limits of GPUs: sizes of launches, threads of a warp, registers, tensor maps, and the shared
memory of a block: the most that CUDA text can declare, and the most that a chip has.

No MLIR is needed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...dsl.records import record

THREADS = 1024
BLOCK, GRID = (THREADS, 1024, 64), (2**31 - 1, 65535, 65535)
"""Threads of a block; threads of a block and blocks of a grid along x, y, z. Source: CUDA C++
Programming Guide, compute capabilities."""


def is_folded(grid: tuple[int, int, int]) -> bool:
    """Whether a grid has more blocks along y or z than the hardware can number. Such a grid is
    folded: all blocks are numbered along x, with x as the fastest index."""
    return grid[1] > GRID[1] or grid[2] > GRID[2]


def launched(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """The grid with which a kernel is launched instead, if its text supports folding."""
    return (prod(grid), 1, 1) if is_folded(grid) else grid


FEWER_BLOCKS = "`tile` by larger sizes, or give fewer blocks several tiles each: `blocks(x: 132) cyclic`"
"""The hint for a grid with too many blocks."""


def too_many(grid: tuple[int, int, int]) -> str | None:
    """The reason why a grid, folded if necessary, cannot be launched; None if it can."""
    x, total = grid[0], prod(grid)
    if x > GRID[0]:
        return f"{x} blocks in x are more than {GRID[0]}"
    if is_folded(grid) and total > GRID[0]:
        axis = "y" if grid[1] > GRID[1] else "z"
        return f"{max(grid[1:])} blocks in {axis} are more than {GRID[1]}, and all {total} are more than the {GRID[0]} in x"
    return None


@record
class Chip:
    """The resources of chips of a compute capability. Source: CUDA C++ Programming Guide, technical
    specifications per compute capability.

    Args:
        name: the compute capability, such as `sm_90`.
        shared: the most bytes of shared memory that a block can have, if its launch requests them.
        warp: threads that execute an instruction together.
    """

    name: str
    shared: int
    warp: int = 32


CHIPS = {
    f"sm_{capability}": Chip(f"sm_{capability}", kib * 1024)
    for kib, chips in ((227, "90 100 103 110"), (163, "80 87"), (99, "86 89 120 121"), (96, "70 72"), (64, "75"))
    for capability in chips.split()
}

(WARP,) = {chip.warp for chip in CHIPS.values()}
"""Threads of a warp on all chips: a schedule is for all. With a chip of another width, the geometry
of a launch would have to state the width."""

GROUP_WARPS = 4
"""Warps in a warp group."""

IN_WARPS = {"warpgroups": WARP * GROUP_WARPS, "quarters": WARP, "warps": WARP, "lanes": 1}
"""Spaces that are the threads of a block by their linear id, in whole warps: the number of threads
of each processor."""

CALLED = {"warps": "warps", "warpgroups": "warp groups"}


def too_many_threads(space: str, counts: Iterable[int], text: str) -> tuple[str, str] | None:
    """The reason why no block has this many processors, and a hint; None if a block can have them.
    `counts`: the known counts; `text`: the processors as written in the schedule."""
    total, each = prod(counts), IN_WARPS.get(space, 1)
    if space not in ("threads", *CALLED) or total * each <= THREADS:
        return None
    if space == "threads":
        fewer = "give smaller counts and a distribution: `cyclic`, `block` or `block-cyclic(n)`"
        return f"`{text}` is {total} threads, and a block has at most {THREADS}", fewer
    what = CALLED[space]
    return (
        f"`{text}` is {total} {what} of {each} threads, and a block has at most {THREADS} threads",
        f"give at most {THREADS // each} {what}, and a distribution: `cyclic`, `block` or `block-cyclic(n)`",
    )


def too_long(axis: str, threads: int) -> tuple[str, str] | None:
    """The reason why no block has this many threads along an axis, and a hint."""
    most = BLOCK["xyz".index(axis)]
    if threads <= most:
        return None
    return (
        f"a block has at most {most} threads along {axis}, not {threads}",
        f"give the long dimension to `x`, which has up to {BLOCK[0]}",
    )


ALL_REGISTERS, MOST_REGISTERS = 65536, 255
"""Registers of a multiprocessor, and so of a block; and registers of a thread that an instruction
can address."""

NUMBERED = 16
"""Numbered barriers of a block; each states how many of its warps wait at it."""

FEWEST_REGISTERS = 24
"""The fewest registers of a thread, for any limit."""
MOST_OF_SM = 32
"""The most resident blocks of a multiprocessor."""

REGISTERS_STEP = 8
"""The granularity in which a warp's registers are allocated, in registers per thread."""


def registers_at_start(threads: int, asked: int, cap: int | None = None) -> int:
    """The registers of each thread at the start of a block in which threads request `asked`
    registers later. If the block is alone on the multiprocessor, its threads share all registers;
    if several blocks are to be resident, the number is `cap`, one of `registers_of_blocks`. The
    total of a block does not grow later (PTX ISA, "setmaxnreg")."""
    return min(asked, registers_of_blocks(threads)[0] if cap is None else cap)


def registers_of_blocks(threads: int) -> list[int]:
    """The numbers of registers that a compiler can give each thread so that one, two, … blocks of
    `threads` threads are resident on a multiprocessor."""
    all_of_them = (
        ALL_REGISTERS // (threads * blocks) // REGISTERS_STEP * REGISTERS_STEP for blocks in range(1, MOST_OF_SM + 1)
    )
    return [count for count in all_of_them if count >= FEWEST_REGISTERS]


OF_A_THREAD = 512
"""The most bytes that a thread keeps in registers: half of its registers. With more there would be
none left to compute with."""

STATIC = 48 * 1024
"""The most static shared memory; more is only available as dynamic shared memory, which the launch
requests."""

MOST = max(chip.shared for chip in CHIPS.values())
"""The most shared memory of a block on the largest chips."""

ALIGNMENT = 16
"""The alignment of each shared buffer, in bytes."""

MOST_CONSTANTS = 65536
"""The most elements of a constant in a kernel's text."""

MOST_OF_CLUSTER = 8
"""The most blocks of a cluster, on every chip that has clusters."""

MASK_BITS = 16
"""Blocks of a cluster that the multicast mask of a load can select, one bit each."""

MOST_BOX, MOST_RANK, PIECE = 256, 5, 16
"""Limits of a tensor map: elements along a dimension of a box; dimensions; the bytes that must
divide the tensor's address, its strides, and the rows of a box."""

MOST_PIXELS, MOST_STEP = 1024, 8
"""Limits of a tensor map of pixels: pixels of a load, and the distance between pixels along an
axis."""

CORNERS, OFFSETS = {3: 15, 4: 7, 5: 4}, {3: 16, 4: 8, 5: 5}
"""By the number of dimensions of such a map's tensor: bits of a corner, without its sign, and of an
offset. Source: PTX ISA, "im2col mode"."""


@record
class PixelWindow:
    """The window of a tensor map of pixels, with a number for each axis between images and
    channels, outermost first.

    Args:
        lower, upper: the first pixel relative to the tensor's first element, and the last pixel
            relative to the tensor's last element.
        steps: the distances between consecutive pixels.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions of the tensor."""
        return len(self.steps) + 2

    def wrong(self, pixels: int) -> str | None:
        """The reason why no tensor map has this window, for a load of `pixels` pixels; None if it
        is legal."""
        if self.rank not in CORNERS or not len(self.lower) == len(self.upper) == len(self.steps):
            return f"a window with {len(self.lower)}, {len(self.upper)} and {len(self.steps)} axes, where it has one to three"
        most = 1 << CORNERS[self.rank]
        far = [n for n in (*self.lower, *self.upper) if not -most <= n < most]
        if far:
            return f"a window with a corner at {far[0]}, where those of {self.rank} dimensions are from {-most} to {most - 1}"
        steps = [n for n in self.steps if not 1 <= n <= MOST_STEP]
        if steps:
            return f"pixels {steps[0]} apart, where they are at most {MOST_STEP}"
        return None if 1 <= pixels <= MOST_PIXELS else f"{pixels} pixels at a time, where there are 1 to {MOST_PIXELS}"

    def count(self, axis: int, size: int) -> int:
        """The number of pixels along an axis of `size` elements."""
        return max(0, -(-(size + self.upper[axis] - self.lower[axis]) // self.steps[axis]))


def block_bytes(sizes: Iterable[int]) -> int:
    """The bytes of buffers of the given sizes, each aligned."""
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)


def chips_with(size: int) -> str:
    """The chips on which a block may have this many bytes of shared memory, as text: `sm_90,
    sm_100`."""
    return ", ".join(chip.name for chip in CHIPS.values() if chip.shared >= size)
