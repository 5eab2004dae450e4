"""Names, arguments, signatures: what a launch sees of a text."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from cuda_cases import emit_text, emitted


def one(arguments: str, body: str = "", attributes: str = "") -> str:
    return emit_text(f"""gpu.module @m {{ gpu.func @k({arguments}) kernel {attributes} {{
      %c0 = arith.constant 0 : index
      %f = arith.constant 1.0 : f32
      {body}
      gpu.return }} }}""")


def parameters(text: str) -> list[str]:
    """Of the one kernel of the text."""
    found = re.search(r"__global__ void (?:__launch_bounds__\(.*?\) )?\w+\((.*?)\) {", text, re.DOTALL)
    assert found is not None
    return re.split(r",\s+", found[1].strip())


def test_parameters_of_a_dynamic_memref_in_order() -> None:
    text = one('%a: memref<?x4x?xf16, strided<[?, ?, 1], offset: ?>> {weft.name = "a"}, %n: index, %s: bf16, %p: i1')
    assert parameters(text) == [
        "const f16* __restrict__ a", "long long a_size0", "long long a_size2", "long long a_stride0", "long long a_stride1",
        "long long a_offset", "long long arg1", "bf16 arg2", "bool arg3",
    ]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), [("A", "A"), ("my matrix", "my_matrix"), ("2d", "arg2d"), ("float", "float_"),
                                               ("tx", "tx_"), ("__x", "x"), ("é", "arg")])  # fmt: skip
def test_names_are_identifiers(given: str, wanted: str) -> None:
    assert parameters(one(f'%a: memref<4xf32> {{weft.name = "{given}"}}')) == [f"const float* __restrict__ {wanted}"]


def test_names_are_unique() -> None:
    text = one('%a: memref<4xf32> {weft.name = "A"}, %b: memref<4xf32> {weft.name = "A"}')
    assert parameters(text) == ["const float* __restrict__ A", "const float* __restrict__ A1"]


def test_kernels_of_one_name_in_two_modules() -> None:
    body = "() kernel { gpu.return }"
    made = emit_text(
        f"module {{ gpu.module @a {{ gpu.func @k{body} }}  gpu.module @b {{ gpu.func @k{body} gpu.func @exp{body} }} }}"
    )
    assert re.findall(r"void (\w+)\(", made) == ["k", "b_k", "exp_"]


def test_only_what_is_written_is_not_const() -> None:
    text = one("%a: memref<4xf32>, %b: memref<4xf32>", """
      %v = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
      memref.store %f, %v[%c0] : memref<2xf32, strided<[1], offset: 1>>""")  # fmt: skip
    assert "(const float* __restrict__ arg0, float* __restrict__ arg1)" in text
    assert "arg1[1] = 1.0f;" in text


ALIASED = """module attributes {{gpu.container_module}} {{
  gpu.module @m {{ gpu.func @k(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) kernel {{
    %i = gpu.thread_id x
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, {written}[%i] : memref<4xf32>
    gpu.return }} }}
  func.func @host(%x: memref<4xf32>, %y: memref<4xf32>) {{
    %n = arith.constant 4 : index
    %1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%1, %1, %1) threads in (%n, %1, %1)
      args(%x : memref<4xf32>, %y : memref<4xf32>, %x : memref<4xf32>)
    return }} }}"""


def test_a_buffer_passed_twice_is_not_restrict_if_it_is_written() -> None:
    assert (
        "k(const float* arg0, const float* __restrict__ arg1, float* arg2)"
        in emit_text(ALIASED.format(written="%c"))
    )
    assert emit_text(ALIASED.format(written="%b")).count("__restrict__") == 3


def test_known_sizes_make_launch_bounds_and_constants() -> None:
    text = one("%a: memref<4xindex>", """
      %n = gpu.block_dim x
      %m = gpu.grid_dim y
      %s = arith.addi %n, %m : index
      memref.store %s, %a[%c0] : memref<4xindex>""",
      "attributes {known_block_size = array<i32: 32, 4, 1>, known_grid_size = array<i32: 7, 9, 1>}")  # fmt: skip
    assert "__launch_bounds__(128)" in text
    assert "arg0[0] = 41;" in text


@pytest.mark.parametrize("rows", [20000, 70000])
def test_index_width_follows_the_size(rows: int) -> None:
    """20000 x 65536 elements are within 32 bits, 70000 x 65536 are not."""
    text = one(f"%a: memref<{rows}x65536xf32>", f"""
      %i = gpu.block_id x
      %j = gpu.thread_id x
      memref.store %f, %a[%i, %j] : memref<{rows}x65536xf32>""",
      f"attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {rows}, 1, 1>}}")  # fmt: skip
    assert ("(long long)bx * 65536 + tx" in text) == (rows == 70000)
    assert ("[bx * 65536 + tx]" in text) == (rows == 20000)


def test_shared_memory_is_static_up_to_48_kib() -> None:
    assert "  extern __shared__ float4 dynamic_shared[];" in emitted("tiles")
    assert emitted("matmul").count("  __shared__ float ") >= 2 and "dynamic_shared" not in emitted("matmul")


def test_abi_and_compiler_need_no_mlir() -> None:
    code = "import sys, weft.runtime.cuda, weft.runtime.cuda.nvrtc; assert 'torch_mlir' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("mark", "pragma"), [("", None), ("{weft.unroll}", "#pragma unroll"), ("{weft.unroll = 4 : i64}", "#pragma unroll 4")]
)
def test_unroll(mark: str, pragma: str | None) -> None:
    """What the schedule says of a loop stands above it; a loop over memory that has addresses needs no pragma."""
    text = emit_text(f"""
      gpu.module @m {{ gpu.func @f(%x: memref<64xf32>) kernel {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        scf.for %i = %c0 to %c64 step %c1 {{
          %v = memref.load %x[%i] : memref<64xf32>
          %w = arith.addf %v, %v : f32
          memref.store %w, %x[%i] : memref<64xf32>
        }} {mark}
        gpu.return
      }} }}""")
    assert [line.strip() for line in text.splitlines() if "#pragma" in line] == ([pragma] if pragma else [])
