"""`weft verify` on modules written elsewhere: what is free of races, what is not, and what is said about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from proofs import expect_codes

from weft import cli, verify
from weft.dsl.diagnostics import Diagnostic, Source, WeftError
from weft.verify import Judged, Sizes, Verdict, verify_source

SHARED = "#gpu.address_space<workgroup>"
V = "memref<64xf32>"
S = f"memref<64xf32, {SHARED}>"
LAUNCH = """
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%S : {shared}) {{
    %c63 = arith.constant 63 : index
    %o = arith.subi %c63, %tx : index
    %zero = arith.constant 0.0 : f32
{body}
    gpu.terminator
  }}"""


def host(body: str, arguments: str = f"%A: {V}, %B: {V}", before: str = "", blocks: int = 1, shared: str = S) -> str:
    """A host function with one `gpu.launch` of 64 threads: `%tx`, and `%o` = 63 - tx."""
    return f"""func.func @f({arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %blocks = arith.constant {blocks} : index
  {before}
  {LAUNCH.format(body=body, shared=shared)}
  return
}}
"""


def lines(*parts: str) -> str:
    return "\n".join(parts)


def put(buffer: str, index: str, kind: str = S) -> str:
    return f"memref.store %zero, %{buffer}[{index}] : {kind}"


def get(name: str, buffer: str, index: str, kind: str = S) -> str:
    return f"%{name} = memref.load %{buffer}[{index}] : {kind}"


def judge(text: str, block: Sizes | None = None, grid: Sizes | None = None, may_alias: bool = False) -> Verdict:
    return verify_source(Source("p.mlir", text), block=block, grid=grid, may_alias=may_alias)


def found(text: str, block: Sizes | None = None, grid: Sizes | None = None, may_alias: bool = False) -> Sequence[Diagnostic]:
    try:
        return judge(text, block, grid, may_alias).diagnostics
    except WeftError as error:
        return error.diagnostics


def codes(text: str, block: Sizes | None = None, grid: Sizes | None = None) -> list[str]:
    return [d.code for d in found(text, block, grid)]


SWAP = lines(put("S", "%tx"), "{}", get("r", "S", "%o"))
DYNAMIC = "memref<?xi8, #gpu.address_space<workgroup>>"


def views(second: str, count: int = 32) -> str:
    """Two views of dynamic shared memory: 32 floats from byte 0, `count` from byte `second` on."""
    kind = f"memref<{count}xf32, {SHARED}>"
    return lines(
        f"%d1 = gpu.dynamic_shared_memory : {DYNAMIC}",
        f"%d2 = gpu.dynamic_shared_memory : {DYNAMIC}",
        f"%at = arith.constant {second} : index",
        f"%U = memref.view %d1[%c0][] : {DYNAMIC} to memref<32xf32, {SHARED}>",
        f"%W = memref.view %d2[%at][] : {DYNAMIC} to {kind}",
        "%half = arith.cmpi ult, %tx, %c32 : index",
        "%h = arith.remui %tx, %c32 : index",
        f"scf.if %half {{ memref.store %zero, %U[%h] : memref<32xf32, {SHARED}> }} "
        f"else {{ memref.store %zero, %W[%h] : {kind} }}",
    )


GLOBAL_TILE = f'memref.global "private" @tile : {S}\n'
INDEX = "memref<64xindex>"

CASES: dict[str, tuple[str, list[str]]] = {
    # ---- barriers and fences
    "a barrier between": (host(SWAP.format("gpu.barrier")), []),
    "no barrier": (host(SWAP.format("")), ["W0601"]),
    "a fence of shared memory": (host(SWAP.format(f"gpu.barrier memfence [{SHARED}]")), []),
    "a fence of global memory": (host(SWAP.format("gpu.barrier memfence [#gpu.address_space<global>]")), ["W0601"]),
    "an empty fence": (host(SWAP.format("gpu.barrier memfence []")), ["W0601"]),
    "a subgroup's barrier": (host(SWAP.format("gpu.barrier scope <subgroup>")), ["W0601"]),
    "a cluster's barrier": (host(SWAP.format("gpu.barrier scope <cluster>")), []),
    "a named barrier": (
        host(lines("%n = arith.constant 2 : i32", "%nb = gpu.initialize_named_barrier %n : i32 -> !gpu.named_barrier",
                   SWAP.format("gpu.barrier named(%nb : !gpu.named_barrier)"))), ["W0601"],
    ),
    "a barrier for half of the threads": (
        host(lines("%c = arith.cmpi ult, %tx, %c32 : index", SWAP.format("scf.if %c { gpu.barrier }"))),
        ["W0603", "W0601"],
    ),
    "a barrier in both arms": (
        host(lines("%c = arith.cmpi ult, %tx, %c32 : index", "scf.if %c { gpu.barrier } else { gpu.barrier }")),
        ["W0603", "W0603"],
    ),
    "a subgroup's barrier for one subgroup": (
        host(lines("%c = arith.cmpi ult, %tx, %c32 : index", "scf.if %c { gpu.barrier scope <subgroup> }")), [],
    ),
    "a barrier in a loop of uneven length": (host("scf.for %i = %tx to %c64 step %c32 { gpu.barrier }"), ["W0603"]),
    "a barrier in a loop that starts unevenly": (
        host("%e = arith.addi %tx, %c64 : index\nscf.for %i = %tx to %e step %c32 { gpu.barrier }"), [],
    ),
    # ---- memory that is the same
    "one buffer passed twice": (
        host(lines(get("r", "A", "%tx", V), put("X", "%o", V)), before=f"%X = memref.cast %A : {V} to {V}"), ["W0601"],
    ),
    "two arguments": (host(lines(get("r", "A", "%tx", V), put("B", "%o", V))), []),
    "overlapping subviews": (
        host(lines(get("r", "X", "%tx", "memref<64xf32, strided<[1]>>"),
                   put("Y", "%tx", "memref<64xf32, strided<[1], offset: 1>>")),
             arguments="%A: memref<128xf32>",
             before="%X = memref.subview %A[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>\n"
             "%Y = memref.subview %A[1] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 1>>"),
        ["W0601"],
    ),
    "disjoint subviews": (
        host(lines(get("r", "X", "%tx", "memref<64xf32, strided<[1]>>"),
                   put("Y", "%tx", "memref<64xf32, strided<[1], offset: 64>>")),
             arguments="%A: memref<128xf32>",
             before="%X = memref.subview %A[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>\n"
             "%Y = memref.subview %A[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>"),
        [],
    ),
    "disjoint dynamic shared memory": (
        host(lines(views("128"), "gpu.barrier", f"%r = memref.load %U[%h] : memref<32xf32, {SHARED}>")), [],
    ),
    "overlapping dynamic shared memory": (host(views("124")), ["W0601"]),
    "dynamic shared memory, read across views": (
        host(lines(views("128"), f"%whole = memref.view %d1[%c0][] : {DYNAMIC} to {S}", "gpu.barrier", get("r", "whole", "%o"))),
        [],
    ),
    "one global of shared memory, got twice": (
        GLOBAL_TILE + host(lines(f"%g = memref.get_global @tile : {S}", f"%h = memref.get_global @tile : {S}",
                                 put("g", "%tx"), get("r", "h", "%o"))), ["W0601"],
    ),
    "private memory": (
        host(lines("%p = memref.alloca() : memref<1xf32>", put("p", "%c0", "memref<1xf32>"),
                   get("r", "p", "%c0", "memref<1xf32>"))), [],
    ),
    # ---- shared memory that nobody wrote
    "nobody wrote": (host(get("r", "S", "%tx")), ["W0610"]),
    "half of it written": (
        host(lines("%c = arith.cmpi ult, %tx, %c32 : index", "scf.if %c { " + put("S", "%tx") + " }", "gpu.barrier",
                   get("r", "S", "%o"))), ["W0610"],
    ),
    "written in the iteration before": (
        host(lines(put("S", "%tx"), "scf.for %i = %c0 to %c64 step %c1 {", "gpu.barrier", get("r", "S", "%o"), "gpu.barrier",
                   put("S", "%tx"), "}")), [],
    ),
    "written too late": (
        host(lines("scf.for %i = %c0 to %c64 step %c1 {", get("r", "S", "%o"), "gpu.barrier", put("S", "%tx"), "gpu.barrier",
                   "}")), ["W0610"],
    ),
    "an atomic update of nothing": (
        host(f"%r = memref.atomic_rmw addf %zero, %S[%c0] : (f32, {S}) -> f32"), ["W0610"],
    ),
    # ---- data
    "an index that is data": (
        host(lines(get("d", "I", "%tx", INDEX), put("A", "%d", V)), arguments=f"%A: {V}, %I: {INDEX}"), ["W0601"],
    ),
    "an index that is data, of a buffer nobody writes": (
        host(lines(get("d", "I", "%tx", INDEX), get("r", "A", "%d", V), put("B", "%tx", V)),
             arguments=f"%A: {V}, %B: {V}, %I: {INDEX}"), [],
    ),
    # ---- blocks
    "all blocks write one place": (host(put("A", "%tx", V), blocks=2), ["W0602"]),
    "each block its own": (
        host(lines("%i = affine.apply affine_map<(b, t) -> (64 * b + t)>(%bx, %tx)", put("A", "%i", "memref<128xf32>")),
             arguments="%A: memref<128xf32>", blocks=2), [],
    ),
    "an accumulation of all blocks, atomic": (
        host(f"%r = memref.atomic_rmw addf %zero, %A[%c0] : (f32, {V}) -> f32", blocks=4), [],
    ),
    # ---- other spellings
    "affine loops and conditions": (
        host(lines("affine.for %i = 0 to 64 step 64 {", "affine.if affine_set<(t, i) : (63 - t - i >= 0)>(%tx, %i) {",
                   f"affine.store %zero, %S[%tx + %i] : {S}", "}", "}", "gpu.barrier", f"%r = affine.load %S[63 - %tx] : {S}")),
        [],
    ),
    "the digits of an id": (
        host(lines("%r, %q = affine.delinearize_index %tx into (8, 8) : index, index",
                   "%i = affine.apply affine_map<(r, q) -> (8 * q + r)>(%r, %q)", put("S", "%i"), "gpu.barrier",
                   get("v", "S", "%tx"))), [],
    ),
    "ids in 32 bits": (
        host(lines("%t = arith.index_cast %tx : index to i32", "%k = arith.constant 63 : i32", "%m = arith.subi %k, %t : i32",
                   "%i = arith.index_castui %m : i32 to index", put("S", "%i"), get("v", "S", "%o"))), [],
    ),
    "a grid-stride loop over any number of blocks": (
        host(lines("%s = arith.muli %gx, %sx : index", "%b = arith.muli %bx, %sx : index", "%i0 = arith.addi %b, %tx : index",
                   "scf.for %i = %i0 to %n step %s {", put("A", "%i", "memref<?xf32>"), "}"),
             arguments="%A: memref<?xf32>, %n: index, %g: index").replace("%gx = %blocks", "%gx = %g"), [],
    ),
    "branches between blocks": (
        host(lines("%c = arith.cmpi ult, %tx, %c32 : index", "cf.cond_br %c, ^a, ^b", "^a:", "gpu.barrier", "cf.br ^b", "^b:")),
        ["W0640"],
    ),
    # ---- launches
    "in a loop of the host": (
        host(SWAP.format("gpu.barrier")).replace("  gpu.launch", "  scf.for %hi = %c0 to %c2 step %c1 {\n  gpu.launch").replace(
            "  return", "  }\n  return"), [],
    ),
    "tokens": (
        f"func.func @f(%A: {V}) {{\n%c1 = arith.constant 1 : index\n%t = gpu.wait async\n"
        "%u = gpu.launch async [%t] blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %g = %c1) "
        "threads(%h, %i, %j) in (%k = %c1, %l = %c1, %m = %c1) { gpu.terminator }\ngpu.wait [%u]\nreturn\n}", [],
    ),
    "no kernel": ("func.func @f() { return }", ["W0611"]),
    "too many threads": (host("").replace("%sy = %c1", "%sy = %c32"), ["W0613"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    text, expected = CASES[name]
    expect_codes(found(text), expected, text)


# ---- outlined kernels -----------------------------------------------------------------------------------------------------

OUTLINED = """module attributes {{gpu.container_module}} {{
  func.func @f(%A: memref<64xf32>, %B: memref<64xf32>, %n: index) {{
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    {host}
    return
  }}
  gpu.module @m {{
    gpu.func @k(%X: memref<64xf32>, %Y: memref<64xf32>, %shift: index) kernel {attributes} {{
      %t = gpu.thread_id x
      %i = arith.addi %t, %shift : index
      %v = memref.load %X[%i] : memref<64xf32>
      memref.store %v, %Y[%t] : memref<64xf32>
      gpu.return
    }}
  }}
}}"""


def launch(first: str, second: str, shift: str) -> str:
    return (
        "gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) "
        f"args(%{first} : memref<64xf32>, %{second} : memref<64xf32>, %{shift} : index)"
    )


@pytest.mark.parametrize(
    ("calls", "may_alias", "expected"),
    [
        ((("A", "B", "c1"),), False, []),
        ((("A", "B", "c1"),), True, ["W0601"]),
        ((("A", "A", "c1"),), False, ["W0601"]),  # the shift is 1: thread 1 writes what thread 0 reads
        ((("A", "A", "zero"),), False, []),  # the shift is known to be 0: each thread its own
        ((("A", "A", "n"),), False, ["W0601"]),
        ((("A", "B", "c1"), ("B", "A", "c1")), False, []),
        ((("A", "B", "c1"), ("B", "B", "c1")), False, ["W0601"]),
        ((("own", "A", "c1"),), True, []),  # what the host allocates itself is nobody else's
    ],
)
def test_launches_decide(calls: tuple[tuple[str, str, str], ...], may_alias: bool, expected: list[str]) -> None:
    prepared = "%zero = arith.constant 0 : index\n%own = memref.alloc() : memref<64xf32>\n"
    text = OUTLINED.format(host=prepared + "\n".join(launch(*c) for c in calls), attributes="")
    expect_codes(found(text, may_alias=may_alias), expected, text)


CARRIED = """%zero = arith.constant 0 : index
%no = arith.constant false
%r:2 = scf.for %i = %zero to %c64 step %c1 iter_args(%a = %A, %b = %B) -> (memref<64xf32>, memref<64xf32>) {{
  {inside}
  scf.yield %b, %a : memref<64xf32>, memref<64xf32>
}}
{behind}"""
TURNS = """scf.while (%a = %A) : (memref<64xf32>) -> () {{
  {inside}
  scf.condition(%no)
}} do {{
  scf.yield %B : memref<64xf32>
}}"""


@pytest.mark.parametrize(
    ("inside", "behind", "expected"),
    [
        (("a", "b", "zero"), (), []),  # each thread its own element, whichever buffer it gets
        (("a", "a", "zero"), (), []),
        ((), ("r#0", "r#1", "zero"), []),
        (("a", "a", "c1"), (), ["W0601"] * 2),  # in one buffer, whichever it is
        (("a", "B", "c1"), (), ["W0601"]),
        (("b", "A", "c1"), (), ["W0601"]),
        (("A", "b", "c1"), (), ["W0601"]),
        ((), ("r#1", "A", "c1"), ["W0601"]),
    ],
)
def test_buffers_that_a_loop_of_the_host_hands_on(inside: tuple[str, ...], behind: tuple[str, ...], expected: list[str]) -> None:
    """Judged for each buffer that it may be: what is only then a conflict is assumed, and the note says why."""
    calls = (launch(*inside) if inside else "", launch(*behind) if behind else "")
    verdict = judge(OUTLINED.format(host=CARRIED.format(inside=calls[0], behind=calls[1]), attributes=""))
    assert [d.code for d in verdict.diagnostics] == expected
    assert all("passes on one of several buffers" in "".join(d.notes) for d in verdict.diagnostics)


def test_the_order_of_arguments_hides_no_buffer_that_is_handed_on() -> None:
    """Both arguments may be both buffers, though either is carried from the other."""
    kernel = OUTLINED.replace("%shift: index) kernel", "%Z: memref<64xf32>, %shift: index) kernel")
    kernel = kernel.replace("%v = memref.load %X[%i]", "%w = memref.load %X[%t] : memref<64xf32>\n      %v = memref.load %Y[%i]")
    kernel = kernel.replace("memref.store %v, %Y", "memref.store %v, %Z")
    for first, second in (("a", "b"), ("b", "a")):
        for third in ("A", "B"):
            call = launch(first, second, "c1").replace(", %c1 : index)", f", %{third} : memref<64xf32>, %c1 : index)")
            assert codes(kernel.format(host=CARRIED.format(inside=call, behind=""), attributes="")) == ["W0601"]


def test_what_a_while_loop_yields_is_carried_too() -> None:
    host_loop = "%no = arith.constant false\n" + TURNS
    assert codes(OUTLINED.format(host=host_loop.format(inside=launch("a", "B", "c1")), attributes="")) == ["W0601"]


PREPARED = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%own = memref.alloc() : memref<64xf32>\n"
MANY = [("A", "B", "c1"), ("A", "B", "one"), ("A", "A", "c1"), ("A", "A", "zero"), ("B", "A", "c1"), ("own", "B", "c1")]


def many(times: int) -> str:
    return OUTLINED.format(host=PREPARED + "\n".join(launch(*c) for c in MANY * times), attributes="")


def test_launches_that_are_alike_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its verdict, but a kernel is modelled once for equal sizes and operands; not for other buffers or numbers."""
    modelled: list[str] = []
    judged_one_by_one = [[k.name, *codes(OUTLINED.format(host=one, attributes=""))] for k, one in each_alone()]
    plain = verify.model_of
    monkeypatch.setattr(verify, "model_of", lambda use, **options: modelled.append(use.place) or plain(use, **options))
    verdict = judge(many(20))
    assert len(modelled) == len(MANY) - 1, "`c1` and `one` are equal"
    assert [[k.name, *(d.code for d in k.diagnostics)] for k in verdict.kernels] == judged_one_by_one * 20
    assert len({k.place for k in verdict.kernels}) == len(MANY) * 20
    assert all(d.notes[-1] == f"as launched by {k.place}" for k in verdict.kernels for d in k.diagnostics)


