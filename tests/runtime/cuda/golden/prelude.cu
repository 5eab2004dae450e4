// ---- floordiv
// Division and remainder that round down and up, as MLIR's affine expressions do.
__device__ inline int floordiv(int a, int b) { return a / b - ((a % b != 0) & ((a < 0) != (b < 0))); }
__device__ inline long long floordiv(long long a, long long b) { return a / b - ((a % b != 0) & ((a < 0) != (b < 0))); }

// ---- ceildiv
__device__ inline int ceildiv(int a, int b) { return a / b + ((a % b != 0) & ((a < 0) == (b < 0))); }
__device__ inline long long ceildiv(long long a, long long b) { return a / b + ((a % b != 0) & ((a < 0) == (b < 0))); }

// ---- floormod
__device__ inline int floormod(int a, int b) { int r = a % b; return r < 0 ? r + b : r; }
__device__ inline long long floormod(long long a, long long b) { long long r = a % b; return r < 0 ? r + b : r; }

// ---- quotient
// n / d for nonnegative n: `by` is a factor and a shift that the host computed from d.
__device__ inline int quotient(int n, long long by) { return (unsigned long long)(unsigned)n * (unsigned)by >> (by >> 32); }
__device__ inline long long quotient(long long n, long long by) {
  return __umul64hi((unsigned long long)n << 8, by & (1LL << 57) - 1) >> (by >> 57);
}

// ---- modulo, with quotient
__device__ inline int modulo(int n, int d, long long by) { return n - quotient(n, by) * d; }
__device__ inline long long modulo(long long n, long long d, long long by) { return n - quotient(n, by) * d; }

// ---- vec
// n elements that one access moves.
template <typename T, int n> struct alignas(sizeof(T) * n) vec { T at[n]; };

// ---- maximum
// arith.maximum: a NaN if either is one, and -0 below +0.
__device__ inline float maximum(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a != a || b != b) return a + b;
  if (a == b) return __float_as_int(a) >= 0 ? a : b;
  return a > b ? a : b;
#endif
}
__device__ inline double maximum(double a, double b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __double_as_longlong(a) >= 0 ? a : b;
  return a > b ? a : b;
}

// ---- minimum
// arith.minimum: a NaN if either is one, and -0 below +0.
__device__ inline float minimum(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a != a || b != b) return a + b;
  if (a == b) return __float_as_int(a) < 0 ? a : b;
  return a < b ? a : b;
#endif
}
__device__ inline double minimum(double a, double b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __double_as_longlong(a) < 0 ? a : b;
  return a < b ? a : b;
}

// ---- round_to_odd
// Round to odd: a second rounding, to at least two bits less, then gives what one rounding would.
__device__ inline float round_to_odd(double x) {
  float r = (float)x;
  if (x != x || (double)r == x) return r;
  unsigned bits = __float_as_uint(r);
  if (((double)r > x) == (x > 0.0)) bits -= 1;
  return __uint_as_float(bits | 1u);
}

// ---- odd_double
// Integers of 64 bits; those that a double does not hold rounded to odd.
__device__ inline double odd_double(unsigned long long x) {
  return x >> 53 ? (double)(x >> 11 | ((x & 2047) != 0)) * 2048.0 : (double)x;
}
__device__ inline double odd_double(long long x) { return x < 0 ? -odd_double(0ull - x) : odd_double((unsigned long long)x); }

// ---- f16, with round_to_odd
// IEEE half precision: 16 bits in memory; each operation calculates in float and rounds once.
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ explicit f16(float x);
  __device__ explicit f16(double x);
  __device__ explicit operator float() const;
  __device__ explicit operator double() const { return (double)(float)*this; }
};
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
}
__device__ inline f16 operator+(f16 a, f16 b) { return f16((float)a + (float)b); }
__device__ inline f16 operator-(f16 a, f16 b) { return f16((float)a - (float)b); }
__device__ inline f16 operator*(f16 a, f16 b) { return f16((float)a * (float)b); }
__device__ inline f16 operator/(f16 a, f16 b) { return f16((float)a / (float)b); }
__device__ inline f16 operator-(f16 a) { a.bits ^= 0x8000; return a; }

