"""What simulated kernels compute, against NumPy; none of these has a race or a fault."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from gpu_kernels import WORKGROUP, func, matmul

from weft.runtime.devices.report import LaunchReport

KINDS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i8": np.int8,
}  # fmt: skip


def random(kind: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return (rng.integers(-9, 9, shape) if kind[0] == "i" else rng.uniform(-1, 1, shape)).astype(KINDS[kind])


def clean(report: LaunchReport) -> LaunchReport:
    assert report.races == () and report.faults == (), [str(x) for x in (*report.races, *report.faults)]
    return report


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("m", "n", "k", "kind"),
    [
        (32, 32, 32, "f32"), (33, 17, 65, "f32"), (1, 1, 1, "f32"), (40, 24, 50, "f64"), (20, 20, 20, "f16"),
        (17, 20, 18, "bf16"), (33, 17, 40, "i32"), (16, 16, 16, "i8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batch", [256, 16384])
def test_matmul(m: int, n: int, k: int, kind: str, batch: int) -> None:
    a, b = random(kind, m, k), random(kind, k, n)
    c = np.zeros((m, n), KINDS[kind])
    grid = (-(-n // 16), -(-m // 16), 1)
    report = clean(matmul(m, n, k, kind).launch(grid, (16, 16, 1), [a, b, c], batch=batch))
    want = np.zeros((m, n), KINDS[kind])
    for i in range(k):  # in the kernel's own order, rounded after each op: equal to the last bit
        want = (want + a[:, i : i + 1] * b[i : i + 1, :]).astype(KINDS[kind])
    assert np.array_equal(c, want)
    assert report.barriers == 2 * -(-k // 16)


def test_stencil_in_shared_memory() -> None:
    body = f"""
    %i = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%bx, %tx)
    %v = memref.load %A[%i] : memref<128xf32>
    memref.store %v, %s[%tx] : memref<32xf32, {WORKGROUP}>
    gpu.barrier
    %l = affine.max affine_map<(t) -> (t - 1, 0)>(%tx)
    %r = affine.min affine_map<(t) -> (t + 1, 31)>(%tx)
    %x = affine.load %s[%l] : memref<32xf32, {WORKGROUP}>
    %y = affine.load %s[%r] : memref<32xf32, {WORKGROUP}>
    %z = arith.addf %x, %y : f32
    affine.store %z, %B[%bx * 32 + %tx] : memref<128xf32>
    """
    kernel = func("%A: memref<128xf32>, %B: memref<128xf32>", body, shared=f"%s: memref<32xf32, {WORKGROUP}>")
    a, b = random("f32", 128), np.zeros(128, np.float32)
    clean(kernel.launch((4, 1, 1), (32, 1, 1), [a, b]))
    rows = a.reshape(4, 32)
    want = np.concatenate([rows[:, :1], rows[:, :-1]], 1) + np.concatenate([rows[:, 1:], rows[:, -1:]], 1)
    assert np.array_equal(b.reshape(4, 32), want)


def test_tree_reduction_with_a_while_and_a_guard() -> None:
    body = f"""
    %i = affine.apply affine_map<(b, t) -> (b * 64 + t)>(%bx, %tx)
    %v = memref.load %A[%i] : memref<256xi32>
    memref.store %v, %s[%tx] : memref<64xi32, {WORKGROUP}>
    %half = arith.constant 32 : index
    %end = scf.while (%h = %half) : (index) -> index {{
      %go = arith.cmpi sgt, %h, %c0 : index
      scf.condition(%go) %h : index
    }} do {{
    ^bb0(%h: index):
      gpu.barrier
      %in = arith.cmpi ult, %tx, %h : index
      scf.if %in {{
        %o = arith.addi %tx, %h : index
        %x = memref.load %s[%tx] : memref<64xi32, {WORKGROUP}>
        %y = memref.load %s[%o] : memref<64xi32, {WORKGROUP}>
        %z = arith.addi %x, %y : i32
        memref.store %z, %s[%tx] : memref<64xi32, {WORKGROUP}>
      }}
      %n = arith.divui %h, %c2 : index
      scf.yield %n : index
    }}
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {{
      %r = memref.load %s[%c0] : memref<64xi32, {WORKGROUP}>
      memref.store %r, %B[%bx] : memref<4xi32>
    }}
    """
    kernel = func("%A: memref<256xi32>, %B: memref<4xi32>", body, shared=f"%s: memref<64xi32, {WORKGROUP}>")
    a, b = random("i32", 256), np.zeros(4, np.int32)
    for order in ("forward", "reverse", 7):
        report = clean(kernel.launch((4, 1, 1), (64, 1, 1), [a, b], order=order))
        assert np.array_equal(b, a.reshape(4, 64).sum(1)) and report.barriers == 6


def test_while_with_a_count_of_its_own_per_lane() -> None:
    body = """
    %n0 = memref.load %A[%tx] : memref<64xi64>
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    %zero = arith.constant 0 : i64
    %r:2 = scf.while (%n = %n0, %s = %zero) : (i64, i64) -> (i64, i64) {
      %go = arith.cmpi ne, %n, %one : i64
      scf.condition(%go) %n, %s : i64, i64
    } do {
    ^bb0(%n: i64, %s: i64):
      %odd = arith.remsi %n, %two : i64
      %is = arith.cmpi eq, %odd, %one : i64
      %next = scf.if %is -> i64 {
        %t = arith.muli %n, %three : i64
        %u = arith.addi %t, %one : i64
        scf.yield %u : i64
      } else {
        %h = arith.divsi %n, %two : i64
        scf.yield %h : i64
      }
      %s1 = arith.addi %s, %one : i64
      scf.yield %next, %s1 : i64, i64
    }
    memref.store %r#1, %B[%tx] : memref<64xi64>
    """
    a, b = np.arange(1, 65), np.zeros(64, np.int64)
    clean(func("%A: memref<64xi64>, %B: memref<64xi64>", body).launch((1, 1, 1), (64, 1, 1), [a, b]))

    def collatz(n: int) -> int:
        return 0 if n == 1 else 1 + collatz(3 * n + 1 if n % 2 else n // 2)

    assert b.tolist() == [collatz(int(n)) for n in a]


def test_uniform_integers_wrap_like_lanes() -> None:
    body = """
    %m = arith.constant 6364136223846793005 : i64
    %i = arith.constant 1442695040888963407 : i64
    %r = scf.for %k = %c0 to %c9 step %c1 iter_args(%x = %i) -> i64 {
      %y = arith.muli %x, %m : i64
      %z = arith.addi %y, %i : i64
      scf.yield %z : i64
    }
    %mm = arith.muli %m, %m : i64
    %q = arith.xori %mm, %r : i64
    memref.store %q, %B[%tx] : memref<4xi64>
    """
    b = np.zeros(4, np.int64)
    clean(func("%B: memref<4xi64>", body).launch((1, 1, 1), (4, 1, 1), [b]))
    m, i = 6364136223846793005, 1442695040888963407
    x = i
    for _ in range(9):
        x = (x * m + i) % 2**64
    want = ((m * m) % 2**64) ^ x
    assert b.tolist() == [want - 2**64 if want >= 2**63 else want] * 4


@pytest.mark.parametrize("lower", ["%tx", "%c0"])
def test_loops_with_bounds_of_their_own_per_lane(lower: str) -> None:
    body = f"""
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = memref.load %N[%tx] : memref<32xindex>
    %r = scf.for %i = {lower} to %n step %c3 iter_args(%a = %z) -> i32 {{
      %x = arith.index_cast %i : index to i32
      %y = arith.addi %a, %x : i32
      scf.yield %y : i32
    }}
    memref.store %r, %B[%tx] : memref<32xi32>
    """
    n, b = np.random.default_rng(3).integers(0, 60, 32), np.zeros(32, np.int32)
    clean(func("%N: memref<32xindex>, %B: memref<32xi32>", body).launch((1, 1, 1), (32, 1, 1), [n, b]))
    assert b.tolist() == [sum(range(t if lower == "%tx" else 0, n[t], 3)) for t in range(32)]


def test_affine_loops_conditions_and_semi_affine_maps() -> None:
    body = """
    affine.for %i = 0 to min affine_map<(t)[n] -> (t + 3, n)>(%tx)[%n] step 2 {
      affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, s0 - d0 - 2 >= 0)>(%i)[%n] {
        %v = affine.apply affine_map<(i)[t, n] -> ((i * 4 + t) mod n + (t + i) floordiv 3 - t ceildiv 2)>(%i)[%tx, %n]
        %o = affine.load %B[%tx] : memref<16xindex>
        %s = arith.addi %o, %v : index
        affine.store %s, %B[%tx] : memref<16xindex>
      }
    }
    """
    b = np.zeros(16, np.int64)
    clean(func("%B: memref<16xindex>, %n: index", body).launch((1, 1, 1), (16, 1, 1), [b, 11]))
    want = [
        sum((i * 4 + t) % 11 + (t + i) // 3 - -(-t // 2) for i in range(0, min(t + 3, 11), 2) if 1 <= i <= 9)
        for t in range(16)
    ]
    assert b.tolist() == want


def test_private_arrays_indexed_by_constants_and_by_lanes() -> None:
    body = """
    %p = memref.alloca() : memref<4x3xi32>
    %z = arith.constant 0 : i32
    affine.for %i = 0 to 4 { affine.for %j = 0 to 3 {
      %v = affine.apply affine_map<(i, j, t) -> (i * 3 + j + t)>(%i, %j, %tx)
      %w = arith.index_cast %v : index to i32
      affine.store %w, %p[%i, %j] : memref<4x3xi32>
    } }
    %r = arith.remui %tx, %c4 : index
    %x = memref.load %p[%r, %c2] : memref<4x3xi32>
    memref.store %z, %p[%r, %c2] : memref<4x3xi32>
    %y = memref.load %p[%c0, %c2] : memref<4x3xi32>
    memref.store %x, %B[%tx, %c0] : memref<8x2xi32>
    memref.store %y, %B[%tx, %c1] : memref<8x2xi32>
    """
    b = np.zeros((8, 2), np.int32)
    clean(func("%B: memref<8x2xi32>", body).launch((1, 1, 1), (8, 1, 1), [b]))
    assert b.tolist() == [[(t % 4) * 3 + 2 + t, 0 if t % 4 == 0 else 2 + t] for t in range(8)]


def test_vectors() -> None:
    body = f"""
    %i = arith.muli %tx, %c4 : index
    %v = vector.load %A[%i] : memref<128xf32>, vector<4xf32>
    %h = arith.constant 0.5 : f32
    %b = vector.broadcast %h : f32 to vector<4xf32>
    %w = vector.fma %v, %b, %v : vector<4xf32>
    %e = vector.extract %w[3] : f32 from vector<4xf32>
    %u = vector.insert %e, %w [0] : f32 into vector<4xf32>
    vector.store %u, %s[%i] : memref<128xf32, {WORKGROUP}>, vector<4xf32>
    gpu.barrier
    %j = affine.apply affine_map<(t) -> (124 - t * 4)>(%tx)
    %x = vector.load %s[%j] : memref<128xf32, {WORKGROUP}>, vector<4xf32>
    %sum = vector.reduction <add>, %x : vector<4xf32> into f32
    memref.store %sum, %R[%tx] : memref<32xf32>
    vector.store %x, %B[%i] : memref<128xf32>, vector<4xf32>
    """
    arguments = "%A: memref<128xf32>, %B: memref<128xf32>, %R: memref<32xf32>"
    kernel = func(arguments, body, shared=f"%s: memref<128xf32, {WORKGROUP}>")
    a, b, r = random("f32", 128), np.zeros(128, np.float32), np.zeros(32, np.float32)
    clean(kernel.launch((1, 1, 1), (32, 1, 1), [a, b, r]))
    w = (a * np.float32(1.5)).reshape(32, 4)
    w[:, 0] = w[:, 3]
    assert np.allclose(b.reshape(32, 4), w[::-1], rtol=1e-6)
    assert np.array_equal(r, ((b[0::4] + b[1::4]) + b[2::4]) + b[3::4])


def test_transfers_pad_and_clip() -> None:
    body = """
    %z = arith.constant -1.0 : f32
    %i = arith.muli %tx, %c4 : index
    %v = vector.transfer_read %A[%i], %z : memref<10xf32>, vector<4xf32>
    vector.transfer_write %v, %B[%i] : vector<4xf32>, memref<11xf32>
    """
    a, b = random("f32", 10), np.zeros(11, np.float32)
    clean(func("%A: memref<10xf32>, %B: memref<11xf32>", body).launch((1, 1, 1), (3, 1, 1), [a, b]))
    assert np.array_equal(b, np.append(a, np.float32(-1)))


def test_windows_of_dynamic_strided_memory() -> None:
    kind = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
    body = f"""
    %m = memref.dim %A, %c0 : {kind}
    %n = memref.dim %A, %c1 : {kind}
    %s = memref.subview %A[%tx, 1] [1, 3] [1, 2] : {kind} to memref<3xf32, strided<[?], offset: ?>>
    %x = memref.load %s[%c2] : memref<3xf32, strided<[?], offset: ?>>
    %mn = arith.muli %m, %n : index
    %mi = arith.index_cast %mn : index to i32
    %mf = arith.sitofp %mi : i32 to f32
    %y = arith.addf %x, %mf : f32
    %r = memref.reinterpret_cast %B to offset: [1], sizes: [4, 2], strides: [2, 1]
      : memref<9xf32> to memref<4x2xf32, strided<[2, 1], offset: 1>>
    memref.store %y, %r[%tx, %c1] : memref<4x2xf32, strided<[2, 1], offset: 1>>
    """
    big = random("f32", 10, 20)
    a = big[1:9:2, 2:16:2]
    b = np.zeros(9, np.float32)
    clean(func(f"%A: {kind}, %B: memref<9xf32>", body).launch((1, 1, 1), (4, 1, 1), [a, b]))
    assert np.array_equal(b[2::2], a[:, 5] + np.float32(28)) and not b[1::2].any()


def test_double_buffer_chosen_by_a_carried_memref() -> None:
    kind = f"memref<8xi32, {WORKGROUP}>"
    body = f"""
    %v = memref.load %A[%tx] : memref<8xi32>
    memref.store %v, %p[%tx] : {kind}
    %n = affine.apply affine_map<(t) -> ((t + 1) mod 8)>(%tx)
    %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %p, %y = %q) -> ({kind}, {kind}) {{
      gpu.barrier
      %o = memref.load %x[%n] : {kind}
      memref.store %o, %y[%tx] : {kind}
      scf.yield %y, %x : {kind}, {kind}
    }}
    %w = memref.load %r#0[%tx] : {kind}
    memref.store %w, %B[%tx] : memref<8xi32>
    """
    kernel = func("%A: memref<8xi32>, %B: memref<8xi32>", body, shared=f"%p: {kind}, %q: {kind}")
    a, b = random("i32", 8), np.zeros(8, np.int32)
    clean(kernel.launch((1, 1, 1), (8, 1, 1), [a, b]))
    assert np.array_equal(b, np.roll(a, -5))


def test_warp_shuffles_and_reductions_in_any_order() -> None:
    body = """
    %v = memref.load %A[%tx] : memref<64xi32>
    %one = arith.constant 1 : i32
    %w32 = arith.constant 32 : i32
    %s, %ok = gpu.shuffle xor %v, %one, %w32 : i32
    %d, %in = gpu.shuffle down %v, %one, %w32 : i32
    %m = arith.select %in, %d, %one : i32
    %r = gpu.subgroup_reduce add %v uniform : (i32) -> i32
    %t = gpu.all_reduce maxsi %v uniform {} : (i32) -> i32
    memref.store %s, %B[%c0, %tx] : memref<4x64xi32>
    memref.store %m, %B[%c1, %tx] : memref<4x64xi32>
    memref.store %r, %B[%c2, %tx] : memref<4x64xi32>
    memref.store %t, %B[%c3, %tx] : memref<4x64xi32>
    """
    kernel = func("%A: memref<64xi32>, %B: memref<4x64xi32>", body)
    a = random("i32", 64)
    for order in ("forward", "reverse", 3):
        b = np.zeros((4, 64), np.int32)
        clean(kernel.launch((1, 1, 1), (64, 1, 1), [a, b], order=order))
        assert np.array_equal(b[0], a.reshape(32, 2)[:, ::-1].ravel())
        down = np.append(a[1:], 0)
        down[31::32] = 1
        assert np.array_equal(b[1], down)
        assert np.array_equal(b[2], np.repeat(a.reshape(2, 32).sum(1), 32)) and (b[3] == a.max()).all()


def test_atomics_from_all_blocks() -> None:
    body = """
    %k = arith.remui %tx, %c3 : index
    %one = arith.constant 1 : i32
    %o = memref.atomic_rmw addi %one, %B[%k] : (i32, memref<3xi32>) -> i32
    """
    b = np.zeros(3, np.int32)
    clean(func("%B: memref<3xi32>", body).launch((5, 1, 1), (32, 1, 1), [b], batch=64))
    assert b.tolist() == [55, 55, 50]


def test_constants_of_the_module_and_bf16_vectors() -> None:
    from gpu_kernels import sim

    kernel = sim("""