def each_alone() -> Iterator[tuple[Judged, str]]:
    for call in MANY:
        text = PREPARED + launch(*call)
        (kernel,) = judge(OUTLINED.format(host=text, attributes="")).kernels
        yield kernel, text


def test_launches_that_are_alike_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for those that are free of races, a diagnostic and a line for those that are not; `--json` has them all."""
    said = say(tmp_path, many(20), capsys)
    assert said.code == 1
    assert said.err.count("✓ @k: race-free") == 1 and "and 99 more launches)" in said.err
    assert said.err.count("✗ @k: not race-free") == 1 and "and 19 more launches)" in said.err
    assert said.err.count("error[W0601]") == 1 and "= note: and so by 19 more launches" in said.err
    found = json.loads(say(tmp_path, many(20), capsys, "--json").out)
    assert [k["ok"] for k in found["kernels"]] == [c[:3] != ("A", "A", "c1") for c in MANY] * 20
    assert len(found["diagnostics"]) == 20 and len({k["place"] for k in found["kernels"]}) == 120


def test_other_block_sizes_are_said_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide, narrow = launch("A", "B", "c1"), launch("A", "B", "c1").replace("%c64, %c1, %c1", "%c1, %c1, %c1")
    said = say(tmp_path, OUTLINED.format(host="\n".join((wide, narrow, wide)), attributes=""), capsys)
    assert said.err.count("✓ @k") == 2 and "and 1 more launch)" in said.err and "block 1×1×1" in said.err


def test_callers_decide() -> None:
    """What a caller passes twice is the same, in the function it calls too."""
    text = OUTLINED.format(host=launch("A", "B", "c1"), attributes="").replace("func.func @f", "func.func private @f")
    caller = """  func.func @main(%X: memref<64xf32>, %Y: memref<64xf32>) {{
    %c0 = arith.constant 7 : index
    func.call @f(%X, %{0}, %c0) : (memref<64xf32>, memref<64xf32>, index) -> ()
    return
  }}
  gpu.module @m"""
    assert codes(text.replace("  gpu.module @m", caller.format("Y"))) == []
    assert codes(text.replace("  gpu.module @m", caller.format("X"))) == ["W0601"]


KNOWN = "attributes {known_block_size = array<i32: 64, 1, 1>}"


@pytest.mark.parametrize(
    ("attributes", "block", "grid", "expected"),
    [
        ("", None, None, ["W0612"]),
        ("", (64, 1, 1), (1, 1, 1), []),
        (KNOWN, None, (1, 1, 1), []),
        (KNOWN, None, None, []),  # it never asks for its block: made for a grid of one
        (KNOWN, None, (2, 1, 1), ["W0602"]),
        (KNOWN, (32, 1, 1), (1, 1, 1), ["W0613"]),
        ("attributes {known_block_size = array<i32: 64, 32, 1>}", None, (1, 1, 1), ["W0613"]),
    ],
)
def test_without_a_launch(attributes: str, block: Sizes | None, grid: Sizes | None, expected: list[str]) -> None:
    assert codes(OUTLINED.format(host="", attributes=attributes), block, grid) == expected


# ---- kernels of everyday ---------------------------------------------------------------------------------------------------

REDUCTION = """gpu.module @k {{
  gpu.func @sum(%A: memref<?xf32>, %out: memref<?xf32>) workgroup(%S: memref<256xf32, 3>) kernel
      attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %i = gpu.global_id x
    %v = memref.load %A[%i] : memref<?xf32>
    memref.store %v, %S[%t] : memref<256xf32, 3>
    gpu.barrier
    {loop}
      %in = arith.cmpi ult, %t, %s : index
      scf.if %in {{
        %j = arith.addi %t, %s : index
        %x = memref.load %S[%j] : memref<256xf32, 3>
        %y = memref.load %S[%t] : memref<256xf32, 3>
        %z = arith.addf %x, %y : f32
        memref.store %z, %S[%t] : memref<256xf32, 3>
      }}
      {end}
    }}
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      %r = memref.load %S[%c0] : memref<256xf32, 3>
      memref.store %r, %out[%b] : memref<?xf32>
    }}
    gpu.return
  }}
}}"""
SHIFTED = ("scf.for %k = %c0 to %c8 step %c1 {\n%s = arith.shrui %c128, %k : index", "")
HALVED = (
    "%e = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %c128) -> (index) {",
    "%half = arith.divui %s, %c2 : index\nscf.yield %half : index",
)


@pytest.mark.parametrize(("loop", "end"), [SHIFTED, HALVED], ids=["shifted", "carried"])
@pytest.mark.parametrize(("barrier", "expected"), [("gpu.barrier", True), ("", False)])
def test_reduction_by_halves(loop: str, end: str, barrier: str, expected: bool) -> None:
    """The strides 128, 64, … 1: each step's readers are not its writers, and a barrier must stand between the steps."""
    verdict = judge(REDUCTION.format(loop=loop, end=f"{barrier}\n{end}"))
    assert verdict.ok == expected
    assert not any(race["assumed"] for kernel in verdict.kernels for race in kernel.races)


