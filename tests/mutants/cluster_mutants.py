"""Mistakes in what the recipe `hopper` makes of two blocks in a cluster, each of which loads half of a tile of B for both."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hopper_mutants import Edit, Mutant, equal, order, value

MEET = r"nvvm\.cluster\.arrive \{aligned\}\n      nvvm\.cluster\.wait[^\n]*"
START, END = rf"re:(nvvm\.fence\.mbarrier\.init\n      \}}\n      ){MEET}", rf"re:{MEET}\n(      gpu\.return)"
INIT_EMPTY = "nvgpu.mbarrier.init %empty[%each], %c2 : !bars"
SPEAK = "%speaks = arith.cmpi slt, %thread_id_x, %c2"
NEXT_BLOCK = "%next = arith.addi %thread_id_x, %c1 : index\n"
WHERE = "%rank = arith.index_cast %thread_id_x : index to i32"
MASK = " multicast_mask = %c3_i16"
HALF = "%half = affine.apply affine_map<(d0) -> (d0 * 32)>(%cluster_block_id_x)"
OTHER_HALF = "%half = affine.apply affine_map<(d0) -> (32 - d0 * 32)>(%cluster_block_id_x)"
FEWER = "%end = affine.apply affine_map<(d0) -> (d0 * 192 + 256)>(%cluster_block_id_x)\n"
RELAXED = "nvvm.cluster.arrive.relaxed {aligned}\nnvvm.cluster.wait {aligned}"


def _order(*edits: Edit, codes: str, found: str) -> Mutant:
    return order(*edits, codes=codes, found=found, of="cluster")


CLUSTER: Mapping[str, Mutant] = MappingProxyType({
    "a stage is empty when its own block's consumers are done": _order(
        (INIT_EMPTY, INIT_EMPTY.replace("%c2", "%c1")), codes="W0660", found="in-flight, WAR, mbarrier misuse, deadlock"),
    "a stage is released in one's own block alone": _order(
        (SPEAK, "%speaks = arith.cmpi eq, %thread_id_x, %cluster_block_id_x"), codes="W0665", found="deadlock"),
    "a stage is released twice in one block": _order(
        (WHERE, WHERE.replace("%thread_id_x", "%c0")), codes="W0660", found="in-flight, mbarrier misuse, deadlock"),
    "a stage of a block that is not there is released": _order(
        (WHERE, NEXT_BLOCK + WHERE.replace("%thread_id_x", "%next")), codes="W0664", found="mbarrier misuse, deadlock"),
    "one block's consumers release": _order(
        ("scf.if %speaks {\n            %token", "%own = arith.cmpi eq, %cluster_block_id_x, %c0 : index\n"
         "%now = arith.andi %own, %speaks : i1\nscf.if %now {\n            %token"), codes="W0665", found="deadlock"),
    "a box for one block": _order((MASK, ""), codes="W0661", found="deadlock"),
    "a box for the first block": _order(("%c3_i16 = arith.constant 3", "%c3_i16 = arith.constant 1"), codes="W0661",
                                        found="deadlock, mbarrier misuse"),
    "a box for a block that is not there": _order(
        ("%c3_i16 = arith.constant 3", "%c3_i16 = arith.constant 7"), codes="W0664", found="out-of-bounds write"),
    "bytes of one's own boxes": _order(
        ("%c16384 = arith.constant 16384", "%c16384 = arith.constant 12288"), codes="W0661", found="in-flight, mbarrier misuse"),
    "both boxes land in one half": _order(
        ("%tile_B = memref.subview %B_shared[%slot, %half, 0]", "%tile_B = memref.subview %B_shared[%slot, 0, 0]"),
        codes="W0667", found="in-flight, uninitialized read, WAW"),
    "blocks do not meet at the start": _order((START, r"\1gpu.barrier"), codes="W0664", found="mbarrier misuse"),
    "nobody meets at the start": _order((START, r"\1"), codes="W0664", found="mbarrier misuse"),
    "a meeting at the start that orders nothing": _order((START, rf"\1{RELAXED}"), codes="W0664", found="mbarrier misuse"),
    "no fence behind the initialization, of blocks": _order(
        ("nvvm.fence.mbarrier.init", ""), codes="W0664", found="mbarrier misuse"),
    "a block ends before others are done with it": _order((END, r"\1"), codes="W0669", found="unfinished copy"),
    "one warp group meets at the end": _order(
        (END, r"scf.if %consumer { nvvm.cluster.arrive {aligned}\nnvvm.cluster.wait {aligned} }\n\1"), codes="W0603",
        found="deadlock, mbarrier misuse, divergent barrier"),
    "one block's producer ends early": _order(
        (r"re:(scf\.for %k = %c0 to )%c448( step %c64 \{)", FEWER + r"\1%end\2"), codes="W0665 W0661 W0668", found="deadlock"),
    "one block's consumers end early": _order(
        (r"re:(%total = scf\.for %k = %c0 to )%c448", FEWER + r"\1%end"), codes="W0665 W0661 W0668",
        found="deadlock, unfinished copy"),
    "both blocks load the first half": value(
        ("%from = affine.apply affine_map<(d0, d1) -> (d0 + d1)>", "%from = affine.apply affine_map<(d0, d1) -> (d1)>"),
        of="cluster"),
    "both blocks multiply the first rows of A": value(
        ("%row = affine.apply affine_map<(d0) -> (d0 * 64)>", "%row = affine.apply affine_map<(d0) -> (d0 * 0)>"), of="cluster"),
    "each block loads the other half": equal((HALF, OTHER_HALF), of="cluster"),
})  # fmt: skip