// ---- bf16, with round_to_odd
// The upper half of a float: 16 bits in memory; each operation calculates in float and rounds once.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ explicit bf16(float x);
  __device__ explicit bf16(double x);
  __device__ explicit operator float() const;
  __device__ explicit operator double() const { return (double)(float)*this; }
};
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
__device__ inline bf16::operator float() const { return __uint_as_float((unsigned)bits << 16); }
__device__ inline bf16 operator+(bf16 a, bf16 b) { return bf16((float)a + (float)b); }
__device__ inline bf16 operator-(bf16 a, bf16 b) { return bf16((float)a - (float)b); }
__device__ inline bf16 operator*(bf16 a, bf16 b) { return bf16((float)a * (float)b); }
__device__ inline bf16 operator/(bf16 a, bf16 b) { return bf16((float)a / (float)b); }
__device__ inline bf16 operator-(bf16 a) { a.bits ^= 0x8000; return a; }

// ---- f16_of_bits, with f16
__device__ inline f16 f16_of_bits(int bits) {
  f16 r;
  r.bits = (unsigned short)bits;
  return r;
}

// ---- bf16_of_bits, with bf16
__device__ inline bf16 bf16_of_bits(int bits) {
  bf16 r;
  r.bits = (unsigned short)bits;
  return r;
}

// ---- f8E4M3FN
// 8 bits in memory, which are only converted to float: there is no arithmetic on them.
struct f8E4M3FN {
  unsigned char bits;
  f8E4M3FN() = default;
  __device__ explicit operator float() const {
    unsigned u = bits & 0x7fu, sign = (bits & 0x80u) << 24;
    if (u == 0x7fu) return __uint_as_float(sign | 0x7fffffffu);
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(u << 20) * 0x1p120f));
  }
};

// ---- f8E5M2
// 8 bits in memory, which are only converted to float: there is no arithmetic on them.
struct f8E5M2 {
  unsigned char bits;
  f8E5M2() = default;
  __device__ explicit operator float() const {
    unsigned u = bits & 0x7fu, sign = (bits & 0x80u) << 24;
    if (u >= 0x7cu) return __uint_as_float(sign | 0x7f800000u | (u & 3u) << 21);
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(u << 21) * 0x1p112f));
  }
};

// ---- f8E4M3FN_of_bits, with f8E4M3FN
__device__ inline f8E4M3FN f8E4M3FN_of_bits(int bits) {
  f8E4M3FN r;
  r.bits = (unsigned char)bits;
  return r;
}

// ---- f8E5M2_of_bits, with f8E5M2
__device__ inline f8E5M2 f8E5M2_of_bits(int bits) {
  f8E5M2 r;
  r.bits = (unsigned char)bits;
  return r;
}

// ---- fma.f16, with f16
__device__ inline f16 fma(f16 a, f16 b, f16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  f16 r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return r;
#else  // the product is exact in double; the sum is rounded to odd, then once
  double p = (double)a * (double)b, s = p + (double)c, t = s - p, e = (p - (s - t)) + ((double)c - t);
  long long bits = __double_as_longlong(s);
  if (e != 0.0 && e == e && (bits & 1) == 0) s = __longlong_as_double(bits + ((e > 0.0) == (s > 0.0) ? 1 : -1));
  return f16(s);
#endif
}

// ---- fma.bf16, with bf16
__device__ inline bf16 fma(bf16 a, bf16 b, bf16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bf16 r;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return r;
#else  // the product is exact in double; the sum is rounded to odd, then once
  double p = (double)a * (double)b, s = p + (double)c, t = s - p, e = (p - (s - t)) + ((double)c - t);
  long long bits = __double_as_longlong(s);
  if (e != 0.0 && e == e && (bits & 1) == 0) s = __longlong_as_double(bits + ((e > 0.0) == (s > 0.0) ? 1 : -1));
  return bf16(s);
#endif
}

