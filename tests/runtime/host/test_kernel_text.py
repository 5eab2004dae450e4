"""The plan's parameters are those of the emitted text, whatever is open in a memref's type."""

from __future__ import annotations

import pytest
from runtime_programs import host, launch

from weft.dsl.diagnostics import WeftError
from weft.runtime.cuda.module import emit
from weft.runtime.files.bundle import check_text, declared_types
from weft.runtime.host.host import make_plan
from weft.runtime.plan.dtypes import NUMPY
from weft.runtime.plan.plan import KernelEntry, Param

TYPES = [
    "memref<f32>",
    "memref<4x8xf16>",
    "memref<?x8xf32>",
    "memref<?x?xf32>",
    "memref<4x?xi8>",
    "memref<?x?x?xbf16>",
    "memref<?x?xf32, strided<[?, 1]>>",
    "memref<?xf32, strided<[?], offset: ?>>",
    *(t for t in NUMPY),
]


@pytest.mark.parametrize("kind", TYPES)
def test_plan_and_text_agree(kind: str) -> None:
    kernel = f"gpu.func @k(%x: {kind}, %s: i64) kernel {{ gpu.return }}"
    module = host(
        f"""func.func @f(%x: {kind}, %s: i64) {{ %c1 = arith.constant 1 : index
        {launch("k", f"%x: {kind}, %s: i64")} return }}""",
        kernel,
    )
    check_text(make_plan(module, None).kernels[0], emit(module), "kernels.cu")


def test_declarations_are_read() -> None:
    text = """extern "C" __global__ void __launch_bounds__(256) k(
        const signed char* __restrict__ A,
        long long A_size0, bool b) { }
        extern "C" __global__ void none() {}"""
    assert declared_types(text, "k") == ["signed char*", "long long", "bool"]
    assert declared_types(text, "none") == []
    assert declared_types(text, "on") is None


def test_other_arguments_are_refused() -> None:
    kernel = KernelEntry("k", "g::k", (Param("A", "f32", (4, None), (), 0),))
    check_text(kernel, "__global__ void k(float* A, long long n) {}", "t")
    for arguments in ("float* A", "float A, long long n", "double* A, long long n", "float* A, int n", ""):
        with pytest.raises(WeftError, match="W0713"):
            check_text(kernel, f"__global__ void k({arguments}) {{}}", "t")
