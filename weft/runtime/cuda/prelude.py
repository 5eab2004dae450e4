"""Device functions included in the text if it uses them. They need no header, and compile for the
CPU too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import group_products, tensor_cores, warp_groups

_FLOOR = """\
// Division and remainder that round down and up, as MLIR's affine expressions do.
__device__ inline {T} floordiv({T} a, {T} b) {{ return a / b - ((a % b != 0) & ((a < 0) != (b < 0))); }}"""
_CEIL = "__device__ inline {T} ceildiv({T} a, {T} b) {{ return a / b + ((a % b != 0) & ((a < 0) == (b < 0))); }}"
_MOD = "__device__ inline {T} floormod({T} a, {T} b) {{ {T} r = a % b; return r < 0 ? r + b : r; }}"


def _both(template: str) -> str:
    comment, _, body = template.rpartition("\n")
    return "\n".join(filter(None, (comment, *(body.format(T=t) for t in ("int", "long long")))))


_QUOTIENT = """\
// n / d for nonnegative n: `by` is a factor and a shift that the host computed from d.
__device__ inline int quotient(int n, long long by) { return (unsigned long long)(unsigned)n * (unsigned)by >> (by >> 32); }
__device__ inline long long quotient(long long n, long long by) {
  return __umul64hi((unsigned long long)n << 8, by & (1LL << 57) - 1) >> (by >> 57);
}"""
_MODULO = """\
__device__ inline int modulo(int n, int d, long long by) { return n - quotient(n, by) * d; }
__device__ inline long long modulo(long long n, long long d, long long by) { return n - quotient(n, by) * d; }"""

_VEC = """\
// n elements that one access moves.
template <typename T, int n> struct alignas(sizeof(T) * n) vec { T at[n]; };"""

_EXTREMES = """\
// arith.{name}: a NaN if either is one, and -0 below +0.
__device__ inline float {name}(float a, float b) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("{ptx}.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a != a || b != b) return a + b;
  if (a == b) return __float_as_int(a) {sign} 0 ? a : b;
  return a {compare} b ? a : b;
#endif
}}
__device__ inline double {name}(double a, double b) {{
  if (a != a || b != b) return a + b;
  if (a == b) return __double_as_longlong(a) {sign} 0 ? a : b;
  return a {compare} b ? a : b;
}}"""

_ODD = """\
// Round to odd: a second rounding, to at least two bits less, then gives what one rounding would.
__device__ inline float round_to_odd(double x) {
  float r = (float)x;
  if (x != x || (double)r == x) return r;
  unsigned bits = __float_as_uint(r);
  if (((double)r > x) == (x > 0.0)) bits -= 1;
  return __uint_as_float(bits | 1u);
}"""

_ODD_DOUBLE = """\
// Integers of 64 bits; those that a double does not hold rounded to odd.
__device__ inline double odd_double(unsigned long long x) {
  return x >> 53 ? (double)(x >> 11 | ((x & 2047) != 0)) * 2048.0 : (double)x;
}
__device__ inline double odd_double(long long x) { return x < 0 ? -odd_double(0ull - x) : odd_double((unsigned long long)x); }"""

_SMALL = """\
// {what}: 16 bits in memory; each operation calculates in float and rounds once.
struct {name} {{
  unsigned short bits;
  {name}() = default;
  __device__ explicit {name}(float x);
  __device__ explicit {name}(double x);
  __device__ explicit operator float() const;
  __device__ explicit operator double() const {{ return (double)(float)*this; }}
}};
{conversions}
__device__ inline {name} operator+({name} a, {name} b) {{ return {name}((float)a + (float)b); }}
__device__ inline {name} operator-({name} a, {name} b) {{ return {name}((float)a - (float)b); }}
__device__ inline {name} operator*({name} a, {name} b) {{ return {name}((float)a * (float)b); }}
__device__ inline {name} operator/({name} a, {name} b) {{ return {name}((float)a / (float)b); }}
__device__ inline {name} operator-({name} a) {{ a.bits ^= 0x8000; return a; }}"""

_F16 = """\
__device__ inline f16::f16(float x) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
  unsigned u = __float_as_uint(x), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) bits = 0x7fffu;                    // NaN
  else if (u >= 0x477ff000u) bits = sign | 0x7c00u;       // rounds to infinity
  else if (u < 0x38800000u) bits = sign | (__float_as_uint(__uint_as_float(u) + 0.5f) - 0x3f000000u);  // subnormal
  else bits = sign | ((u + 0xfffu + (u >> 13 & 1u) - 0x38000000u) >> 13);
#endif
}
__device__ inline f16::f16(double x) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
#else
  *this = f16(round_to_odd(x));
#endif
}
__device__ inline f16::operator float() const {
#ifdef __CUDA_ARCH__
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits));
  return r;
#else
  unsigned u = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
  if (u >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (u & 0x3ffu) << 13);
  return __uint_as_float(sign | __float_as_uint(__uint_as_float(u << 13) * 0x1p112f));
#endif
}"""

_BF16 = """\
__device__ inline bf16::bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned pair;  // two at once, which is faster than one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
  bits = pair;
#else
  unsigned u = __float_as_uint(x);
  bits = x != x ? 0x7fffu : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
