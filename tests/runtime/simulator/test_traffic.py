"""Traffic of global memory: bytes, accesses by their width, and whether each element is met once, as the kernel's lanes do them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pytest
from gpu_kernels import func

from weft.runtime.devices.report import Traffic
from weft.runtime.run.report import buffer_traffic

BLOCK = (32, 1, 1)
INDEX = "%c24 = arith.constant 24 : index\n"
SCALED = "%i = arith.muli %tx, %{0} : index\n"
LOAD = "%v = vector.load %A[%i]{0} : memref<256xf32>, vector<{1}xf32>\n"
STORE = "memref.store %w, %A[%tx] : memref<256xf32>\n"

CASES: dict[str, tuple[str, list[tuple[str, int, tuple[tuple[int, int], ...]]]]] = {
    "of a scalar": ("%w = memref.load %A[%tx] : memref<256xf32>\n", [("load", 64, ((4, 64),))]),
    "of 16 bytes": (SCALED.format("c4") + LOAD.format("", 4), [("load", 256, ((16, 64),))]),
    "of 8 bytes": (SCALED.format("c2") + LOAD.format("", 2), [("load", 128, ((8, 64),))]),
    "of 32 bytes": (SCALED.format("c4") + LOAD.format(" {alignment = 16 : i64}", 8), [("load", 512, ((16, 128),))]),
    "of 16 bytes, aligned to 8": (
        SCALED.format("c2") + LOAD.format(" {alignment = 8 : i64}", 4), [("load", 256, ((8, 128),))],
    ),
    "of three": (SCALED.format("c2") + LOAD.format("", 3), [("load", 192, ((4, 192),))]),
    "where a branch goes": (
        "%b = arith.cmpi slt, %tx, %c24 : index\nscf.if %b {\n%w = memref.load %A[%tx] : memref<256xf32>\n}\n",
        [("load", 48, ((4, 48),))],
    ),
    "of an atomic": (
        "%w = arith.constant 1.0 : f32\n%o = memref.atomic_rmw addf %w, %A[%tx] : (f32, memref<256xf32>) -> f32\n",
        [("load", 64, ((4, 64),)), ("store", 64, ((4, 64),))],
    ),
    "there and back": (
        "%w = memref.load %A[%tx] : memref<256xf32>\n" + STORE,
        [("load", 64, ((4, 64),)), ("store", 64, ((4, 64),))],
    ),
}  # fmt: skip


def traffic(body: str, a: np.ndarray, grid: int = 2, kind: str = "memref<256xf32>") -> Sequence[Traffic]:
    return func(f"%A: {kind}", INDEX + body).launch((grid, 1, 1), BLOCK, [a]).traffic or ()


@pytest.mark.parametrize("case", CASES)
def test_accesses_by_their_width(case: str) -> None:
    body, expected = CASES[case]
    found = traffic(body, np.zeros(256, np.float32))
    assert [(use.kind, use.elements, use.accesses) for use in found] == expected
    assert all(use.bytes == 4 * use.elements == sum(width * n for width, n in use.accesses) for use in found)


@pytest.mark.parametrize(
    ("index", "grid", "once", "distinct"),
    [("%g", 2, True, 64), ("%g", 1, False, 32), ("%tx", 2, False, 32), ("%c2", 1, False, 1), ("%g", 4, False, None)],
)
def test_whether_each_element_is_met_once(index: str, grid: int, once: bool, distinct: int | None) -> None:
    """All of them; not all; some twice; one by all; more than there are."""
    body = (
        "%n = arith.constant 32 : index\n%s = arith.constant 64 : index\n%b = arith.muli %bx, %n : index\n"
        f"%h = arith.addi %b, %tx : index\n%g = arith.remui %h, %s : index\n%w = memref.load %A[{index}] : memref<64xf32>"
    )
    (use,) = traffic(body, np.zeros(64, np.float32), grid, "memref<64xf32>")
    assert (use.once, use.distinct, use.size) == (once, distinct, 64)


def test_in_batches_and_in_any_order() -> None:
    body = "%w = memref.load %A[%tx] : memref<256xf32>\n" + STORE
    kernel, a = func("%A: memref<256xf32>", INDEX + body), np.zeros(256, np.float32)
    wanted = kernel.launch((6, 1, 1), BLOCK, [a]).traffic
    for order in ("reverse", 7):
        assert kernel.launch((6, 1, 1), BLOCK, [a], order=order, batch=64).traffic == wanted
    assert kernel.launch((6, 1, 1), BLOCK, [a], check=False).traffic is None


def test_launches_of_a_kernel_are_counted_together() -> None:
    (use,) = traffic(CASES["of a scalar"][0], np.zeros(256, np.float32))
    found = list(buffer_traffic([("k", use), ("other", use), ("k", use)]) or ())
    assert [(one.kernel, one.elements, one.accesses, one.distinct) for one in found] == [
        ("k", 128, ((4, 128),), None), ("other", 64, ((4, 64),), 32),
    ]  # fmt: skip
    assert {**asdict(found[1])} == {**asdict(use), "kernel": "other"}