# ---- what is said ---------------------------------------------------------------------------------------------------------


@dataclass
class Said:
    code: int
    out: str
    err: str


def say(folder: Path, text: str, capsys: pytest.CaptureFixture[str], *options: str) -> Said:
    (folder / "p.mlir").write_text(text)
    code = cli.run(["verify", str(folder / "p.mlir"), *options])
    captured = capsys.readouterr()
    return Said(code, captured.out.replace(f"{folder}/", ""), captured.err.replace(f"{folder}/", ""))


def test_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = say(tmp_path, host(SWAP.format("")), capsys)
    assert said.code == 1 and said.out == ""
    for part in (
        "error[W0601]: two threads conflict: RAW on shared memory `S`",
        "--> p.mlir:17:6",
        "= note: element S[0]",
        "= note: thread (0, 0, 0): memref.store at p.mlir:15:1 writes it",
        "memref.store %zero, %S[%tx]",
        "= note: thread (63, 0, 0): memref.load at p.mlir:17:6 reads it",
        "✗ gpu.launch: not race-free, 0 barriers (block 64×1×1, grid 1×1×1",
    ):
        assert part in said.err, said.err


def test_assumptions_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = OUTLINED.format(host=launch("A", "B", "c1"), attributes="")
    said = say(tmp_path, text, capsys)
    assert said.code == 0
    assert "assumed: `A`, `B` are distinct buffers (`--may-alias` assumes the opposite)" in said.err
    assert "✓ @k: race-free, 0 barriers" in said.err
    assert "assumed" not in say(tmp_path, OUTLINED.format(host=launch("A", "A", "zero"), attributes="").replace(
        "%c1 = ", "%zero = arith.constant 0 : index\n%c1 = ", 1), capsys).err  # fmt: skip
    index = say(tmp_path, CASES["an index that is data"][0], capsys)
    assert "may conflict (assumed)" in index.err and "it depends on data" in index.err


