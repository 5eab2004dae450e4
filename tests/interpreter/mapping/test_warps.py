"""Warps and lanes: warp = linear thread id / 32, lane = the rest; alone, together, beside maps over threads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from evaluator import Buffer, Evaluator
from judged import program
from loops import ROOT, launched, mapped, owner, placed
from pinned import pinned

HERE = Path(__file__).parent
BLOCKS = mapped("blocks", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)


def over_blocks(body: str, shape: str = "2x8x32", arguments: str = "") -> str:
    return f"""\
func.func @f(%A: memref<{shape}xi32> {{weft.name = "A"}}{arguments}) {{
  %one = arith.constant 1 : i32
  scf.forall (%b) in (2) {{
{body}
  }} {BLOCKS}
  return
}}
"""


def nest(
    warps: str,
    lanes: str | None,
    trips: tuple[int | str, int | str] = (8, 32),
    shape: str = "2x8x32",
    arguments: str = "",
) -> str:
    """A loop over warps, and in it one over lanes; with no map of its own, the inner loop is the op's business."""
    store = f"memref.store %one, %A[%b, %w, %l] : memref<{shape}xi32>"
    if lanes is None:
        inner = "%l = arith.constant 0 : index\n" + store
    else:
        inner = f"scf.forall (%l) in ({trips[1]}) {{ {store} }} {lanes}"
    return over_blocks(f"    scf.forall (%w) in ({trips[0]}) {{\n{inner}\n}} {warps}", shape, arguments)


LANES = mapped("lanes", "x", [32])
GOLDENS = {
    "warps-lanes": nest(mapped("warps", "x", [-1]), LANES),
    "warps-lanes-cyclic-dynamic": nest(
        mapped("warps", "x", [4], "cyclic"),
        mapped("lanes", "x", [32], "cyclic"),
        ("%m", "%n"),
        "?x?x?",
        ", %m: index, %n: index",
    ),
    "warps-alone": nest(mapped("warps", "x", [8]), None),
    "warps-symbolic": nest(mapped("warps", "x", [-2], "cyclic"), mapped("lanes", "x", [32], "cyclic")),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, update: bool) -> None:
    module, info = launched(GOLDENS[name])
    pinned(HERE / "golden" / f"{name}.mlir", f"{module}\n" + "".join(f"// {placed(r)}\n" for r in info.remarks), update)


def stores(text: str, shape: tuple[int, ...], *more: int, **sizes: tuple[int, int, int]) -> list:
    module, _ = launched(text)
    judge = Evaluator(module)
    judge.run("f", [Buffer(shape, lambda at: 0), *more], **sizes)
    return judge.stores


def linear(thread: tuple[int, int, int], block: tuple[int, int, int]) -> int:
    return thread[0] + block[0] * (thread[1] + block[1] * thread[2])


@pytest.mark.parametrize("dist", ["block", "cyclic", "block-cyclic"])
@pytest.mark.parametrize("trips", [(3, 32), (4, 20), (11, 70)])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_warps_and_lanes(dist: str, trips: tuple[int, int], dynamic: bool) -> None:
    chunk = 2 if dist == "block-cyclic" else None
    found = stores(
        nest(
            mapped("warps", "x", [4], dist, chunk), mapped("lanes", "x", [32], dist, chunk),
            ("%m", "%n") if dynamic else trips, "?x?x?", ", %m: index, %n: index",
        ),
        (2, *trips), *trips,
    )  # fmt: skip
    assert len(found) == 2 * trips[0] * trips[1]
    for store in found:
        b, w, k = store.at
        assert store.block == (b, 0, 0)
        wanted = 32 * owner(w, trips[0], 4, dist, chunk) + owner(k, trips[1], 32, dist, chunk)
        assert store.thread == (wanted, 0, 0)


@pytest.mark.parametrize("threads", [(8, 4, 2), (64, 1, 1), (16, 4, 1), (4, 4, 4)], ids=str)
def test_warps_beside_threads(threads: tuple[int, int, int]) -> None:
    """The block's shape is another map's; warp and lane follow the linear id."""
    x, y, z = threads
    other = f"""\
    scf.forall (%k, %j, %i) in ({z}, {y}, {x}) {{
      %l = affine.apply affine_map<(d0, d1, d2) -> ((d0 * {y} + d1) * {x} + d2)>(%k, %j, %i)
      memref.store %one, %A[%b, %l, %l] : memref<?x?x?xi32>
    }} {mapped("threads", "zyx", [z, y, x])}
"""
    warp = f"""\
    scf.forall (%w) in (2) {{
      scf.forall (%l) in (32) {{ memref.store %one, %A[%b, %w, %l] : memref<?x?x?xi32> }} {LANES}
    }} {mapped("warps", "x", [2])}
"""
    found = stores(over_blocks(warp + other, "?x?x?"), (2, 64, 64))
    shape = Counter(linear(s.thread, threads) == 32 * s.at[1] + s.at[2] for s in found)
    assert shape[True] >= 2 * 64 and len(found) == 4 * 64


