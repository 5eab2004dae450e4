"""`order hilbert`: blocks take tiles along a curve through all of them, which every witness sees meets none twice."""

from __future__ import annotations

import itertools
import math
import random
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from judged import codes, program, refusal
from loops import launched, loop_module, mapped, stores_of
from pinned import pinned
from test_block_order import STAGED, matmul

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.mapping.curves import hilbert
from weft.interpreter.mapping.mapping import Mapping
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts_between_blocks
from weft.runtime.cuda.module import emit
from weft.runtime.simulator.kernel import SimKernel

HERE = Path(__file__).parent
GRIDS = [(1, 1), (1, 5), (6, 1), (2, 2), (2, 3), (3, 2), (3, 5), (4, 4), (7, 5), (6, 11), (8, 8)]
CURVE = STAGED.replace("order grouped({group})", "order hilbert")


def along_curve(axes: str, counts: tuple[int, ...], dist: str | None = None) -> str:
    return mapped("blocks", axes, counts, dist).removesuffix("}}") + ', order = "hilbert"}}'


def step(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    smaller, larger = sorted(abs(a - b) for a, b in zip(one, other, strict=True))
    return smaller, larger


def textbook(side: int, number: int) -> tuple[int, int]:
    """Hilbert's own curve, of 2^n x 2^n, bit by bit: "Hilbert curve", Wikipedia."""
    x = y = 0
    size = 1
    while size < side:
        right = number // 2 % 2
        up = (number ^ right) % 2
        if not up:
            if right:
                x, y = size - 1 - x, size - 1 - y
            x, y = y, x
        x, y = x + size * right, y + size * up
        number //= 4
        size *= 2
    return x, y


def test_each_tile_is_there_once_and_beside_the_one_before() -> None:
    draw = random.Random(5)
    grids = [(rows, columns) for rows in range(1, 20) for columns in range(1, 20)]
    grids += [(draw.randint(1, 200), draw.randint(1, 200)) for _ in range(20)]
    for rows, columns in grids:
        tiles = hilbert(rows, columns)
        assert sorted(tiles) == [(row, column) for row in range(rows) for column in range(columns)]
        steps = [step(one, other) for one, other in itertools.pairwise(tiles)]
        aslant = [each for each in steps if each != (0, 1)]
        assert set(aslant) <= {(1, 1)} and len(aslant) <= 1, (rows, columns)
        assert not aslant or (max(rows, columns) % 2 == 1 and min(rows, columns) % 2 == 0), (rows, columns)


@pytest.mark.parametrize("side", [2, 4, 8, 16, 32])
def test_of_powers_of_two_it_is_hilbert_s(side: int) -> None:
    known = [textbook(side, number) for number in range(side * side)]
    assert hilbert(side, side) in (known, [tile[::-1] for tile in known])


@pytest.mark.parametrize("count", [4, 16, 64, 132, 256])
def test_tiles_that_follow_each_other_need_few_rows_and_columns(count: int) -> None:
    """However many they are, hardly more than a square of them."""

    def needed(tiles: list[tuple[int, int]]) -> float:
        waves = [tiles[first : first + count] for first in range(0, len(tiles) - count + 1, count)]
        return sum(len({row for row, _ in wave}) + len({column for _, column in wave}) for wave in waves) / len(waves)

    square = 2 * math.sqrt(count)
    assert needed(hilbert(64, 64)) < 1.3 * square
    assert needed(list(itertools.product(range(64), range(64)))) > 1.3 * square or count == 4


def test_blocks_take_tiles_in_that_order() -> None:
    for rows, columns in GRIDS:
        module, info = launched(loop_module([rows, columns], along_curve("yx", (-1, -1))))
        assert info.grid == (columns, rows, 1)
        taken = {s.block: s.at for s in stores_of(module, [rows, columns])}
        assert taken == {(n % columns, n // columns, 0): at for n, at in enumerate(hilbert(rows, columns))}
        assert conflicts_between_blocks(kernel_model(info.kernel)) == []


@pytest.mark.parametrize("count", [1, 2, 7, 60, -2])
def test_blocks_that_stay_take_tile_after_tile(count: int) -> None:
    for rows, columns in GRIDS:
        module, info = launched(loop_module([rows, columns], along_curve("x", (count,), "cyclic")))
        blocks = count if count > 0 else 4
        each: dict[int, set[tuple[int, ...]]] = {}
        for store in stores_of(module, [rows, columns], grid=(blocks, 1, 1)):
            each.setdefault(store.block[0], set()).add(store.at)
        tiles = hilbert(rows, columns)
        assert each == {b: set(tiles[b::blocks]) for b in range(min(blocks, rows * columns))}, (rows, columns)
        assert conflicts_between_blocks(kernel_model(info.kernel, grid=info.grid)) == []


def test_more_blocks_than_tiles() -> None:
    """The curve is one of the whole grid; a block whose tile is not there has nothing to do."""
    module, info = launched(loop_module([3, 5], along_curve("yx", (4, 6))))
    assert info.grid == (6, 4, 1)
    taken = {s.block: s.at for s in stores_of(module, [3, 5])}
    places = {(n % 6, n // 6, 0): at for n, at in enumerate(hilbert(4, 6))}
    assert taken == {block: at for block, at in places.items() if at[0] < 3 and at[1] < 5}
    assert conflicts_between_blocks(kernel_model(info.kernel)) == []


@pytest.mark.parametrize("stay", [False, True])
def test_a_table_that_names_a_tile_twice_is_seen(stay: bool) -> None:
    mapping = along_curve("x", (7,), "cyclic") if stay else along_curve("yx", (-1, -1))
    module, _ = launched(loop_module([5, 4], mapping))
    spoilt = str(module).replace("dense<[0, 4, ", "dense<[0, 0, ")
    assert spoilt != str(module)
    other = ir.Module.parse(spoilt, module.context)
    kernel = next(operations(other.operation, "gpu.func"))
    report = SimKernel(kernel).launch((7, 1, 1) if stay else (4, 5, 1), (1, 1, 1), [np.zeros((5, 4), np.int32)])
    assert report.races
    assert conflicts_between_blocks(kernel_model(kernel))


LOOKED_UP = """\
gpu.module @kernels {{
  memref.global "private" constant @table : {table} = dense<[2, 0, 3, 1]>
  gpu.func @kernel(%A: memref<4xi32>) kernel {{
    %zero = arith.constant 0 : i32
    %number = gpu.block_id x
    %table = memref.get_global @table : {table}
    {written}
    %tile = memref.load %table[%number] : {table}
    %at = arith.index_cast %tile : i32 to index
    memref.store %zero, %A[%at] : memref<4xi32>
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("table", "written", "known"),
    [
        ("memref<4xi32>", "", True),
        ("memref<4xi32>", "memref.store %zero, %table[%number] : memref<4xi32>", False),
        ("memref<4xi32, #gpu.address_space<workgroup>>", "", False),
    ],
)
def test_a_table_is_known_where_nobody_writes_to_it(table: str, written: str, known: bool) -> None:
    with ir.Context():
        module = ir.Module.parse(LOOKED_UP.format(table=table, written=written))
        kernel = next(operations(module.operation, "gpu.func"))
        assert (conflicts_between_blocks(kernel_model(kernel, grid=(4, 1, 1))) == []) == known
        with nullcontext() if known else pytest.raises(WeftError, match="W0503"):
            emit(module)


TWICE = """\
func.func @twice(%A: tensor<24x24xf32>, %B: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %p = linalg.add ins(%A, %B : tensor<24x24xf32>, tensor<24x24xf32>) outs(%A : tensor<24x24xf32>) -> tensor<24x24xf32>
  %q = linalg.mul ins(%p, %B : tensor<24x24xf32>, tensor<24x24xf32>) outs(%A : tensor<24x24xf32>) -> tensor<24x24xf32>
  return %q : tensor<24x24xf32>
}
"""


def test_tables_of_two_kernels(tmp_path: Path) -> None:
    """Of one name, each in its own module, and of two sizes."""
    for size in (8, 12):
        lines: list[str] = []
        for op, rows in (("add", 8), ("mul", size)):
            lines += [f"let {op} = match linalg.{op}", f"let ({op}_tiles, {op}_tile) = tile {op} [{rows}, 8]"]
            lines += [f"map {op}_tiles to blocks(y, x) order hilbert", f"map {op}_tile to threads(x: 64) cyclic"]
        made = program(tmp_path, TWICE, "\n".join([*lines, "launch add_tiles", "launch mul_tiles"]))
        assert made.cuda.count("__device__ const int") == 2
        assert not made.wrong() and not made.wrong(native=True)


@pytest.mark.parametrize(
    ("name", "sizes", "blocks"),
    [
        ("curve-whole", (64, 64, 16), "blocks(y, x)"),
        ("curve-ragged", (41, 35, 17), "blocks(x: 5) cyclic"),
        ("curve-row", (5, 40, 16), "blocks(y, x)"),
    ],
)
def test_a_staged_matmul(name: str, sizes: tuple[int, int, int], blocks: str, tmp_path: Path, update: bool) -> None:
    made = program(tmp_path, matmul(*sizes), CURVE.replace("blocks(y, x)", blocks))
    assert any("race-free" in remark for remark in made.remarks)
    assert not any("assumed" in remark for remark in made.remarks)
    assert not made.wrong()
    assert not made.wrong(native=True)
    pinned(HERE / "golden" / f"{name}.cu", made.cuda, update)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(8))
def test_random_grids(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    sizes = (draw.randint(1, 70), draw.randint(1, 70), draw.randint(1, 20))
    blocks = draw.choice(["blocks(y, x)", "blocks(z, y)", "blocks(x: ?) cyclic", f"blocks(x: {draw.randint(1, 9)}) cyclic"])
    made = program(tmp_path, matmul(*sizes), CURVE.replace("blocks(y, x)", blocks))
    grid = (draw.randint(1, 9), 1, 1) if "?" in blocks else None
    assert not made.wrong(grid=grid) and not made.wrong(grid=grid, native=True), (sizes, blocks)


@pytest.mark.parametrize("blocks", ["blocks(y, x)", "blocks(x: 3) cyclic"])
@pytest.mark.parametrize(("m", "n"), [("?", 40), (40, "?"), ("?", "?")])
def test_sizes_of_run_time_are_refused(m: int | str, n: int | str, blocks: str, tmp_path: Path) -> None:
    assert codes(refusal(tmp_path, matmul(m, n, 16), CURVE.replace("blocks(y, x)", blocks))) == ["W0364"]


def test_the_attribute_comes_back() -> None:
    mapping = Mapping("blocks", ("y", "x"), (-1, -1), hilbert=True)
    assert str(mapping) == "blocks(y, x) order hilbert"
    with ir.Context():
        assert Mapping.read(mapping.attribute()) == mapping


def test_hilbert_stays_free_as_a_name(tmp_path: Path) -> None:
    assert not program(tmp_path, matmul(16, 16, 8), CURVE.replace("tiles", "hilbert")).wrong()
