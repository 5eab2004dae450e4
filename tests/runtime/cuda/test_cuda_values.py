"""What the text computes, on the CPU, against NumPy; and its barriers under the thread sanitizer."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from cuda_cases import emitted, launch_sizes
from native import run_native

RNG = np.random.default_rng(0)
Arrays = list[np.ndarray]


def uniform(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RNG.uniform(-2, 2, shape).astype(dtype)


def zeros(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def run(module: str, kernel: str, args: list, **options: object):
    return run_native(emitted(module), kernel, *launch_sizes(module, kernel), args, **options)  # type: ignore[arg-type]


def half_chain(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
    e = (x * y + np.float16(1.5)) / y - x
    z[:] = np.maximum(e, x)


def bf16_fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
    s = x + y
    exact = x.astype(np.float64) * s.astype(np.float64) + y.astype(np.float64)  # 40 bits: no rounding
    z[:] = exact.astype(ml_dtypes.bfloat16)


def blur(image: np.ndarray, out: np.ndarray) -> None:
    weights = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16
    out[1:-1, 1:-1] = sum(
        weights[i, j] * image[i : i + 38, j : j + 48] for i in range(3) for j in range(3)
    )  # fmt: skip


def collatz(x: np.ndarray, steps: np.ndarray) -> None:
    for place, n in enumerate(x.tolist()):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        steps[place] = count + 1


def fibonacci(out: np.ndarray) -> None:
    a, b = 0, 1
    for n in range(32):
        out[n], a, b = a, b, a + b


def gelu(x: np.ndarray, y: np.ndarray) -> None:
    from math import erf

    y[:] = [0.5 * v * (1 + erf(v / 2**0.5)) for v in x.tolist()]


def assign(compute: Callable[..., np.ndarray]) -> Callable[..., None]:
    """The last array becomes what `compute` makes of the others."""

    def reference(*arrays: np.ndarray) -> None:
        arrays[-1][...] = compute(*arrays[:-1])

    return reference


def reverse(x: np.ndarray) -> None:
    x[:] = x[::-1].copy()


def views(x: np.ndarray, y: np.ndarray) -> None:
    y[:] = 2 * x.reshape(-1)


F16, BF16, F64, I8, I32, I64 = np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int32, np.int64


def integers(bits: int, *shape: int) -> np.ndarray:
    return RNG.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), shape).astype(f"int{bits}")


def copy_columns(x: np.ndarray, y: np.ndarray) -> None:
    y[:, :32] = x[:, :32]


def dot_wide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(I32) @ b.astype(I32)


def mirrored(x: np.ndarray, n: np.ndarray, h: np.ndarray, d: np.ndarray) -> np.ndarray:
    return (n.astype(F64) + h.astype(F64) + d + x.astype(F64))[:, ::-1]


VALUES: list[tuple[str, str, Callable[[], Arrays], Callable[..., None], float]] = [
    ("matmul", "shared", lambda: [uniform(64, 48), uniform(48, 32), zeros(64, 32)], assign(np.matmul), 1e-5),
    ("matmul", "ragged", lambda: [uniform(37, 29), uniform(29, 23), zeros(37, 23)], assign(np.matmul), 1e-5),
    ("elementwise", "gelu", lambda: [uniform(1000), zeros(1000)], gelu, 1e-6),
    ("elementwise", "copy_unaligned", lambda: [uniform(16, 33), zeros(16, 36)], copy_columns, 0),
    ("elementwise", "copy_aligned", lambda: [uniform(256, dtype=F16), zeros(256, dtype=F16)], assign(np.copy), 0),
    ("elementwise", "half_chain", lambda: [*(uniform(512, dtype=F16) for _ in "xy"), zeros(512, dtype=F16)], half_chain, 0),
    ("elementwise", "bf16_fma", lambda: [*(uniform(512, dtype=BF16) for _ in "xy"), zeros(512, dtype=BF16)], bf16_fma, 0),
    ("reductions", "row_sum", lambda: [uniform(50, 77), zeros(50)], assign(lambda a: a.sum(axis=1)), 1e-5),
    ("reductions", "dot_i8", lambda: [integers(8, 8, 96), integers(8, 96), zeros(8, dtype=I32)], assign(dot_wide), 0),
    ("reductions", "dot_i32", lambda: [integers(32, 8, 96), integers(32, 96), zeros(8, dtype=I32)], assign(np.matmul), 0),
    ("reductions", "tree", lambda: [uniform(4, 256, dtype=F64), zeros(4, dtype=F64)], assign(lambda x: x.sum(axis=1)), 1e-12),
    ("reductions", "collatz", lambda: [np.arange(1, 65, dtype=I32), zeros(64, dtype=I32)], collatz, 0),
    ("reductions", "fibonacci", lambda: [zeros(32, dtype=I64)], fibonacci, 0),
    ("copies", "mirror", lambda: [uniform(4, 64), integers(32, 4, 64), integers(16, 4, 64), uniform(4, 64, dtype=F64),
                                  zeros(4, 64, dtype=F64)], assign(mirrored), 0),
    ("tiles", "blur", lambda: [uniform(40, 50), zeros(40, 50)], blur, 1e-6),
    ("tiles", "register_tile", lambda: [uniform(32, 16), uniform(16, 32), zeros(32, 32)], assign(np.matmul), 1e-5),
    ("tiles", "reverse", lambda: [uniform(16384)], reverse, 0),
    ("tiles", "views", lambda: [uniform(4, 6, 8), zeros(192)], views, 0),
]  # fmt: skip


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> bool:
    if tolerance == 0:
        return got.tobytes() == wanted.tobytes()
    scale = max(float(np.abs(wanted).max()), 1e-30)
    return float(np.abs(got.astype(np.float64) - wanted).max()) <= tolerance * scale


@pytest.mark.few()
@pytest.mark.parametrize("reverse_threads", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("module", "kernel", "make", "reference", "tolerance"), VALUES, ids=[v[1] for v in VALUES])
def test_values(
    module: str,
    kernel: str,
    make: Callable[[], Arrays],
    reference: Callable[..., None],
    tolerance: float,
    reverse_threads: bool,
) -> None:
    args = make()
    wanted = [a.copy() for a in args]
    reference(*wanted)
    assert not run(module, kernel, args, reverse=reverse_threads).diverged
    for got, want in zip(args, wanted, strict=True):
        assert close(got, want, tolerance)


def test_scalar_argument() -> None:
    x, y = uniform(64, 32), uniform(64, 32)
    fused = 0.75 * x.astype(np.float64) + y  # exact: the one rounding is the conversion
    run("elementwise", "axpy4", [x, y, np.float32(0.75)])
    assert np.array_equal(y, fused.astype(np.float32))


@pytest.mark.parametrize(("grid", "block"), [((1, 1), (32, 4)), ((3, 2), (8, 8)), ((1, 1), (1, 1)), ((40, 30), (1, 1))])
def test_dynamic_sizes_strides_and_offset_at_any_launch(grid: tuple, block: tuple) -> None:
    buffer = uniform(3000)
    rows, cols, row_stride, col_stride, offset = 17, 23, 5, 101, 7
    x = np.lib.stride_tricks.as_strided(buffer[offset:], (rows, cols), (row_stride * 4, col_stride * 4))
    y = zeros(cols, rows)
    sizes = "long long x_size0, long long x_size1, long long x_stride0, long long x_stride1, long long x_offset"
    assert f"x, {sizes}, float* __restrict__ y, long long y_size0, long long y_size1)" in " ".join(emitted("tiles").split())
    args = [buffer, rows, cols, row_stride, col_stride, offset, y, cols, rows]
    run_native(emitted("tiles"), "transpose", grid, block, args)
    assert np.array_equal(y, x.T)


@pytest.mark.parametrize("k", [0, 1, 15, 16, 37, 48])
def test_rows_of_any_length_come_by_asynchronous_copies(k: int) -> None:
    """What is behind a row is not read, and zero in shared memory."""
    x, y = uniform(4, 48), zeros(4)
    x[:, k:] = np.nan
    run("copies", "sums", [x, 48, k, y])
    assert close(y, x[:, :k].sum(axis=1), 1e-5)


def test_nothing_arrives_without_a_wait() -> None:
    text = re.sub(r"wait_copies<\d>\(\);", ";", emitted("copies"))
    x, y = uniform(4, 48) + 3, zeros(4)
    run_native(text, "sums", *launch_sizes("copies", "sums"), [x, 48, 48, y])
    assert not np.isclose(y, x.sum(axis=1)).any()


@pytest.mark.parametrize("k", [16, 48])
def test_products_by_tensor_cores(k: int) -> None:
    a, b, c = uniform(128, k, dtype=ml_dtypes.bfloat16), uniform(k, 64, dtype=ml_dtypes.bfloat16), zeros(128, 64)
    run("tensor_cores", "warps", [a, k, b, k, c, k])
    assert close(c, a.astype(np.float64) @ b.astype(np.float64), 1e-5)
    x, y, z = integers(8, 16, 2 * k), integers(8, 8, 2 * k), np.zeros((16, 8), np.int32)
    run("tensor_cores", "bytes", [x, 2 * k, y, 2 * k, z, 2 * k])
    assert np.array_equal(z, x.astype(np.int32) @ y.astype(np.int32).T)


RACY = [v for v in VALUES if v[1] in ("shared", "ragged", "tree", "reverse", "mirror")]
BARRIER = "__syncthreads();"


def own_text(module: str, kernel: str) -> str:
    """The text of one kernel alone."""
    return next(t for t in emitted(module).split("\n\n") if f" {kernel}(" in t and t.startswith('extern "C"'))


def without_one_barrier(text: str, kernel: str) -> dict[str, str]:
    """Copies of a kernel, by name, each with one barrier removed."""
    parts, made = text.split(BARRIER), {}
    for number in range(1, len(parts)):
        name = f"{kernel}_without_{number}"
        less = BARRIER.join(parts[:number]) + ";" + BARRIER.join(parts[number:])
        made[name] = less.replace(f" {kernel}(", f" {name}(")
    return made


@cache
def sanitized_text() -> str:
    """All racy variants in one text: one compilation for all tests."""
    texts = []
    for module, kernel, *_ in RACY:
        own = own_text(module, kernel)
        texts += [own, *without_one_barrier(own, kernel).values()]
    return "\n\n".join(texts)


@pytest.mark.parametrize(("module", "kernel", "make"), [v[:3] for v in RACY], ids=[v[1] for v in RACY])
def test_sanitizer(module: str, kernel: str, make: Callable[[], Arrays]) -> None:
    """Clean as it is; a race as soon as any one barrier is gone."""
    _, block = launch_sizes(module, kernel)
    assert block is not None
    blocks = (1,) if kernel == "reverse" else (2,)
    assert run_native(sanitized_text(), kernel, blocks, block, make(), mode="tsan").races == ()
    variants = without_one_barrier(own_text(module, kernel), kernel)
    assert variants
    for name in variants:
        assert run_native(sanitized_text(), name, (1,), block, make(), mode="tsan").races, name