// ---- ipow
template <typename T> __device__ inline T ipow(T base, long long exponent) {
  T result = T(1);
  for (unsigned long long n = exponent < 0 ? 0ull - exponent : exponent; n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return exponent < 0 ? T(1) / result : result;
}

// ---- copy_async4
// Starts a copy of 4 bytes of global to shared memory; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void copy_async4(void* to, const void* from, int bytes = 4) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}
#endif

// ---- copy_async8
// Starts a copy of 8 bytes of global to shared memory; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void copy_async8(void* to, const void* from, int bytes = 8) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}
#endif

// ---- copy_async16
// Starts a copy of 16 bytes of global to shared memory, past L1; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void copy_async16(void* to, const void* from, int bytes = 16) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}
#endif

// ---- copy_async16_l1
// Starts a copy of 16 bytes of global to shared memory; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void copy_async16_l1(void* to, const void* from, int bytes = 16) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}
#endif

// ---- commit_copies
// The copies that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#endif

// ---- wait_copies
// Waits until at most n of the thread's groups are under way, the last n.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
#endif

// ---- pack_f16, with f16
__device__ inline unsigned pack_f16(f16 low, f16 high) { return low.bits | (unsigned)high.bits << 16; }

// ---- pack_bf16, with bf16
__device__ inline unsigned pack_bf16(bf16 low, bf16 high) { return low.bits | (unsigned)high.bits << 16; }

// ---- pack_i8
__device__ inline unsigned pack_i8(signed char a, signed char b, signed char c, signed char d) {
  return (unsigned char)a | (unsigned char)b << 8 | (unsigned char)c << 16 | (unsigned)(unsigned char)d << 24;
}

// ---- to_tf32
// To tf32, to nearest and ties away from zero.
#ifdef __CUDA_ARCH__
__device__ inline unsigned to_tf32(float x) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
#endif

// ---- load_matrices_x1
// Loads 1 8 x 8 matrices of 16-bit elements: the lane's part of it. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x1(unsigned (&to)[1], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(at) : "memory");
}
#endif

// ---- load_matrices_x1_transposed
// Loads 1 8 x 8 matrices of 16-bit elements, transposed: the lane's part of it. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x1_transposed(unsigned (&to)[1], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(at) : "memory");
}
#endif

// ---- load_matrices_x2
// Loads 2 8 x 8 matrices of 16-bit elements: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x2(unsigned (&to)[2], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
}
#endif

// ---- load_matrices_x2_transposed
// Loads 2 8 x 8 matrices of 16-bit elements, transposed: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x2_transposed(unsigned (&to)[2], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
}
#endif

// ---- load_matrices_x4
// Loads 4 8 x 8 matrices of 16-bit elements: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x4(unsigned (&to)[4], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
#endif

// ---- load_matrices_x4_transposed
// Loads 4 8 x 8 matrices of 16-bit elements, transposed: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x4_transposed(unsigned (&to)[4], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
#endif

// ---- mma_m16n8k16_f16
// D += A B by the warp, 16 x 8 x 16: the lane's elements, those of A and B in registers of 2 f16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_f16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// ---- mma_m16n8k16_f16_in_f16, with f16
// D += A B by the warp, 16 x 8 x 16, with sums of f16 in pairs: the lane's elements, those of A and B in registers of 2 f16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_f16_in_f16(f16* d0, f16* d1, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  unsigned w0, w1;
  memcpy(&w0, d0, 4), memcpy(&w1, d1, 4);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(w0), "+r"(w1) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  memcpy(d0, &w0, 4), memcpy(d1, &w1, 4);
}
#endif

// ---- mma_m16n8k8_f16
// D += A B by the warp, 16 x 8 x 8: the lane's elements, those of A and B in registers of 2 f16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k8_f16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(b0));
}
#endif

// ---- mma_m16n8k8_f16_in_f16, with f16
// D += A B by the warp, 16 x 8 x 8, with sums of f16 in pairs: the lane's elements, those of A and B in registers of 2 f16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k8_f16_in_f16(f16* d0, f16* d1, unsigned a0, unsigned a1, unsigned b0) {
  unsigned w0, w1;
  memcpy(&w0, d0, 4), memcpy(&w1, d1, 4);
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(w0), "+r"(w1) : "r"(a0), "r"(a1), "r"(b0));
  memcpy(d0, &w0, 4), memcpy(d1, &w1, 4);
}
#endif

