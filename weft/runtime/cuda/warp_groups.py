"""Device functions for architectures with warp groups: memory barriers and boxes of tensors, in
inline PTX.

A header for the CPU defines functions of the same names.
"""

from __future__ import annotations

from ...interpreter.hardware.limits import CORNERS, MOST_RANK
from .group_products import PIECES as _OF_PRODUCTS

TENSOR_MAP = """\
// The descriptor of a tensor for the tensor memory accelerator, encoded by the host's driver.
struct alignas(64) TensorMap { unsigned long long words[16]; };"""

_SHARED = """\
// An address in shared memory, as instructions take it.
#ifdef __CUDA_ARCH__
__device__ inline unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#endif"""

_BARRIER_INIT = """\
// Initializes a memory barrier: a phase ends when this many threads have arrived, and no bytes are missing.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(in_shared(barrier)), "r"(arrivals) : "memory");
}
#endif"""

_BARRIER_ARRIVE = """\
#ifdef __CUDA_ARCH__
__device__ inline void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(in_shared(barrier)) : "memory");
}
#endif"""

_BARRIER_EXPECT = """\
// Arrives, and announces the number of bytes to come.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(in_shared(barrier)), "r"(bytes)
      : "memory");
}
#endif"""

_BARRIER_WAIT = """\
// Waits for the end of the phase with this parity{more}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(unsigned long long* barrier, unsigned parity) {{
  asm volatile("{{\\n.reg .pred over;\\n"
      "again: mbarrier.try_wait.parity.acquire.{scope}.shared::cta.b64 over, [%0], %1;\\n"
      "@over bra done;\\nbra again;\\ndone:\\n}}" :: "r"(in_shared(barrier)), "r"(parity) : "memory");
}}
#endif"""

_BARRIER_ARRIVE_IN = """\
// Arrives at the barrier at the same address of another block of the cluster, given its rank; this orders {what}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(unsigned long long* barrier, unsigned block) {{
  asm volatile("{{\\n.reg .b32 there;\\nmapa.shared::cluster.u32 there, %0, %1;\\n"
      "mbarrier.arrive{order}.shared::cluster.b64 _, [there];\\n}}" :: "r"(in_shared(barrier)), "r"(block): "memory");
}}
#endif"""

_ARRIVALS_IN = (
    ("barrier_arrive_in", "all earlier accesses", ".release.cluster"),
    ("barrier_arrive_relaxed_in", "completed products and boxes only", ""),
)

_CLUSTER = """\
// All threads of the cluster {what}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}() {{ asm volatile("barrier.cluster.{ptx};" ::: "memory"); }}
#endif"""

_MEET_AT = """\
// Synchronizes this many threads of the block (whole warps) at a numbered barrier.
#ifdef __CUDA_ARCH__
__device__ inline void meet_at(int number, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(threads) : "memory");
}
#endif"""

_FENCE_BARRIERS = """\
// Makes initialized barriers visible to the tensor memory accelerator.
#ifdef __CUDA_ARCH__
__device__ inline void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
#endif"""

_FENCE_ASYNC = """\
// Makes the thread's writes to shared memory visible to asynchronous reads.
#ifdef __CUDA_ARCH__
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif"""

_REGISTERS = """\
// The warp group has {how}: n for each thread.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void {name}() {{ asm volatile("setmaxnreg.{word}.sync.aligned.u32 %0;" :: "n"(n)); }}
#endif"""

_LOAD_BOX = """\
// Starts the copy of a box of a tensor to shared memory{where}; its bytes are counted on the barrier{there}. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(void* to, const TensorMap& map, unsigned long long* barrier, {given}{blocks}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{multicast}"
      " [%0], [%1, {{{holes}}}], [%2]{mask};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), {ins}{taken} : "memory");
}}
#endif"""

_LOAD_PIXELS = """\
// Starts the copy of pixels of a tensor to shared memory{where}, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier{there}. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(void* to, const TensorMap& map, unsigned long long* barrier, {given}, {far}{blocks}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{multicast}"
      " [%0], [%1, {{{holes}}}], [%2], {{{offsets}}}{mask};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), {ins}, {apart}{taken} : "memory");
}}
#endif"""
_HERE = {"where": "", "there": "", "blocks": "", "multicast": "", "mask": "", "taken": ""}

_STORE_BOX = """\
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(const TensorMap& map, const void* from, {given}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%0, {{{holes}}}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), {ins} : "memory");
}}
#endif"""

_COMMIT_STORES = """\
// The copies to tensors that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
#endif"""

_WAIT_STORES = """\
// Waits until at most n of the thread's groups are under way{what}.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void {name}() {{ asm volatile("cp.async.bulk.wait_group{read} %0;" :: "n"(n) : "memory"); }}
#endif"""


def load_box_name(rank: int, *, pixels: bool = False, blocks: bool = False) -> str:
    """The name of the function that loads a box of this rank, or pixels of a tensor of this rank;
    with `blocks`, for several blocks of a cluster."""
    return f"load_{'pixels' if pixels else 'box'}_{rank}d{'_for' if blocks else ''}"


