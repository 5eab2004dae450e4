"""A ring over the blocks of a cluster: each loads its part of A's tile, 64 rows, for all of them, and its own tile of B.

Who is done with a stage tells all producers, by arrivals that are relaxed. As edits of the ring that `tests/hopper.py` writes;
mutants are further edits.
"""

from __future__ import annotations

from dataclasses import replace

from group_mutants import INIT_EMPTY, RELEASE, RING, RingMutant
from hopper import Product

PAIR = replace(RING, n=128)
MEET = "nvvm.cluster.arrive {aligned}\n nvvm.cluster.wait {aligned}"
LOAD_A = "nvgpu.tma.async.load %mA[%x0, %half], %full[%to] to %p0 multicast_mask = %both : !mapA, !bars -> !panelA"
ARRIVE = """%address{0} = nvgpu.mbarrier.get %empty[%s] : !bars -> i32
            %here{0} = llvm.inttoptr %address{0} : i32 to !llvm.ptr<3>
            %there{0} = nvvm.mapa %here{0}, %rank{0} : !llvm.ptr<3> -> !llvm.ptr<7>
            nvvm.mbarrier.arrive %there{0} {{{1}scope = #nvvm.mem_scope<cluster>}} : !llvm.ptr<7>"""
FIRST_MEETING, LAST_MEETING = f"{MEET} // first", f"{MEET} // last"


def of_blocks(product: Product, blocks: int, *, relaxed: bool = True) -> tuple[tuple[str, str], ...]:
    """The edits of a product's ring that make it one of a cluster of so many blocks, in a row along x."""
    ranks = "\n".join(f"%rank{n} = arith.constant {n} : i32" for n in range(blocks))
    arrivals = "\n".join(ARRIVE.format(n, "relaxed = true, " if relaxed else "") for n in range(blocks))
    return (
        (f"%ra = arith.constant {product.bm} : index", "%ra = arith.constant 64 : index"),
        ("known_block_size", f"known_cluster_size = array<i32: {blocks}, 1, 1>, known_block_size"),
        (f"!mapA = !nvgpu.tensormap.descriptor<tensor = memref<{product.bm}x64",
         "!mapA = !nvgpu.tensormap.descriptor<tensor = memref<64x64"),
        (f"!panelA = memref<{product.bm}x64", "!panelA = memref<64x64"),
        ("%row = arith.muli %by, %BM : index", f"""%row = arith.muli %by, %BM : index
      %rank = gpu.cluster_block_id x
      {ranks}
      %both = arith.constant {2**blocks - 1} : i16
      %arrivals = arith.constant {product.consumers * blocks} : index
      %moved = arith.muli %rank, %own : index
      %half = arith.addi %row, %moved : index"""),
        (f"memref.subview %sA[%to, 0, 0, 0] [1, 1, {product.bm}, 64]", "memref.subview %sA[%to, 0, %moved, 0] [1, 1, 64, 64]"),
        ("nvgpu.tma.async.load %mA[%x0, %row], %full[%to] to %p0 : !mapA, !bars -> !panelA", LOAD_A),
        (INIT_EMPTY, INIT_EMPTY.replace("%consumers", "%arrivals")),
        ("gpu.barrier", FIRST_MEETING),
        (RELEASE, f"scf.if %speaks {{ {arrivals} }}"),
        ("gpu.return", f"{LAST_MEETING}\n gpu.return"),
    )  # fmt: skip


def cluster(blocks: int, stages: int = 3, k: int = 448, *, open_sizes: bool = False) -> RingMutant:
    """A ring of so many blocks and stages, with a consumer for each 64 rows."""
    rows = 64 * blocks
    product = replace(RING, m=rows, bm=rows, consumers=blocks, n=rows, k=k, stages=stages, open_sizes=open_sizes)
    return RingMutant(of_blocks(product, blocks), frozenset(), product)


EDITS = of_blocks(PAIR, 2)


def _mutant(wrong: str, right: str, *found: str) -> RingMutant:
    return RingMutant((*EDITS, (wrong, right)), frozenset(found), PAIR)


CLUSTER = RingMutant(EDITS, frozenset(), PAIR)
RELEASING = RingMutant(of_blocks(PAIR, 2, relaxed=False), frozenset(), PAIR)
"""Arrivals that order all that their thread has done."""
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
        INIT_EMPTY.replace("%consumers", "%arrivals"), INIT_EMPTY, "in-flight", "deadlock", "mbarrier misuse"
    ),
    "an arrival of a block that is not there": _mutant("%rank1 = arith.constant 1", "%rank1 = arith.constant 2", "mbarrier misuse"),
    "a meeting of one warp group": _mutant(
        LAST_MEETING, f"scf.if %producer {{ {LAST_MEETING.replace(' // last', '')} }}", "deadlock", "mbarrier misuse"
    ),
    "both load the same half": _mutant("%half = arith.addi %row, %moved", "%half = arith.addi %row, %c0"),
}  # fmt: skip
