"""Ops one at a time: 16-bit floats on all their values, comparisons of indices, vectors, atomics; `runtime/form` has the rest."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cuda_cases import emit_text
from native import run_native

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # infinities and NaNs are meant
N = 256
F16, BF16, F32, F64 = np.float16, ml_dtypes.bfloat16, np.float32, np.float64
NAMES = {
    F16: "f16",
    BF16: "bf16",
    F32: "f32",
    F64: "f64",
    np.int32: "i32",
    np.int64: "i64",
    np.int8: "i8",
    np.bool_: "i1",
}


def elementwise(body: str, inputs: list[np.ndarray], result: type) -> np.ndarray:
    """Run `body`, which makes `%r` of `%a`, `%b`, …, on each element."""
    count = inputs[0].size
    made = np.zeros(count, result)
    arrays = [*inputs, made]
    types = [f"memref<{count}x{NAMES[a.dtype.type]}>" for a in arrays]
    arguments = ", ".join(f"%m{n}: {t}" for n, t in enumerate(types))
    loads = "\n".join(f"%{'abc'[n]} = memref.load %m{n}[%i] : {t}" for n, t in enumerate(types[:-1]))
    text = f"""gpu.module @m {{ gpu.func @k({arguments}) kernel attributes {{known_block_size = array<i32: {N}, 1, 1>}} {{
      %i = gpu.global_id x
      {loads}
      {body}
      memref.store %r, %m{len(inputs)}[%i] : {types[-1]}
      gpu.return }} }}"""
    assert count % N == 0
    assert not run_native(emit_text(text), "k", (count // N,), (N,), arrays).diverged
    return made


def same(got: np.ndarray, wanted: np.ndarray) -> bool:
    a, b = got.astype(F64), wanted.astype(F64)
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | ((a != a) & (b != b))).all())


ALL_16 = np.arange(65536, dtype=np.uint16)


@pytest.mark.parametrize("small", [F16, BF16], ids=["f16", "bf16"])
def test_widening_is_exact_for_all_values(small: type) -> None:
    values = ALL_16.view(small)
    name = NAMES[small]
    assert same(elementwise(f"%r = arith.extf %a : {name} to f32", [values], F32), values.astype(F32))
    assert same(elementwise(f"%r = arith.extf %a : {name} to f64", [values], F64), values.astype(F64))


PLACES = np.array([-(2**31), -5, -1, 0, 1, 222, 223, 224, 225, 2**31 - 1] * 128, np.int32)[: 4 * N]
WINDOWS = {
    # of a place that an i32 says, and of one that may be any 64-bit number
    "int": ("%x = arith.index_cast %a : i32 to index", 0, "(unsigned)"),
    "a sum": ("%o = arith.index_cast %a : i32 to index\n%m = arith.constant -3 : index\n%x = arith.addi %o, %m : index", -3, None),
    "long": (
        "%w = arith.extsi %a : i32 to i64\n%f = arith.constant 4294967296 : i64\n%l = arith.muli %w, %f : i64\n"
        "%x = arith.index_cast %l : i64 to index",
        None, "(unsigned long long)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
def test_an_index_is_compared_as_an_unsigned_number(name: str) -> None:
    """`(unsigned)x < 224`: a negative index is outside, whatever the width of its type."""
    place, offset, spelled = WINDOWS[name]
    body = f"{place}\n%n = arith.constant 224 : index\n%r = arith.cmpi ult, %x, %n : index"
    x = PLACES.astype(np.int64) * 2**32 if offset is None else PLACES.astype(np.int64) + offset
    assert elementwise(body, [PLACES], np.bool_).tolist() == ((x >= 0) & (x < 224)).tolist()
    if spelled is not None:
        shape = f"memref<{N}xi32>"
        cuda = emit_text(f"""gpu.module @m {{ gpu.func @k(%m: {shape}, %out: memref<{N}xi1>) kernel {{
          %i = gpu.global_id x
          %a = memref.load %m[%i] : {shape}
          {body}
          memref.store %r, %out[%i] : memref<{N}xi1>
          gpu.return }} }}""")
        assert spelled in cuda and cuda.count("unsigned") == spelled.count("unsigned")


def near_ties(small: type) -> np.ndarray:
    """Doubles at, just above and just below the middle between each two neighbours of the small type."""
    values = ALL_16.view(small).astype(F64)
    values = np.sort(values[np.isfinite(values)])
    middle = (values[1:] + values[:-1]) / 2
    edges = np.array([np.inf, -np.inf, np.nan, 65519.99, 65520.0, 3.3895e38, 3.4e38, 1e-300, -0.0])
    made = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), edges])
    return np.concatenate([made, np.zeros(-made.size % N)])


@pytest.mark.parametrize("small", [F16, BF16], ids=["f16", "bf16"])
def test_narrowing_rounds_once(small: type) -> None:
    doubles, name = near_ties(small), NAMES[small]
    floats = doubles.astype(F32)
    assert same(elementwise(f"%r = arith.truncf %a : f32 to {name}", [floats], small), floats.astype(small))
    wanted = doubles.astype(F16) if small is F16 else narrowed(doubles)
    assert same(elementwise(f"%r = arith.truncf %a : f64 to {name}", [doubles], small), wanted)


def narrowed(doubles: np.ndarray) -> np.ndarray:
    """Doubles to bf16 in one rounding (ml_dtypes goes through float and rounds twice): to odd first."""
    with np.errstate(over="ignore"):
        floats = doubles.astype(F32)
    finite = np.isfinite(doubles)
    toward_zero = np.where(
        finite & (np.abs(floats.astype(F64)) > np.abs(doubles)), np.nextafter(floats, F32(0)), floats
    )
    inexact = finite & (toward_zero.astype(F64) != doubles)
    odd = np.where(inexact, toward_zero.view(np.uint32) | 1, toward_zero.view(np.uint32)).astype(np.uint32).view(F32)
    return odd.astype(BF16)


@pytest.mark.parametrize("small", [F16, BF16], ids=["f16", "bf16"])
@pytest.mark.parametrize("op", ["addf", "subf", "mulf", "divf"])
def test_small_arithmetic(small: type, op: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 65536, 65536).astype(np.uint16).view(small) for _ in "ab")
    name = NAMES[small]
    exact = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}[op]
    with np.errstate(all="ignore"):
        wanted = exact(a.astype(F32), b.astype(F32)).astype(small)
    assert same(elementwise(f"%r = arith.{op} %a, %b : {name}", [a, b], small), wanted)


def test_f16_fma_rounds_once() -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.integers(0, 65536, 65536).astype(np.uint16).view(F16) for _ in "abc")
    with np.errstate(all="ignore"):
        wanted = (a.astype(np.longdouble) * b + c).astype(F16)  # 64 bits hold the exact sum of what is finite here
    assert same(elementwise("%r = math.fma %a, %b, %c : f16", [a, b, c], F16), wanted)


# ---- vectors, atomics ---------------------------------------------------------------------------------------------------


def kernel(arguments: str, body: str, block: int = 32) -> str:
    text = f"""gpu.module @m {{ gpu.func @k({arguments}) kernel attributes {{known_block_size = array<i32: {block}, 1, 1>}} {{
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      {body}
      gpu.return }} }}"""
    return emit_text(text)


def test_vectors_of_two_dimensions() -> None:
    text = kernel("%x: memref<32x4x4xf32>, %y: memref<32x4x4xf32>, %s: memref<32xf32>", """
      %z = arith.constant 0.0 : f32
      %v = vector.transfer_read %x[%t, %c0, %c0], %z {in_bounds = [true, true]} : memref<32x4x4xf32>, vector<4x4xf32>
      %w = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
      %row = vector.extract %w[2] : vector<4xf32> from vector<4x4xf32>
      %e = vector.extract %w[1, 3] : f32 from vector<4x4xf32>
      %u = vector.insert %e, %row[0] : f32 into vector<4xf32>
      %d = vector.insert %u, %w[0] : vector<4xf32> into vector<4x4xf32>
      %low = vector.extract_strided_slice %row {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
      %sum = vector.reduction <add>, %low : vector<2xf32> into f32
      memref.store %sum, %s[%t] : memref<32xf32>
      vector.transfer_write %d, %y[%t, %c0, %c0] {in_bounds = [true, true]} : vector<4x4xf32>, memref<32x4x4xf32>""")  # fmt: skip
    assert text.count("reinterpret_cast<const float4*>") == 4
    assert text.count("reinterpret_cast<float4*>") == 4
    x, y, s = np.random.default_rng(3).random((32, 4, 4), F32), np.zeros((32, 4, 4), F32), np.zeros(32, F32)
    run_native(text, "k", (1,), (32,), [x, y, s])
    wanted = np.swapaxes(x, 1, 2).copy()
    assert np.array_equal(s, wanted[:, 2, 1] + wanted[:, 2, 2])
    wanted[:, 0] = wanted[:, 2]
    wanted[:, 0, 0] = wanted[:, 1, 3]
    assert np.array_equal(y, wanted)


def test_wide_access_needs_a_proven_alignment() -> None:
    body = """
      %c4 = arith.constant 4 : index
      %i = arith.muli %t, %c4 : index
      %j = arith.addi %i, %n : index
      %v = vector.load %x[%j] : memref<256xf32>, vector<4xf32>
      vector.store %v, %y[%i] : memref<256xf32>, vector<4xf32>"""
    text = kernel("%x: memref<256xf32>, %y: memref<256xf32>, %n: index", body)
    assert "const float4*" not in text and "reinterpret_cast<float4*>" in text
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    run_native(text, "k", (1,), (32,), [x, y, 3])
    assert np.array_equal(y[:128], x[3:131])


def test_vector_accumulator_is_carried_by_a_loop() -> None:
    text = kernel("%x: memref<8x128xf32>, %y: memref<128xf32>", """
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %i = arith.muli %t, %c4 : index
      %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (vector<4xf32>) {
        %v = vector.load %x[%k, %i] : memref<8x128xf32>, vector<4xf32>
        %s = arith.addf %acc, %v : vector<4xf32>
        scf.yield %s : vector<4xf32>
      }
      vector.store %sum, %y[%i] : memref<128xf32>, vector<4xf32>""")  # fmt: skip
    x, y = np.random.default_rng(4).integers(0, 99, (8, 128)).astype(F32), np.zeros(128, F32)
    run_native(text, "k", (1,), (32,), [x, y])
    assert np.array_equal(y, x.sum(axis=0))


def test_atomics() -> None:
    text = kernel("%x: memref<32xi32>, %sum: memref<1xi32>, %top: memref<1xi32>", """
      %v = memref.load %x[%t] : memref<32xi32>
      %a = memref.atomic_rmw addi %v, %sum[%c0] : (i32, memref<1xi32>) -> i32
      %b = memref.atomic_rmw maxs %v, %top[%c0] : (i32, memref<1xi32>) -> i32""")  # fmt: skip
    x, total, top = np.arange(-16, 16, dtype=np.int32), np.zeros(1, np.int32), np.full(1, -99, np.int32)
    run_native(text, "k", (1,), (32,), [x, total, top])
    assert (total[0], top[0]) == (x.sum(), 15)


def test_a_load_stays_before_the_store_that_follows_it() -> None:
    """A swap: both loads come before both stores, whatever is used once."""
    text = kernel("%x: memref<64xf32>", """
      %c32 = arith.constant 32 : index
      %o = arith.addi %t, %c32 : index
      %a = memref.load %x[%t] : memref<64xf32>
      %b = memref.load %x[%o] : memref<64xf32>
      memref.store %a, %x[%o] : memref<64xf32>
      memref.store %b, %x[%t] : memref<64xf32>""")  # fmt: skip
    x = np.arange(64, dtype=F32)
    run_native(text, "k", (1,), (32,), [x])
    assert np.array_equal(x, np.roll(np.arange(64, dtype=F32), 32))
