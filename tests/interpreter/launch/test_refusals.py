"""What `map` and `launch` refuse, and what they say. `pytest --update` writes `refusals.txt` anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from contexts import one_context
from loops import ROOT, launched, mapped, placed
from pinned import pinned

from weft.dsl.diagnostics import WeftError
from weft.dsl.signature import DistributionSpec, SpaceSpec
from weft.explain import all_codes
from weft.interpreter.ir import mlir
from weft.interpreter.mapping.legality import check_map
from weft.interpreter.mapping.mapping import Mapping

HERE = Path(__file__).parent
CYCLIC = DistributionSpec("cyclic")
SHARED = "#gpu.address_space<workgroup>"


def root(attribute: str) -> str:
    return attribute.replace("{weft", "{" + ROOT + ", weft", 1)


def space(kind: str, axes: str = "", *counts: int | str | None) -> SpaceSpec:
    return SpaceSpec(kind, tuple(axes), tuple(counts) or (None,) * len(axes))  # type: ignore[arg-type]


EVERY = SpaceSpec("threads", (), (), True)
LOOP = f"scf.forall (%i, %j) in (64, 5) {{ }} {{{ROOT}}}"
ROW = f"linalg.fill {{{ROOT}}} ins(%z : f64) outs(%R : memref<10xf64>)"
COPY = f"linalg.copy {{{ROOT}}} ins(%A : memref<6x10xf64>) outs(%B : memref<6x10xf64>)"
DYNAMIC2 = f"scf.forall (%i, %j) in (%n, 5) {{ }} {{{ROOT}}}"
DYNAMIC = f"scf.forall (%i) in (%n) {{ }} {{{ROOT}}}"
MATMUL = f"linalg.matmul {{{ROOT}}} ins(%A, %T : memref<6x10xf64>, memref<10x6xf64>) outs(%S : memref<6x6xf64>)"
CARRIED = f"""%r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> index {{
  %s = arith.addi %a, %i : index
  scf.yield %s : index
}} {{{ROOT}}}"""
PARALLEL = f"""%r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f64 {{
  scf.reduce(%z : f64) {{ ^bb0(%p: f64, %q: f64): scf.reduce.return %p : f64 }}
}} {{{ROOT}}}"""
STORE = f"memref.store %z, %A[%c0, %c0] {{{ROOT}}} : memref<6x10xf64>"
THREADS8 = mapped("threads", "x", [8])
INSIDE = f"scf.forall (%k) in (8) {{ scf.forall (%i) in (4) {{ }} {{{ROOT}}} }} {mapped('threads', 'x', [8])}"
AROUND = f"scf.forall (%k) in (8) {{ scf.forall (%i) in (4) {{ }} {mapped('blocks', 'x', [4])} }} {{{ROOT}}}"

MAPS = {
    "too few axes": (LOOP, space("blocks", "x"), None, None),
    "too many axes": (LOOP, space("blocks", "zyx"), None, None),
    "an axis twice": (LOOP, space("blocks", "xx"), None, None),
    "no axis": (LOOP, space("blocks"), None, None),
    "axes for an op": (COPY, space("threads", "zyx", 2, 2, 2), CYCLIC, None),
    "the axis is taken outside": (INSIDE, space("threads", "x", 4), None, None),
    "every thread inside threads": (INSIDE, EVERY, CYCLIC, None),
    "blocks inside threads": (INSIDE, space("blocks", "y"), None, None),
    "blocks inside threads, mapped last": (AROUND, space("threads", "y", 8), None, None),
    "a carried value": (CARRIED, space("threads", "x", 8), CYCLIC, None),
    "a reduction": (MATMUL, space("threads", "zyx", 2, 2, 2), CYCLIC, None),
    "scf.parallel": (PARALLEL, space("threads", "x", 8), CYCLIC, None),
    "no loop at all": (STORE, space("threads", "x", 8), CYCLIC, None),
    "more iterations than processors": (LOOP, space("threads", "yx", 16, 5), None, None),
    "iterations known at run time": (DYNAMIC, space("threads", "x", 16), None, None),
    "symbolic without distribution": (LOOP, space("threads", "yx", "?", 5), None, None),
    "too many threads": (LOOP, space("threads", "yx", 64, 32), CYCLIC, None),
    "no processors": (LOOP, space("threads", "yx", 0, 5), CYCLIC, None),
    "an empty chunk": (LOOP, space("threads", "yx", 2, 5), DistributionSpec("block-cyclic", 0), None),
    "a vector on a loop": (LOOP, space("threads", "yx", 64, 5), CYCLIC, 4),
    "a vector of three": (COPY, EVERY, CYCLIC, 3),
    "a vector that divides no row": (COPY, EVERY, CYCLIC, 4),
    "a vector that is too wide": (COPY.replace("6x10", "6x16"), EVERY, CYCLIC, 4),
    "every block": (LOOP, SpaceSpec("blocks", (), (), True), None, None),
    "every warp": (LOOP, SpaceSpec("warps", (), (), True), None, None),
    "symbolic warps on two axes": (LOOP, space("warps", "yx", "?", 2), CYCLIC, None),
    "too many warps": (LOOP, space("warps", "yx", 8, 5), CYCLIC, None),
    "lanes for two dimensions": (LOOP, SpaceSpec("lanes", (), ()), CYCLIC, None),
    "more iterations than lanes": (COPY, SpaceSpec("lanes", (), ()), None, None),
    "lanes in a loop over threads": (INSIDE, SpaceSpec("lanes", (), ()), None, None),
    "lanes twice": (INSIDE.replace(THREADS8, mapped("lanes", "x", [32])), SpaceSpec("lanes", (), ()), None, None),
    "an order of threads": (LOOP, space("threads", "yx", 64, 5), None, None, 4),
    "an order of registers": (COPY, SpaceSpec("registers", (), ()), None, None, 4),
    "an order of a row": (ROW, EVERY, CYCLIC, None, 4),
    "an order of blocks with several tiles": (LOOP, space("blocks", "yx", 8, 5), CYCLIC, None, 4),
    "an empty group": (LOOP, space("blocks", "yx"), None, None, 0),
    "a group that is too large": (LOOP, space("blocks", "yx"), None, None, 2**31),
}


def function(body: str) -> str:
    shape = "6x16" if "6x16" in body else "6x10"
    kind = f"memref<{shape}xf64>"
    return f"""\
