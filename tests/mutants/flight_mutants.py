"""Mistakes in what `hopper overlap=true` makes, where products of a step are in flight while those of the next one begin; and in
what `resident=2` makes, of which a multiprocessor has two blocks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hopper_mutants import Mutant, equal, order, value

LEAVE = r"re:(%\w+) = arith\.cmpi sgt, %15, %c0 : index\n( +%\w+ = affine\.apply affine_map<\(d0\) -> \(\(d0 floordiv 64 \+ )2"
"""Which iterations leave a stage, and which one it is."""
PRODUCT = "%sums = nvgpu.warpgroup.mma %a, %b, %before {transposeB} :"
END = "nvvm.wgmma.wait.group.sync.aligned 0\n"
RELEASE = r"re:( +%sums = [^\n]*\n)( +%22 = [^\n]*\n +%23 = [^\n]*\n +scf\.if %22 \{[^}]*\}\s+\})"
AWAIT_FULL = "nvgpu.mbarrier.try_wait.parity %full[%stage], %phase, %c10000000 : !bars"


def leaving(predicate: str, bound: str, ahead: int) -> tuple[str, str]:
    return LEAVE, rf"\1 = arith.cmpi {predicate}, %15, {bound} : index\n\g<2>{ahead}"


def besides(condition: str) -> tuple[str, str]:
    return END, f"%some = arith.cmpi eq, {condition}, %c0 : index\nscf.if %some {{ {END}}}\n{END}"


def product(pending: int) -> tuple[str, str]:
    return PRODUCT, PRODUCT.replace("transposeB", f"transposeB, waitGroup = {pending} : i64")


FLIGHT: Mapping[str, Mutant] = MappingProxyType({
    "a stage is left while its product is in flight": order(
        leaving("sge", "%c0", 0), codes="W0667", found="in-flight", of="flight"),
    "a stage is left in front of the next product": order(
        (RELEASE, r"\2\n\1"), codes="W0667", found="in-flight", of="flight"),
    "three products are in flight": order(product(3), codes="W0667", found="in-flight", of="flight"),
    "a product more is in flight": order(product(2), codes="W0667", found="in-flight", of="flight"),
    "a product more is in flight, of tiles": order(product(2), codes="W0667", found="in-flight", of="flying tiles"),
    "a product more is in flight, in a cluster": order(product(2), codes="W0667", found="in-flight", of="flying cluster"),
    "the first step leaves a stage, too": order(
        leaving("sge", "%c0", 2), codes="W0660 W0662", found="in-flight, deadlock", of="flight"),
    "the first stage is never left": order(leaving("sgt", "%c1", 2), codes="W0665 W0662", found="deadlock", of="flight"),
    "a stage is left three steps later": order(leaving("sgt", "%c2", 0), codes="W0665 W0662", found="deadlock", of="flight"),
    "nobody waits for the last product": order((END, ""), codes="W0640", found="refused", of="flight"),
    "nobody waits for the last product of a tile": order((END, ""), codes="W0640", found="refused", of="flying tiles"),
    "the last product may still be in flight": order(
        (END, END.replace("0", "1")), codes="W0640", found="refused", of="flight"),
    "sums are looked at before the last product is over": order(
        (rf"re:{END}( +%held = [^\n]*\n)", rf"\1{END}"), codes="W0640", found="refused", of="flight"),
    "sums are in flight in front of the loop": order(
        (f"re:({END})([^$]*)$", r"\2"), ("%zero = ", f"{END}%zero = "), codes="W0640", found="refused", of="flight"),
    "a product begins before its tile is there": order((AWAIT_FULL, ""), codes="W0667 W0662 W0665", found="in-flight", of="flight"),
    "sums of another product are in flight": order(
        (PRODUCT, PRODUCT.replace("%before", "%zero")), codes="W0640", found="refused", of="flight"),
    "one thread waits for products by itself": order(besides("%8"), codes="W0603", found="divergent barrier", of="flight"),
    "sums of a step are looked at in the next one": order(
        (AWAIT_FULL, END + AWAIT_FULL),
        (r"re:( +%22 = arith\.cmpi sgt)",
         r"%old = builtin.unrealized_conversion_cast %before : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> "
         r"to vector<1x8x2x2xf32>\n\1"), codes="W0640", found="refused", of="flight"),
    "both operands are the left one": value((PRODUCT, PRODUCT.replace("%b,", "%a,")), of="flight"),
    "consumers take more registers than half of them": order(
        ("nvvm.setmaxregister increase 104", "nvvm.setmaxregister increase 112"), codes="W0670", found="deadlock", of="two blocks"),
    "consumers take registers as if they were alone": order(
        ("nvvm.setmaxregister increase 104", "nvvm.setmaxregister increase 240"), codes="W0670", found="deadlock", of="two blocks"),
    "the producer of one of two blocks keeps its registers": order(
        ("nvvm.setmaxregister decrease 24", ""), codes="W0670", found="deadlock", of="two blocks"),
    "consumers of two blocks take what one has": equal(
        (", weft.max_registers = 80 : i64", ""), ("nvvm.setmaxregister increase 104", "nvvm.setmaxregister increase 240"),
        of="two blocks"),
    "some warp groups wait for products once more": equal(besides("%7"), of="flight"),
    "a step waits for the product of the one before": equal((AWAIT_FULL, END + AWAIT_FULL), of="flight"),
    "a stage is left before the next product": equal(
        (RELEASE, rf"{END}\2\n\1"), of="flight"),
    "a product waits for itself": equal(product(0), of="flight"),
    "products of three steps overlap": equal(leaving("sgt", "%c1", 1), product(2), of="flight"),
    "a stage is left later": equal(leaving("sgt", "%c1", 1), of="flight"),
})  # fmt: skip
