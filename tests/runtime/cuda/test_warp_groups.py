"""Kernels of warp groups as text: what ptxas makes of them, and what is refused."""

from __future__ import annotations

import re

import pytest
from cuda_cases import emit_text
from hopper import Product
from sass import compiled, resources, whole

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.hopper import warpgroups
from weft.runtime.cuda.group_products import group_product, group_product_name

CHIP = "sm_90a"
PRODUCTS = {
    "bf16": Product(), "f16": Product(type="f16", bk=128, stages=2), "tf32": Product(type="f32", by_rows=False, bk=32),
    "by_columns": Product(by_rows=False, bk=128, stages=2),
    "two_pieces": Product(bm=256, bn=128), "large": Product(8192, 8192, 8192),
}  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("kind", ["ring", "together"])
def test_machine_code(name: str, kind: str) -> None:
    text = emit_text(getattr(PRODUCTS[name], kind)())
    found, counts = resources(text, "product", CHIP), whole(text, "product", CHIP).by_mnemonic
    assert "C75" not in compiled(text, CHIP).log and "warning" not in compiled(text, CHIP).log
    assert found.spill_bytes == found.stack_bytes == 0 and found.registers <= 168
    assert min(counts["HGMMA"], counts["UTMALDG"], counts["SYNCS"]) > 0
    assert counts["USETMAXREG"] == (2 if kind == "ring" else 0)
    assert counts["FADD"] + counts["FFMA"] == 0


def test_the_text_of_a_ring() -> None:
    text = emit_text(Product(k=512).ring()).split('extern "C"')[1]
    assert "const __grid_constant__ TensorMap A_map,\n" in text and "__launch_bounds__(384, 1)" in text
    assert "alignas(1024) extern __shared__ float4 dynamic_shared[];" in text
    producer, consumer = text.split("} else {")
    assert re.search(r"fewer_registers<24>\(\);.*#pragma unroll 1\n +for .*barrier_wait\(&empty\[", producer, re.DOTALL)
    assert producer.count("load_box_2d(") == 5
    assert "load_box_2d(&B_shared[d0][3][0][0], B_map, &full[d0], bx * 256 + 192, i * 64);" in producer
    four = r"begin_products\(acc\);\n( +product_m64n256k16_bf16_by_rows\(acc, .*\);\n){4} +end_products\(acc\);"
    assert re.search(four, consumer)


def test_shared_memory_that_need_not_be_dynamic_is_aligned() -> None:
    text = emit_text(Product(bn=64, stages=1).together())
    assert (
        "alignas(1024) __shared__ bf16 A_shared[1][1][128][64];" in text
        and "  __shared__ unsigned long long full[1];" in text
    )


def test_sums_that_are_still_needed_are_copied() -> None:
    """A second product of the same sums does not change the first one's."""
    again = (
        "%next = nvgpu.warpgroup.mma %dA, %dB, %acc {transposeB, waitGroup = 0 : i64} : !descA, !descB, !acc -> !acc"
    )
    module = Product(bn=64).together().replace(again, f"{again}\n{again.replace('%next', '%other')}")
    text = emit_text(module)
    assert re.search(r"float acc1\[32\]\s+= \{acc\[0\], acc\[1\],", text)
    assert text.count("end_products(acc1);") == text.count("end_products(acc2);") == 1


WRONG = {
    "waitGroup = 0": ("waitGroup = 1", "sums would be used in flight"),
    "transposeB, waitGroup": ("transposeA, transposeB, waitGroup", "the left operand is transposed"),
    "%a0 = arith.muli %group, %own": ("%a0 = arith.muli %group, %c4", "not shown to begin at a multiple of 1024 bytes"),
}


@pytest.mark.parametrize("given", WRONG)
def test_refusals(given: str) -> None:
    said, why = WRONG[given]
    with pytest.raises(WeftError, match=re.escape(why)):
        emit_text(Product().together().replace(given, said))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "n", "rows"), [("i8", 24, False), ("f8E4M3FN", 256, False), ("f8E5M2", 8, False), ("bf16", 8, True)]
)
def test_products_compile(kind: str, n: int, rows: bool) -> None:
    """Of types, too, of which kernels have no values."""
    total, of = ("int", "i32") if kind == "i8" else ("float", "f32")
    (product,) = warpgroups.products(kind, of, n)
    call = f"""{group_product(product, by_rows=rows)}
extern "C" __global__ void __launch_bounds__(128) k({total}* to, unsigned long long a, unsigned long long b) {{
  {total} d[{n // 2}] = {{}};
  {group_product_name(product, by_rows=rows)}(d, a, b);
  asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < {n // 2}; ++i) to[threadIdx.x + 128 * i] = d[i];
}}
"""
    mnemonic = "IGMMA" if kind == "i8" else "QGMMA" if kind.startswith("f8") else "HGMMA"
    assert whole(call, "k", CHIP).by_mnemonic[mnemonic] == 1
