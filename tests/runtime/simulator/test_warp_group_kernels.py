"""Kernels with memory barriers, boxes of tensors and products of warp groups give the right numbers, in any order."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from group_kernels import arguments, expected, kernel, launched
from hopper import Product

PRODUCTS = {
    "bf16": Product(), "f16": Product(m=128, n=128, k=384, bn=128, bk=128, stages=2, type="f16"),
    "tf32": Product(m=128, n=128, k=128, bn=128, bk=32, stages=3, type="f32", by_rows=False),
    "by_columns": Product(m=128, n=64, k=512, bn=64, bk=128, stages=2, by_rows=False),
    "two_pieces": Product(m=256, n=64, bm=256, bn=64), "three": Product(m=192, n=128, k=320, bm=192, bn=128, stages=2, consumers=3),
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("kind", ["ring", "together"])
def test_values(name: str, kind: str) -> None:
    product = PRODUCTS[name]
    for order in ("forward", "reverse", 7):
        report, c, want = launched(product, getattr(product, kind)(), order=order)
        assert report.clean, (report.races, report.faults)
        assert np.array_equal(c, want)


@pytest.mark.parametrize("check", [True, False])
def test_what_lies_outside_of_a_tensor_is_zero(check: bool) -> None:
    """Tensors that end inside of a box, along k: zeros add nothing."""
    product = replace(Product(m=128, n=128, k=320, bn=128, stages=3), open_sizes=True)
    a, b, c = arguments(product)
    report = kernel(product.ring()).launch(
        (1, 1, 1), (384, 1, 1), [np.ascontiguousarray(a[:, :280]), np.ascontiguousarray(b[:280]), c], check=check
    )
    assert report.clean and np.array_equal(c, expected(a[:, :280], b[:280], product))


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_swizzle_of_the_load_alone_or_of_the_product_alone_gives_wrong_numbers(name: str) -> None:
    product = Product(m=128, n=64, k=128, bn=64, stages=2)
    text = product.together()
    (said,) = re.findall(rf"^(!map{name} = .*\n.*)$", text, re.MULTILINE)
    plain = said.replace(f"!map{name}", "!plain").replace("swizzle = swizzle_128b", "swizzle = none")
    text = text.replace(said, f"{said}\n{plain}").replace("gpu.func @product(", "gpu.func @product(%plain: !plain, ")
    text = re.sub(rf"(async\.load )%m{name}(.* : )!map{name}", r"\1%plain\2!plain", text)
    a, b, c = arguments(product)
    grid, made = (1, 1, 1), kernel(text)
    report = made.launch(grid, (256, 1, 1), [a if name == "A" else b, a, b, c])
    assert report.clean and not np.array_equal(c, expected(a, b, product))
    fine = text.replace("swizzle = none", "swizzle = swizzle_128b")
    assert kernel(fine).launch(grid, (256, 1, 1), [a if name == "A" else b, a, b, c]).clean
    assert np.array_equal(c, expected(a, b, product))


def test_a_branch_of_threads_that_waits_has_a_result() -> None:
    """Lanes of a warp group part ways at a wait, and meet again with a value each."""
    text = """
gpu.func @f(%out: memref<128xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %ticks = arith.constant 1000 : index
  %even = arith.constant false
  %t = gpu.thread_id x
  %bars = nvgpu.mbarrier.create -> !bars
  %first = arith.cmpi eq, %t, %c0 : index
  scf.if %first {
    nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
    nvvm.fence.mbarrier.init
  }
  gpu.barrier
  %made = scf.if %first -> index {
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %even, %ticks : !bars
    scf.yield %c7 : index
  } else {
    %last = arith.cmpi eq, %t, %c7 : index
    %token = scf.if %last -> index {
      %arrived = nvgpu.mbarrier.arrive %bars[%c0] : !bars -> !nvgpu.mbarrier.token
      scf.yield %c1 : index
    } else { scf.yield %t : index }
    scf.yield %token : index
  }
  memref.store %made, %out[%t] : memref<128xindex>
  gpu.return
}"""
    bars = "!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>"
    made = kernel(f"{bars}\nmodule {{ gpu.module @kernels {{ {text} }} }}")
    out = np.zeros(128, np.int64)
    assert made.launch((1, 1, 1), (128, 1, 1), [out]).clean
    assert out.tolist() == [7, *range(1, 7), 1, *range(8, 128)]
