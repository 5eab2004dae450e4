"""What GPUs give: the sizes of a launch, threads in a warp, registers, shared memory for a block, as much as a text can
declare and as a chip has, and tensor maps.
No MLIR is needed here."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...dsl.records import record

THREADS = 1024
BLOCK, GRID = (THREADS, 1024, 64), (2**31 - 1, 65535, 65535)
"""Threads of a block; threads of a block and blocks of a grid along x, y, z. Source: CUDA C++ Programming Guide,
compute capabilities."""


def is_folded(grid: tuple[int, int, int]) -> bool:
    """Whether there are more blocks along y or z than hardware numbers there: then it numbers all of them along x, x
    fastest."""
    return grid[1] > GRID[1] or grid[2] > GRID[2]


def launched(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """The grid that hardware is given for this one, by a text that knows of it. No number of a grid that is folded is
    too large where its product is not."""
    return (prod(grid), 1, 1) if is_folded(grid) else grid


FEWER_BLOCKS = "larger tiles, or a number of blocks each of which takes many: `blocks(x: 132) cyclic`"
"""What a user does where there are too many."""


def too_many(grid: tuple[int, int, int]) -> str | None:
    """Why no launch has this grid, folded where it must be."""
    x, total = grid[0], prod(grid)
    if x > GRID[0]:
        return f"{x} blocks in x are more than {GRID[0]}"
    if is_folded(grid) and total > GRID[0]:
        axis = "y" if grid[1] > GRID[1] else "z"
        return f"{max(grid[1:])} blocks in {axis} are more than {GRID[1]}, and all {total} are more than the {GRID[0]} in x"
    return None


@record
class Chip:
    """What chips of a compute capability have. CUDA C++ Programming Guide, technical specifications per compute
    capability.

    Args:
        name: the capability: `sm_90`.
        shared: bytes of shared memory that a block may have, if the launch asks.
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
"""Threads of a warp on each of them: a schedule is for all. With a chip of another width the launch's geometry has to
say which."""

GROUP_WARPS = 4
"""Warps in a warp group."""

IN_WARPS = {"warpgroups": WARP * GROUP_WARPS, "quarters": WARP, "warps": WARP, "lanes": 1}
"""Spaces that are the threads of a block by their linear id, in whole warps: threads of each processor."""

CALLED = {"warps": "warps", "warpgroups": "warp groups"}


def too_many_threads(space: str, counts: Iterable[int], text: str) -> tuple[str, str] | None:
    """Why no block has so many processors of a space, and what to do. `counts`: those that are known; `text`: as it is
    written."""
    total, each = prod(counts), IN_WARPS.get(space, 1)
    if space not in ("threads", *CALLED) or total * each <= THREADS:
        return None
    if space == "threads":
        fewer = "smaller counts and a distribution: `cyclic`, `block` or `block-cyclic(n)`"
        return f"`{text}` is {total} threads, and a block has at most {THREADS}", fewer
    what = CALLED[space]
    return (
        f"`{text}` is {total} {what} of {each} threads, and a block has at most {THREADS} threads",
        f"at most {THREADS // each} {what}, and a distribution: `cyclic`, `block` or `block-cyclic(n)`",
    )


def too_long(axis: str, threads: int) -> tuple[str, str] | None:
    """Why no block has so many threads along an axis, and what to do."""
    most = BLOCK["xyz".index(axis)]
    if threads <= most:
        return None
    return f"a block has at most {most} threads along {axis}, not {threads}", "use x for the long one"


ALL_REGISTERS, MOST_REGISTERS = 65536, 255
"""Of all threads of a multiprocessor together, and so of a block's; and what an instruction can name, of a thread."""

NUMBERED = 16
"""Barriers of a block that have numbers, at which as many of its warps meet as each says."""

FEWEST_REGISTERS = 24
"""Of a thread, whatever its limit."""
MOST_OF_SM = 32
"""Blocks that a multiprocessor has at a time."""

REGISTERS_STEP = 8
"""A warp's registers are allocated in steps of so many for each thread."""


def registers_at_start(threads: int, asked: int, cap: int | None = None) -> int:
    """Registers of each thread of a block one of whose threads asks for so many later: as many as there are for all of
    them, where it has the multiprocessor to itself, or so many that several blocks have theirs (`cap`, one of
    `registers_of_blocks`). Together they are the block's, and no more come (PTX ISA, "setmaxnreg")."""
    return min(asked, registers_of_blocks(threads)[0] if cap is None else cap)


def registers_of_blocks(threads: int) -> list[int]:
    """How many registers each thread has where a multiprocessor has one block of so many, two, …; what a compiler gives
    it then."""
    all_of_them = (
        ALL_REGISTERS // (threads * blocks) // REGISTERS_STEP * REGISTERS_STEP for blocks in range(1, MOST_OF_SM + 1)
    )
    return [count for count in all_of_them if count >= FEWEST_REGISTERS]


OF_A_THREAD = 512
"""Bytes that a thread keeps in registers at most: half of them. Beyond that nothing is left to compute with."""

STATIC = 48 * 1024
"""More can only be had as dynamic shared memory: the launch asks for it."""

MOST = max(chip.shared for chip in CHIPS.values())
"""Shared memory that a block may have on the largest chips."""

ALIGNMENT = 16
"""Bytes that each shared buffer is aligned to."""

MOST_CONSTANTS = 65536
"""Elements of a constant in a kernel's text."""

MOST_OF_CLUSTER = 8
"""Blocks, on every chip that has clusters."""

MASK_BITS = 16
"""Blocks of a cluster that the mask of a load may name, a bit each."""

MOST_BOX, MOST_RANK, PIECE = 256, 5, 16
"""Of a tensor map: elements along a dimension of a box, and dimensions; bytes of which a tensor's beginning and its
strides are multiples, and the rows of a box."""

MOST_PIXELS, MOST_STEP = 1024, 8
"""Of a tensor map of pixels: how many a load takes, and how far apart they are along an axis."""

CORNERS, OFFSETS = {3: 15, 4: 7, 5: 4}, {3: 16, 4: 8, 5: 5}
"""By how many dimensions the tensor of such a map has: bits of a corner, beside its sign, and of an offset. Source: PTX
ISA, "im2col mode"."""


@record
class PixelWindow:
    """Where the pixels of a tensor map lie; a number for each axis between images and channels, outermost first.

    Args:
        lower, upper: the first and the last place, from the tensor's first and from its last element on.
        steps: from one pixel to the next.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimensions of the tensor."""
        return len(self.steps) + 2

    def wrong(self, pixels: int) -> str | None:
        """Why no tensor map has this window, for so many pixels at a time."""
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
        """How many pixels there are along an axis of so many elements."""
        return max(0, -(-(size + self.upper[axis] - self.lower[axis]) // self.steps[axis]))


def block_bytes(sizes: Iterable[int]) -> int:
    """What buffers of these sizes take, each of them aligned."""
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)


def chips_with(size: int) -> str:
    """`sm_90, sm_100`: the chips on which a block may have that much."""
    return ", ".join(chip.name for chip in CHIPS.values() if chip.shared >= size)