memref.global "private" constant @w : memref<4xbf16> = dense<[1.0, 2.0, 3.0, 4.5]>
gpu.func @f(%B: memref<4xbf16>) kernel {
  %tx = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %w = memref.get_global @w : memref<4xbf16>
  %v = memref.load %w[%tx] : memref<4xbf16>
  %d = arith.constant dense<[1.0, 1.0, 0.5, 2.0]> : vector<4xbf16>
  %e = vector.extract %d[%tx] : bf16 from vector<4xbf16>
  %r = arith.mulf %v, %e : bf16
  memref.store %r, %B[%tx] : memref<4xbf16>
  gpu.return
}""")
    b = np.zeros(4, ml_dtypes.bfloat16)
    clean(kernel.launch((1, 1, 1), (4, 1, 1), [b]))
    assert b.tolist() == [1.0, 2.0, 1.5, 9.0]


def test_values_that_vectors_keep_uniform_serve_as_bounds_and_indices() -> None:
    body = """
    %n = arith.constant dense<[3, 5]> : vector<2xindex>
    %b = vector.broadcast %c2 : index to vector<2xindex>
    %m = arith.muli %n, %b : vector<2xindex>
    %e = vector.extract %m[1] : index from vector<2xindex>
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %e step %c1 iter_args(%a = %z) -> i32 {
      %x = arith.addi %a, %one : i32
      scf.yield %x : i32
    }
    %k = arith.remui %e, %c4 : index
    memref.store %s, %B[%tx, %k] : memref<4x3xi32>
    """
    b = np.zeros((4, 3), np.int32)
    clean(func("%B: memref<4x3xi32>", body).launch((1, 1, 1), (4, 1, 1), [b]))
    assert b.tolist() == [[0, 0, 10]] * 4


def test_masked_accesses() -> None:
    body = """
    %m = vector.create_mask %tx : vector<4xi1>
    %i = arith.muli %tx, %c4 : index
    %p = arith.constant dense<[9, 8, 7, 6]> : vector<4xi32>
    %v = vector.maskedload %A[%i], %m, %p : memref<14xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    vector.maskedstore %B[%i], %m, %v : memref<14xi32>, vector<4xi1>, vector<4xi32>
    %r = vector.reduction <add>, %v : vector<4xi32> into i32
    memref.store %r, %R[%tx] : memref<4xi32>
    """
    kernel = func("%A: memref<14xi32>, %B: memref<14xi32>, %R: memref<4xi32>", body)
    a, b, r = np.arange(14, dtype=np.int32), np.zeros(14, np.int32), np.zeros(4, np.int32)
    report = kernel.launch((1, 1, 1), (4, 1, 1), [a, b, r])
    assert b.tolist() == [0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0, 12, 13]
    assert {f.kind for f in report.faults} == {"out-of-bounds read", "out-of-bounds write"} and report.fault_count == 2
    assert r[:3].tolist() == [30, 4 + 8 + 7 + 6, 8 + 9 + 7 + 6]
