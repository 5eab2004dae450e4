"""Indices and conditions that come out of memory, barriers in regions of all kinds, ops that nobody knows between launches."""

from __future__ import annotations

import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.verify import verify_source

SIZES = "known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {grid}, 1, 1>"
WINDOW = "memref<1xindex, strided<[1], offset: ?>>"


def codes(text: str) -> list[str]:
    """What is said of a module: its faults, or why it is refused."""
    try:
        found = verify_source(Source("p.mlir", text)).diagnostics
    except WeftError as error:
        found = error.diagnostics
    return sorted({d.code for d in found})


def kernel(body: str, grid: int = 1) -> str:
    return f"""gpu.module @k {{ gpu.func @f(%A: memref<1024xf32>, %I: memref<64xindex>, %J: memref<64xindex>) kernel
      attributes {{{SIZES.format(grid=grid)}}} {{
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1.0 : f32
      %first = arith.cmpi eq, %t, %c0 : index
      {body}
      gpu.return }} }}"""


STORE = "%j = arith.addi %x, %t : index\n memref.store %one, %A[%j] : memref<1024xf32>"
LOADS = {
    "subview": f"%v = memref.subview %I[%t] [1] [1] : memref<64xindex> to {WINDOW}\n %x = memref.load %v[%c0] : {WINDOW}\n {STORE}",
    "reinterpret_cast": f"""%v = memref.reinterpret_cast %I to offset: [%t], sizes: [1], strides: [1] : memref<64xindex> to {WINDOW}
      %x = memref.load %v[%c0] : {WINDOW}
      {STORE}""",
    "select": f"""%q = arith.cmpi ult, %t, %c32 : index
      %v = arith.select %q, %I, %J : memref<64xindex>
      %x = memref.load %v[%c0] : memref<64xindex>
      {STORE}""",
    "a branch": f"""%q = arith.cmpi ult, %t, %c32 : index
      %v = scf.if %q -> memref<64xindex> {{ scf.yield %I : memref<64xindex> }} else {{ scf.yield %J : memref<64xindex> }}
      %x = memref.load %v[%c0] : memref<64xindex>
      {STORE}""",
    "a loop": f"""scf.for %i = %c0 to %c64 step %c1 {{
        %v = memref.subview %I[%i] [1] [1] : memref<64xindex> to {WINDOW}
        %x = memref.load %v[%c0] : {WINDOW}
        %q = arith.cmpi eq, %x, %t : index
        scf.if %q {{ memref.store %one, %A[%c0] : memref<1024xf32> }}
      }}""",
}


@pytest.mark.parametrize("body", LOADS.values(), ids=LOADS)
def test_a_load_depends_on_what_it_loads_from(body: str) -> None:
    assert codes(kernel(body)) == ["W0601"]


def test_a_load_that_all_threads_do_alike_is_one_number() -> None:
    fixed = "memref<1xindex, strided<[1], offset: 3>>"
    same = f"%v = memref.subview %I[3] [1] [1] : memref<64xindex> to {fixed}\n %x = memref.load %v[%c0] : {fixed}\n {STORE}"
    assert codes(kernel(same)) == []


def test_a_load_may_differ_from_block_to_block() -> None:
    body = f"""%v = memref.subview %I[%b] [1] [1] : memref<64xindex> to {WINDOW}
      %x = memref.load %v[%c0] : {WINDOW}
      %s = arith.muli %b, %c64 : index
      %u = arith.addi %s, %t : index
      %j = arith.addi %u, %x : index
      memref.store %one, %A[%j] : memref<1024xf32>"""
    assert codes(kernel(body, grid=2)) == ["W0602"]


def test_trip_counts_out_of_a_view_are_not_the_same_for_all() -> None:
    body = f"""%row = memref.subview %I[%t] [1] [1] : memref<64xindex> to {WINDOW}
      %hi = memref.load %row[%c0] : {WINDOW}
      scf.for %i = %c0 to %hi step %c1 {{ gpu.barrier }}"""
    assert codes(kernel(body)) == ["W0603"]


REGIONS = {
    "index_switch": "scf.index_switch %t\n case 0 { gpu.barrier\n scf.yield }\n default { }",
    "forall": "scf.if %first { scf.forall (%i) in (4) { gpu.barrier } }",
    "parallel": "scf.if %first { scf.parallel (%i) = (%c0) to (%c32) step (%c1) { gpu.barrier\n scf.reduce } }",
    "execute_region": "scf.if %first { scf.execute_region { gpu.barrier\n scf.yield } }",
    "all_reduce": "scf.if %first { %m = gpu.all_reduce add %zero uniform {} : (i32) -> (i32) }",
}


@pytest.mark.parametrize("body", REGIONS.values(), ids=REGIONS)
def test_barriers_in_regions_are_seen(body: str) -> None:
    assert codes(kernel(body)) in (["W0603"], ["W0640"])


HOST = """module attributes {{gpu.container_module}} {{
  gpu.module @k {{ gpu.func @p(%A: memref<64xf32>) kernel {{
    {op}
    gpu.return }} }}
  func.func @main(%A: memref<64xf32>, %h: memref<64xf32>) {{
    %c1 = arith.constant 1 : index
    %r = gpu.wait async
    {launch}
    %x = memref.load %A[%c1] : memref<64xf32>
    memref.store %x, %h[%c1] : memref<64xf32>
    gpu.wait [%a]
    return }} }}"""
SIZED = "blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)"
FUNC = f"%a = gpu.launch_func async [%r] @k::@p {SIZED} args(%A : memref<64xf32>)"
BODY = """%a = gpu.launch async [%r] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) { "my.write_everything"() : () -> ()
      gpu.terminator }"""


@pytest.mark.parametrize("launch", [FUNC, BODY], ids=["launch_func", "launch"])
def test_a_kernel_with_an_op_that_nobody_knows_may_touch_anything(launch: str) -> None:
    assert codes(HOST.format(op='"my.write_everything"() : () -> ()', launch=launch)) != []


def test_a_kernel_that_touches_nothing_is_ordered() -> None:
    assert codes(HOST.format(op="%t = gpu.thread_id x", launch=FUNC)) == []