def store_box_name(rank: int) -> str:
    """The name of the function that stores a box."""
    return f"store_box_{rank}d"


def _box(template: str, name: str, rank: int, first: int, **more: str) -> str:
    letters = [f"x{d}" for d in range(rank)]
    given, ins = ", ".join(f"int {letter}" for letter in letters), ", ".join(f'"r"({letter})' for letter in letters)
    holes = ", ".join(f"%{first + d}" for d in range(rank))
    return template.format(**more, name=name, rank=rank, given=given, holes=holes, ins=ins)


def _several(comma: str, mask: int) -> dict[str, str]:
    """The template words of a load for all blocks of a mask, in the place of `_HERE`; `mask` is the
    mask's operand number."""
    words = {"where": f"{comma} of each block of a mask", "there": " there", "blocks": ", unsigned short blocks"}
    return words | {"multicast": ".multicast::cluster", "mask": f", %{mask}", "taken": ', "h"(blocks)'}


def _pixels(rank: int, *, blocks: bool = False) -> str:
    """The load of pixels of a tensor of this rank; with `blocks`, for all blocks of a mask."""
    letters, first = [f"d{d}" for d in range(1, rank - 1)], 3 + rank
    more = dict(_several("", first + len(letters)) if blocks else _HERE)
    more["far"] = ", ".join(f"unsigned short {letter}" for letter in letters)
    more["offsets"] = ", ".join(f"%{first + d}" for d in range(len(letters)))
    more["apart"] = ", ".join(f'"h"({letter})' for letter in letters)
    return _box(_LOAD_PIXELS, load_box_name(rank, pixels=True, blocks=blocks), rank, 3, **more)


_MEETINGS = {
    "cluster_arrive": ("arrive", "arrive.release.aligned"),
    "cluster_wait": ("are waited for", "wait.acquire.aligned"),
    "cluster_arrive_relaxed": ("arrive, which orders nothing", "arrive.relaxed.aligned"),
    "cluster_arrive_each": ("arrive, each independently", "arrive.release"),
    "cluster_wait_each": ("are waited for, by each independently", "wait.acquire"),
    "cluster_arrive_relaxed_each": ("arrive, each independently, which orders nothing", "arrive.relaxed"),
}
_RANKS = range(1, MOST_RANK + 1)
_HAVE = ("TensorMap", "in_shared")

PIECES: dict[str, tuple[tuple[str, ...], str]] = {
    "TensorMap": ((), TENSOR_MAP),
    "in_shared": ((), _SHARED),
    "barrier_init": (("in_shared",), _BARRIER_INIT),
    "barrier_arrive": (("in_shared",), _BARRIER_ARRIVE),
    "barrier_expect": (("in_shared",), _BARRIER_EXPECT),
    "barrier_wait": (("in_shared",), _BARRIER_WAIT.format(name="barrier_wait", more="", scope="cta")),
    "barrier_wait_in_cluster": (
        ("in_shared",),
        _BARRIER_WAIT.format(
            name="barrier_wait_in_cluster", more=", in which other blocks may arrive", scope="cluster"
        ),
    ),
    "meet_at": ((), _MEET_AT),
    **{
        name: (("in_shared",), _BARRIER_ARRIVE_IN.format(name=name, what=what, order=order))
        for name, what, order in _ARRIVALS_IN
    },
    **{name: ((), _CLUSTER.format(name=name, what=what, ptx=ptx)) for name, (what, ptx) in _MEETINGS.items()},
    "fence_barriers": ((), _FENCE_BARRIERS),
    "fence_async": ((), _FENCE_ASYNC),
    "fewer_registers": ((), _REGISTERS.format(name="fewer_registers", how="fewer registers from here on", word="dec")),
    "more_registers": ((), _REGISTERS.format(name="more_registers", how="more registers from here on", word="inc")),
    **{load_box_name(rank): (_HAVE, _box(_LOAD_BOX, load_box_name(rank), rank, 3, **_HERE)) for rank in _RANKS},
    **{
        (name := load_box_name(rank, blocks=True)): (_HAVE, _box(_LOAD_BOX, name, rank, 3, **_several(",", 3 + rank)))
        for rank in _RANKS
    },
    **{
        load_box_name(rank, pixels=True, blocks=blocks): (_HAVE, _pixels(rank, blocks=blocks))
        for rank in CORNERS
        for blocks in (False, True)
    },
    **{store_box_name(rank): (_HAVE, _box(_STORE_BOX, store_box_name(rank), rank, 2)) for rank in _RANKS},
    "commit_stores": ((), _COMMIT_STORES),
    "wait_stores": ((), _WAIT_STORES.format(name="wait_stores", what="", read="")),
    "wait_stores_read": ((), _WAIT_STORES.format(name="wait_stores_read", what=" and not yet read", read=".read")),
    **_OF_PRODUCTS,
}
"""As in `prelude`."""
