"""Products of warp groups over memory barriers: the right ones are proven, and each mistake in their order is found and named."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from contexts import one_context
from hopper import Product
from proofs import expect_among, expect_codes
from proven import expect_proven

from weft.dsl.diagnostics import Diagnostic
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings


def judged(text: str) -> Findings:
    module = mlir.parse(text, one_context())
    (use,) = kernel_uses(module)
    return Findings(model_of(use))


def said(text: str) -> list[Diagnostic]:
    """What is found. All of it has a reason and a way out."""
    found = judged(text).diagnostics()
    assert all(d.hint and d.notes for d in found), found
    return found


LONG = Product(k=1024)
RIGHT = {
    "ring": LONG, "as many steps as stages": Product(), "one stage": replace(LONG, stages=1), "two stages": replace(LONG, stages=2),
    "three stages, the last lap is short": replace(LONG, stages=3), "five stages": replace(LONG, stages=5, k=4096),
    "one consumer": replace(LONG, consumers=1), "three consumers": replace(LONG, consumers=3, bm=192, m=384),
    "fewer steps than stages": Product(k=128), "one step": Product(k=64), "columns of B": replace(LONG, by_rows=False),
    "two panels of A": replace(LONG, bk=128),
    "a product in flight": replace(LONG, pending=1), "two in flight, three stages": replace(LONG, pending=2, stages=3),
    "one in flight, open sizes": replace(LONG, pending=1, open_sizes=True, stages=3),
    "one in flight of a step": Product(k=64, pending=1),
    "one in flight, one consumer": replace(LONG, pending=1, consumers=1, bm=64),
    "tf32": replace(LONG, type="f32", by_rows=False, bk=32), "sizes known at run time": replace(LONG, open_sizes=True),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_rings_are_proven(name: str) -> None:
    found = judged(RIGHT[name].ring())
    expect_proven(found)
    assert found.superfluous() == []  # the barrier behind the inits is needed


@pytest.mark.parametrize("name", [name for name, product in RIGHT.items() if not product.pending])
def test_steps_together_are_proven(name: str) -> None:
    found = judged(RIGHT[name].together())
    expect_proven(found)


def edited(text: str, *edits: tuple[str, str]) -> str:
    for pattern, new in edits:
        text, count = re.subn(pattern, new, text)
        assert count, f"nothing is {pattern}"
    return text


NEXT = """%z_k = arith.addi %k, %c1 : index
      %z = arith.remui %z_k, %S : index
      """


Edits = tuple[tuple[str, str], ...]
FULL = r"nvgpu\.mbarrier\.try_wait\.parity %full\[%s\], %phase, %ticks : !bars"
EMPTY = r"nvgpu\.mbarrier\.try_wait\.parity %empty\[%s\], %other, %ticks : !bars"
RELEASE = r"scf\.if %speaks \{\s+%token = nvgpu\.mbarrier\.arrive %empty\[%s\] : !bars -> !nvgpu\.mbarrier\.token\s+\}"
WAIT_NEXT = NEXT + "nvgpu.mbarrier.try_wait.parity %{}[%z], %{}, %ticks : !bars"
PRODUCT = r"%next = nvgpu\.warpgroup\.mma [^\n]*"
FLIPPED = """%yes = arith.constant true
      %flip = arith.xori %phase, %yes : i1
      nvgpu.mbarrier.try_wait.parity %full[%s], %flip, %ticks : !bars"""
MISTAKES: dict[str, tuple[Edits, str]] = {
    "no wait for full stages": (((FULL, ""),), "W0667"),
    "no wait for empty stages": (((EMPTY, ""),), "W0667"),
    "one thread waits for full stages": (((f"({FULL})", r"scf.if %speaks { \1 }"),), "W0667"),
    "the parity of full stages": (((f"({FULL})", FLIPPED),), "W0667"),
    "the parity of empty stages": (((r"%empty\[%s\], %other", "%empty[%s], %phase"),), "W0665"),
    "a parity of iterations": (((r"%odd = arith\.andi %lap", "%odd = arith.andi %k"),), "W0662"),
    "a constant parity": (((r"arith\.cmpi ne, %odd, %c0", "arith.cmpi ne, %c0, %c0"),), "W0662"),
    "arrival in front of the product": (((f"({PRODUCT})\\s+({RELEASE})", r"\2\n\1"),), "W0667"),
    "arrival in front of the wait": (((f"({FULL})((?:.|\n)*?)({RELEASE})", r"\3\n\1\2"),), "W0667"),
    "no arrival": (((RELEASE, ""),), "W0665"),
    "all threads arrive": (((r"arith\.cmpi eq, %elected", "arith.cmpi sge, %elected"),), "W0660"),
    "a second arrival": (((f"({RELEASE})", r"\1 \1".replace("%token", "%t2")),), "W0660"),
    "one group arrives": (((r"%speaks = arith\.cmpi eq, %elected, %c0", "%speaks = arith.cmpi eq, %t, %c128"),), "W0665"),
    "fewer arrivals than there are": (((r"%empty\[%i\], %consumers", "%empty[%i], %c1"),), "W0660"),
    "more arrivals than there are": (((r"%empty\[%i\], %consumers", "%empty[%i], %c4"),), "W0665"),
    "fewer bytes": (((r"%bytes = arith\.constant 49152", "%bytes = arith.constant 32768"),), "W0661"),
    "more bytes": (((r"%bytes = arith\.constant 49152", "%bytes = arith.constant 65536"),), "W0661"),
    "no bytes": (((r"nvgpu\.mbarrier\.arrive\.expect_tx %full\[%to\], %bytes : !bars",
                   "%no = nvgpu.mbarrier.arrive %full[%to] : !bars -> !nvgpu.mbarrier.token"),), "W0661"),
    "a load less": (((r"nvgpu\.tma\.async\.load %mB\[%x2[^\n]*", ""),), "W0661"),
    "a load on the next barrier": (((r"(nvgpu\.tma\.async\.load %mB\[%x2, %kk\], )%full\[%to\]", NEXT + r"\1%full[%z]"),),
                                   "W0667"),
    "a load into the next stage": (((r"(%p2 = memref\.subview %sB)\[%to,", NEXT + r"\1[%z,"),), "W0667"),
    "bytes on the next barrier": (((r"(nvgpu\.mbarrier\.arrive\.expect_tx )%full\[%to\]", NEXT + r"\1%full[%z]"),), "W0663"),
    "a wait for the next stage": (((f"({FULL})", WAIT_NEXT.format("full", "phase")),), "W0667"),
    "a release of the next stage": (((r"scf\.if %speaks \{\s+%token = nvgpu\.mbarrier\.arrive %empty\[%s\]",
                                      NEXT + "scf.if %speaks {\n%token = nvgpu.mbarrier.arrive %empty[%z]"),), "W0662"),
    "products of the next stage": (((r"(%a0 = arith\.muli)", NEXT + r"\1"), (r"%sA\[%s, 0, %a0", "%sA[%z, 0, %a0")), "W0667"),
    "a refill waits for the next stage": (((EMPTY, WAIT_NEXT.format("empty", "other")),), "W0662"),
    "no init": (((r"nvgpu\.mbarrier\.init %empty\[%i\][^\n]*", ""),), "W0664"),
    "two inits": (((r"(nvgpu\.mbarrier\.init %empty\[%i\][^\n]*)", r"\1\n\1"),), "W0664"),
    "no fence of inits": (((r"nvvm\.fence\.mbarrier\.init", ""),), "W0664"),
    "a fence in front of inits": (((r"nvvm\.fence\.mbarrier\.init", ""), (r"scf\.if %first \{\n(\s+scf\.for %i)",
                                  r"scf.if %first {\nnvvm.fence.mbarrier.init\n\1")), "W0664"),
    "no barrier behind inits": (((r"\n\s+gpu\.barrier\n", "\n"),), "W0664"),
    "a barrier of one role": (((r"scf\.yield %next : !acc", "gpu.barrier\nscf.yield %next : !acc"),), "W0603"),
    "a product of one warp": (((f"({FULL})", r"\1"), (r"arith\.cmpi eq, %group, %c0", "arith.cmpi slt, %t, %c32")), "W0603"),
}  # fmt: skip
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_rings_are_found(name: str) -> None:
    edits, code = MISTAKES[name]
    text = edited(LONG.ring(), *edits)
    expect_among(said(text), code, text)


@pytest.mark.parametrize("loads", [True, False])
def test_another_number_of_stages_on_one_side_is_found(loads: bool) -> None:
    """Three stages for the ones that load, four for the others, or the other way round."""
    text = replace(LONG, stages=4).ring()
    load, use = text.split("} else {")
    load, use = (load.replace("%k, %S", "%k, %three"), use) if loads else (load, use.replace("%k, %S", "%k, %three"))
    text = f"{load}}} else {{{use}".replace("%t = gpu.thread_id x", "%three = arith.constant 3 : index\n%t = gpu.thread_id x")
    found = said(text)
    assert "W0668" in [d.code for d in found]


TOGETHER = {
    "no wait": ((FULL, ""), "W0667"),
    "no barrier": ((r"gpu\.barrier\n(\s+scf\.yield)", r"\1"), "W0667"),
    "one thread waits": ((f"({FULL})", r"scf.if %first { \1 }"), "W0667"),
    "a parity of iterations": ((r"%odd = arith\.andi %lap", "%odd = arith.andi %k"), "W0662"),
    "all threads load": ((r"scf\.if %first \{\n(\s+%to)", r"%all = arith.cmpi sge, %t, %c0 : index\nscf.if %all {\n\1"), "W0660"),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_mistakes_in_steps_together_are_found(name: str) -> None:
    edit, code = TOGETHER[name]
    text = edited(LONG.together(), edit)
    expect_among(said(text), code, text)


def test_one_stage_less_is_a_conflict_where_one_group_runs_ahead() -> None:
    """Without the barrier at a step's end, a ring of one warp group is still right: who loads has waited for its own product."""
    one = replace(LONG, consumers=1, bm=64, m=64)
    expect_proven(judged(edited(one.together(), (r"gpu\.barrier\n(\s+scf\.yield)", r"\1"))))