def test_superfluous_barriers_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = say(tmp_path, host(SWAP.format("gpu.barrier\ngpu.barrier")), capsys)
    assert said.code == 0 and said.err.count("can be removed") == 2
    assert "can be removed" not in say(tmp_path, host(SWAP.format("gpu.barrier")), capsys).err


def test_clusters_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = launch("A", "B", "c1").replace("blocks in (%c1,", "blocks in (%c64,")
    of = "attributes {known_cluster_size = array<i32: 2, 1, 1>, known_grid_size = array<i32: 64, 1, 1>}"
    assert "grid 64×1×1, clusters of 2×1×1, " in say(tmp_path, OUTLINED.format(host=host, attributes=of), capsys).err
    found = json.loads(say(tmp_path, OUTLINED.format(host=host, attributes=""), capsys, "--json").out)
    assert [kernel["cluster"] for kernel in found["kernels"]] == [[1, 1, 1]]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = say(tmp_path, host(SWAP.format("")), capsys, "--json")
    found = json.loads(said.out)
    assert said.code == 1 and said.err == "" and found["ok"] is False
    (kernel,) = found["kernels"]
    assert (kernel["block"], kernel["grid"], kernel["ok"]) == ([64, 1, 1], [1, 1, 1], False)
    (race,) = kernel["races"]
    assert (race["kind"], race["buffer"], race["element"], race["assumed"]) == ("RAW", "S", [0], False)


