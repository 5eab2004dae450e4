"""`order grouped(n)`: each block takes one tile, in the order of Triton's tutorial, and every witness sees that no two meet."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from judged import codes, program, refusal
from loops import launched, loop_module, mapped, stores_of
from pinned import pinned
from places import ROOT

from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.mapping.mapping import Mapping
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts_between_blocks
from weft.pipeline import Choice, applied
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import SimKernel

HERE = Path(__file__).parent
GRIDS = [*itertools.product(range(1, 9), (1, 2, 3, 4, 5, 8))]


def grouped(axes: str, group: int, counts: tuple[int, int] = (-1, -1)) -> str:
    plain = mapped("blocks", axes, counts)
    return plain.removesuffix("}}") + f', order = "grouped", group = {group} : i64}}}}'


def triton(block: tuple[int, int, int], rows: int, columns: int, group: int) -> tuple[int, int]:
    """The tutorial's formula, word for word."""
    pid = block[1] * columns + block[0]
    num_pid_in_group = group * columns
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * group
    group_size_m = min(rows - first_pid_m, group)
    return first_pid_m + (pid % num_pid_in_group) % group_size_m, (pid % num_pid_in_group) // group_size_m


@pytest.mark.few(3)
@pytest.mark.parametrize("group", [1, 2, 3, 4, 5, 8, 11])
def test_tiles_are_taken_in_triton_s_order(group: int) -> None:
    for rows, columns in GRIDS:
        module, info = launched(loop_module([rows, columns], grouped("yx", group)))
        assert info.grid == (columns, rows, 1)
        taken = {s.block: s.at for s in stores_of(module, [rows, columns])}
        wanted = {(x, y, 0): triton((x, y, 0), rows, columns, group) for y in range(rows) for x in range(columns)}
        assert taken == wanted, (rows, columns)


