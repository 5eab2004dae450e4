"""`payload concurrent_convs(batch, filters, size)`: two convolutions of one input, and the sum of
their results.

The module is from the discussion "How to Implement Asynchronous Concurrent Execution Between
gpu.launch Operations?" (the MLIR forum), as its author generated it with ONNX and posted it; `batch
= 1024` is exactly that text. It is text of an older MLIR version: loop variables are used as
symbols, and the weights are `krnl.global`s.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Any

from ..builder import Builder, BuilderParameter

HEAD = Template("""\
#map = affine_map<(d0, d1) -> (d0 * ${filters} + d1)>
#map1 = affine_map<(d0) -> (-d0 + 1)>
#map2 = affine_map<(d0, d1) -> (-d1 + 1)>
#map3 = affine_map<(d0) -> (-d0 + 1, 0)>
#map4 = affine_map<(d0) -> (-d0 + ${end}, 3)>
#map5 = affine_map<(d0)[s0] -> (d0 + s0)>
#map6 = affine_map<(d0, d1)[s0, s1] -> (d1 - s1)>
#map7 = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2 - s2)>
module {
  func.func @test_parallel(%arg0: ${images}) -> ${result} attributes {llvm.emit_c_interface} {
    %cst = arith.constant 0.000000e+00 : f32
${constants}
""")
"""Maps and constants."""

CONVOLUTION = Template("""\
    ${out} = memref.alloc() {alignment = 16 : i64} : ${result}
    affine.for %arg1 = 0 to ${batch} {
      affine.for %arg2 = 0 to 1 {
        affine.for %arg3 = 0 to ${filters} {
          %4 = affine.apply #map(%arg2, %arg3)
          affine.for %arg4 = 0 to ${size} {
            affine.for %arg5 = 0 to ${size} {
              %5 = affine.apply #map1(%arg4)
              %6 = affine.apply #map2(%arg4, %arg5)
              %7 = affine.for %arg6 = 0 to 1 iter_args(%arg7 = %cst) -> (f32) {
                %10 = affine.for %arg8 = max #map3(%arg4) to min #map4(%arg4) iter_args(%arg9 = %arg7) -> (f32) {
                  %11 = affine.for %arg10 = max #map3(%arg5) to min #map4(%arg5) iter_args(%arg11 = %arg9) -> (f32) {
                    %12 = affine.apply #map5(%arg6)[%arg2]
                    %13 = affine.apply #map6(%arg6, %arg8)[%arg2, %5]
                    %14 = affine.apply #map7(%arg6, %arg8, %arg10)[%arg2, %5, %6]
                    %15 = affine.load %arg0[%arg1, %12, %13, %14] : ${images}
                    %16 = affine.load ${weights}[%4, %arg6, %arg8, %arg10] : ${taps}
                    %17 = arith.mulf %15, %16 : f32
                    %18 = arith.addf %arg11, %17 : f32
                    affine.yield %18 : f32
                  }
                  affine.yield %11 : f32
                }
                affine.yield %10 : f32
              }
              %8 = affine.load ${bias}[%4] : ${offsets}
              %9 = arith.addf %7, %8 : f32
              affine.store %9, ${out}[%arg1, %4, %arg4, %arg5] : ${result}
            }
          }
        }
      }
    }
""")

SUM = Template("""\
    %alloc_1 = memref.alloc() {alignment = 16 : i64} : ${result}
    affine.for %arg1 = 0 to ${batch} {
      affine.for %arg2 = 0 to ${filters} {
        affine.for %arg3 = 0 to ${size} {
          affine.for %arg4 = 0 to ${size} {
            %4 = affine.load %alloc[%arg1, %arg2, %arg3, %arg4] : ${result}
            %5 = affine.load %alloc_0[%arg1, %arg2, %arg3, %arg4] : ${result}
            %6 = arith.addf %4, %5 : f32
            affine.store %6, %alloc_1[%arg1, %arg2, %arg3, %arg4] : ${result}
          }
        }
      }
    }
    return %alloc_1 : ${result}
  }
}
""")


def concurrent_convs(batch: int, filters: int, size: int) -> str:
    """The MLIR text for `batch` images of size×size. Each is convolved with two sets of `filters`
    3×3 filters, with zero padding."""
    kernels = [filters, 1, 3, 3]
    values = {
        "batch": batch,
        "filters": filters,
        "size": size,
        "end": size + 1,
        "images": f"memref<{batch}x1x{size}x{size}xf32>",
        "result": f"memref<{batch}x{filters}x{size}x{size}xf32>",
        "taps": f"memref<{_type_text(kernels)}>",
        "offsets": f"memref<{_type_text([filters])}>",
        "constants": "\n".join(
            (
                _constant(0, kernels, "1.000000e+00"),
                _constant(1, [filters], "1.000000e-01"),
                _constant(2, kernels, "5.000000e-01"),
                _constant(3, [filters], "2.000000e-01"),
            )
        ),
    }
    first = CONVOLUTION.substitute(values, weights="%0", bias="%1", out="%alloc")
    second = CONVOLUTION.substitute(values, weights="%2", bias="%3", out="%alloc_0")
    return HEAD.substitute(values) + first + second + SUM.substitute(values)


def _constant(number: int, shape: list[int], value: str) -> str:
    type = _type_text(shape)
    held = f'name = "constant_{number}", shape = {shape}, value = dense<{value}> : tensor<{type}>'
    return f'    %{number} = "krnl.global"() {{{held}}} : () -> memref<{type}>'


def _type_text(shape: list[int]) -> str:
    return "x".join([*map(str, shape), "f32"])


def operations(batch: int, filters: int, size: int) -> int:
    """The multiplications and additions: those of the taps inside the image, of the two biases, and
    of the sum."""
    taps = (3 * size - 2) ** 2
    return batch * filters * (2 * 2 * taps + 3 * size * size)


def baseline(xp: Any, arrays: Mapping[str, Any], filters: int, **_: int) -> Any:
    """The payload's function with slices of arrays: the weights of a convolution are all equal, so
    that each convolution is a scaled sum over a window."""
    images = arrays["arg0"]
    size = images.shape[-1]
    padded = xp.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sum(padded[:, :, i : i + size, j : j + size] for i in range(3) for j in range(3))
    first = xp.repeat(windows + xp.float32(0.1), filters, axis=1)
    second = xp.repeat(xp.float32(0.5) * windows + xp.float32(0.2), filters, axis=1)
    return first + second


BUILDERS = (
    Builder(
        "concurrent_convs",
        "two 3×3 convolutions of one image, and their sum",
        (
            BuilderParameter("batch", "int", 4, meaning="images; 1024 in the original"),
            BuilderParameter("filters", "int", 64, meaning="filters of each convolution"),
            BuilderParameter("size", "int", 28, meaning="rows and columns of an image"),
        ),
        build=concurrent_convs,
        operations=operations,
        baseline=baseline,
    ),
)