@pytest.mark.parametrize("options", [("--block", "0"), ("--block", "16,16,1,1"), ("--grid", "x"), ("--block", "")])
def test_usage(options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert say(tmp_path, host(""), capsys, *options).code == 2


def test_no_such_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["verify", str(tmp_path / "none.mlir")]) == 1
    said = say(tmp_path, "func.func @f(", capsys)
    assert said.code == 1 and "error[W0487]" in said.err



@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ((put("S", "%tx"), f"gpu.barrier memfence [{SHARED.replace('workgroup', 'global')}]", get("r", "S", "%o")),
         f"the fence of gpu.barrier at p.mlir:16:1 leaves out workgroup memory: add `{SHARED}` to its `memfence`"),
        ((put("S", "%tx"), "gpu.barrier memfence []", get("r", "S", "%o")), "the fence of gpu.barrier at p.mlir:16:1 leaves out"),
        ((put("S", "%tx"), get("r", "S", "%o"), "gpu.barrier memfence []"), "put a `gpu.barrier` between the two operations"),
        (("%lane = gpu.lane_id", put("B", "%lane", V)), "let one thread access each element"),
        (("scf.for %i = %c0 to %c2 step %c1 {", "%at = arith.addi %tx, %i : index", put("S", "%at"), "}"),
         "put a `gpu.barrier` between the two operations"),
    ],
)  # fmt: skip
def test_what_a_conflict_needs(body: tuple[str, ...], hint: str) -> None:
    """A barrier, one with a wider fence, or another owner: not each conflict is healed by a barrier."""
    text = host(lines(*body))
    found = [d for d in judge(text).diagnostics if d.code == "W0601"]
    assert found and all((d.hint or "").startswith(hint) for d in found), [d.hint for d in found]


