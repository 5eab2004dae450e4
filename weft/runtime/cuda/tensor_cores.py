"""Device functions for tensor cores: one instruction each, in inline PTX. A header for the CPU
defines the same names."""

from __future__ import annotations

from ...interpreter.hardware.ampere.fragments import NUMBERS, PRODUCTS, TileProduct
from .values.types import SCALARS

_LOAD = """\
// Loads {count} 8 x 8 matrices of 16-bit elements{how}: the lane's part of {each}. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(unsigned (&to)[{count}], const void* row) {{
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{holes}}}, [%{count}];" : {outs} : "r"(at) : "memory");
}}
#endif"""

_MULTIPLY = """\
// D += A B by the warp, {m} x {n} x {k}: the lane's elements, those of A and B in registers of {each}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}({given}) {{
  asm volatile("mma.sync.aligned.m{m}n{n}k{k}.row.col.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};"
      : {outs} : {ins});
}}
#endif"""

_MULTIPLY_IN_PAIRS = """\
// D += A B by the warp, {m} x {n} x {k}, with sums of f16 in pairs: the lane's elements, those of A and B in registers of {each}.
#ifdef __CUDA_ARCH__
__device__ inline void {name}({given}) {{
  unsigned {words};
  {take};
  asm volatile("mma.sync.aligned.m{m}n{n}k{k}.row.col.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};"
      : {outs} : {ins});
  {give};
}}
#endif"""

_TF32 = """\
// To tf32, to nearest and ties away from zero.
#ifdef __CUDA_ARCH__
__device__ inline unsigned to_tf32(float x) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
#endif"""

_PACK = (
    "__device__ inline unsigned pack_{name}({name} low, {name} high) {{ return low.bits | (unsigned)high.bits << 16; }}"
)
_PACK_BYTES = """\
__device__ inline unsigned pack_i8(signed char a, signed char b, signed char c, signed char d) {
  return (unsigned char)a | (unsigned char)b << 8 | (unsigned char)c << 16 | (unsigned)(unsigned char)d << 24;
}"""


def load_name(count: int, transposed: bool) -> str:
    """The name of the function that loads `count` matrices."""
    return f"load_matrices_x{count}{'_transposed' if transposed else ''}"


def product_name(product: TileProduct) -> str:
    """The name of the function that multiplies."""
    to = "_in_f16" if product.sum == "f16" else ""
    return f"mma_m{product.m}n{product.n}k{product.k}_{product.kind}{to}"


def sums_of(product: TileProduct) -> tuple[str, int]:
    """The C++ type of C and D in registers, and the number of parameters: pointers to pairs for
    f16, single elements for other types."""
    (registers, each), kind = product.vectors[2], product.sum
    return SCALARS[kind].cxx, registers if kind == "f16" else registers * each


def _load(count: int, transposed: bool) -> str:
    outs = ", ".join(f'"=r"(to[{i}])' for i in range(count))
    how, trans = (", transposed", ".trans") if transposed else ("", "")
    named = {"name": load_name(count, transposed), "count": count, "each": "each" if count > 1 else "it"}
    return _LOAD.format(**named, how=how, trans=trans, holes=_holes(0, count), outs=outs)


def _holes(first: int, count: int) -> str:
    return ", ".join(f"%{first + i}" for i in range(count))


def _multiply(product: TileProduct) -> str:
    sum, count = sums_of(product)
    (a, _), (b, _), _ = product.vectors
    sums, names = [f"d{i}" for i in range(count)], [f"a{i}" for i in range(a)] + [f"b{i}" for i in range(b)]
    of, total = NUMBERS[product.kind], NUMBERS[product.sum]
    taken = "double" if of.bits == 64 else "unsigned"
    words, given = sums, [f"{sum}& {name}" for name in sums]
    if sum == "f16":
        words, given = [f"w{i}" for i in range(count)], [f"{sum}* {name}" for name in sums]
    return (_MULTIPLY if sum != "f16" else _MULTIPLY_IN_PAIRS).format(
        name=product_name(product), m=product.m, n=product.n, k=product.k,
        each=f"{product.each} {product.kind}",
        given=", ".join([*given, *(f"{taken} {name}" for name in names)]), words=", ".join(words),
        take=", ".join(f"memcpy(&{word}, {name}, 4)" for word, name in zip(words, sums, strict=True)),
        give=", ".join(f"memcpy({name}, &{word}, 4)" for word, name in zip(words, sums, strict=True)),
        types=f"{total.word}.{of.word}.{of.word}.{total.word}",
        d=_holes(0, count), a=_holes(count, a), b=_holes(count + a, b),
        outs=", ".join(f'"+{total.letter}"({word})' for word in words),
        ins=", ".join(f'"{of.letter}"({name})' for name in names),
    )  # fmt: skip


PIECES: dict[str, tuple[tuple[str, ...], str]] = {
    "pack_f16": (("f16",), _PACK.format(name="f16")),
    "pack_bf16": (("bf16",), _PACK.format(name="bf16")),
    "pack_i8": ((), _PACK_BYTES),
    "to_tf32": ((), _TF32),
    **{load_name(n, t): ((), _load(n, t)) for n in (1, 2, 4) for t in (False, True)},
    **{product_name(p): (("f16",) if p.sum == "f16" else (), _multiply(p)) for p in PRODUCTS},
}
"""As in `prelude`."""
