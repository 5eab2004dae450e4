"""What tensor maps and matrix descriptors mean to the hardware, emulated bit by bit from NVIDIA's documentation, for the text of a
step of a product: boxes go to shared memory, descriptors are taken apart, and each instruction fetches what its addresses say.

Nothing here comes from the emitter but its text. Sources: PTX ISA 8.8, "Tensors: swizzling modes", "Asynchronous warpgroup level
matrix shared memory layout", "Matrix Descriptor Format", "Register Fragments: wgmma.mma_async.m64nNk16"; CUDA Driver API,
`cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cuda_cases import emit_text
from hopper import BYTES, Product

from weft.interpreter.hardware.hopper import warpgroups
from weft.pipeline import Choice, applied, planned

BASE = {"A": 0x8000, "B": 0x18000}
"""Where the stage at hand of each operand begins, in the block's shared memory."""
CASES = {
    "bf16": Product(), "two boxes": Product(bm=256, bn=128, bk=128, stages=1), "narrow": Product(bn=64, bm=64, consumers=1),
    "f16, by columns": Product(type="f16", by_rows=False), "tf32": Product(type="f32", by_rows=False, bk=32),
}  # fmt: skip

WRONG = {"B_matrix + 128": "B_matrix + 129", "A_matrix + 2": "A_matrix + 64", ", 8192);": ", 4096);", "1ull << 62": "2ull << 62"}


def swizzled(address: np.ndarray) -> np.ndarray:
    """128-byte mode: bits 4 to 6 of an address are exchanged by its bits 7 to 9."""
    return address ^ (address >> 7 & 7) << 4


def to_shared(memory: np.ndarray, base: int, box: np.ndarray) -> None:
    """The tensor memory accelerator writes a box: row by row, the innermost dimension side by side, 128 bytes of it."""
    rows, width = box.view(np.uint8).reshape(len(box), -1).shape
    assert width == 128 and base % 1024 == 0
    at = base + np.arange(rows)[:, None] * width + np.arange(width)
    memory[swizzled(at)] = box.view(np.uint8).reshape(rows, width)


