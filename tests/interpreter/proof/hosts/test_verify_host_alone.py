"""What cannot be judged of the kernels hides nothing of the host: modules without a kernel, or with one that is not launched."""

from __future__ import annotations

import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.verify import verify_source

UNUSED = "gpu.module @k { gpu.func @unused(%x: memref<4xf32>) kernel { gpu.return } }"
ALLOC = "%t = gpu.wait async\n%m, %a = gpu.alloc async [%t] () : memref<4xf32>\n%f = gpu.dealloc async [%a] %m : memref<4xf32>\n"
AGAIN = "%g = gpu.dealloc async [%f] %m : memref<4xf32>\ngpu.wait [%g]"


def codes(body: str, kernels: str = "") -> list[str]:
    text = f"module attributes {{gpu.container_module}} {{ func.func @f() {{\n{body}\nreturn }}\n{kernels} }}"
    try:
        verdict = verify_source(Source("m.mlir", text))
    except WeftError as error:
        return [d.code for d in error.diagnostics]
    return [d.code for d in verdict.diagnostics]


@pytest.mark.parametrize(
    ("body", "kernels", "expected"),
    [
        (ALLOC + "gpu.wait [%f]", "", []),
        (ALLOC + AGAIN, "", ["W0632"]),
        (ALLOC, "", ["W0620"]),
        ("%t = gpu.wait async", "", ["W0621"]),
        ("", "", ["W0611"]),
        (ALLOC + AGAIN, UNUSED, ["W0612", "W0632"]),
        (ALLOC + "gpu.wait [%f]", UNUSED, ["W0612"]),
    ],
)
def test_the_host_is_judged_whatever_the_kernels_are(body: str, kernels: str, expected: list[str]) -> None:
    assert codes(body, kernels) == expected
