"""CUDA text for copies and fills that `cudaMemcpy` and `cudaMemset` cannot do: strided, or with
values of several bytes.

CuPy's own element-wise kernels may compile, synchronize and allocate when they are called, which is
illegal during a stream capture (CUDA C++ Programming Guide, "Prohibited and Unhandled Operations").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

Move = Literal["copy", "fill"]

WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
"""By size in bytes: the type that moves the bits of an element."""

THREADS = 256
MOST_BLOCKS = 4096
"""Most blocks of a launch; beyond, each thread moves several elements, one grid size apart."""


def move_name(move: Move, width: int, rank: int) -> str:
    """The name of the kernel for elements of `width` bytes in `rank` dimensions."""
    return f"weft_{move}_{width}_{rank}"


def move_text(move: Move, width: int, rank: int) -> str:
    """The text of a kernel that takes the target, the source (or the value), the number of
    elements, and each dimension's size and strides, in elements."""
    word = WORDS[width]
    source = f"const {word}* from" if move == "copy" else f"{word} value"
    sizes = [f"long long n{d}, long long t{d}" + (f", long long f{d}" if move == "copy" else "") for d in range(rank)]
    head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {move_name(move, width, rank)}'
    lines = [
        f"{head}({word}* to, {source}, long long count, {', '.join(sizes)}) {{",
        f"  const long long step = (long long)gridDim.x * {THREADS};",
        f"  for (long long i = (long long)blockIdx.x * {THREADS} + threadIdx.x; i < count; i += step) {{",
        *_offsets(move, rank),
        f"    to[t] = {'from[f]' if move == 'copy' else 'value'};",
        "  }",
        "}",
        "",
    ]
    return "\n".join(lines)


def _offsets(move: Move, rank: int) -> Iterator[str]:
    """Lines that compute the offsets of the element with a row-major number."""
    yield "    long long rest = i, t = 0;" if move == "fill" else "    long long rest = i, t = 0, f = 0;"
    for d in reversed(range(rank)):
        at = f"rest % n{d}" if d else "rest"
        yield f"    const long long i{d} = {at};"
        if d:
            yield f"    rest /= n{d};"
        yield f"    t += i{d} * t{d};" + (f" f += i{d} * f{d};" if move == "copy" else "")


def blocks(count: int) -> int:
    """The number of blocks for a move of `count` elements."""
    return max(1, min(-(-count // THREADS), MOST_BLOCKS))


def extents(shape: Sequence[int], *strides: Sequence[int]) -> list[tuple[int, ...]]:
    """Sizes and strides of the fewest dimensions, at least one, that enumerate the same elements in
    the same order.

    Dimensions of one element are dropped; adjacent ones are merged where all strides permit it.
    """
    merged: list[tuple[int, ...]] = []
    for size, *steps in zip(shape, *strides, strict=True):
        if size == 1:
            continue
        if merged and all(outer == inner * size for outer, inner in zip(merged[-1][1:], steps, strict=True)):
            merged[-1] = (merged[-1][0] * size, *steps)
        else:
            merged.append((size, *steps))
    return merged or [(1, *(1 for _ in strides))]


def numbers(count: int, dimensions: Sequence[Sequence[int]]) -> tuple[np.int64, ...]:
    """The kernel's arguments after target and source."""
    return (np.int64(count), *(np.int64(n) for dimension in dimensions for n in dimension))