def test_warps_along_two_axes() -> None:
    body = f"""\
    scf.forall (%i, %j) in (3, 5) {{
      memref.store %one, %A[%b, %i, %j] : memref<2x8x32xi32>
    }} {mapped("warps", "yx", [2, 4], "cyclic")}
"""
    found = stores(over_blocks(body), (2, 8, 32))
    assert len(found) == 2 * 15
    assert all(s.thread == (32 * (4 * (s.at[1] % 2) + s.at[2] % 4), 0, 0) for s in found)


def test_what_is_left_idle() -> None:
    """Lanes alone: the first warp does it. Warps alone: the first lane of each does."""
    body = f"""\
    scf.forall (%l) in (20) {{ memref.store %one, %A[%b, %l, %l] : memref<?x?x?xi32> }} {LANES}
    scf.forall (%w) in (4) {{ memref.store %one, %A[%b, %w, %w] : memref<?x?x?xi32> }} {mapped("warps", "x", [-1])}
"""
    module, info = launched(over_blocks(body, "?x?x?"))
    assert info.block == (128, 1, 1)
    judge = Evaluator(module)
    judge.run("f", [Buffer((2, 32, 32), lambda at: 0)])
    threads = Counter((s.block[0], s.thread[0]) for s in judge.stores)
    lanes, warps = (
        Counter((b, k) for b in range(2) for k in range(20)),
        Counter((b, 32 * w) for b in range(2) for w in range(4)),
    )
    assert threads == lanes + warps
    assert [placed(r).split(" idle")[0] for r in info.remarks if "idle" in r] == [
        "lanes leaves warp", "warps(x: 4) leaves lane",
    ]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 7, 32, 50, 64, 96, 200])
def test_symbolic_warps_are_right_for_any_block(threads: int) -> None:
    """Blocks that are not whole number of warps, too: the last warp has fewer lanes, and they share its iterations."""
    found = stores(GOLDENS["warps-symbolic"], (2, 8, 32), block=(threads, 1, 1))
    assert sorted(s.at for s in found) == [(b, w, k) for b in range(2) for w in range(8) for k in range(32)]
    warps = -(-threads // 32)
    assert all(s.thread[0] // 32 == s.at[1] % warps for s in found)


def test_an_op_over_lanes() -> None:
    body = f"""\
    scf.forall (%w) in (4) {{
      %row = memref.subview %A[%b, %w, 0] [1, 1, 70] [1, 1, 1]
        : memref<2x4x70xi32> to memref<70xi32, strided<[1], offset: ?>>
      linalg.fill {mapped("lanes", "x", [32], "cyclic", None, 2)} ins(%one : i32)
        outs(%row : memref<70xi32, strided<[1], offset: ?>>)
    }} {mapped("warps", "x", [4])}
"""
    found = stores(over_blocks(body, "2x4x70"), (2, 4, 70))
    written = Counter((*s.at[:2], s.at[2] + lane) for s in found for lane in range(s.width))
    assert written == Counter((b, w, k) for b in range(2) for w in range(4) for k in range(70))
    assert all(s.thread[0] == 32 * s.at[1] + s.at[2] // 2 % 32 for s in found)


MATMUL = """\
func.func @mm(%A: tensor<32x48xf32>, %B: tensor<48x64xf32>, %C: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<32x48xf32>, tensor<48x64xf32>) outs(%C : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}
"""


@pytest.mark.parametrize("native", [False, True], ids=["simulated", "text"])
def test_a_staged_matmul_over_warps_and_lanes(native: bool, tmp_path: Path) -> None:
    """A level between blocks and threads: a warp stages rows, its lanes the elements; the barriers that this needs are proven."""
    made = program(
        tmp_path, MATMUL,
        "let mm = match linalg.matmul\nlet (tiles, t) = tile mm [16, 32]\nmap tiles to blocks(y, x)\n"
        "let (k, step) = tile t [_, _, 16]\nlet (a, ca) = promote-to-shared step.lhs\nlet (b, cb) = promote-to-shared step.rhs\n"
        "map ca to threads(*) cyclic\nlet (rows, row) = tile cb [1, _]\nmap rows to warps(x: 4) cyclic\nmap row to lanes cyclic\n"
        "let (w, sub) = tile step [4, _]\nmap w to warps(x)\nlet (l, one) = tile sub [_, 1]\nmap l to lanes\n"
        "insert-barriers\nverify-sync\nlaunch tiles",
    )  # fmt: skip
    assert made.cuda.count("__syncthreads") == 2
    assert any("race-free, 2 barriers" in remark for remark in made.remarks)
    assert not made.wrong(native=native)
