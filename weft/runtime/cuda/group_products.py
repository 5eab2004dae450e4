"""Products of warp groups, in inline PTX: where a matrix lies, the instructions, and what stands around them.

A header for the CPU has functions of these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...dsl.records import record
from ...interpreter.hardware.hopper.warpgroups import OPERANDS

_MATRIX = """\
// A matrix in shared memory, as the products of a warp group take it: panels of 128 bytes of each row, so many bytes apart, with
// pieces of 16 bytes exchanged; 8 rows are 1024 bytes. PTX ISA, "Matrix Descriptor Format".
#ifdef __CUDA_ARCH__
__device__ inline unsigned long long matrix_in_shared(const void* first, int panel) {
  return (unsigned long long)(in_shared(first) >> 4 & 0x3fff) | (unsigned long long)(panel >> 4) << 16
      | 1024ull >> 4 << 32 | 1ull << 62;
}
#endif"""

_HOLD = """\
// The sums are in registers here, and no instruction that uses them moves across.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void hold_sums(float (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+f"(sums[i]) :: "memory");
}
template <int n> __device__ inline void hold_sums(int (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(sums[i]) :: "memory");
}
#endif"""

_BEGIN = """\
// What the warp group has done with the sums comes before the products that follow.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void begin_products(T (&sums)[n]) {
  hold_sums(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
#endif"""

_END = """\
// The products since become a group; waits for it, and has its sums then.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void end_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold_sums(sums);
}
#endif"""

_COMMIT = """\
// The products since become a group; waits until so many groups are in flight, this one among them.
#ifdef __CUDA_ARCH__
template <int pending, typename T, int n> __device__ inline void commit_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
  hold_sums(sums);
}
#endif"""

_WAIT_PRODUCTS = """\
// Waits for all groups of products, and has the sums then.
#ifdef __CUDA_ARCH__
template <typename... S> __device__ inline void wait_products(S&... sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  (hold_sums(sums), ...);
}
#endif"""

_PRODUCT = """\
// D += A B by the warp group, 64 x {n} x {k}: the thread's sums. A and B lie in shared memory{how}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}({type}* d, unsigned long long a, unsigned long long b) {{
  asm volatile("{{\\n.reg .pred add;\\nsetp.ne.b32 add, 1, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {{"
{holes}
      "}}, %{a}, %{b}, add{rest};\\n}}"
      : {outs}
      : "l"(a), "l"(b));
}}
#endif"""


@record
class GroupProduct:
    """One instruction of a warp group.

    Args:
        n: its columns.
        kind: the type of the operands, one of `OPERANDS`.
        rows: the right operand lies in memory row by row, and not column by column.
    """

    n: int
    kind: str
    rows: bool

    @property
    def name(self) -> str:
        """The name of the device function."""
        return f"product_m64n{self.n}k{OPERANDS[self.kind].k}_{self.kind}{'_by_rows' if self.rows else ''}"

    @property
    def text(self) -> str:
        """The device function."""
        count, taken = self.n // 2, OPERANDS[self.kind]
        total, cxx, letter, scales = ("s32", "int", "r", "") if taken.sums == ("i32",) else ("f32", "float", "f", ", 1, 1")
        holes = [", ".join(f"%{i}" for i in part) for part in _rows_of(count)]
        return _PRODUCT.format(
            n=self.n, k=taken.k, name=self.name, type=cxx, a=count, b=count + 1, types=f"{total}.{taken.word}.{taken.word}",
            rest=f"{scales}, 0, {int(self.rows)}" if taken.transposable else scales, how=", B row by row" if self.rows else "",
            holes=', "\n'.join(f'      "{line}' for line in holes) + '"',
            outs=",\n        ".join(", ".join(f'"+{letter}"(d[{i}])' for i in part) for part in _rows_of(count)),
        )  # fmt: skip


def _rows_of(count: int) -> list[range]:
    return [range(first, min(first + 8, count)) for first in range(0, count, 8)]


_NAME = re.compile(r"product_m64n(\d+)k\d+_([a-zA-Z0-9]+?)(_by_rows)?")


def products(words: Iterable[str]) -> list[str]:
    """The texts of the products among the names."""
    found = (match for word in sorted(words) if (match := _NAME.fullmatch(word)))
    return [GroupProduct(int(match[1]), match[2], match[3] is not None).text for match in found]


PIECES: dict[str, tuple[tuple[str, ...], str]] = {
    "matrix_in_shared": (("in_shared",), _MATRIX),
    "hold_sums": ((), _HOLD),
    "begin_products": (("hold_sums",), _BEGIN),
    "end_products": (("hold_sums",), _END),
    "commit_products": (("hold_sums",), _COMMIT),
    "wait_products": (("hold_sums",), _WAIT_PRODUCTS),
}
"""As in `prelude`."""