def fields(descriptor: int) -> tuple[int, int, int]:
    """Start address, leading and stride byte offsets: each 14 bits, without the 4 lowest bits of the number."""
    assert descriptor >> 62 == 1, "128-byte swizzling"
    assert descriptor >> 49 & 7 == 0, "what repeats begins at a multiple of 1024 bytes"
    return (descriptor & 0x3FFF) << 4, (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4


def by_k(memory: np.ndarray, descriptor: int, count: int, size: int) -> np.ndarray:
    """A matrix of `count` x 32 bytes along the sum: rows of 128 bytes, 8 of them, then the stride to the next 8."""
    start, _, stride = fields(descriptor)
    row, byte = np.arange(count)[:, None], np.arange(32)
    return memory[swizzled(start + row // 8 * stride + row % 8 * 128 + byte)].reshape(count, 32 // size, size)


def by_mn(memory: np.ndarray, descriptor: int, count: int, size: int) -> np.ndarray:
    """One of `count` x 16 elements of two bytes, the sum running down: 8 rows of 64 elements, the stride to the next 8, and the
    leading offset to the next 64."""
    start, leading, stride = fields(descriptor)
    byte, k = np.arange(count * size)[:, None], np.arange(16)
    at = start + byte // 128 * leading + k // 8 * stride + k % 8 * 128 + byte % 128
    return memory[swizzled(at)].reshape(count, size, 16).transpose(0, 2, 1)


def boxes(case: Product, name: str, tile: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """What is loaded of an operand's tile, and where to: as the text says, panel by panel."""
    wide = 128 // BYTES[case.type]
    return [(BASE[name] + n * len(tile) * 128, tile[:, c : c + wide]) for n, c in enumerate(range(0, tile.shape[1], wide))]


def numbers(found: np.ndarray, case: Product) -> np.ndarray:
    """The elements that bytes are, as integers."""
    kind = {1: np.int8, 2: np.uint16, 4: np.uint32}[BYTES[case.type]]
    return np.ascontiguousarray(found).view(kind)[..., 0].astype(np.int64)


BLOCK = 1 << 24
"""In a cluster, addresses of shared memory have the block's number above the 24 bits that lie in it: descriptors have no room
for it."""


def descriptors(text: str, case: Product, offset: int) -> list[tuple[int, int, int]]:
    """Of each instruction of a step the first of its sums, and both descriptors: the text's own formula, evaluated."""
    formula = re.search(r"matrix_in_shared\(const void\* first, int panel\) \{\s+return (.*?);", text, re.DOTALL)
    assert formula is not None
    said = re.sub(r"\(unsigned long long\)|\n", "", formula[1]).replace("ull", "").replace("in_shared(first)", "first")
    made: dict[str, int] = {}
    for name, panel in re.findall(r"(\w+)_matrix = matrix_in_shared\(.*, (\d+)\);", text):
        made[name] = eval(said, {"first": BLOCK + BASE[name] + (offset * 128 if name == "A" else 0), "panel": int(panel)})
    calls = re.findall(r"\bproduct_m64\w+\(\w+(?: \+ (\d+))?, A_matrix(?: \+ (\d+))?, B_matrix(?: \+ (\d+))?\);", text)
    return [(int(to or 0), made["A"] + int(a or 0), made["B"] + int(b or 0)) for to, a, b in calls]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["ring", "together"])
def test_a_step_multiplies_the_tiles_that_were_loaded(name: str, kind: str) -> None:
    case = CASES[name]
    expect_a_step(emit_text(getattr(case, kind)()), case)


BYTE_BY_BYTE = """
func.func @product(%A: tensor<256x512xi8>, %B: tensor<512x512xi8>, %C: tensor<256x512xi32>) -> tensor<256x512xi32> {
  %r = linalg.matmul indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%A, %B : tensor<256x512xi8>, tensor<512x512xi8>) outs(%C : tensor<256x512xi32>) -> tensor<256x512xi32>
  return %r : tensor<256x512xi32>
}
"""


@pytest.mark.parametrize("bn", [64, 192, 256])
def test_a_step_of_integers(bn: int, tmp_path: Path) -> None:
    """Of the recipe `hopper`: instructions that NVVM has, one by one."""
    (tmp_path / "product.mlir").write_text(BYTE_BY_BYTE)
    settings = {"type": "i8", "bm": "128", "bn": str(bn), "stages": "2"}
    text = planned(applied(Choice("hopper", tmp_path / "product.mlir", settings).open())).cuda
    expect_a_step(text, Product(type="i8", bn=bn, bk=128, by_rows=False))


def expect_a_step(text: str, case: Product) -> None:
    """All instructions of a step together multiply what was loaded."""
    random, size = np.random.default_rng(3), BYTES[case.type]
    word = {1: np.int8, 2: np.uint16, 4: np.uint32}[size]
    a = random.integers(0, 99, (case.bm, case.bk)).astype(word)
    b = random.integers(0, 99, (case.bk, case.bn)).astype(word)
    memory = np.full(0x40000, 0xAA, np.uint8)
    for name_, tile in (("A", a), ("B", b if case.by_rows else np.ascontiguousarray(b.T))):
        for at, box in boxes(case, name_, tile):
            to_shared(memory, at, np.ascontiguousarray(box))
    for group in range(case.consumers):
        sums = np.zeros((case.own, case.bn), np.int64)
        found = descriptors(text, case, group * case.own)
        assert len(found) == case.own // 64 * (case.bk * size // 32)
        for first, left, right in found:
            rows = first // (case.bn // 2) * 64
            mine = numbers(by_k(memory, left, 64, size), case)
            theirs = numbers((by_mn if case.by_rows else by_k)(memory, right, case.bn, size), case)
            sums[rows : rows + 64] += mine @ theirs.T
        own = a[group * case.own : (group + 1) * case.own].astype(np.int64)
        np.testing.assert_array_equal(sums, own @ b.astype(np.int64))


def test_whose_a_sum_is() -> None:
    """Figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D": d0 … of each thread."""
    layout = warpgroups.sum_layout(64, 128)
    for thread, number in product(range(128), range(2 * 32)):
        warp, lane = divmod(thread, 32)
        row = 16 * warp + lane // 4 + (number // 2 % 2) * 8
        column = 8 * (number // 4) + lane % 4 * 2 + number % 2
        held = {"thread": thread, "register": number // 2, "element": number % 2}
        assert (layout.at("row", **held), layout.at("column", **held)) == (row, column)


def test_a_descriptor_of_something_else_is_noticed() -> None:
    """By 16 bytes, by a row of pieces, by half a panel; or exchanged in another way."""
    case = CASES["bf16"]
    text = emit_text(case.ring())
    for right, wrong in WRONG.items():
        assert right in text
        with pytest.raises(AssertionError):
            _again(case, text.replace(right, wrong))


def _again(case: Product, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.emit_text", lambda _: text)
        patch.setitem(CASES, "wrong", case)
        test_a_step_multiplies_the_tiles_that_were_loaded("wrong", "ring")