#endif
}
__device__ inline bf16::bf16(double x) { *this = bf16(round_to_odd(x)); }
__device__ inline bf16::operator float() const { return __uint_as_float((unsigned)bits << 16); }"""

_OF_BITS = """\
__device__ inline {name} {name}_of_bits(int bits) {{
  {name} r;
  r.bits = (unsigned {type})bits;
  return r;
}}"""

_FMA = """\
__device__ inline {name} fma({name} a, {name} b, {name} c) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  {name} r;
  asm("fma.rn.{name} %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return r;
#else  // the product is exact in double; the sum is rounded to odd, then once
  double p = (double)a * (double)b, s = p + (double)c, t = s - p, e = (p - (s - t)) + ((double)c - t);
  long long bits = __double_as_longlong(s);
  if (e != 0.0 && e == e && (bits & 1) == 0) s = __longlong_as_double(bits + ((e > 0.0) == (s > 0.0) ? 1 : -1));
  return {name}(s);
#endif
}}"""

_BYTE = """\
// 8 bits in memory, which are only converted to float: there is no arithmetic on them.
struct {name} {{
  unsigned char bits;
  {name}() = default;
  __device__ explicit operator float() const {{
    unsigned u = bits & 0x7fu, sign = (bits & 0x80u) << 24;
    if (u {least}) return __uint_as_float(sign | {beyond});
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(u << {shift}) * {scale}));
  }}
}};"""
_E4M3 = {"least": "== 0x7fu", "beyond": "0x7fffffffu", "shift": 20, "scale": "0x1p120f"}
_E5M2 = {"least": ">= 0x7cu", "beyond": "0x7f800000u | (u & 3u) << 21", "shift": 21, "scale": "0x1p112f"}

_IPOW = """\
template <typename T> __device__ inline T ipow(T base, long long exponent) {
  T result = T(1);
  for (unsigned long long n = exponent < 0 ? 0ull - exponent : exponent; n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return exponent < 0 ? T(1) / result : result;
}"""

# A header for the CPU defines these functions: the instruction exists on GPUs only.
_COPY = """\
// Starts a copy of {size} bytes of global to shared memory{how}; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void {name}(void* to, const void* from, int bytes = {size}) {{
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size}, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}}
#endif"""

_COMMIT = """\
// The copies that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#endif"""

_WAIT = """\
// Waits until at most n of the thread's groups are under way, the last n.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
#endif"""


def _copies() -> dict[str, tuple[tuple[str, ...], str]]:
    names = {"copy_async4": "ca", "copy_async8": "ca", "copy_async16": "cg", "copy_async16_l1": "ca"}
    how = {"copy_async16": ", past L1"}
    return {
        name: ((), _COPY.format(name=name, size=re.findall(r"\d+", name)[0], how=how.get(name, ""), cache=cache))
        for name, cache in names.items()
    }


PIECES: dict[str, tuple[tuple[str, ...], str]] = {
    "floordiv": ((), _both(_FLOOR)),
    "ceildiv": ((), _both(_CEIL)),
    "floormod": ((), _both(_MOD)),
    "quotient": ((), _QUOTIENT),
    "modulo": (("quotient",), _MODULO),
    "vec": ((), _VEC),
    "maximum": ((), _EXTREMES.format(name="maximum", ptx="max", compare=">", sign=">=")),
    "minimum": ((), _EXTREMES.format(name="minimum", ptx="min", compare="<", sign="<")),
    "round_to_odd": ((), _ODD),
    "odd_double": ((), _ODD_DOUBLE),
    "f16": (("round_to_odd",), _SMALL.format(name="f16", what="IEEE half precision", conversions=_F16)),
    "bf16": (("round_to_odd",), _SMALL.format(name="bf16", what="The upper half of a float", conversions=_BF16)),
    "f16_of_bits": (("f16",), _OF_BITS.format(name="f16", type="short")),
    "bf16_of_bits": (("bf16",), _OF_BITS.format(name="bf16", type="short")),
    "f8E4M3FN": ((), _BYTE.format(name="f8E4M3FN", **_E4M3)),
    "f8E5M2": ((), _BYTE.format(name="f8E5M2", **_E5M2)),
    "f8E4M3FN_of_bits": (("f8E4M3FN",), _OF_BITS.format(name="f8E4M3FN", type="char")),
    "f8E5M2_of_bits": (("f8E5M2",), _OF_BITS.format(name="f8E5M2", type="char")),
    "fma.f16": (("f16",), _FMA.format(name="f16")),
    "fma.bf16": (("bf16",), _FMA.format(name="bf16")),
    "ipow": ((), _IPOW),
    **_copies(),
    "commit_copies": ((), _COMMIT),
    "wait_copies": ((), _WAIT),
    **tensor_cores.PIECES,
    **warp_groups.PIECES,
}
"""By name, in the order of emission: the names it depends on, and its text."""

PRELUDE = "// prelude: "
"""Before the names of pieces, where these are not repeated."""


def prelude(body: str, overloads: Iterable[str]) -> dict[str, str]:
    """By name, the texts of the pieces that `body` mentions and of some `overloads`, each after those
    that it depends on."""
    words = {*re.findall(r"\w+", body), *overloads}
    wanted = PIECES.keys() & words
    for name, (others, _) in reversed(PIECES.items()):
        wanted.update(others if name in wanted else ())
    return {name: text for name, (_, text) in PIECES.items() if name in wanted} | group_products.products(words)