// ---- mma_m16n8k16_bf16
// D += A B by the warp, 16 x 8 x 16: the lane's elements, those of A and B in registers of 2 bf16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_bf16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// ---- mma_m16n8k8_bf16
// D += A B by the warp, 16 x 8 x 8: the lane's elements, those of A and B in registers of 2 bf16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k8_bf16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(b0));
}
#endif

// ---- mma_m16n8k8_tf32
// D += A B by the warp, 16 x 8 x 8: the lane's elements, those of A and B in registers of 1 tf32.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k8_tf32(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// ---- mma_m16n8k4_tf32
// D += A B by the warp, 16 x 8 x 4: the lane's elements, those of A and B in registers of 1 tf32.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k4_tf32(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(b0));
}
#endif

// ---- mma_m16n8k32_i8
// D += A B by the warp, 16 x 8 x 32: the lane's elements, those of A and B in registers of 4 i8.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k32_i8(int& d0, int& d1, int& d2, int& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// ---- mma_m16n8k16_i8
// D += A B by the warp, 16 x 8 x 16: the lane's elements, those of A and B in registers of 4 i8.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_i8(int& d0, int& d1, int& d2, int& d3, unsigned a0, unsigned a1, unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(a0), "r"(a1), "r"(b0));
}
#endif

// ---- mma_m8n8k4_f64
// D += A B by the warp, 8 x 8 x 4: the lane's elements, those of A and B in registers of 1 f64.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m8n8k4_f64(double& d0, double& d1, double a0, double b0) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d0), "+d"(d1) : "d"(a0), "d"(b0));
}
#endif

// ---- TensorMap
// The descriptor of a tensor for the tensor memory accelerator, encoded by the host's driver.
struct alignas(64) TensorMap { unsigned long long words[16]; };

// ---- in_shared
// An address in shared memory, as instructions take it.
#ifdef __CUDA_ARCH__
__device__ inline unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#endif

// ---- barrier_init, with in_shared
// Initializes a memory barrier: a phase ends when this many threads have arrived, and no bytes are missing.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(in_shared(barrier)), "r"(arrivals) : "memory");
}
#endif

// ---- barrier_arrive, with in_shared
#ifdef __CUDA_ARCH__
__device__ inline void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(in_shared(barrier)) : "memory");
}
#endif

// ---- barrier_expect, with in_shared
// Arrives, and announces the number of bytes to come.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(in_shared(barrier)), "r"(bytes)
      : "memory");
}
#endif

// ---- barrier_wait, with in_shared
// Waits for the end of the phase with this parity.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_wait(unsigned long long* barrier, unsigned parity) {
  asm volatile("{\n.reg .pred over;\n"
      "again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%0], %1;\n"
      "@over bra done;\nbra again;\ndone:\n}" :: "r"(in_shared(barrier)), "r"(parity) : "memory");
}
#endif

// ---- barrier_wait_in_cluster, with in_shared
// Waits for the end of the phase with this parity, in which other blocks may arrive.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_wait_in_cluster(unsigned long long* barrier, unsigned parity) {
  asm volatile("{\n.reg .pred over;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], %1;\n"
      "@over bra done;\nbra again;\ndone:\n}" :: "r"(in_shared(barrier)), "r"(parity) : "memory");
}
#endif

// ---- meet_at
// Synchronizes this many threads of the block (whole warps) at a numbered barrier.
#ifdef __CUDA_ARCH__
__device__ inline void meet_at(int number, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(threads) : "memory");
}
#endif

// ---- barrier_arrive_in, with in_shared
// Arrives at the barrier at the same address of another block of the cluster, given its rank; this orders all earlier accesses.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_arrive_in(unsigned long long* barrier, unsigned block) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" :: "r"(in_shared(barrier)), "r"(block): "memory");
}
#endif

