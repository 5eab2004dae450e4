"""Names, arguments, signatures: what a launch sees of a text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cuda_cases import MODULES, emit_text, emitted, module

from weft.runtime.cuda import kernel_signature
from weft.runtime.cuda.abi import KernelSignature, Parameter
from weft.runtime.cuda.module import kernel_functions


def one(arguments: str, body: str = "", attributes: str = "") -> tuple[str, KernelSignature]:
    made = emit_text(f"""gpu.module @m {{ gpu.func @k({arguments}) kernel {attributes} {{
      %c0 = arith.constant 0 : index
      %f = arith.constant 1.0 : f32
      {body}
      gpu.return }} }}""")
    return made.text, made.kernels["m::k"]


def test_parameters_of_a_dynamic_memref_in_order() -> None:
    text, known = one(
        '%a: memref<?x4x?xf16, strided<[?, ?, 1], offset: ?>> {weft.name = "a"}, %n: index, %s: bf16, %p: i1'
    )
    assert known.parameters == (
        Parameter("pointer", 0, "a", "f16"),
        Parameter("size", 0, "a_size0", "i64", 0),
        Parameter("size", 0, "a_size2", "i64", 2),
        Parameter("stride", 0, "a_stride0", "i64", 0),
        Parameter("stride", 0, "a_stride1", "i64", 1),
        Parameter("offset", 0, "a_offset", "i64"),
        Parameter("scalar", 1, "arg1", "index"),
        Parameter("scalar", 2, "arg2", "bf16"),
        Parameter("scalar", 3, "arg3", "i1"),
    )
    for declaration in ("const f16* __restrict__ a", "long long a_offset", "long long arg1", "bf16 arg2", "bool arg3"):
        assert declaration in text


@pytest.mark.parametrize(("given", "wanted"), [("A", "A"), ("my matrix", "my_matrix"), ("2d", "arg2d"), ("float", "float_"),
                                               ("tx", "tx_"), ("__x", "x"), ("é", "arg")])  # fmt: skip
def test_names_are_identifiers(given: str, wanted: str) -> None:
    _, known = one(f'%a: memref<4xf32> {{weft.name = "{given}"}}')
    assert known.parameters[0].name == wanted


def test_names_are_unique() -> None:
    _, known = one('%a: memref<4xf32> {weft.name = "A"}, %b: memref<4xf32> {weft.name = "A"}')
    assert [p.name for p in known.parameters] == ["A", "A1"]


def test_kernels_of_one_name_in_two_modules() -> None:
    body = "() kernel { gpu.return }"
    made = emit_text(
        f"module {{ gpu.module @a {{ gpu.func @k{body} }}  gpu.module @b {{ gpu.func @k{body} gpu.func @exp{body} }} }}"
    )
    assert {symbol: k.name for symbol, k in made.kernels.items()} == {"a::k": "k", "b::k": "b_k", "b::exp": "exp_"}


def test_only_what_is_written_is_not_const() -> None:
    text, known = one("%a: memref<4xf32>, %b: memref<4xf32>", """
      %v = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
      memref.store %f, %v[%c0] : memref<2xf32, strided<[1], offset: 1>>""")  # fmt: skip
    assert [p.written for p in known.parameters] == [False, True]
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
        in emit_text(ALIASED.format(written="%c")).text
    )
    assert emit_text(ALIASED.format(written="%b")).text.count("__restrict__") == 3


def test_known_sizes_make_launch_bounds_and_constants() -> None:
    text, known = one("%a: memref<4xindex>", """
      %n = gpu.block_dim x
      %m = gpu.grid_dim y
      %s = arith.addi %n, %m : index
      memref.store %s, %a[%c0] : memref<4xindex>""",
      "attributes {known_block_size = array<i32: 32, 4, 1>, known_grid_size = array<i32: 7, 9, 1>}")  # fmt: skip
    assert "__launch_bounds__(128)" in text
    assert "arg0[0] = 41;" in text
    assert (known.block, known.grid) == ((32, 4, 1), (7, 9, 1))


@pytest.mark.parametrize("rows", [20000, 70000])
def test_index_width_follows_the_size(rows: int) -> None:
    """20000 x 65536 elements are within 32 bits, 70000 x 65536 are not."""
    text, _ = one(f"%a: memref<{rows}x65536xf32>", f"""
      %i = gpu.block_id x
      %j = gpu.thread_id x
      memref.store %f, %a[%i, %j] : memref<{rows}x65536xf32>""",
      f"attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {rows}, 1, 1>}}")  # fmt: skip
    assert ("(long long)bx * 65536 + tx" in text) == (rows == 70000)
    assert ("[bx * 65536 + tx]" in text) == (rows == 20000)


@pytest.mark.parametrize("name", MODULES)
def test_signature_alone(name: str) -> None:
    for symbol, func in kernel_functions(module(name)):
        known = emitted(name).kernels[symbol]
        assert kernel_signature(func) == known


def test_shared_memory_is_static_up_to_48_kib() -> None:
    kernels = emitted("tiles").kernels
    assert (kernels["tiles::reverse"].static_shared_bytes, kernels["tiles::reverse"].dynamic_shared_bytes) == (0, 65536)
    assert emitted("matmul").kernels["matmul::shared"].static_shared_bytes == 4 * 16 * (16 + 17)


def test_abi_and_compiler_need_no_mlir() -> None:
    code = "import sys, weft.runtime.cuda, weft.runtime.cuda.abi, weft.runtime.cuda.nvrtc; assert 'torch_mlir' not in sys.modules"
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
      }} }}""").text
    assert [line.strip() for line in text.splitlines() if "#pragma" in line] == ([pragma] if pragma else [])
