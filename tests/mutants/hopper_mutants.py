"""Mistakes in what the recipe `hopper` makes, one small edit of the module each, and what comes of each:

- `order`: somebody may come too early, or waits forever: the proof and the simulator must say so;
- `value`: the order is right, and the numbers are not: the simulator and the text on the CPU must differ from the reference;
- `equal`: the kernel is as right as before: nobody may object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from hopper_kernels import kernel

Kind = Literal["order", "value", "equal"]
Edit = tuple[str, str]
"""What stands there, to the letter or as `re:` and a regular expression, and what comes in its place: once."""


@dataclass(frozen=True)
class Mutant:
    """Edits of one of `hopper_kernels.RECIPES`.

    Args:
        codes: what the proof says of it, one of these at least.
        found: what the simulator finds, likewise; `refused` and `values` besides the kinds of its report.
        seldom: it shows in some orders alone, of so many warp groups.
    """

    kind: Kind
    edits: tuple[Edit, ...]
    codes: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()
    of: str = "ring"
    seldom: int = 0

    def text(self) -> str:
        module = kernel(self.of).text
        for old, new in self.edits:
            pattern = old[3:] if old.startswith("re:") else re.escape(old)
            module, count = re.subn(pattern, new if old.startswith("re:") else lambda _, n=new: n, module)
            assert count == 1, f"{count} times: {old}"
        return module


AWAIT_FULL = "nvgpu.mbarrier.try_wait.parity %full[%stage], %phase, %c10000000 : !bars"
AWAIT_EMPTY = "nvgpu.mbarrier.try_wait.parity %empty[%slot], %other, %c10000000 : !bars"
EXPECT = "nvgpu.mbarrier.arrive.expect_tx %full[%slot], %c24576 : !bars"
ARRIVE = "%token = nvgpu.mbarrier.arrive %empty[%stage] : !bars -> !nvgpu.mbarrier.token"
RELEASE = r"re:scf\.if %speaks \{\s+%token = [^}]*\}"
RELEASES = "scf.if %speaks {\n            %token"
PRODUCT = "%sums = nvgpu.warpgroup.mma %a, %b, %before {transposeB, waitGroup = 0 : i64}"
INIT_FULL = "nvgpu.mbarrier.init %full[%each], %c1 : !bars"
INIT_EMPTY = "nvgpu.mbarrier.init %empty[%each], %c2 : !bars"
FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
FENCE_INIT = "nvvm.fence.mbarrier.init"
LOAD_A = "nvgpu.tma.async.load %A_map[%k, %c0], %full[%slot] to %tile_A"
LOAD_B = "nvgpu.tma.async.load %B_map[%col, %k], %full[%slot] to %tile_B"
STAGE = "%stage = affine.apply affine_map<(d0) -> ((d0 floordiv 64) mod 3)>(%k)"
SLOT = "%slot = affine.apply affine_map<(d0) -> ((d0 floordiv 64) mod 3)>(%k)"
NEXT = "{} = affine.apply affine_map<(d0) -> ((d0 floordiv 64 + 1) mod 3)>(%k)\n"
UNTIL, ALSO = "%more = arith.cmpi slt, %k", " : index\n%now = arith.andi %more, %speaks : i1\nscf.if %now {\n"
LAP = "affine_map<(d0) -> (((d0 floordiv 64) floordiv 3) mod 2)>"
LAP_BEFORE = "affine_map<(d0) -> (((d0 floordiv 64) floordiv 3 + 1) mod 2)>"


def order(*edits: Edit, codes: str, found: str, of: str = "ring", seldom: int = 0) -> Mutant:
    return Mutant("order", edits, frozenset(codes.split()), frozenset(found.split(", ")), of, seldom)


def value(*edits: Edit, of: str = "ring") -> Mutant:
    return Mutant("value", edits, found=frozenset({"values"}), of=of)


def equal(*edits: Edit, of: str = "ring") -> Mutant:
    return Mutant("equal", edits, of=of)


WAITS: Mapping[str, Mutant] = MappingProxyType({
    "consumers do not wait for full stages": order((AWAIT_FULL, ""), codes="W0667", found="in-flight"),
    "one consumer does not wait for full stages": order(
        (AWAIT_FULL, f"%own = arith.cmpi eq, %7, %c0 : index\nscf.if %own {{ {AWAIT_FULL} }}"), codes="W0667",
        found="in-flight, uninitialized read"),
    "one warp waits for full stages": order(
        (AWAIT_FULL, "%c32 = arith.constant 32 : index\n%own = arith.cmpi slt, %8, %c32 : index\n"
         f"scf.if %own {{ {AWAIT_FULL} }}"), codes="W0667", found="in-flight"),
    "consumers wait for the next stage": order(
        (AWAIT_FULL, NEXT.format("%next") + AWAIT_FULL.replace("%stage", "%next")), codes="W0667", found="in-flight, deadlock"),
    "consumers wait behind the product": order(
        (AWAIT_FULL, ""), (RELEASE, rf"{AWAIT_FULL}\n\g<0>"), codes="W0667", found="in-flight"),
    "the producer does not wait for empty stages": order((AWAIT_EMPTY, ""), codes="W0667", found="in-flight, WAR, mbarrier misuse"),
    "the producer waits behind its loads": order(
        (AWAIT_EMPTY, ""), (r"re:(nvgpu\.tma\.async\.load %B_map[^\n]*)", rf"\1\n{AWAIT_EMPTY}"), codes="W0667", found="in-flight"),
    "the producer waits for the next stage": order(
        (AWAIT_EMPTY, NEXT.format("%next") + AWAIT_EMPTY.replace("%slot", "%next")), codes="W0662", found="deadlock", seldom=3),
    "the parity of full stages is inverted": order(
        ("%phase = arith.cmpi ne", "%phase = arith.cmpi eq"), codes="W0667", found="in-flight, deadlock"),
    "the parity of empty stages is inverted": order(
        ("%other = arith.cmpi ne", "%other = arith.cmpi eq"), codes="W0665", found="deadlock"),
    "the parity of full stages stays": order(
        (r"re:%phase = arith\.cmpi ne, [^\n]*", "%phase = arith.constant false"), codes="W0662", found="in-flight, deadlock"),
    "the parity of full stages is that of steps": order(
        (LAP, "affine_map<(d0) -> ((d0 floordiv 64) mod 2)>"), codes="W0662", found="in-flight, deadlock"),
    "the producer forgets the lap": order(
        (LAP_BEFORE, "affine_map<(d0) -> ((d0 floordiv 64 + 1) mod 2)>"), codes="W0662", found="deadlock, in-flight"),
})  # fmt: skip
ARRIVALS: Mapping[str, Mutant] = MappingProxyType({
    "nobody releases a stage": order((RELEASE, ""), codes="W0665", found="deadlock"),
    "one consumer releases for both": order(
        ("%speaks = arith.cmpi eq, %8", "%speaks = arith.cmpi eq, %thread_id_x"), codes="W0665", found="deadlock"),
    "one consumer releases twice, the other not at all": order(
        ("%speaks = arith.cmpi eq, %8", "%speaks = arith.cmpi eq, %thread_id_x"),
        (ARRIVE, f"{ARRIVE}\n{ARRIVE.replace('%token', '%again')}"), codes="W0667", found="in-flight, WAR"),
    "a stage is released twice": order((ARRIVE, f"{ARRIVE}\n{ARRIVE.replace('%token', '%again')}"),
                                       codes="W0660", found="in-flight, WAR, mbarrier misuse, deadlock"),
    "all threads release a stage": order(("%speaks = arith.cmpi eq", "%speaks = arith.cmpi sge"), codes="W0660",
                                         found="in-flight, WAR, mbarrier misuse, deadlock"),
    "a full stage is released": order((ARRIVE, ARRIVE.replace("%empty", "%full")), codes="W0660 W0665 W0663", found="deadlock"),
    "the producer releases its own stages": order(
        (RELEASE, ""), (r"re:(nvgpu\.tma\.async\.load %B_map[^\n]*)",
                        r"\1\n%own = nvgpu.mbarrier.arrive %empty[%slot] : !bars -> !nvgpu.mbarrier.token"),
        (INIT_EMPTY, INIT_EMPTY.replace("%c2", "%c1")), codes="W0667", found="in-flight, WAR"),
    "the next stage is released": order(
        (ARRIVE, NEXT.format("%next") + ARRIVE.replace("%stage", "%next")), codes="W0662", found="deadlock", seldom=3),
    "a stage is released before its product": order((RELEASE, ""), (PRODUCT, f"scf.if %speaks {{ {ARRIVE} }}\n{PRODUCT}"),
                                                    codes="W0667", found="in-flight, WAR"),
    "the last four steps release nothing": order(
        (RELEASES, f"{UNTIL}, %c192{ALSO}%token"),
        ("%c256 = ", "%c192 = arith.constant 192 : index\n%c256 = "),
        codes="W0665", found="deadlock"),
    "one arrival too few ends a phase of empty stages": order(
        (INIT_EMPTY, INIT_EMPTY.replace("%c2", "%c1")), codes="W0660", found="in-flight, WAR, mbarrier misuse, deadlock"),
    "one arrival too many ends a phase of empty stages": order(
        (INIT_EMPTY, INIT_EMPTY.replace("%c2", "%c3")), codes="W0665", found="deadlock"),
    "one arrival too many ends a phase of full stages": order(
        (INIT_FULL, INIT_FULL.replace("%c1", "%c2")), codes="W0665", found="deadlock"),
})  # fmt: skip
BYTES: Mapping[str, Mutant] = MappingProxyType({
    "too few bytes": order(("%c24576 = arith.constant 24576", "%c24576 = arith.constant 16384"), codes="W0661",
                           found="in-flight, mbarrier misuse"),
    "too many bytes": order(("%c24576 = arith.constant 24576", "%c24576 = arith.constant 32768"), codes="W0661", found="deadlock"),
    "no bytes are expected": order(
        (EXPECT, "%told = nvgpu.mbarrier.arrive %full[%slot] : !bars -> !nvgpu.mbarrier.token"), codes="W0661", found="in-flight"),
    "bytes are expected twice": order((EXPECT, f"{EXPECT}\n{EXPECT}"), codes="W0660 W0661", found="deadlock, mbarrier misuse"),
    "a box less is loaded": order((r"re:nvgpu\.tma\.async\.load %B_map[^\n]*", ""), codes="W0661", found="deadlock"),
    "bytes come to another stage": order(
        (LOAD_B, NEXT.format("%next") + LOAD_B.replace("%full[%slot]", "%full[%next]")), codes="W0667 W0661",
        found="in-flight, deadlock"),
    "a box lands in another stage": order(
        ("%tile_B = memref.subview %B_shared[%slot", NEXT.format("%next") + "%tile_B = memref.subview %B_shared[%next"),
        codes="W0667", found="in-flight, WAR, uninitialized read"),
    "products read another stage": order(
        ("%own_A = memref.subview %A_shared[%stage", NEXT.format("%next") + "%own_A = memref.subview %A_shared[%next"),
        codes="W0667", found="in-flight, WAR, uninitialized read"),
})  # fmt: skip
ROLES: Mapping[str, Mutant] = MappingProxyType({
    "all threads of the producer load": order(
        ("%loads = arith.cmpi eq, %4", "%loads = arith.cmpi sge, %4"), codes="W0660", found="mbarrier misuse, in-flight, deadlock"),
    "nobody of the producer loads": order(
        ("%loads = arith.cmpi eq, %4", "%loads = arith.cmpi slt, %4"), codes="W0665", found="deadlock"),
    "a consumer loads, too": order(
        ("%consumer = arith.cmpi slt, %thread_id_x, %c256", "%consumer = arith.cmpi slt, %thread_id_x, %c128"),
        ("%c256 = ", "%c128 = arith.constant 128 : index\n%c256 = "), codes="W0665", found="deadlock"),
    "the producer has one stage less": order(
        (SLOT, SLOT.replace("mod 3", "mod 2")), codes="W0668 W0662", found="deadlock, in-flight"),
    "consumers have one stage less": order(
        (STAGE, STAGE.replace("mod 3", "mod 2")), codes="W0668 W0662", found="deadlock, in-flight"),
    "tiles have one stage less than barriers": order(
        ("%tile_A = memref.subview %A_shared[%slot", "%fewer = affine.apply affine_map<(d0) -> ((d0 floordiv 64) mod 2)>(%k)\n"
         "%tile_A = memref.subview %A_shared[%fewer"),
        ("%own_A = memref.subview %A_shared[%stage", "%fewer = affine.apply affine_map<(d0) -> ((d0 floordiv 64) mod 2)>(%k)\n"
         "%own_A = memref.subview %A_shared[%fewer"), codes="W0667", found="in-flight, WAR"),
    "the producer ends early": order(
        (r"re:(scf\.for %k = %c0 to )%c448( step %c64 \{)", r"\1%c256\2"), codes="W0665", found="deadlock"),
    "consumers end early": order((r"re:(scf\.for %k = %c0 to )%c448( step %c64 iter_args)", r"\1%c256\2"),
                                 codes="W0665", found="unfinished copy, mbarrier misuse, deadlock"),
    "a barrier of the block in a role": order((EXPECT, f"gpu.barrier\n{EXPECT}"), codes="W0603", found="divergent barrier"),
    "half of a warp group multiplies": order(
        (r"re:(%sums = )(nvgpu\.warpgroup\.mma.*?-> )(<fragmented = vector<64x64xf32>>)\n",
         r"%half = arith.cmpi slt, %8, %c64 : index\n\1scf.if %half -> (!nvgpu.warpgroup.accumulator\3) "
         r"{ %made = \2\3\n scf.yield %made : !nvgpu.warpgroup.accumulator\3 } "
         r"else { scf.yield %before : !nvgpu.warpgroup.accumulator\3 }\n"), codes="W0603", found="divergent barrier"),
    "products are read before they are done": order((PRODUCT, PRODUCT.replace("waitGroup = 0", "waitGroup = 1")),
                                                    codes="W0640", found="refused"),
})  # fmt: skip
STARTS: Mapping[str, Mutant] = MappingProxyType({
    "no fence behind the initialization": order((FENCE_INIT, ""), codes="W0664", found="mbarrier misuse"),
    "a fence in front of the initialization": order(
        (FENCE_INIT, ""), (r"re:scf\.if %first \{\n(\s+scf\.for)", rf"scf.if %first {{\n{FENCE_INIT}\n\1"), codes="W0664",
        found="mbarrier misuse"),
    "no barrier behind the initialization": order(("gpu.barrier\n", "\n"), codes="W0664", found="mbarrier misuse"),
    "empty stages are not initialized": order((INIT_EMPTY, ""), codes="W0664", found="mbarrier misuse"),
    "the last stage is not initialized": order(
        (r"re:(scf\.for %each = %c0 to )%c3( step %c1 \{\s+nvgpu\.mbarrier\.init %full)", r"\1%c2\2"), codes="W0664",
        found="mbarrier misuse"),
    "the producer keeps its registers": order(("nvvm.setmaxregister decrease 24", ""), codes="W0670", found="deadlock"),
    "the producer takes registers, too": order(
        ("nvvm.setmaxregister decrease 24", "nvvm.setmaxregister increase 240"), codes="W0670", found="deadlock"),
    "consumers take more registers than there are": order(
        ("setmaxregister increase 240", "setmaxregister increase 256"), codes="W0670", found="deadlock"),
    "one warp takes registers": order(
        ("nvvm.setmaxregister increase 240",
         "%some = arith.cmpi slt, %8, %c64 : index\nscf.if %some { nvvm.setmaxregister increase 240 }"),
        codes="W0603", found="divergent barrier"),
    "the producer gives its registers when it is done": order(
        ("nvvm.setmaxregister decrease 24", ""), (r"re:(\n      \}\n      gpu\.return)", r"\nnvvm.setmaxregister decrease 24\1"),
        codes="W0670", found="deadlock"),
})  # fmt: skip
TILES: Mapping[str, Mutant] = MappingProxyType({
    "the consumer's ring begins anew with each tile": order(
        ("affine_map<(d0, d1) -> (((d0 * 2 + d1 floordiv 64) floordiv 3) mod 2)>(%arg5, %k)",
         "affine_map<(d0, d1) -> ((d1 floordiv 64) mod 2)>(%arg5, %k)"), codes="W0662", found="in-flight, deadlock", of="tiles"),
    "the producer's ring begins anew with each tile": order(
        ("affine_map<(d0, d1) -> (((d0 * 2 + d1 floordiv 64) floordiv 3 + 1) mod 2)>(%arg5, %k)",
         "affine_map<(d0, d1) -> ((d1 floordiv 64 + 1) mod 2)>(%arg5, %k)"), codes="W0662", found="in-flight, deadlock",
        of="tiles"),
    "the producer takes a tile less": order(
        (r"re:(%loads = [^\n]*\n\s+scf\.for %arg5 = %c0 to )%c3", r"\1%c2"), codes="W0665", found="deadlock", of="tiles"),
    "the producer takes tiles in another order": value(
        ("%col = affine.apply affine_map<(d0, d1) -> (((d0 + d1 * 2) mod 3) * 64)>",
         "%col = affine.apply affine_map<(d0, d1) -> (((d0 + d1 * 2 + 1) mod 3) * 64)>"), of="tiles"),
    "sums go on from tile to tile": value(
        (r"re:scf\.for %arg5 = %c0 to %c3 step %c1 \{\n(\s+%zero = [^\n]*\n)\s+%total = ",
         r"\1%sum_of_all = scf.for %arg5 = %c0 to %c3 step %c1 iter_args(%so_far = %zero) -> "
         r"(!nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>) {\n%total = "),
        ("iter_args(%before = %zero)", "iter_args(%before = %so_far)"),
        (r"re:(\n        \}\n      \} else)",
         r"\nscf.yield %total : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>\1"),
        of="tiles"),
})  # fmt: skip
VALUES: Mapping[str, Mutant] = MappingProxyType({
    "A begins a box further along the sum": value(
        (LOAD_A, f"%further = arith.addi %k, %c64 : index\n{LOAD_A.replace('[%k', '[%further')}")),
    "A begins a row further": value((LOAD_A, LOAD_A.replace("%c0]", "%c1]"))),
    "B's coordinates are exchanged": value((LOAD_B, LOAD_B.replace("[%col, %k]", "[%k, %col]"))),
    "all blocks load the first columns of B": value((LOAD_B, LOAD_B.replace("%col", "%c0"))),
    "both consumers multiply the first rows": value(
        ("%own_A = memref.subview %A_shared[%stage, %7, 0]", "%own_A = memref.subview %A_shared[%stage, %c0, 0]")),
    "each consumer multiplies the rows of the other": value(
        (r"re:(%7 = affine\.apply affine_map<\(d0\) -> \()\(d0 floordiv 128\) \* 64\)", r"\1((d0 floordiv 128 + 1) mod 2) * 64)")),
    "B by columns": value((PRODUCT, PRODUCT.replace("transposeB, ", ""))),
    "sums begin anew in each step": value((PRODUCT, PRODUCT.replace("%before", "%zero"))),
    "sums that are stored are those of the beginning": value(
        ("unrealized_conversion_cast %total", "unrealized_conversion_cast %zero")),
    "a fragment's columns are in another order": value(
        (r"re:(%9 = affine\.apply affine_map<\(d0, d1\) -> \(d0 \* 64 \+ \()d1 mod 4\)", r"\1d1 * 3 mod 4)")),
    "the right operand of the wrong matrix": value(
        (r"re:(%1 = nvgpu\.tma\.create\.descriptor )%cast_0", r"\1%cast")),
    "outside of a matrix are NaNs": value((r"re:(!mapA = .*)oob = zero", r"\1oob = nan")),
    "boxes are swizzled in no way, and products expect it": value(
        (r"re:(!mapB = .*)swizzle = swizzle_128b", r"\1swizzle = none"),
        (r"re:(%b = nvgpu\.warpgroup\.generate\.descriptor %own_B, )%B_map(.*)!mapB", r"\1%A_map\2!mapA")),
    "the last columns are not stored": value((r"re:(%17 = arith\.cmpi slt, %n, )%c120", r"\1%c64")),
})  # fmt: skip
EQUAL: Mapping[str, Mutant] = MappingProxyType({
    "a ring of two of three stages": equal(
        (STAGE, STAGE.replace("mod 3", "mod 2")), (SLOT, SLOT.replace("mod 3", "mod 2")),
        (LAP, LAP.replace("floordiv 3", "floordiv 2")), (LAP_BEFORE, LAP_BEFORE.replace("floordiv 3", "floordiv 2"))),
    "another thread of the producer loads": equal((r"re:(%4 = affine\.apply affine_map<\(d0\) -> \(d0 - )256", r"\g<1>300")),
    "another thread releases": equal(("%speaks = arith.cmpi eq, %8, %c0", "%speaks = arith.cmpi eq, %8, %c64")),
    "a fence too many": equal((ARRIVE, f"{FENCE}\n{ARRIVE}")),
    "consumers wait twice": equal((AWAIT_FULL, f"{AWAIT_FULL}\n{AWAIT_FULL}")),
    "nothing is prefetched to L2": equal((r"re:(!mapA = .*)l2promo = l2promo_128b", r"\1l2promo = none"),
                                         (r"re:(!mapB = .*)l2promo = l2promo_128b", r"\1l2promo = none")),
    "no registers change hands": equal(("nvvm.setmaxregister decrease 24", ""), ("nvvm.setmaxregister increase 240", "")),
    "the last three steps release nothing": equal((RELEASES, f"{UNTIL}, %c256{ALSO}%token")),
    "bytes are expected behind the loads": equal(
        (EXPECT, ""), (r"re:(nvgpu\.tma\.async\.load %B_map[^\n]*)", rf"\1\n{EXPECT}")),
})  # fmt: skip
MUTANTS: Mapping[str, Mutant] = MappingProxyType({**WAITS, **ARRIVALS, **BYTES, **ROLES, **STARTS, **TILES, **VALUES, **EQUAL})
