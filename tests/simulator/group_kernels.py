"""Kernels of warp groups on the simulator, of the modules that `tests/hopper.py` writes: numbers in, a report and numbers out."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
from contexts import one_context
from hopper import Product

from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import Order, SimKernel
from weft.runtime.simulator.report import LaunchReport

DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}


def kernel(module: str) -> SimKernel:
    """The kernel of a module, without the host function that launches it."""
    alone = re.sub(r"  func\.func .*?\n  }\n", "", module, count=1, flags=re.DOTALL)
    parsed = mlir.parse(alone, one_context())
    return SimKernel(next(iter(mlir.operations(parsed.operation, "gpu.func"))))


def arguments(product: Product, seed: int = 0) -> list[np.ndarray]:
    """A, B and C: small integers, whose products and sums are exact in each type."""
    random, dtype = np.random.default_rng(seed), DTYPES[product.type]
    right = (product.k, product.n)[:: 1 if product.by_rows else -1]
    a, b = (random.integers(-4, 5, shape).astype(dtype) for shape in ((product.m, product.k), right))
    return [a, b, np.full((product.m, product.n), 77, DTYPES[product.sum])]


def expected(a: np.ndarray, b: np.ndarray, product: Product) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a @ (b if product.by_rows else b.T)).astype(DTYPES[product.sum])


def launched(product: Product, module: str, order: Order = "forward") -> tuple[LaunchReport, np.ndarray, np.ndarray]:
    """The report, C, and what C should be."""
    made = kernel(module)
    a, b, c = arguments(product)
    grid = (product.n // product.bn, product.m // product.bm, 1)
    assert made.known_block is not None
    report = made.launch(grid, made.known_block, [a, b, c], order=order)
    return report, c, expected(a, b, product)
