"""Products of warp groups, in inline PTX: matrix descriptors, the instructions, and the fences and
waits around them.

A header for the CPU defines functions of the same names.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ...interpreter.hardware.ampere.fragments import NUMBERS, TileProduct
from ...interpreter.hardware.hopper.warpgroups import OPERANDS, every_product
from .values.types import SCALARS

_MATRIX = """\
// The descriptor of a matrix in shared memory for products of a warp group: panels of 128 bytes of each row, `panel` bytes apart,
// with pieces of 16 bytes permuted; 8 rows are 1024 bytes. PTX ISA, "Matrix Descriptor Format".
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

_HOLD_IN_PAIRS = """\
// The same for sums of f16, two in a register.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void hold_sums(f16 (&sums)[n]) {
  unsigned pairs[n / 2];
  memcpy(pairs, sums, sizeof pairs);
#pragma unroll
  for (int i = 0; i < n / 2; ++i) asm volatile("" : "+r"(pairs[i]) :: "memory");
  memcpy(sums, pairs, sizeof pairs);
}
#endif"""

_HOLD_REGISTERS = """\
// A left operand is in these registers here.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void hold_registers(unsigned (&words)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(words[i]) :: "memory");
}
#endif"""

_BEGIN = """\
// Orders earlier accesses of the warp group to the sums before the products that follow.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void begin_products(T (&sums)[n]) {
  hold_sums(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
#endif"""

_END = """\
// Commits the products since the last group as a group, and waits for it: its sums are complete then.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void end_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold_sums(sums);
}
#endif"""

_COMMIT = """\
// Commits the products since the last group as a group; waits until at most this many groups are in flight, including this one.
#ifdef __CUDA_ARCH__
template <int pending, typename T, int n> __device__ inline void commit_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
  hold_sums(sums);
}
#endif"""

_WAIT_PRODUCTS = """\
// Waits for all groups of products: the sums are complete then.
#ifdef __CUDA_ARCH__
template <typename... S> __device__ inline void wait_products(S&... sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  (hold_sums(sums), ...);
}
#endif"""

_PRODUCT = """\
// D += A B by the warp group, 64 x {n} x {k}: the thread's sums. {where} in shared memory{how}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}({type}* d, {left} a, unsigned long long b) {{{take}
  asm volatile("{{\\n.reg .pred add;\\nsetp.ne.b32 add, 1, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {{"
{holes}
      "}}, {a}, %{b}, add{rest};\\n}}"
      : {outs}
      : {ins}, "l"(b));{give}
}}
#endif"""


def group_product_name(product: TileProduct, *, by_rows: bool, held: bool = False) -> str:
    """The name of the device function for a product.

    Args:
        by_rows: the right operand is row-major in memory, not column-major.
        held: the left operand is in registers.
    """
    to = f"{'_in_f16' if product.sum == 'f16' else ''}{'_held' if held else ''}"
    return f"product_m64n{product.n}k{product.k}_{product.kind}{to}{'_by_rows' if by_rows else ''}"


def group_product(product: TileProduct, *, by_rows: bool, held: bool = False) -> str:
    """The text of the device function for a product."""
    total, word, pairs = NUMBERS[product.sum], NUMBERS[product.kind].word, product.sum == "f16"
    count, sums = product.n // 2 // total.each, "pairs" if pairs else "d"
    scales = ", 1, 1" if product.sum != "i32" else ""
    layouts = f"{'' if held else ', 0'}, {int(by_rows)}" if OPERANDS[product.kind].transposable else ""
    words = range(4 if held else 1)
    parts = [range(first, min(first + 8, count)) for first in range(0, count, 8)]
    holes = ('      "' + ", ".join(f"%{i}" for i in part) for part in parts)
    return _PRODUCT.format(
        n=product.n,
        k=product.k,
        name=group_product_name(product, by_rows=by_rows, held=held),
        type=SCALARS[product.sum].cxx,
        a=f"{{{', '.join(f'%{count + i}' for i in words)}}}" if held else f"%{count}",
        b=count + len(words),
        where="A is in registers, B lies" if held else "A and B lie",
        left="const unsigned*" if held else "unsigned long long",
        ins=", ".join(f'"r"(a[{i}])' for i in words) if held else '"l"(a)',
        types=f"{total.word}.{word}.{word}",
        rest=scales + layouts,
        take=f"\n  unsigned pairs[{count}];\n  memcpy(pairs, d, sizeof pairs);" if pairs else "",
        give="\n  memcpy(d, pairs, sizeof pairs);" if pairs else "",
        how=", B row by row" if by_rows else "",
        holes=', "\n'.join(holes) + '"',
        outs=",\n        ".join(", ".join(f'"+{total.letter}"({sums}[{i}])' for i in part) for part in parts),
    )


@cache
def _named() -> dict[str, tuple[TileProduct, bool, bool]]:
    return {
        group_product_name(product, by_rows=by_rows, held=held): (product, by_rows, held)
        for product in every_product()
        for by_rows in (False, True)[: 1 + OPERANDS[product.kind].transposable]
        for held in (False, True)[: 1 + OPERANDS[product.kind].held]
    }


def products(words: Iterable[str]) -> dict[str, str]:
    """By name, the texts of the products among these names, after what they depend on."""
    wanted = sorted(word for word in words if word.startswith("product_m64"))
    found = {word: _named()[word] for word in wanted if word in _named()}
    pairs = {"hold_sums.f16": _HOLD_IN_PAIRS} if any(product.sum == "f16" for product, _, _ in found.values()) else {}
    return pairs | {name: group_product(one, by_rows=rows, held=held) for name, (one, rows, held) in found.items()}


PIECES: dict[str, tuple[tuple[str, ...], str]] = {
    "matrix_in_shared": (("in_shared",), _MATRIX),
    "hold_sums": ((), _HOLD),
    "hold_registers": ((), _HOLD_REGISTERS),
    "begin_products": (("hold_sums",), _BEGIN),
    "end_products": (("hold_sums",), _END),
    "commit_products": (("hold_sums",), _COMMIT),
    "wait_products": (("hold_sums",), _WAIT_PRODUCTS),
}
"""As in `prelude`."""
