"""A ring over two blocks of a cluster: each loads half of A's tile, for both of them, and its own tile of B.

Who is done with a stage tells both producers. As edits of the ring that `tests/hopper.py` writes; mutants are further edits.
"""

from __future__ import annotations

from dataclasses import replace

from group_mutants import INIT_EMPTY, RELEASE, RING, RingMutant

PAIR = replace(RING, n=128)
MEET = "nvvm.cluster.arrive {aligned}\n nvvm.cluster.wait {aligned}"
LOAD_A = "nvgpu.tma.async.load %mA[%x0, %half], %full[%to] to %p0 multicast_mask = %both : !mapA, !bars -> !panelA"
ARRIVE = """%address{0} = nvgpu.mbarrier.get %empty[%s] : !bars -> i32
            %here{0} = llvm.inttoptr %address{0} : i32 to !llvm.ptr<3>
            %there{0} = nvvm.mapa %here{0}, %rank{0} : !llvm.ptr<3> -> !llvm.ptr<7>
            nvvm.mbarrier.arrive %there{0} {{scope = #nvvm.mem_scope<cluster>}} : !llvm.ptr<7>"""
FIRST_MEETING, LAST_MEETING = f"{MEET} // first", f"{MEET} // last"

EDITS = (
    ("known_block_size", "known_cluster_size = array<i32: 2, 1, 1>, known_block_size"),
    ("!mapA = !nvgpu.tensormap.descriptor<tensor = memref<128x64", "!mapA = !nvgpu.tensormap.descriptor<tensor = memref<64x64"),
    ("!panelA = memref<128x64", "!panelA = memref<64x64"),
    ("%row = arith.muli %by, %BM : index", """%row = arith.muli %by, %BM : index
      %rank = gpu.cluster_block_id x
      %rank0 = arith.constant 0 : i32
      %rank1 = arith.constant 1 : i32
      %both = arith.constant 3 : i16
      %moved = arith.muli %rank, %own : index
      %half = arith.addi %row, %moved : index"""),
    ("memref.subview %sA[%to, 0, 0, 0] [1, 1, 128, 64]", "memref.subview %sA[%to, 0, %moved, 0] [1, 1, 64, 64]"),
    ("nvgpu.tma.async.load %mA[%x0, %row], %full[%to] to %p0 : !mapA, !bars -> !panelA", LOAD_A),
    (INIT_EMPTY, INIT_EMPTY.replace("%consumers", "%c4")),
    ("gpu.barrier", FIRST_MEETING),
    (RELEASE, f"scf.if %speaks {{ {ARRIVE.format(0)}\n{ARRIVE.format(1)} }}"),
    ("gpu.return", f"{LAST_MEETING}\n gpu.return"),
)  # fmt: skip


def _mutant(wrong: str, right: str, *found: str) -> RingMutant:
    return RingMutant((*EDITS, (wrong, right)), frozenset(found), PAIR)


CLUSTER = RingMutant(EDITS, frozenset(), PAIR)
CLUSTER_MUTANTS = {
    "a block that ends early": _mutant(LAST_MEETING, "", "unfinished copy"),
    "no meeting at the start": _mutant(FIRST_MEETING, "gpu.barrier", "mbarrier misuse"),
    "a meeting that orders nothing": _mutant(
        FIRST_MEETING, FIRST_MEETING.replace("arrive {aligned}", "arrive.relaxed {aligned}"), "mbarrier misuse"
    ),
    "half of it for one block": _mutant("%both = arith.constant 3", "%both = arith.constant 1", "deadlock"),
    "a mask of a block that is not there": _mutant("%both = arith.constant 3", "%both = arith.constant 7", "out-of-bounds write"),
    "released here alone": _mutant("%rank1 = arith.constant 1", "%rank1 = arith.constant 0", "deadlock", "in-flight"),
    "of one's own consumers alone": _mutant(
        INIT_EMPTY.replace("%consumers", "%c4"), INIT_EMPTY, "in-flight", "deadlock", "mbarrier misuse"
    ),
    "an arrival of a block that is not there": _mutant("%rank1 = arith.constant 1", "%rank1 = arith.constant 2", "mbarrier misuse"),
    "a meeting of one warp group": _mutant(
        LAST_MEETING, f"scf.if %producer {{ {LAST_MEETING.replace(' // last', '')} }}", "deadlock", "mbarrier misuse"
    ),
    "both load the same half": _mutant("%half = arith.addi %row, %moved", "%half = arith.addi %row, %c0"),
}  # fmt: skip