@pytest.mark.few()
@pytest.mark.parametrize("group", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("count", [1, 2, 7, 60, -2])
def test_blocks_that_stay_take_tile_after_tile_in_that_order(group: int, count: int) -> None:
    """Block b takes the tiles that as many blocks as tiles would have from number b on, `count` apart."""
    for rows, columns in ((1, 1), (3, 5), (7, 5), (4, 3), (9, 1), (1, 9)):
        mapping = mapped("blocks", "x", [count], "cyclic").removesuffix("}}") + f', order = "grouped", group = {group} : i64}}}}'
        module, info = launched(loop_module([rows, columns], mapping))
        blocks = count if count > 0 else 4
        assert info.grid == (count if count > 0 else None, 1, 1)
        each: dict[int, set[tuple[int, ...]]] = {}
        stores = stores_of(module, [rows, columns]) if count > 0 else stores_of(module, [rows, columns], grid=(blocks, 1, 1))
        for store in stores:
            each.setdefault(store.block[0], set()).add(store.at)
        tiles = [triton((n % columns, n // columns, 0), rows, columns, group) for n in range(rows * columns)]
        assert each == {b: set(tiles[b::blocks]) for b in range(min(blocks, rows * columns))}, (rows, columns)


WHO = """\
func.func @who() -> tensor<{0}x{1}xi32> {{
  %empty = tensor.empty() : tensor<{0}x{1}xi32>
  %who = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      outs(%empty : tensor<{0}x{1}xi32>) {{
    ^bb0(%out: i32):
      %thread = gpu.thread_id x
      %number = arith.index_cast %thread : index to i32
      linalg.yield %number : i32
  }} -> tensor<{0}x{1}xi32>
  return %who : tensor<{0}x{1}xi32>
}}
"""


@pytest.mark.few()
@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("order", ["grouped", "panels"])
def test_threads_share_elements_in_that_order(order: str, number: int, tmp_path: Path) -> None:
    for rows, columns in ((1, 1), (3, 5), (7, 5), (16, 4)):
        steps = f"let op = match linalg.generic\nmap op to threads(x: 8) cyclic order {order}({number})\nlaunch op"
        made = program(tmp_path, WHO.format(rows, columns), steps).ready
        (done,) = run_plan(made.plan, SimDevice(), {}, text=made.applied.located_text).outputs.values()
        places = [(row, column) for row in range(rows) for column in range(columns)]
        by_panels = sorted(places, key=lambda at: (at[1] // number, at[0], at[1]))
        by_groups = [triton((n % columns, n // columns, 0), rows, columns, number) for n in range(rows * columns)]
        taken = by_groups if order == "grouped" else by_panels
        assert {at: int(thread) for at, thread in np.ndenumerate(done)} == {at: n % 8 for n, at in enumerate(taken)}, done


def test_groups_run_along_the_slower_axis_whatever_dimension_it_is() -> None:
    module, _ = launched(loop_module([6, 4], grouped("xz", 4)))
    for store in stores_of(module, [6, 4]):
        x, _, z = store.block
        assert store.at == triton((x, z, 0), 4, 6, 4)[::-1]


def test_more_blocks_than_tiles() -> None:
    """The order is one of the whole grid; a block whose tile is not there has nothing to do."""
    module, info = launched(loop_module([3, 5], grouped("yx", 2, (4, 6))))
    assert info.grid == (6, 4, 1)
    taken = {s.block: s.at for s in stores_of(module, [3, 5])}
    places = {(x, y, 0): triton((x, y, 0), 4, 6, 2) for y in range(4) for x in range(6)}
    assert taken == {block: at for block, at in places.items() if at[0] < 3 and at[1] < 5}


@pytest.mark.parametrize(("rows", "columns", "group"), [(8, 8, 4), (7, 5, 4), (6, 3, 4), (5, 6, 8), (11, 4, 3)])
def test_blocks_do_not_meet(rows: int, columns: int, group: int) -> None:
    """Each tile is counted up once: the simulator sees no race, and the analysis proves that there is none."""
    text = loop_module([rows, columns], grouped("yx", group)).replace(
        "memref.store %one", f"%v = memref.load %out[%i0, %i1] : memref<{rows}x{columns}xi32>\n"
        "%w = arith.addi %v, %one : i32\nmemref.store %w"
    )  # fmt: skip
    _module, info = launched(text)
    kernel = info.kernel
    out = np.zeros((rows, columns), np.int32)
    report = SimKernel(kernel).launch((columns, rows, 1), (1, 1, 1), [out])
    assert (report.races, report.faults) == ((), ())
    assert (out == 1).all()
    assert conflicts_between_blocks(kernel_model(kernel)) == []


def test_a_wrong_order_is_seen() -> None:
    """Two groups at one place: simulator and analysis both say so, and the analysis does not just assume it."""
    text = loop_module([8, 8], grouped("yx", 4))
    module, _ = launched(text)
    spoilt = str(module).replace("floordiv 4) * 4", "floordiv 4) * 2")
    assert spoilt != str(module)
    spoilt_module = ir.Module.parse(spoilt, module.context)
    kernel = next(operations(spoilt_module.operation, "gpu.func"))
    report = SimKernel(kernel).launch((8, 8, 1), (1, 1, 1), [np.zeros((8, 8), np.int32)])
    assert report.races
    found = conflicts_between_blocks(kernel_model(kernel))
    assert found and not any(conflict.assumed for conflict in found)


STAGED = """\
let mm = match linalg.matmul
let (tiles, t) = tile mm [8, 8]
map tiles to blocks(y, x) order grouped({group})
let (k, step) = tile t [_, _, 8]
let (a, ca) = promote-to-shared step.lhs
let (b, cb) = promote-to-shared step.rhs
map ca to threads(*) cyclic
map cb to threads(*) cyclic
let (lanes, one) = tile step [1, 1]
map lanes to threads(y, x)
insert-barriers
verify-sync
launch tiles"""


def matmul(m: int | str, n: int | str, k: int) -> str:
    return f"""\
func.func @mm(%A: tensor<{m}x{k}xf32>, %B: tensor<{k}x{n}xf32>, %C: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %r = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%C : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""


@pytest.mark.parametrize(
    ("name", "sizes", "group"),
    [("order-whole", (64, 64, 16), 4), ("order-ragged", (41, 35, 17), 4), ("order-one-group", (24, 40, 16), 8)],
)
def test_a_staged_matmul(name: str, sizes: tuple[int, int, int], group: int, tmp_path: Path, update: bool) -> None:
    made = program(tmp_path, matmul(*sizes), STAGED.format(group=group))
    assert any("race-free, 2 barriers" in remark for remark in made.remarks)
    assert not made.wrong()
    assert not made.wrong(native=True)
    pinned(HERE / "golden" / f"{name}.cu", made.cuda, update)


@pytest.mark.parametrize("group", [1, 2, 3, 8])
def test_a_grid_known_at_run_time_takes_its_tiles_in_the_same_order(group: int) -> None:
    """Blocks of the last group may be without a tile: the others come one after the other."""
    module, info = launched(loop_module([5, 4], grouped("yx", group), dynamic=True))
    assert info.grid == (None, None, 1)
    assert conflicts_between_blocks(kernel_model(info.kernel, grid=info.grid)) == []
    for rows, columns in ((1, 1), (1, 5), (7, 1), (8, 8), (5, 4), (11, 3), (0, 3)):
        stores = stores_of(module, [rows, columns], dynamic=True)
        taken = [s.at for s in sorted(stores, key=lambda s: s.block[::-1])]
        blocks = [(x, y, 0) for y in range(rows) for x in range(columns)]
        assert taken == [triton(block, rows, columns, group) for block in blocks], (rows, columns)


def test_a_wrong_order_of_a_grid_known_at_run_time_is_seen() -> None:
    module, info = launched(loop_module([8, 8], grouped("yx", 4), dynamic=True))
    spoilt = str(module).replace("floordiv 4", "floordiv 5")
    assert spoilt != str(module)
    spoilt_module = ir.Module.parse(spoilt, module.context)
    kernel = next(operations(spoilt_module.operation, "gpu.func"))
    found = conflicts_between_blocks(kernel_model(kernel, grid=info.grid))
    assert found and not any(conflict.assumed for conflict in found)
    report = SimKernel(kernel).launch((32, 2, 1), (1, 1, 1), [np.zeros((8, 8), np.int32), 8, 8])
    assert report.races


@pytest.mark.parametrize(("m", "n"), [("?", "?"), ("?", 40), (24, "?"), (8, "?")])
def test_a_staged_matmul_of_any_size(m: int | str, n: int | str, tmp_path: Path) -> None:
    made = program(tmp_path, matmul(m, n, 16), STAGED.format(group=4))
    assert "blocks(y, x) order grouped(4)" in made.remarks
    assert any("race-free, 2 barriers" in remark for remark in made.remarks)
    assert not any("assumed" in remark for remark in made.remarks)
    for rows, columns in ((41, 35), (64, 64), (1, 100), (100, 1), (0, 8)):
        sizes = (rows if m == "?" else int(m), columns if n == "?" else int(n))
        shapes = {"A": (sizes[0], 16), "B": (16, sizes[1]), "C": sizes}
        arrays = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
        expected = {"result0": np.full(sizes, 17, np.float32)}
        for native in (False, True):
            assert not made.run({name: a.copy() for name, a in arrays.items()}, expected, native=native), sizes


@pytest.mark.few()
@pytest.mark.parametrize("sizes", [(41, 35, 17), (8, 8, 8), (70, 9, 8)], ids=str)
@pytest.mark.parametrize("count", ["3", "?"])
def test_blocks_that_stay_and_sizes_of_run_time(count: str, sizes: tuple[int, int, int], tmp_path: Path) -> None:
    stay = STAGED.replace("blocks(y, x) order", f"blocks(x: {count}) cyclic order").format(group=3)
    grid = (3, 1, 1) if count == "?" else None
    known = program(tmp_path, matmul(*sizes), stay)
    assert not known.wrong(grid=grid) and not known.wrong(grid=grid, native=True)
    if count == "?":
        assert codes(refusal(tmp_path, matmul("?", "?", sizes[2]), stay)) == ["W0354"]
        return
    made = program(tmp_path, matmul("?", "?", sizes[2]), stay)
    assert any(remark.startswith("iterations are taken row by row") for remark in made.remarks)
    arrays = random_inputs(functions.signature(known.ready.applied.payload, known.ready.plan.entry), 3)
    assert not made.run(arrays, grid=grid) and not made.run(arrays, grid=grid, native=True)


def test_a_padded_copy_whose_last_group_is_cut(tmp_path: Path) -> None:
    """3 does not divide the tile's 128 rows: what of the padded tile is not filled is known, and that nobody reads it."""
    recipes = ROOT / "weft" / "recipes"
    part = (recipes / "parts" / "by_lanes.weft").read_text(encoding="utf-8")
    copies = "map copy_a to threads(*) cyclic order grouped(3) vector width\n  map copy_b to threads(*) cyclic vector width"
    text = part.replace("map [copy_a, copy_b] to threads(*) cyclic vector width", copies)
    assert copies in text
    (tmp_path / "by_lanes.weft").write_text(text.replace("summed.weft", "weft:parts/summed"), encoding="utf-8")
    recipe = (recipes / "matmul" / "simt.weft").read_text(encoding="utf-8").replace("weft:parts/by_lanes", "by_lanes.weft")
    (tmp_path / "cut.weft").write_text(recipe, encoding="utf-8")
    steps = applied(Choice(str(tmp_path / "cut.weft")).open()).session.steps
    assert any("2 barriers" in remark for step in steps for remark in step.remarks)


def test_the_attribute_comes_back() -> None:
    mapping = Mapping("blocks", ("y", "x"), (-1, -1), group=8)
    assert str(mapping) == "blocks(y, x) order grouped(8)"
    with ir.Context():
        assert Mapping.read(mapping.attribute()) == mapping
        assert '"grouped"' in str(mapping.attribute())


def test_order_and_grouped_stay_free_as_names(tmp_path: Path) -> None:
    lines = STAGED.format(group=2).replace("tiles", "order").replace("lanes", "grouped")
    assert not program(tmp_path, matmul(16, 16, 8), lines).wrong()