func.func @f(%A: {kind}, %B: {kind}, %T: memref<10x6xf64>, %S: memref<6x6xf64>, %R: memref<10xf64>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  {body}
  return
}}
"""


def said(error: WeftError) -> str:
    (d,) = error.diagnostics
    parts = [f"{d.code}: {d.message}", *(f"  note: {n}" for n in d.notes)]
    return placed("\n".join([*parts, f"  hint: {d.hint}"]))


def refusal_of_map(case: str) -> str:
    body, where, how, vector, *group = MAPS[case]
    module = mlir.parse(function(body), one_context())
    (op,) = [op for op in mlir.operations(module.operation) if ROOT in op.attributes]
    with pytest.raises(WeftError) as refused:
        check_map(op, Mapping.of(where, how, vector, *group))
    return said(refused.value)


BLOCKS = root(mapped("blocks", "x", [-1]))
EVERYONE = mapped("threads", "*", [])
FILL = "linalg.fill MAP ins(%z : f64) outs(%A : memref<6x10xf64>)"
STORED = "memref.store %z, %A[%c0, %c0] : memref<6x10xf64>"
THREADS = mapped("threads", "x", [4])
INNER = f"scf.forall (%t) in (4) {{ {STORED} }} {THREADS}"


def over_blocks(body: str, attribute: str = BLOCKS) -> str:
    return f"scf.forall (%b) in (2) {{ {body} }} {attribute}"


LAUNCHES = {
    "no map": over_blocks(INNER, f"{{{ROOT}}}"),
    "an undistributed store": over_blocks(f"{INNER}\n{STORED}\nlinalg.fill ins(%z : f64) outs(%A : memref<6x10xf64>)"),
    "an undistributed op": over_blocks(f"linalg.fill ins(%z : f64) outs(%A : memref<6x10xf64>)\n{INNER}"),
    "an unmapped loop": over_blocks(f"scf.forall (%t) in (4) {{ {STORED} }}"),
    "undistributed in a sequential loop": over_blocks(f"scf.for %k = %c0 to %n step %c1 {{ {STORED} }}\n{INNER}"),
    "disagreeing blocks": over_blocks(f"{INNER}\nscf.forall (%t) in (8) {{ {STORED} }} {mapped('threads', 'x', [8])}"),
    "every thread of nothing": over_blocks(FILL.replace("MAP", mapped('threads', '*', [], 'cyclic'))),
    "every thread, too few": over_blocks(f"{INNER}\n{FILL.replace('MAP', EVERYONE)}"),
    "as many threads as known at run time": over_blocks(f"scf.forall (%t) in (%n) {{ {STORED} }} {mapped('threads', 'x', [-1])}"),
    "too many threads as iterations": over_blocks(f"scf.forall (%t) in (2048) {{ {STORED} }} {mapped('threads', 'x', [-1])}"),
    "too many along z": over_blocks(f"scf.forall (%t) in (128) {{ {STORED} }} {mapped('threads', 'z', [128])}"),
    "too many blocks along x": f"scf.forall (%b) in (2147483648) {{ {INNER} }} {root(mapped('blocks', 'x', [-1]))}",
    "too many blocks along y, also along x": f"scf.forall (%b) in (2147483648) {{ {INNER} }} {root(mapped('blocks', 'y', [-1]))}",
    "blocks that depend on a block": f"""scf.forall (%b) in (2) {{
      %m = arith.addi %b, %n : index
      scf.forall (%q) in (%m) {{ {INNER} }} {mapped("blocks", "y", [-1])}
    }} {BLOCKS}""",
    "loops over blocks that do not nest": over_blocks(
        f"{INNER}\nscf.forall (%q) in (3) {{ {INNER} }} {mapped('blocks', 'y', [-1])}"
    ),
    "shared memory": over_blocks(f"""%s = memref.alloc() : memref<256x128xf64, {SHARED}>
      scf.forall (%t) in (4) {{ memref.store %z, %s[%t, %c0] : memref<256x128xf64, {SHARED}>
        %v = memref.load %s[%c0, %t] : memref<256x128xf64, {SHARED}>
        memref.store %v, %A[%c0, %t] : memref<6x10xf64> }} {THREADS}"""),
    "a shared buffer of unknown size": over_blocks(f"""%s = memref.alloc(%n) : memref<?xf64, {SHARED}>
      scf.forall (%t) in (4) {{ memref.store %z, %s[%t] : memref<?xf64, {SHARED}>
        %v = memref.load %s[%c0] : memref<?xf64, {SHARED}>
        memref.store %v, %A[%c0, %t] : memref<6x10xf64> }} {THREADS}"""),
    "a buffer of a thread of a grid that others share": f"""scf.forall (%t) in (4) {{
        %s = memref.alloc() : memref<4xf64>
        scf.forall (%u) in (2) {{ memref.store %z, %s[%u] : memref<4xf64> }} {mapped('threads', 'y', [2])}
      }} {root(mapped('grid', 'x', [4]))}""",
    "as many buffers as threads that are known at run time": over_blocks(f"""scf.forall (%t) in (%n) {{
        %s = memref.alloc() : memref<4xf64>
        scf.forall (%u) in (2) {{ memref.store %z, %s[%u] : memref<4xf64> }} {mapped('threads', 'y', [2])}
      }} {mapped('threads', 'x', [4], 'cyclic')}"""),
    "warps and threads that disagree": over_blocks(
        f"scf.forall (%t) in (64) {{ {STORED} }} {mapped('threads', 'x', [64])}\n"
        f"scf.forall (%t) in (4) {{ {STORED} }} {mapped('warps', 'x', [4])}"
    ),
    "no whole warp": over_blocks(
        f"scf.forall (%t) in (48) {{ {STORED} }} {mapped('threads', 'x', [48])}\n"
        f"scf.forall (%t) in (4) {{ {STORED} }} {mapped('lanes', 'x', [32])}"
    ),
    "as many warps as known at run time": over_blocks(f"scf.forall (%t) in (%n) {{ {STORED} }} {mapped('warps', 'x', [-1])}"),
    "lanes of a block of run-time size": over_blocks(
        f"scf.forall (%t) in (%n) {{ {STORED} }} {mapped('threads', 'x', [-2], 'cyclic')}\n"
        f"scf.forall (%t) in (4) {{ {STORED} }} {mapped('lanes', 'x', [32])}"
    ),
    "tensors": over_blocks("%e = tensor.empty() : tensor<4xf32>\n" + INNER),
    "a barrier among threads": over_blocks(f"scf.forall (%t) in (4) {{ {STORED}\ngpu.barrier }} {THREADS}"),
    "a barrier between a value's making and its use": over_blocks(f"""scf.forall (%t) in (4) {{
        %v = memref.load %A[%t, %c0] : memref<6x10xf64>
        gpu.barrier
        scf.forall (%u) in (2) {{ memref.store %v, %B[%t, %u] : memref<6x10xf64> }} {mapped('threads', 'y', [2])}
      }} {THREADS}"""),
    "an inner loop": over_blocks(INNER.replace("{weft", "{" + ROOT + ", weft"), mapped("blocks", "x", [-1])),
    "a copy of what nobody owns": over_blocks(f"""%own = memref.alloc() : memref<6x10xf64>
      linalg.copy {{weft.writeback}} ins(%own : memref<6x10xf64>) outs(%A : memref<6x10xf64>)
      {INNER}"""),
    "a write-back that reduces": over_blocks(f"""%t = memref.alloc() : memref<10x6xf64>
      scf.forall (%i) in (4) {{ memref.store %z, %t[%i, %c0] : memref<10x6xf64> }} {THREADS}
      linalg.matmul {{weft.writeback}} ins(%A, %t : memref<6x10xf64>, memref<10x6xf64>) outs(%S : memref<6x6xf64>)"""),
    "a write-back among threads whose number is known at run time": over_blocks(f"""scf.forall (%w) in (2) {{
        %t = memref.alloc() : memref<6x10xf64>
        scf.forall (%i) in (%n) {{ memref.store %z, %t[%i, %i] : memref<6x10xf64> }} {mapped('threads', 'x', [-1])}
        memref.copy %t, %A : memref<6x10xf64> to memref<6x10xf64>
      }} {mapped('threads', 'y', [2])}"""),
}  # fmt: skip


def refusal_of_launch(case: str) -> str:
    with pytest.raises(WeftError) as refused:
        launched(function(LAUNCHES[case]))
    return said(refused.value)


def test_refusals(update: bool) -> None:
    text = [f"== map: {case}\n{refusal_of_map(case)}" for case in MAPS]
    text += [f"== launch: {case}\n{refusal_of_launch(case)}" for case in LAUNCHES]
    pinned(HERE / "refusals.txt", "\n\n".join(text) + "\n", update)


def test_a_refused_launch_changes_nothing() -> None:
    for case in LAUNCHES:
        module = mlir.parse(function(LAUNCHES[case]), one_context())
        before = str(module)
        (op,) = [op for op in mlir.operations(module.operation) if ROOT in op.attributes]
        from weft.interpreter.launch.launch import launch_loop

        with pytest.raises(WeftError):
            launch_loop(module, op)
        assert str(module) == before, case


def test_every_code_is_explained_and_raised() -> None:
    text = (HERE / "refusals.txt").read_text()
    elsewhere = {
        "W0340",
        "W0358",
        "W0361",
        "W0363",
        "W0365",
        "W0380",
    }  # by the statement; by upstream; by types that no payload of these tests has; by what `pipeline`, `promote-to-registers` made
    codes = {code for code in all_codes() if "W0340" <= code <= "W0365"} | {"W0380"}
    assert {code for code in codes if code in text} == codes - elsewhere
