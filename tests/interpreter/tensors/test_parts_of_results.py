"""A payload takes the first elements of an op's result: no tile writes after them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judged import program

import weft


def kind(shape: tuple[int, ...], of: str = "tensor") -> str:
    return f"{of}<{''.join(f'{n}x' for n in shape)}f32>"


def sliced(whole: tuple[int, ...], *parts: tuple[int, ...]) -> str:
    """A function of the first elements of `-x`: a result for each of `parts`."""
    x, zeros, ones = kind(whole), [0] * len(whole), [1] * len(whole)
    slices = [
        f"%s{n} = tensor.extract_slice %v{zeros} {list(part)} {ones} : {x} to {kind(part)}" for n, part in enumerate(parts)
    ]
    results, kinds = ", ".join(f"%s{n}" for n in range(len(parts))), ", ".join(map(kind, parts))
    return f"""func.func @f(%x: {x}) -> ({kinds}) {{
  %e = tensor.empty() : {x}
  %v = linalg.negf ins(%x : {x}) outs(%e : {x}) -> {x}
  {chr(10).join(slices)}
  return {results} : {kinds}
}}"""


def tiled(*tiles: tuple[int, ...]) -> str:
    """The op on a grid; or in tiles of blocks, and these in tiles of threads."""
    axes = "y, x" if tiles and len(tiles[0]) == 2 else "x"
    if not tiles:
        return f"let op = match linalg.negf\nmap op to grid({axes})\nlaunch op"
    lines, op = ["let op = match linalg.negf"], "op"
    for n, tile in enumerate(tiles):
        space = "grid" if len(tiles) == 1 else ("blocks", "threads")[n]
        lines += [f"let (t{n}, o{n}) = tile {op} {list(tile)}", f"map t{n} to {space}({axes})"]
        op = f"o{n}"
    return "\n".join([*lines, "launch t0"])


ROWS = [(), ((1,),), ((2,),), ((3,),), ((5,),), ((4,), (1,)), ((3,), (2,)), ((2,), (1,))]


@pytest.mark.parametrize("whole, parts", [(4, (3,)), (4, (2,)), (17, (2,)), (4, (3, 2)), (4, (3, 4))])
def test_of_a_row(whole: int, parts: tuple[int, ...], tmp_path: Path) -> None:
    for tiles in ROWS:
        made = program(tmp_path, sliced((whole,), *((n,) for n in parts)), tiled(*tiles))
        assert not made.wrong(), tiles


@pytest.mark.parametrize("part", [(3, 2), (4, 5), (1, 6), (2, 3)])
def test_of_a_matrix(part: tuple[int, int], tmp_path: Path) -> None:
    for tiles in ((1, 1),), ((2, 2),), ((3, 4),), ((4, 1),), ((4, 4), (2, 1)), ((3, 2), (2, 1)):
        assert not program(tmp_path, sliced((4, 6), part), tiled(*tiles)).wrong(), tiles


OPEN = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %half = arith.divui %n, %two : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %v = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = tensor.extract_slice %v[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}"""


@pytest.mark.parametrize("tile", [1, 2, 3])
def test_of_a_row_of_open_size(tile: int, tmp_path: Path) -> None:
    made = program(tmp_path, OPEN, tiled((tile,)))
    for size in 2, 5, 8, 13:
        x = np.random.default_rng(size).random(size, dtype=np.float32)
        assert not made.wrong({"x": x}, folder=tmp_path), size


PRODUCT = """func.func @f(%a: tensor<6x5xf32>, %b: tensor<5x8xf32>, %c: tensor<6x8xf32>) -> tensor<4x3xf32> {
  %v = linalg.matmul ins(%a, %b : tensor<6x5xf32>, tensor<5x8xf32>) outs(%c : tensor<6x8xf32>) -> tensor<6x8xf32>
  %s = tensor.extract_slice %v[0, 0] [4, 3] [1, 1] : tensor<6x8xf32> to tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}"""


@pytest.mark.parametrize("tile", [(1, 1), (2, 3), (4, 4), (5, 2)])
def test_of_a_product(tile: tuple[int, int], tmp_path: Path) -> None:
    assert not program(tmp_path, PRODUCT, tiled(tile).replace("negf", "matmul")).wrong()


BUFFERS = """func.func @f(%x: memref<4x6xf32>, %y: memref<3x2xf32>) {
  %X = bufferization.to_tensor %x restrict : memref<4x6xf32> to tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %v = linalg.negf ins(%X : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = tensor.extract_slice %v[0, 0] [3, 2] [1, 1] : tensor<4x6xf32> to tensor<3x2xf32>
  bufferization.materialize_in_destination %s in restrict writable %y : (tensor<3x2xf32>, memref<3x2xf32>) -> ()
  return
}"""


@pytest.mark.parametrize("tile", [(1, 1), (2, 2), (3, 2), (3, 4)])
def test_of_buffers(tile: tuple[int, int], tmp_path: Path) -> None:
    """Compiled, too: what follows the result in memory stays."""
    assert not program(tmp_path, BUFFERS, tiled(tile)).wrong()
    x, memory = np.arange(24, dtype=np.float32).reshape(4, 6), np.full(64, 7, np.float32)
    kernel = weft.compile(f"schedule s() {{\n{tiled(tile)}\n}}", BUFFERS, target="cpu")
    kernel(x, memory[:6].reshape(3, 2))
    assert np.array_equal(memory[:6].reshape(3, 2), -x[:3, :2])
    assert np.array_equal(memory[6:], np.full(58, 7, np.float32))
