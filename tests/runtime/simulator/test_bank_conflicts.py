"""Wavefronts of shared accesses: against a scalar oracle, against cases known by hand, and as a launch reports them."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_kernels import WORKGROUP, func
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.runtime.devices.report import BankUse
from weft.runtime.simulator.machine.banks import Count, count

# ---- an oracle that counts one lane at a time ---------------------------------------------------------------------------


def scalar_count(addresses: list[list[int | None]], width: int) -> Count:
    """Per block, per thread: the first byte that it touches, or None. Written apart from the code, in plain loops."""
    lanes_per_phase = 32 if width <= 4 else 16 if width <= 8 else 8
    executions = wavefronts = ideal = 0
    for block in addresses:
        for first in range(0, len(block), 32):
            warp = block[first : first + 32]
            executions += any(a is not None for a in warp)
            for start in range(0, len(warp), lanes_per_phase):
                banks: dict[int, set[int]] = {}
                for address in warp[start : start + lanes_per_phase]:
                    if address is not None:
                        for byte in range(address, address + width):
                            banks.setdefault(byte // 4 % 32, set()).add(byte // 4)
                if banks:
                    wavefronts += max(len(words) for words in banks.values())
                    ideal += 1
    return Count(executions, wavefronts, ideal)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_counts_as_the_scalar_oracle_does(data: st.DataObject) -> None:
    itemsize = data.draw(st.sampled_from([1, 2, 4, 8]))
    vector = data.draw(st.sampled_from([n for n in (1, 2, 4, 8, 16) if n * itemsize <= 16]))
    threads, blocks = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    reach = data.draw(st.sampled_from([4, 40, 400]))
    starts = rng.integers(0, reach, (threads, blocks)) * vector
    active = rng.random((threads, blocks)) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    elements = starts[:, :, None] + np.arange(vector)
    addresses = [
        [int(starts[t, b]) * itemsize if active[t, b] else None for t in range(threads)] for b in range(blocks)
    ]
    assert count(elements, active, itemsize) == scalar_count(addresses, vector * itemsize)


T = np.arange(32)


@pytest.mark.parametrize(
    ("starts", "vector", "itemsize", "wavefronts", "ideal"),
    [
        (T, 1, 4, 1, 1),  # neighbours
        (T * 0 + 7, 1, 4, 1, 1),  # a broadcast
        (T * 2, 1, 4, 2, 1),
        (T * 32, 1, 4, 32, 1),
        (T * 33, 1, 4, 1, 1),
        (T, 1, 2, 1, 1),  # two lanes a word
        (T * 64, 1, 2, 32, 1),
        (T, 1, 8, 2, 2),  # doubles: two halves
        (T * 2, 1, 8, 4, 2),
        (T * 4, 4, 4, 4, 4),  # float4: four quarters
        (T // 8 * 4, 4, 4, 4, 4),
        (T % 8 * 4, 4, 4, 4, 4),
        (T * 32, 4, 4, 32, 4),
        (((T & 1) * 4 * 128) + (T >> 1), 1, 4, 2, 1),  # the transposed store of a tile, rows of 128, and of 132
        (((T & 1) * 4 * 132) + (T >> 1), 1, 4, 1, 1),
        ((T >> 2) * 128 + (T & 3), 1, 4, 8, 1),  # an accumulator's rows of 512 bytes, and of 528
        ((T >> 2) * 132 + (T & 3), 1, 4, 1, 1),
        (T * 8, 8, 4, 16, 8),  # 32 bytes a lane are two instructions
    ],
)
def test_known_patterns(starts: np.ndarray, vector: int, itemsize: int, wavefronts: int, ideal: int) -> None:
    elements = (starts[:, None] + np.arange(vector))[:, None, :]
    assert count(elements, np.ones((32, 1), bool), itemsize) == Count(1, wavefronts, ideal)


# ---- launches -----------------------------------------------------------------------------------------------------------


def stored_in_columns(row: int, kind: str = "f32", **launch: object) -> list[BankUse]:
    """32 × 8 threads: each stores its element of a tile by columns and loads it by rows."""
    shared = f"memref<32x{row}x{kind}, {WORKGROUP}>"
    body = f"""
      %v = memref.load %X[%ty, %tx] : memref<8x32x{kind}>
      memref.store %v, %s[%tx, %ty] : {shared}
      gpu.barrier
      %w = memref.load %s[%tx, %ty] : {shared}
      memref.store %w, %X[%ty, %tx] : memref<8x32x{kind}>"""
    kernel = func(f"%X: memref<8x32x{kind}>", body, shared=f"%s: {shared}")
    x = np.zeros((8, 32), {"f32": np.float32, "f64": np.float64}[kind])
    report = kernel.launch((3, 1, 1), (32, 8, 1), [x], **launch)  # type: ignore[arg-type]
    assert report.banks is not None
    return list(report.banks)


def test_a_launch_says_which_access_conflicts_and_which_padding_ends_it() -> None:
    store, load = stored_in_columns(32)
    assert (store.buffer, store.kind, store.op, store.width) == ("shared0", "store", "memref.store", 4)
    assert (store.executions, store.wavefronts, store.ideal, store.degree) == (3 * 8, 3 * 8 * 32, 3 * 8, 32.0)
    assert (store.pad, store.padded) == (1, 24) and load.conflicts == store.conflicts == 3 * 8 * 31


@pytest.mark.parametrize(("row", "degree"), [(32, 32), (33, 1), (34, 2), (36, 4), (40, 8)])
def test_the_row_decides(row: int, degree: int) -> None:
    assert [use.degree for use in stored_in_columns(row)] == [degree, degree]


def test_what_was_advised_does_what_was_said() -> None:
    for row in (32, 36, 40, 48):
        for kind in ("f32", "f64"):
            for use in stored_in_columns(row, kind):
                assert use.pad is not None
                assert use.padded in {u.wavefronts for u in stored_in_columns(row + use.pad, kind)}


@pytest.mark.parametrize("order", ["reverse", 3])
def test_the_order_of_lanes_does_not_matter(order: object) -> None:
    assert stored_in_columns(36, order=order) == stored_in_columns(36)


def test_batches_add_up_and_counting_can_be_switched_off() -> None:
    assert stored_in_columns(34, batch=256) == stored_in_columns(34)
    kernel = func("%X: memref<4xf32>", "")
    assert kernel.launch((1, 1, 1), (4, 1, 1), [np.zeros(4, np.float32)], check=False).banks is None
    assert kernel.launch((1, 1, 1), (4, 1, 1), [np.zeros(4, np.float32)], check=False, banks=True).banks == ()


def test_lanes_that_are_masked_off_are_left_out() -> None:
    shared = f"memref<1024xf32, {WORKGROUP}>"
    body = f"""
      %c40 = arith.constant 40 : index
      %c32 = arith.constant 32 : index
      %f = arith.constant 1.0 : f32
      %few = arith.cmpi slt, %tx, %c40 : index
      scf.if %few {{
        %at = arith.muli %tx, %c2 : index
        memref.store %f, %s[%at] : {shared}
      }}"""
    (use,) = func("", body, shared=f"%s: {shared}").launch((2, 1, 1), (96, 1, 1), []).banks or ()
    assert (use.executions, use.wavefronts, use.ideal) == (4, 2 * (2 + 1), 4)  # the second warp: eight lanes, no conflict


def test_an_index_that_depends_on_data_is_counted_exactly() -> None:
    rng = np.random.default_rng(5)
    places = rng.integers(0, 256, (150, 64)).astype(np.int64)
    shared = f"memref<16x16xf32, {WORKGROUP}>"
    body = f"""
      %i = memref.load %I[%bx, %tx] : memref<150x64xi64>
      %n = arith.index_cast %i : i64 to index
      %c16 = arith.constant 16 : index
      %r = arith.divsi %n, %c16 : index
      %q = arith.remsi %n, %c16 : index
      %v = memref.load %s[%r, %q] : {shared}"""
    kernel = func("%I: memref<150x64xi64>", body, shared=f"%s: {shared}")
    (use,) = kernel.launch((150, 1, 1), (64, 1, 1), [places], batch=64).banks or ()
    want = scalar_count([[int(p) * 4 for p in row] for row in places], 4)
    assert (use.executions, use.wavefronts, use.ideal) == (want.executions, want.wavefronts, want.ideal)
    assert use.pad is None  # more patterns than are remembered: nothing is advised
