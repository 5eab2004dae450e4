"""Kernels of warp groups on the simulator, of the modules that `tests/hopper.py` writes: numbers in, a report and numbers out."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
from contexts import one_context
from hopper import Product

from weft.interpreter.ir import mlir
from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import Order, SimKernel

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


FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
_ALIASES = """
!tile = memref<64x64xbf16, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!sums = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
!matrix = !nvgpu.warpgroup.descriptor<tensor = !tile>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
"""
_FILL = """
    scf.for %e = %t to %c4096 step %threads {
      %r = arith.divui %e, %c64 : index
      %c = arith.remui %e, %c64 : index
      %p = affine.apply affine_map<(r, c) -> (c mod 8 + 8 * (c floordiv 8))>(%r, %c)
      %r8 = arith.remui %r, %c8 : index
      %piece = arith.divui %c, %c8 : index
      %to = arith.xori %piece, %r8 : index
      %at = affine.apply affine_map<(to, c) -> (to * 8 + c mod 8)>(%to, %c)
      %v = memref.load %A[%r, %c] : memref<64x64xbf16>
      memref.store %v, %s[%r, %at] : !tile
    }"""


def _kernel(arguments: str, body: str, threads: int = 128) -> SimKernel:
    numbers = "\n".join(f"    %c{n} = arith.constant {n} : index" for n in (0, 1, 2, 8, 32, 64, 128, 4096))
    return kernel(f"""{_ALIASES}
module {{ gpu.module @kernels {{
  gpu.func @f({arguments}) workgroup(%s: !tile {{weft.name = "s"}}, %z: !tile {{weft.name = "z"}}) kernel
      attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
{numbers}
    %threads = arith.constant {threads} : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
{body}
    gpu.return
  }}
}} }}""")


def squared(behind: str = f"{FENCE}\ngpu.barrier", threads: int = 128) -> SimKernel:
    """C = A A: threads store A into a swizzled tile, `behind` that a warp group multiplies it by itself. Takes A, C, A's map."""
    return _kernel("%A: memref<64x64xbf16>, %C: memref<64x64xf32>, %map: !map", f"""{_FILL}
    {behind}
    %some = arith.cmpi ult, %t, %c128 : index
    scf.if %some {{
      %d = nvgpu.warpgroup.generate.descriptor %s, %map : !tile, !map -> !matrix
      %zero = nvgpu.warpgroup.mma.init.accumulator -> !sums
      %sum = nvgpu.warpgroup.mma %d, %d, %zero {{transposeB, waitGroup = 0 : i64}} : !matrix, !matrix, !sums -> !sums
      %v = builtin.unrealized_conversion_cast %sum : !sums to vector<1x8x2x2xf32>
      scf.for %j = %c0 to %c8 step %c1 {{
        scf.for %h = %c0 to %c2 step %c1 {{
          %pair = vector.extract %v[0, %j, %h] : vector<2xf32> from vector<1x8x2x2xf32>
          %r = affine.apply affine_map<(t, h) -> (t floordiv 32 * 16 + t mod 32 floordiv 4 + h * 8)>(%t, %h)
          %c = affine.apply affine_map<(j, t) -> (j * 8 + t mod 4 * 2)>(%j, %t)
          vector.store %pair, %C[%r, %c] : memref<64x64xf32>, vector<2xf32>
        }}
      }}
    }}""", threads)  # fmt: skip


DRAIN = "nvvm.cp.async.bulk.wait_group 0"


def stored(behind: str = f"{FENCE}\ngpu.barrier", drain: str = DRAIN, after: str = "") -> SimKernel:
    """C = A, two rows and eight columns further, by way of a tile: `behind` ordinary stores a thread stores all of it. Takes A and
    C's map."""
    return _kernel("%A: memref<64x64xbf16>, %map: !map", f"""{_FILL}
    {behind}
    scf.if %first {{
      nvgpu.tma.async.store %s to %map[%c8, %c2] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      {drain}
      {after}
    }}""")  # fmt: skip