def test_sizes_that_a_kernel_says_otherwise() -> None:
    text = OUTLINED.format(host="", attributes=KNOWN)
    (found,) = judge(text, (32, 1, 1), (1, 1, 1)).diagnostics
    assert found.notes[0] == "the kernel's attribute: 64"


def test_a_kernel_that_cannot_be_judged_hides_no_verdict_of_another() -> None:
    """Each has its verdict, in their order; the JSON is whole."""
    unsized = "gpu.func @unsized(%x: memref<4xf32>) kernel { gpu.return }"
    right = "gpu.func @right(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return }"
    verdict = verify_source(Source("m.mlir", f"gpu.module @k {{ {unsized} {right} }}"))
    assert [(k.name, k.judged, k.ok) for k in verdict.kernels] == [("@unsized", False, False), ("@right", True, True)]
    made = verdict.to_json()
    assert json.loads(json.dumps(made))["ok"] is False
    assert [k["judged"] for k in made["kernels"]] == [False, True]
    assert [d["code"] for d in made["diagnostics"]] == ["W0612"]


def test_a_collective_that_some_threads_do_not_reach() -> None:
    body = lines("%first = arith.cmpi eq, %tx, %c0 : index", "%v = arith.constant 0 : i32", "scf.if %first {",
                 "%m = gpu.all_reduce add %v uniform {} : (i32) -> (i32)", "}")  # fmt: skip
    assert "some threads of a block may not reach gpu.all_reduce" in judge(host(body)).diagnostics[0].message


