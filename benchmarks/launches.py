"""Forking host functions of many launches, and streams for them.

    python benchmarks/launches.py

Seconds for `async-fork` and for a plan with streams, of 1,250 … 10,000 launches in graphs of several shapes; how the time grows
with their number shows in the exponent between neighbours.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.host.host import make_plan

COUNTS = (1250, 2500, 5000, 10_000)
TILES = 1024
SIDE = 32
WHOLE = f"memref<{SIDE * 8}x{SIDE * 8}xf32>"
TILE = f"memref<8x8xf32, strided<[{SIDE * 8}, 1], offset: ?>>"
KERNELS = f"""
gpu.module @k {{
  gpu.func @write(%a: {WHOLE}) kernel {{
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    memref.store %f, %a[%c0, %c0] : {WHOLE}
    gpu.return
  }}
  gpu.func @read(%a: {WHOLE}) kernel {{
    %c0 = arith.constant 0 : index
    %f = memref.load %a[%c0, %c0] : {WHOLE}
    gpu.return
  }}
  gpu.func @move(%a: {WHOLE}, %b: {WHOLE}) kernel {{
    %c0 = arith.constant 0 : index
    %f = memref.load %a[%c0, %c0] : {WHOLE}
    memref.store %f, %b[%c0, %c0] : {WHOLE}
    gpu.return
  }}
  gpu.func @column(%a: memref<{SIDE * 8}x1xf32, strided<[{SIDE * 8}, 1], offset: ?>>) kernel {{
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    memref.store %f, %a[%c0, %c0] : memref<{SIDE * 8}x1xf32, strided<[{SIDE * 8}, 1], offset: ?>>
    gpu.return
  }}
  gpu.func @tile(%a: {TILE}) kernel {{
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    memref.store %f, %a[%c0, %c0] : {TILE}
    gpu.return
  }}
}}
"""
SIZES = "blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)"

Lines = Iterator[str]


def call(kernel: str, *buffers: str, type: str = WHOLE) -> str:
    given = ", ".join(f"{b} : {type}" for b in buffers)
    return f"gpu.launch_func @k::@{kernel} {SIZES} args({given})"


def wide(count: int) -> Lines:
    """Each launch on a buffer of its own."""
    for i in range(count):
        yield f"%m{i} = memref.alloc() : {WHOLE}"
        yield call("write", f"%m{i}")


def chain(count: int) -> Lines:
    """All write one buffer."""
    for _ in range(count):
        yield call("write", "%b0")


def readers(count: int) -> Lines:
    """All touch one buffer: a write, nine reads, and so on."""
    for i in range(count):
        yield call("read" if i % 10 else "write", "%b0")


def chosen(count: int) -> Lines:
    """Each reads one of 200 buffers, and writes another."""
    draw = random.Random(0)
    for _ in range(count):
        first, second = draw.sample(range(200), 2)
        yield call("move", f"%b{first}", f"%b{second}")


def layers(count: int) -> Lines:
    """100 chains beside each other, which meet every 1,000 launches."""
    for i in range(count):
        yield call("read", "%b0") if i % 1000 == 999 else call("write", f"%b{1 + i % 100}")


def tiles(count: int) -> Lines:
    """Each writes one of 1,024 tiles of one buffer."""
    for i in range(min(count, TILES)):
        row, column = divmod(i, SIDE)
        offset = row * 8 * SIDE * 8 + column * 8
        shown = f"memref<8x8xf32, strided<[{SIDE * 8}, 1]{f', offset: {offset}' if offset else ''}>>"
        yield f"%s{i} = memref.subview %b0[{row * 8}, {column * 8}] [8, 8] [1, 1] : {WHOLE} to {shown}"
        yield f"%t{i} = memref.cast %s{i} : {shown} to {TILE}"
    for i in range(count):
        yield call("tile", f"%t{i * 7919 % min(count, TILES)}", type=TILE)


def columns(count: int) -> Lines:
    """Each writes one of 256 columns of one buffer: their extents overlap, their elements do not."""
    column = f"memref<{SIDE * 8}x1xf32, strided<[{SIDE * 8}, 1], offset: ?>>"
    for i in range(SIDE * 8):
        shown = f"memref<{SIDE * 8}x1xf32, strided<[{SIDE * 8}, 1]{f', offset: {i}' if i else ''}>>"
        yield f"%s{i} = memref.subview %b0[0, {i}] [{SIDE * 8}, 1] [1, 1] : {WHOLE} to {shown}"
        yield f"%t{i} = memref.cast %s{i} : {shown} to {column}"
    for i in range(count):
        yield call("column", f"%t{i * 7919 % (SIDE * 8)}", type=column)


def swept(count: int) -> Lines:
    """Tiles of one buffer, and after every 100 of them a write of all of it."""
    for number, line in enumerate(tiles(count)):
        yield line
        if number > 2 * TILES and number % 100 == 0:
            yield call("write", "%b0")


def loops(count: int) -> Lines:
    """Loops of four iterations of four launches, which carry tokens."""
    for i in range(count // 16):
        yield "scf.for %i = %c0 to %c4 step %c1 {"
        yield from (call("write", f"%b{(i + j * 7) % 200}") for j in range(4))
        yield "}"


Shape = Callable[[int], Lines]
SHAPES: dict[str, tuple[Shape, Sequence[str] | None]] = {
    "wide": (wide, ()),
    "chain": (chain, ()),
    "one buffer, read and written": (readers, ()),
    "200 buffers": (chosen, ()),
    "200 buffers that may overlap": (chosen, None),
    "100 chains": (layers, ()),
    "tiles of one buffer": (tiles, ()),
    "columns of one buffer": (columns, ()),
    "tiles and the whole": (swept, ()),
    "loops": (loops, ()),
}


def program(lines: Lines) -> str:
    arguments = ", ".join(f"%b{i}: {WHOLE}" for i in range(200))
    body = "\n".join(lines)
    return (
        f"module attributes {{gpu.container_module}} {{{KERNELS}\nfunc.func @main({arguments}) {{\n"
        f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n{body}\nreturn\n}}\n}}"
    )


def measured(shape: Shape, noalias: Sequence[str] | None, count: int) -> tuple[float, float, int]:
    """Seconds (of the processor) of forking, and of the plan with its streams; how many streams."""
    module = mlir.parse(program(shape(count)), mlir.context())
    with module.context, ir.Location.unknown():
        started = time.process_time()
        async_fork(module, noalias)
        forked = time.process_time() - started
    started = time.process_time()
    plan = make_plan(module)
    return forked, time.process_time() - started, len({step.stream for step in plan.steps})


def main() -> int:
    print(f"{'graph':32}{'launches':>10}{'fork':>9}{'plan':>9}{'grows':>7}{'streams':>9}")
    slow = 0
    for name, (shape, noalias) in SHAPES.items():
        previous: tuple[int, float] | None = None
        for count in COUNTS:
            forked, assigned, found = measured(shape, noalias, count)
            total = forked + assigned
            grows = "" if previous is None else f"{math.log(total / previous[1]) / math.log(count / previous[0]):.2f}"
            print(f"{name:32}{count:10}{forked:8.2f}s{assigned:8.2f}s{grows:>7}{found:9}", flush=True)
            previous = count, total
            slow += count == COUNTS[-1] and total > 2
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
