"""Mistakes in how results go to memory by tensor maps, in what the recipes `hopper` and `igemm_hopper` make: the threads of a warp
group write a part of its tile to shared memory; one of them stores it in boxes, and waits until these are read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hopper_mutants import FENCE, Edit, Mutant, equal, order, value

DRAIN = "nvvm.cp.async.bulk.wait_group 0 {read}"
WAIT = f"scf.if %speaks {{\n            {DRAIN}\n          }}\n"
LAST = f"scf.if %speaks {{\n          {DRAIN}\n        }}\n"
MEET = "nvvm.barrier id = %meeting number_of_threads = %c128_i32\n"
EMPTIED, FILLED = f"{MEET}          %20 = ", f"{MEET}          %21 = "
"""Where a warp group meets in front of what it writes, and behind that."""
GROUP, COUNT = "%10 = affine.apply affine_map<(d0) -> (d0 + 1)>(%9)", "%c128_i32 = arith.constant 128"
COMMIT = "nvvm.cp.async.bulk.commit.group\n"
STORING = "scf.if %speaks {\n            scf.for %panel = %c0 to %c4"
STORE, AT = r"re:(nvgpu\.tma\.async\.store [^\n]*)", "%C_map[%22, %7]"
BOX = "%box = memref.subview %C_shared[%panel, %7, 0]"
COLUMN = "%column = arith.xori %12, %13 : index"
ACROSS = "%22 = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 8)>(%21, %panel)"
PART = "%21 = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 32)>(%col, %part)"
SWIZZLE = r"re:(!mapC = .*)swizzle = swizzle_32b"
OTHER_THREAD = f"%late = arith.cmpi eq, %8, %c64 : index\nscf.if %late {{ {DRAIN} }}\n"
OTHER_ROWS = "%far = affine.apply affine_map<(d0) -> (64 - d0)>(%7)\n"
EVERYTHING = " {read}", ""
NEXT_TILE = f"scf.if %first {{\n              {DRAIN}\n            }}\n"
LAST_TILE = f"scf.if %first {{\n          {DRAIN}\n        }}\n"
TILE_ENDS = "} {weft.unroll}\n        }"
MEET_TILE = "nvvm.barrier id = %c1_i32 number_of_threads = %c128_i32\n"


def _order(*edits: Edit, codes: str, found: str) -> Mutant:
    return order(*edits, codes=codes, found=found, of="stores")


def _value(*edits: Edit) -> Mutant:
    return value(*edits, of="stores")


def _equal(*edits: Edit) -> Mutant:
    return equal(*edits, of="stores")


FENCES = {
    "no fence in front of boxes": _order((FENCE, ""), codes="W0666", found="missing proxy fence"),
    "a fence behind the meeting": _order(
        (FENCE, ""), (FILLED, FILLED.replace("\n", f"\n{FENCE}\n")), codes="W0666", found="missing proxy fence"),
    "the thread that stores is the one that fences": _order(
        (FENCE, f"scf.if %speaks {{ {FENCE} }}"), codes="W0666", found="missing proxy fence"),
    "a fence in front of what is written": _order(
        (FENCE, ""), (EMPTIED, EMPTIED.replace("\n", f"\n{FENCE}\n")), codes="W0666", found="missing proxy fence"),
}  # fmt: skip
MEETINGS = {
    "boxes are stored before all have written": _order((FILLED, "%21 = "), codes="W0667", found="RAW"),
    "nobody meets in front of what is written": _order((EMPTIED, "%20 = "), codes="W0667", found="in-flight"),
    "warp groups meet at one barrier": _order(
        (GROUP, GROUP.replace("d0 + 1", "d0 * 0 + 1")), codes="W0603", found="divergent barrier"),
    "a warp group waits for the other one": _order((COUNT, f"{COUNT[:-3]}256"), codes="W0603", found="deadlock"),
    "two warps of four meet": _order((COUNT, COUNT[:-3] + "64"), codes="W0603", found="divergent barrier"),
    "the meeting behind what is written is the first warp group's": _order(
        (FILLED, FILLED.replace("%meeting", "%one")), ("scf.for %part", "%one = arith.constant 1 : i32\nscf.for %part"),
        codes="W0603", found="divergent barrier"),
    "a block's barrier in the place of a warp group's": _order(
        (FILLED, "gpu.barrier\n%21 = "), codes="W0603", found="divergent barrier"),
}  # fmt: skip
READ = {
    "nobody waits until boxes are read": _order((WAIT, ""), codes="W0667", found="in-flight"),
    "a thread waits behind the meeting": _order((WAIT, ""), (EMPTIED, f"{MEET}{WAIT}%20 = "), codes="W0667", found="in-flight"),
    "a thread waits for all boxes but the last part's": _order(
        (WAIT, WAIT.replace("group 0", "group 1")), codes="W0667", found="in-flight"),
    "another thread waits": _order((WAIT, OTHER_THREAD), codes="W0667", found="in-flight"),
    "no group of boxes": _order((COMMIT, "\n"), codes="W0665 W0667", found="in-flight, unfinished copy"),
    "a group in front of its boxes": _order(
        (COMMIT, "\n"), (STORING, STORING.replace("{\n", f"{{\n{COMMIT}")), codes="W0665 W0667",
        found="in-flight, unfinished copy"),
    "a block ends while boxes are read": _order((LAST, ""), codes="W0665", found="unfinished copy"),
    "a block ends while the last boxes are read": _order(
        (LAST, LAST.replace("group 0", "group 1")), codes="W0665", found="unfinished copy"),
    "another thread waits in the end": _order((LAST, OTHER_THREAD), codes="W0665", found="unfinished copy"),
}  # fmt: skip
BOXES = {
    "all warps' first threads store": _order(
        (STORING, f"%each = arith.cmpi eq, %0, %c0 : index\n{STORING.replace('%speaks', '%each')}"), codes="W0665 W0667",
        found="in-flight, unfinished copy"),
    "both warp groups store the first one's rows": _order(
        (BOX, BOX.replace("%7", "%c0")), (AT, AT.replace("%7", "%c0")), codes="W0667", found="RAW, in-flight, uninitialized read"),
    "boxes of the other warp group are stored": _order(
        (BOX, OTHER_ROWS + BOX.replace("%7", "%far")), (AT, AT.replace("%7", "%far")), codes="W0667",
        found="RAW, in-flight, uninitialized read"),
    "boxes lie half a box apart": _order((ACROSS, ACROSS.replace("d1 * 8", "d1 * 4")), codes="W0667", found="in-flight"),
    "all parts go to the first one's columns": _order((PART, PART.replace("d1 * 32", "d1 * 0")), codes="W0667", found="in-flight"),
    "coordinates are exchanged": _order((AT, "%C_map[%7, %22]"), codes="W0602 W0667", found="in-flight"),
}  # fmt: skip
VALUES = {
    "boxes are a panel too far right": _value((ACROSS, ACROSS.replace("d1 * 8", "d1 * 8 + 8"))),
    "parts are exchanged": _value((PART, PART.replace("d1 * 32", "32 - d1 * 32"))),
    "boxes of a part in the other order": _value((ACROSS, ACROSS.replace("d1 * 8", "24 - d1 * 8"))),
    "warp groups' rows are exchanged": _value((AT, AT.replace("%7", "%far")), (BOX, OTHER_ROWS + BOX)),
    "panels are read in the other order": _value(
        (BOX, "%far = affine.apply affine_map<(d0) -> (3 - d0)>(%panel)\n" + BOX.replace("%panel", "%far"))),
    "threads swizzle, boxes do not": _value((SWIZZLE, r"\1swizzle = none")),
    "boxes swizzle, threads do not": _value((COLUMN, "%column = arith.addi %12, %c0 : index")),
    "half of a part is stored": _value((STORING, STORING.replace("%c4", "%c2"))),
    "the second part is not stored": _value((r"re:(scf\.for %part = %c0 to )%c2", r"\1%c1")),
    "each part is the first one's sums": _value((r"re:%20 = affine[^\n]*\(%part\)", "%20 = arith.constant 0 : index")),
    "a thread's rows are exchanged": _value(
        (r"re:(%line = affine\.apply affine_map<\(d0, d1\) -> \(d0 \+ )d1 \* 8", r"\g<1>8 - d1 * 8")),
    "the second warp group stores beyond the matrix": _value(
        (AT, AT.replace("%7", "%far")), (BOX, OTHER_ROWS.replace("64 - d0", "d0 * 5") + BOX)),
    "the tensor ends behind the first warp group's rows": _value(
        (r"re:(%cast\w* = memref\.cast )(%\w+) : memref<(\d+)x120xf32>",
         r"%less = memref.subview \2[0, 0] [64, 120] [1, 1] : memref<\3x120xf32> to memref<64x120xf32, strided<[120, 1]>>\n"
         r"\1%less : memref<64x120xf32, strided<[120, 1]>>")),
}  # fmt: skip
EQUAL = {
    "two fences": _equal((FENCE, f"{FENCE}\n{FENCE}")),
    "boxes have arrived before a thread goes on": _equal((WAIT, WAIT.replace(*EVERYTHING)), (LAST, LAST.replace(*EVERYTHING))),
    "a warp group meets twice": _equal((FILLED, MEET + FILLED)),
    "warp groups' barriers are exchanged": _equal((GROUP, GROUP.replace("d0 + 1", "2 - d0"))),
    "a group without a box": _equal((COMMIT, f"{COMMIT}{COMMIT}")),
    "nobody swizzles": _equal((SWIZZLE, r"\1swizzle = none"), (COLUMN, "%column = arith.addi %12, %c0 : index")),
    "boxes are stored from right to left": _equal(
        (BOX, "%far = affine.apply affine_map<(d0) -> (3 - d0)>(%panel)\n" + BOX.replace("%panel", "%far")),
        (ACROSS, ACROSS.replace("d1 * 8", "24 - d1 * 8"))),
}  # fmt: skip
TILES = {
    "a block ends while its last tile is read": order(
        (LAST_TILE, ""), codes="W0665", found="unfinished copy", of="stored tiles"),
    "a block ends while the boxes of its last part are read": order(
        (LAST_TILE, LAST_TILE.replace("group 0", "group 1")), codes="W0665", found="unfinished copy", of="stored tiles"),
    "the next tile is written while boxes are read": order(
        (NEXT_TILE, f"%again = arith.cmpi sgt, %part, %c0 : index\n%now = arith.andi %again, %first : i1\n"
                    f"{NEXT_TILE.replace('%first', '%now')}"), codes="W0665 W0667", found="in-flight", of="stored tiles"),
    "the next tile is written while the last part's boxes are read": order(
        (NEXT_TILE, NEXT_TILE.replace("group 0", "group 1")), codes="W0667", found="in-flight", of="stored tiles"),
    "the next tile is written before all have stored": order(
        (f"{MEET_TILE}            %15 = ", "%15 = "), codes="W0667", found="in-flight", of="stored tiles"),
    "boxes are read before a tile ends": equal(
        (LAST_TILE, ""), (TILE_ENDS, f"{TILE_ENDS[:-1]}{LAST_TILE}}}"), of="stored tiles"),
}  # fmt: skip
"""Of blocks that stay, and have one warp group that multiplies."""
TILE_BEGINS = LAST_TILE.replace("\n", "\n  ")[:-2]
FIRST_MEETS, MEETS = (f"{MEET_TILE}          {'  ' * n}{name} = " for n, name in ((0, "%16"), (1, "%19")))
BUFFER = "%box = memref.subview %C_shared["
TURN = "%17 = affine.apply affine_map<(d0) -> (d0 mod 2)>(%part)"


def _turn(*edits: Edit, codes: str = "W0667", found: str = "in-flight") -> Mutant:
    return order(*edits, codes=codes, found=found, of="turns")


TURNS = {
    "nobody waits in front of a tile's first part": _turn((TILE_BEGINS, "")),
    "in front of a tile's first part all but one are read": _turn((TILE_BEGINS, TILE_BEGINS.replace("group 0", "group 1"))),
    "nobody meets in front of a tile's first part": _turn((FIRST_MEETS, "%16 = ")),
    "nobody waits between parts": _turn((NEXT_TILE, "")),
    "between parts one more may be on its way": _turn((NEXT_TILE, NEXT_TILE.replace("group 0", "group 1"))),
    "a part waits behind the meeting": _turn((NEXT_TILE, ""), (MEETS, MEETS.replace("%19", f"{NEXT_TILE}%19"))),
    "a part is stored before all have written": _turn((MEETS, "%19 = "), found="RAW, in-flight"),
    "a buffer too few": _turn((TURN, TURN.replace("mod 2", "mod 1"))),
    "a block ends while parts of its last tile are read": _turn((LAST_TILE, ""), codes="W0665", found="unfinished copy"),
    "a block ends while its last part is read": _turn(
        (LAST_TILE, LAST_TILE.replace("group 0", "group 1")), codes="W0665", found="unfinished copy"),
    "parts without groups": _turn((COMMIT, "\n"), codes="W0665 W0667", found="in-flight, unfinished copy"),
    "parts without a fence": _turn((FENCE, ""), codes="W0666", found="missing proxy fence"),
    "boxes of the other buffer": _turn(
        (f"{BUFFER}%17", f"%other = affine.apply affine_map<(d0) -> (1 - d0)>(%17)\n{BUFFER}%other"),
        found="RAW, in-flight, uninitialized read"),
    "the other buffer first": equal((TURN, TURN.replace("d0 mod 2", "(d0 + 1) mod 2")), of="turns"),
    "no more than one part on its way": equal((MEETS, f"{NEXT_TILE}{MEETS}"), of="turns"),
}  # fmt: skip
"""Of parts that take two buffers in turn."""
STORES: Mapping[str, Mutant] = MappingProxyType({**FENCES, **MEETINGS, **READ, **BOXES, **VALUES, **EQUAL, **TILES, **TURNS})