def test_what_swapped_buffers_carry_to_the_next_iteration_is_read_after_it_is_written() -> None:
    """Even iterations read p and write q, odd ones the other way round: of p the read comes first, of q the write."""
    shared = "memref<64xf32, #gpu.address_space<workgroup>>"
    text = f"""
    gpu.module @k {{
      gpu.func @swap() workgroup(%p: {shared}, %q: {shared}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %c63 = arith.constant 63 : index
        %f = arith.constant 1.0 : f32
        %t = gpu.thread_id x
        %r = arith.subi %c63, %t : index
        memref.store %f, %p[%t] : {shared}
        gpu.barrier
        %a:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%from = %p, %to = %q) -> ({shared}, {shared}) {{
          %v = memref.load %from[%r] : {shared}
          memref.store %v, %to[%t] : {shared}
          scf.yield %to, %from : {shared}, {shared}
        }}
        gpu.return
      }}
    }}"""
    p, q = (r for r in verify_source(Source("m.mlir", text)).kernels[0].races)
    assert (p["kind"], p["buffer"], q["kind"], q["buffer"]) == ("WAR", "p", "RAW", "q")
    assert "iteration 0: memref.store" in q["first"] and "iteration 1: memref.load" in q["second"]


OPS_WITH_A_WAY_OUT = {
    "an arrival at a numbered barrier": ("nvvm.barrier.arrive number_of_threads = %n", "nvvm.barrier id ="),
    "another op of the hardware": ("nvvm.fence.sc.cluster", "write it with ops of `gpu`"),
}


@pytest.mark.parametrize("name", OPS_WITH_A_WAY_OUT)
def test_ops_that_are_not_followed_have_a_way_out(name: str) -> None:
    op, way = OPS_WITH_A_WAY_OUT[name]
    text = host(f"    %n = arith.constant 64 : i32\n    {op}\n    memref.store %zero, %A[%tx] : {V}")
    (judged,) = verify_source(Source("k.mlir", text)).kernels
    assert [d.code for d in judged.diagnostics] == ["W0640"] and way in (judged.diagnostics[0].hint or "")