// ---- barrier_arrive_relaxed_in, with in_shared
// Arrives at the barrier at the same address of another block of the cluster, given its rank; this orders completed products and boxes only.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_arrive_relaxed_in(unsigned long long* barrier, unsigned block) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" :: "r"(in_shared(barrier)), "r"(block): "memory");
}
#endif

// ---- cluster_arrive
// All threads of the cluster arrive.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
#endif

// ---- cluster_wait
// All threads of the cluster are waited for.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
#endif

// ---- cluster_arrive_relaxed
// All threads of the cluster arrive, which orders nothing.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
#endif

// ---- cluster_arrive_each
// All threads of the cluster arrive, each independently.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_arrive_each() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
#endif

// ---- cluster_wait_each
// All threads of the cluster are waited for, by each independently.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_wait_each() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
#endif

// ---- cluster_arrive_relaxed_each
// All threads of the cluster arrive, each independently, which orders nothing.
#ifdef __CUDA_ARCH__
__device__ inline void cluster_arrive_relaxed_each() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
#endif

// ---- fence_barriers
// Makes initialized barriers visible to the tensor memory accelerator.
#ifdef __CUDA_ARCH__
__device__ inline void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
#endif

// ---- fence_async
// Makes the thread's writes to shared memory visible to asynchronous reads.
#ifdef __CUDA_ARCH__
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

// ---- fewer_registers
// The warp group has fewer registers from here on: n for each thread.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(n)); }
#endif

// ---- more_registers
// The warp group has more registers from here on: n for each thread.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(n)); }
#endif

// ---- load_box_1d, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_1d(void* to, const TensorMap& map, unsigned long long* barrier, int x0) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0) : "memory");
}
#endif

// ---- load_box_2d, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_2d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1) : "memory");
}
#endif

// ---- load_box_3d, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_3d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
#endif

// ---- load_box_4d, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_4d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
#endif

// ---- load_box_5d, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_5d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}
#endif

// ---- load_box_1d_for, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory, of each block of a mask; its bytes are counted on the barrier there. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_1d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3}], [%2], %4;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "h"(blocks) : "memory");
}
#endif

// ---- load_box_2d_for, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory, of each block of a mask; its bytes are counted on the barrier there. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_2d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "h"(blocks) : "memory");
}
#endif

// ---- load_box_3d_for, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory, of each block of a mask; its bytes are counted on the barrier there. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_3d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "h"(blocks) : "memory");
}
#endif

// ---- load_box_4d_for, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory, of each block of a mask; its bytes are counted on the barrier there. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_4d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "h"(blocks) : "memory");
}
#endif

// ---- load_box_5d_for, with TensorMap, in_shared
// Starts the copy of a box of a tensor to shared memory, of each block of a mask; its bytes are counted on the barrier there. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_5d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, int x4, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "h"(blocks) : "memory");
}
#endif

// ---- load_pixels_3d, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_3d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, unsigned short d1) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2], {%6};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "h"(d1) : "memory");
}
#endif

// ---- load_pixels_3d_for, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory of each block of a mask, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier there. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_3d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, unsigned short d1, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "h"(d1), "h"(blocks) : "memory");
}
#endif

// ---- load_pixels_4d, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_4d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, unsigned short d1, unsigned short d2) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "h"(d1), "h"(d2) : "memory");
}
#endif

// ---- load_pixels_4d_for, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory of each block of a mask, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier there. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_4d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, unsigned short d1, unsigned short d2, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "h"(d1), "h"(d2), "h"(blocks) : "memory");
}
#endif

// ---- load_pixels_5d, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_5d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, int x4, unsigned short d1, unsigned short d2, unsigned short d3) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "h"(d1), "h"(d2), "h"(d3) : "memory");
}
#endif

// ---- load_pixels_5d_for, with TensorMap, in_shared
// Starts the copy of pixels of a tensor to shared memory of each block of a mask, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier there. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_5d_for(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, int x4, unsigned short d1, unsigned short d2, unsigned short d3, unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "h"(d1), "h"(d2), "h"(d3), "h"(blocks) : "memory");
}
#endif

// ---- store_box_1d, with TensorMap, in_shared
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_1d(const TensorMap& map, const void* from, int x0) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0) : "memory");
}
#endif

