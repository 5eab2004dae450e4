"""The disassembly as tests read it, on a hand-written SGEMM: what its loops hold is known."""

from __future__ import annotations

import os
import re
from itertools import product

import pytest
from cuda_cases import HERE, emit_text, emitted
from sass import compute_region, inner_loop, program, resources, whole

from weft.runtime.cuda.nvrtc import ARCHITECTURES

SGEMM = (HERE / "texts" / "sgemm.cu").read_text()
DIVIDES = """
extern "C" __global__ void by_variable(int* x, int n, int d) {
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) { x[i] = x[i] / d; }
}
extern "C" __global__ void by_constant(int* x, int n) {
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) { x[i] = x[i] % 13; }
}
extern "C" __global__ void by_power(unsigned* x, int n) {
  #pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) { x[i] = x[i] / 16; }
}
extern "C" __global__ void indexed(float* x, const int* at, int n) {
  float r[64];
  for (int i = 0; i < 64; ++i) { r[i] = x[i]; }
  for (int i = 0; i < n; ++i) { r[at[i]] += 1.0f; }
  for (int i = 0; i < 64; ++i) { x[i] = r[i]; }
}
"""


@pytest.mark.few(3)
@pytest.mark.parametrize("chip", ARCHITECTURES)
def test_sgemm(chip: str) -> None:
    loop, region = inner_loop(SGEMM, "sgemm", chip), compute_region(SGEMM, "sgemm", chip)
    assert loop.ffma == region.ffma == 8 * 8 * 8
    assert region.shared_loads == {128: 8 * 4}
    assert region.products_per_load == 16
    assert region.besides("FFMA", "LDS") == {} and region.divisions == 0
    assert loop.barriers == 2 and region.barriers == 0
    assert loop.global_loads == {128: 2} and loop.shared_stores == {32: 4, 128: 1}
    assert whole(SGEMM, "sgemm", chip).global_stores == {128: 16}
    taken = resources(SGEMM, "sgemm", chip)
    assert taken.registers <= 128 and taken.spill_bytes == 0 and whole(SGEMM, "sgemm", chip).local == 0


@pytest.mark.few(5)
@pytest.mark.parametrize("chip", ARCHITECTURES)
@pytest.mark.parametrize(("kernel", "divides"), [("by_variable", True), ("by_constant", False), ("by_power", False)])
def test_divisions(kernel: str, divides: bool, chip: str) -> None:
    assert (inner_loop(DIVIDES, kernel, chip).divisions > 0 or whole(DIVIDES, kernel, chip).divisions > 0) == divides


def test_arrays_in_local_memory_are_counted() -> None:
    assert whole(DIVIDES, "indexed", "sm_80").local > 0
    assert resources(DIVIDES, "indexed", "sm_80").stack_bytes == 64 * 4


def test_straight_text_has_no_loop() -> None:
    text = 'extern "C" __global__ void straight(float* x) { x[threadIdx.x] = 1.0f; }'
    assert program(text, "straight", "sm_90a").loops() == []


CAPS = (24, 40, 80, 96, 100, 128, 255)
CAPPED = [(cap, ARCHITECTURES[n % len(ARCHITECTURES)]) for n, cap in enumerate(CAPS)]
"""Each cap on one chip; on every one in a soak."""


@pytest.mark.few(2)
@pytest.mark.parametrize(("cap", "chip"), list(product(CAPS, ARCHITECTURES)) if "WEFT_SOAK" in os.environ else CAPPED)
def test_a_cap_on_registers_is_kept(cap: int, chip: str) -> None:
    """The head that the emitter writes for a cap, above a kernel that takes 115 registers or more if it may."""
    made = emit_text(f"""gpu.module @m {{ gpu.func @sgemm() kernel attributes {{
        known_block_size = array<i32: 256, 1, 1>, weft.max_registers = {cap} : i64}} {{ gpu.return }} }}""")
    head = re.search(r"void (__\w+__\([^)]*\)) sgemm", made)
    assert head is not None
    text = SGEMM.replace("__launch_bounds__(256)", head[1])
    free = resources(SGEMM, "sgemm", chip).registers
    taken = resources(text, "sgemm", chip)
    assert free > 112 and taken.registers <= cap
    assert cap < 128 or taken.spill_bytes == 0


@pytest.mark.parametrize(
    ("block", "cap", "head"),
    [
        ("256, 1, 1", 128, "__launch_bounds__(256, 2)"),
        ("16, 16, 1", 80, "__launch_bounds__(256, 3)"),
        ("256, 1, 1", 96, "__maxnreg__(96)"),
        ("256, 1, 1", 32, "__maxnreg__(32)"),  # eight blocks are more threads than some chips hold
        ("96, 1, 1", 168, "__maxnreg__(168)"),
    ],
)
def test_the_head_of_a_capped_kernel(block: str, cap: int, head: str) -> None:
    text = emit_text(f"""gpu.module @m {{ gpu.func @f() kernel attributes {{
        known_block_size = array<i32: {block}>, weft.max_registers = {cap} : i64}} {{ gpu.return }} }}""")
    assert f"void {head} f(" in text


@pytest.mark.few(3)
@pytest.mark.parametrize("chip", ARCHITECTURES)
def test_asynchronous_copies_pass_no_register(chip: str) -> None:
    """One instruction each, as wide as it says; none of global to registers, none of registers to shared memory."""
    text = emitted("copies")
    made = program(text, "mirror", chip).instructions
    copies = [one for one in made if one.mnemonic == "LDGSTS"]
    assert sorted(one.bits for one in copies) == [32, 64, 128, 128]
    assert {one.bits for one in copies if "BYPASS" in one.modifiers} == {128}
    assert not any("ZFILL" in one.modifiers for one in copies)
    assert any("ZFILL" in one.modifiers for one in program(text, "sums", chip).instructions)
    for kernel in ("mirror", "sums"):
        found = whole(text, kernel, chip)
        assert found.by_mnemonic["LDG"] == found.by_mnemonic["STS"] == 0 < found.by_mnemonic["LDGSTS"]
        assert found.by_mnemonic["LDGDEPBAR"] and found.by_mnemonic["DEPBAR"]
        assert resources(text, kernel, chip).spill_bytes == found.local == 0
