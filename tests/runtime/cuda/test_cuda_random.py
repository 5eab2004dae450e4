"""Random arithmetic: the text on the CPU, bit for bit against MLIR's JIT; affine expressions against Python."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from cuda_cases import emit_text
from native import run_native
from random_arithmetic import STORED, N, functions, kernels
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.runtime import get_ranked_memref_descriptor

from weft.interpreter.ir.mlir import context, parse, run_passes

PIPELINE = (
    "func.func(arith-expand,convert-math-to-llvm,convert-scf-to-cf),expand-strided-metadata,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts"
)
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}
INTERESTING = [0, 1, -1, 2, -2, 7, 127, -128, 255, 32767, -32768, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 3e38, np.inf, -np.inf, np.nan, 99.999, -100.5]


def inputs(seed: int) -> list[np.ndarray]:
    """One array per stored type: edge cases first, then random numbers."""
    rng = np.random.default_rng(seed)
    made = []
    for name in STORED:
        if name.startswith("f"):
            values = np.concatenate([FLOAT_EDGES, rng.normal(0, 50, N - len(FLOAT_EDGES))])
        else:
            bits = int(name[1:])
            edges = [v for v in INTERESTING if -(2 ** (bits - 1)) <= v < 2 ** (bits - 1)]
            values = np.array(
                edges + [int(v) for v in rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, N - len(edges))]
            )
        made.append(rng.permutation(values).astype(DTYPES[name]))
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize("batch", range(6))
def test_arithmetic_against_the_jit(batch: int) -> None:
    seeds = list(range(100 * batch, 100 * batch + 25))
    text = emit_text(kernels(seeds))
    module = parse(functions(seeds), context())
    run_passes(module, PIPELINE)
    engine = ExecutionEngine(module, opt_level=0)
    for seed in seeds:
        given = inputs(seed)
        got = [np.zeros(N, DTYPES[t]) for t in STORED]
        wanted = [np.zeros(N, DTYPES[t]) for t in STORED]
        run_native(text, f"chain{seed}", (1,), (N,), [*given, *got])
        engine.invoke(
            f"chain{seed}",
            *(ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in [*given, *wanted]),
        )
        for a, b, name in zip(got, wanted, STORED, strict=True):
            same = (a == b) & (np.signbit(a) == np.signbit(b)) | ((a != a) & (b != b))
            assert same.all(), f"seed {seed}, {name}: element {int(np.argmin(same))}: {a[~same][:4]} for {b[~same][:4]}"


# ---- affine -----------------------------------------------------------------------------------------------------------


def expression(rng: random.Random, depth: int) -> tuple[str, str]:
    """A random affine expression of d0 (0 … 31), d1 (0 … 6), s0 (any integer): in MLIR's words and in Python's."""
    if depth == 0:
        leaf = rng.choice(("d0", "d1", "s0", str(rng.randint(-9, 9))))
        return leaf, leaf
    kind = rng.choice(("+", "+", "-", "*", "floordiv", "ceildiv", "mod"))
    a, pa = expression(rng, depth - 1)
    if kind in ("+", "-"):
        b, pb = expression(rng, depth - 1)
        return f"({a} {kind} {b})", f"({pa} {kind} {pb})"
    if kind == "*":
        c = rng.choice((-7, -2, -1, 2, 3, 16))
        return f"({a} * {c})", f"({pa} * {c})"
    c = rng.choice((1, 2, 3, 5, 8, 16))
    python = {"floordiv": f"({pa} // {c})", "ceildiv": f"(-(-{pa} // {c}))", "mod": f"({pa} % {c})"}[kind]
    return f"({a} {kind} {c})", python


@pytest.mark.few(2)
@pytest.mark.parametrize("symbol", [-1000, -13, 0, 5, 77])
def test_affine_expressions(symbol: int) -> None:
    rng = random.Random(4)
    made = [expression(rng, 3) for _ in range(60)]
    lines = "\n".join(
        f"    %r{n} = affine.apply affine_map<(d0, d1)[s0] -> ({text})>(%x, %y)[%s]\n"
        f"    %n{n} = arith.constant {n} : index\n"
        f"    memref.store %r{n}, %out[%n{n}, %x, %y] : memref<{len(made)}x32x7xindex>"
        for n, (text, _) in enumerate(made)
    )
    module = f"""gpu.module @m {{
  gpu.func @affine(%out: memref<{len(made)}x32x7xindex>, %s: index) kernel attributes {{known_block_size = array<i32: 32, 7, 1>}} {{
    %x = gpu.thread_id x
    %y = gpu.thread_id y
{lines}
    gpu.return
  }}
}}"""
    out = np.zeros((len(made), 32, 7), np.int64)
    run_native(emit_text(module), "affine", (1,), (32, 7), [out, symbol])
    for n, (text, python) in enumerate(made):
        for d0 in range(32):
            for d1 in range(7):
                assert out[n, d0, d1] == eval(python, {"d0": d0, "d1": d1, "s0": symbol}), (text, d0, d1, symbol)