// ---- store_box_2d, with TensorMap, in_shared
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_2d(const TensorMap& map, const void* from, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0), "r"(x1) : "memory");
}
#endif

// ---- store_box_3d, with TensorMap, in_shared
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_3d(const TensorMap& map, const void* from, int x0, int x1, int x2) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
#endif

// ---- store_box_4d, with TensorMap, in_shared
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_4d(const TensorMap& map, const void* from, int x0, int x1, int x2, int x3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
#endif

// ---- store_box_5d, with TensorMap, in_shared
// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_5d(const TensorMap& map, const void* from, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}
#endif

// ---- commit_stores
// The copies to tensors that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
#endif

// ---- wait_stores
// Waits until at most n of the thread's groups are under way.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_stores() { asm volatile("cp.async.bulk.wait_group %0;" :: "n"(n) : "memory"); }
#endif

// ---- wait_stores_read
// Waits until at most n of the thread's groups are under way and not yet read.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory"); }
#endif

// ---- matrix_in_shared, with in_shared
// The descriptor of a matrix in shared memory for products of a warp group: panels of 128 bytes of each row, `panel` bytes apart,
// with pieces of 16 bytes permuted; 8 rows are 1024 bytes. PTX ISA, "Matrix Descriptor Format".
#ifdef __CUDA_ARCH__
__device__ inline unsigned long long matrix_in_shared(const void* first, int panel) {
  return (unsigned long long)(in_shared(first) >> 4 & 0x3fff) | (unsigned long long)(panel >> 4) << 16
      | 1024ull >> 4 << 32 | 1ull << 62;
}
#endif

// ---- hold_sums
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
#endif

// ---- hold_registers
// A left operand is in these registers here.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void hold_registers(unsigned (&words)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(words[i]) :: "memory");
}
#endif

// ---- begin_products, with hold_sums
// Orders earlier accesses of the warp group to the sums before the products that follow.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void begin_products(T (&sums)[n]) {
  hold_sums(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
#endif

// ---- end_products, with hold_sums
// Commits the products since the last group as a group, and waits for it: its sums are complete then.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void end_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold_sums(sums);
}
#endif

// ---- commit_products, with hold_sums
// Commits the products since the last group as a group; waits until at most this many groups are in flight, including this one.
#ifdef __CUDA_ARCH__
template <int pending, typename T, int n> __device__ inline void commit_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
  hold_sums(sums);
}
#endif

// ---- wait_products, with hold_sums
// Waits for all groups of products: the sums are complete then.
#ifdef __CUDA_ARCH__
template <typename... S> __device__ inline void wait_products(S&... sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  (hold_sums(sums), ...);
}
#endif

// ---- product_m64n128k16_bf16
// D += A B by the warp group, 64 x 128 x 16: the thread's sums. A and B lie in shared memory.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n128k16_bf16(float* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b));
}
#endif

// ---- product_m64n128k16_bf16_by_rows
// D += A B by the warp group, 64 x 128 x 16: the thread's sums. A and B lie in shared memory, B row by row.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n128k16_bf16_by_rows(float* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1, 0, 1;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b));
}
#endif

// ---- product_m64n256k16_bf16_by_rows
// D += A B by the warp group, 64 x 256 x 16: the thread's sums. A and B lie in shared memory, B row by row.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n256k16_bf16_by_rows(float* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, "
      "%72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, "
      "%88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, "
      "%104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, "
      "%120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add, 1, 1, 0, 1;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b));
}
#endif

// ---- product_m64n256k32_i8
// D += A B by the warp group, 64 x 256 x 32: the thread's sums. A and B lie in shared memory.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n256k32_i8(int* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, "
      "%72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, "
      "%88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, "
      "%104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, "
      "%120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add;\n}"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),
        "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]),
        "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]),
        "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]),
        "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]),
        "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]),
        "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
        "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]),
        "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71]),
        "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79]),
        "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]),
        "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]),
        "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]),
        "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111]),
        "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]),
        "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
      : "l"(a), "l"(b));
}
#endif