MORE = "nvvm.setmaxregister increase 240"
REGISTERS: dict[str, Edits] = {
    "nobody gives any away": ((r"nvvm\.setmaxregister decrease 24", ""),),
    "fewer are given away": ((r"decrease 24", "decrease 32"),),
    "more are given away than there are": ((r"decrease 24", "decrease 200"),),
    "given away behind a barrier": (
        (r"gpu\.barrier\n", f"scf.if %consumes {{ {MORE} }}\ngpu.barrier\n"), (MORE + r"\n\s+%mine", "%mine"),
        (r"(%first = arith)", r"%consumes = arith.cmpi uge, %t, %c128 : index\n\1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTERS)
def test_registers_that_never_come_are_found(name: str) -> None:
    text = edited(LONG.ring(), *REGISTERS[name])
    expect_codes(said(text), ["W0670"], text)


def test_a_witness_names_iteration_stage_phase_and_thread() -> None:
    found = said(edited(LONG.ring(), (EMPTY, "")))
    first = next(d for d in found if d.code == "W0667")
    assert "A_shared" in first.message
    assert first.message.endswith("WAR") and "warpgroup.mma" in first.notes[1] and "iteration 4" in first.notes[2]
    late = next(d for d in found if d.code == "W0662")
    assert any("phase 0 of `full[0]`" in note for note in late.notes)


def test_circles_of_waits_say_who_waits_for_whom() -> None:
    edits, _ = MISTAKES["the parity of empty stages"]
    (found,) = said(edited(LONG.ring(), *edits))
    assert found.code == "W0665" and "wait for each other forever" in found.message and "assumed" not in found.message
    assert sum("waits for operations after" in note for note in found.notes) >= 2


def test_sums_are_there_where_a_later_product_waits_for_all() -> None:
    ring = LONG.ring()
    product = re.search(PRODUCT, ring)
    assert product is not None
    first = product[0].replace("%next", "%half").replace("waitGroup = 0", "waitGroup = 1")
    found = judged(ring.replace(product[0], f"{first}\n{product[0].replace('%acc {', '%half {')}"))
    expect_proven(found)
