"""Conflicts at sizes that are known at run time only: at which they are found, and what they need."""

from __future__ import annotations

import pytest
from test_verify import judge


def sized(body: str) -> str:
    return f"""gpu.module @m {{
  gpu.func @k(%a: memref<?xf32>, %n: index, %m: index) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %zero = arith.constant 0.0 : f32
    %c7 = arith.constant 7 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}"""


BELOW = "%c = arith.cmpi slt, %t, %n : index\nscf.if %c {{\n%i = {}\nmemref.store %zero, %a[%i] : memref<?xf32>\n}}\n"
FROM = """%d = arith.cmpi sge, %t, %c32 : index
scf.if %d {
%j = arith.subi %t, %m : index
memref.store %zero, %a[%j] : memref<?xf32>
}
"""
CAPPED = """%c0 = arith.constant 0 : index
%size = memref.dim %a, %c0 : memref<?xf32>
%least = arith.minsi %n, %size : index
%c = arith.cmpi slt, %t, %least : index
scf.if %c {
memref.store %zero, %a[%c7] : memref<?xf32>
}"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (BELOW.format("arith.remsi %t, %c7 : index"), "found at n = 8; it needs n ≥ 8"),
        (CAPPED, "found at a.0 = 2, n = 2; it needs n ≥ 2, a.0 ≥ 2"),
        (BELOW.format("arith.addi %t, %c7 : index"), None),
        (BELOW.format("arith.addi %t, %c7 : index").replace("%i]", "%t]") + FROM, "n + m ≥ 33"),
    ],
    ids=["a remainder", "the smaller of two", "no conflict", "a sum"],
)
def test_a_witness_says_at_which_sizes_and_what_it_takes(body: str, said: str | None) -> None:
    notes = [note for kernel in judge(sized(body)).kernels for found in kernel.diagnostics for note in found.notes]
    assert not notes if said is None else any(said in note for note in notes), notes


@pytest.mark.parametrize(("n", "clean"), [(7, True), (8, False)])
def test_the_least_size_that_is_named_is_the_least(n: int, clean: bool) -> None:
    body = BELOW.format("arith.remsi %t, %c7 : index").replace("%n ", "%number ")
    assert judge(sized(f"%number = arith.constant {n} : index\n{body}")).ok == clean
