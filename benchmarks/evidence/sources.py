"""Programs that show what streams win, and what a launch costs: eight products, and a thousand launches."""

from __future__ import annotations

PRODUCTS = 8
"""Of 128 x depth times depth x 128: 64 blocks each, which 132 multiprocessors hold all at once."""


def products(depth: int) -> str:
    """Eight products, none of which touches another's matrices."""
    a, b, c = f"memref<128x{depth}xf32>", f"memref<{depth}x128xf32>", "memref<128x128xf32>"
    arguments = ", ".join(f"%a{i}: {a}, %b{i}: {b}, %c{i}: {c}" for i in range(PRODUCTS))
    body = "\n".join(f"  linalg.matmul ins(%a{i}, %b{i} : {a}, {b}) outs(%c{i} : {c})" for i in range(PRODUCTS))
    return f"func.func @products({arguments}) {{\n{body}\n  return\n}}\n"


PRODUCT_SCHEDULE = "\n".join((
    "schedule product(mm: handle) {",
    "  let (tiles, tile_mm) = tile mm [16, 16]",
    "  map tiles to blocks(y, x)",
    "  let (lanes, one) = tile tile_mm [1, 1]",
    "  map lanes to threads(y: 16, x: 16)",
    "  launch tiles",
    "}",
    "schedule products() {",
    *(f"  let mm{i} = match linalg.matmul #{i}" for i in range(PRODUCTS)),
    *(f"  product(mm{i})" for i in range(PRODUCTS)),
    "  async-fork noalias",
    "}",
    "",
))  # fmt: skip

AS_IT_IS = "schedule launches() {}\n"


def many(launches: int) -> str:
    """One launch after the other, each of which adds 1 to 256 numbers."""
    return f"""module attributes {{gpu.container_module}} {{
  func.func @launches(%x: memref<256xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %many = arith.constant {launches} : index
    scf.for %i = %c0 to %many step %c1 {{
      gpu.launch_func @kernels::@increment blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<256xf32>)
    }}
    return
  }}
  gpu.module @kernels {{
    gpu.func @increment(%x: memref<256xf32>) kernel attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
      %one = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %old = memref.load %x[%t] : memref<256xf32>
      %new = arith.addf %old, %one : f32
      memref.store %new, %x[%t] : memref<256xf32>
      gpu.return
    }}
  }}
}}
"""
