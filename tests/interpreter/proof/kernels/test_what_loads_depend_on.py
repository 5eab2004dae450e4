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
    return f"""gpu.module @k {{ gpu.func @f(%A: memref<1024xf32>, %I: memref<64xindex>, %J: memref<64xindex>,
      %D: memref<64xi8>) kernel attributes {{{SIZES.format(grid=grid)}}} {{
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


ADDRESS = "%p = memref.alloca() : memref<4xf32>\n %d = memref.extract_aligned_pointer_as_index %p : memref<4xf32> -> index"
OPEN = {
    "poison": "%q = ub.poison : i1",
    "an address of private memory": f"{ADDRESS}\n %q = arith.cmpi ugt, %d, %c32 : index",
    "private memory that is not written": "%p = memref.alloca() : memref<1xi1>\n %q = memref.load %p[%c0] : memref<1xi1>",
    "an element of nothing": "%e = tensor.empty() : tensor<4xi1>\n %q = tensor.extract %e[%c0] : tensor<4xi1>",
}


@pytest.mark.parametrize("condition", OPEN.values(), ids=OPEN)
def test_what_is_open_may_differ_from_thread_to_thread(condition: str) -> None:
    assert codes(kernel(f"{condition}\n scf.if %q {{ gpu.barrier }}")) == ["W0603"]


VIEW = "%v{0} = memref.view %D[%c0][] : memref<64xi8> to memref<{2}x{0}>\n %a{0} = arith.constant {1} : {0}"
ADD = "%r{0} = memref.atomic_rmw {1} %a{0}, %v{0}[%c0] : ({0}, memref<{2}x{0}>) -> {0}"
I32, I64, F32 = ("i32", "addi", 16), ("i64", "addi", 8), ("f32", "addf", 16)
ATOMICS = {
    "one type": ((I32, I32), []),
    "two widths": ((I32, I64), ["W0601"]),
    "two types": ((I32, F32), ["W0601"]),
}


@pytest.mark.parametrize(("both", "expected"), ATOMICS.values(), ids=ATOMICS)
def test_atomics_on_the_same_bytes(both: tuple[tuple[str, str, int], ...], expected: list[str]) -> None:
    views = [VIEW.format(kind, "1.0" if kind == "f32" else 1, size) for kind, _, size in dict.fromkeys(both)]
    adds = [ADD.format(kind, how, size).replace("%r", f"%r{n}") for n, (kind, how, size) in enumerate(both)]
    assert codes(kernel("\n ".join([*views, *adds]))) == expected


LATE = """memref.store %one, %A[%t] : memref<1024xf32>
      gpu.barrier
      %n = arith.xori %t, %c1 : index
      %T = bufferization.to_tensor %A : memref<1024xf32> to tensor<1024xf32>
      {}
      gpu.barrier
      memref.store %one, %A[%t] : memref<1024xf32>
      {}"""
EXTRACT = "%x = tensor.extract %T[%n] : tensor<1024xf32>"


@pytest.mark.parametrize(("before", "after", "expected"), [(EXTRACT, "", []), ("", EXTRACT, ["W0601"])])
def test_a_tensor_shows_its_buffer_whenever_it_is_read(before: str, after: str, expected: list[str]) -> None:
    assert codes(kernel(LATE.format(before, after))) == expected


@pytest.mark.parametrize(("kind", "expected"), [("vector<4xf32>", []), ("vector<[4]xf32>", ["W0601"])])
@pytest.mark.parametrize("store", ["vector.store %v, %A[%o] : memref<1024xf32>, KIND",
                                   "vector.transfer_write %v, %A[%o] {in_bounds = [true]} : KIND, memref<1024xf32>"])  # fmt: skip
def test_how_long_a_scalable_vector_is_nobody_knows(store: str, kind: str, expected: list[str]) -> None:
    body = f"%o = affine.apply affine_map<(d0) -> (d0 * 4)>(%t)\n %v = vector.broadcast %one : f32 to KIND\n {store}"
    assert codes(kernel(body.replace("KIND", kind))) == expected


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


@pytest.mark.parametrize(("wait", "expected"), [("", ["W0634"]), ("gpu.wait [%a]", [])])
def test_a_tensor_is_read_by_the_host_when_it_is_used(wait: str, expected: list[str]) -> None:
    shown = "%T = bufferization.to_tensor %A : memref<64xf32> to tensor<64xf32>"
    text = HOST.format(op="%t = gpu.thread_id x", launch=f"{shown}\n{FUNC}")
    if wait:
        text = text.replace("    gpu.wait [%a]\n", "").replace("    %x = ", f"    {wait}\n    %x = ")
    assert codes(text.replace("memref.load %A[%c1] : memref<64xf32>", "tensor.extract %T[%c1] : tensor<64xf32>")) == expected
