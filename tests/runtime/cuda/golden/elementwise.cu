// n elements that one access moves.
template <typename T, int n> struct alignas(sizeof(T) * n) vec { T at[n]; };

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

// Round to odd: a second rounding, to at least two bits less, then gives what one rounding would.
__device__ inline float round_to_odd(double x) {
  float r = (float)x;
  if (x != x || (double)r == x) return r;
  unsigned bits = __float_as_uint(r);
  if (((double)r > x) == (x > 0.0)) bits -= 1;
  return __uint_as_float(bits | 1u);
}

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

extern "C" __global__ void __launch_bounds__(128) gelu(const float* __restrict__ x, float* __restrict__ y) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 128 + tx;
  if (idx < 1000) {
    const float v0 = x[idx];
    y[idx] = v0 * 0.5f * (erff(v0 * 0.70710677f) + 1.0f);
  }
}

extern "C" __global__ void __launch_bounds__(128) axpy4(
    const float* __restrict__ X,
    float* __restrict__ Y,
    float alpha) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const float4 x = *reinterpret_cast<const float4*>(&X[row * 32 + tx * 4]);
  const float4 y = *reinterpret_cast<const float4*>(&Y[row * 32 + tx * 4]);
  *reinterpret_cast<float4*>(&Y[row * 32 + tx * 4])
      = make_float4(fmaf(x.x, alpha, y.x), fmaf(x.y, alpha, y.y), fmaf(x.z, alpha, y.z), fmaf(x.w, alpha, y.w));
}

extern "C" __global__ void __launch_bounds__(128) copy_unaligned(const float* __restrict__ x, float* __restrict__ y) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  *reinterpret_cast<float4*>(&y[ty * 36 + tx * 4])
      = make_float4(x[ty * 33 + tx * 4], x[ty * 33 + tx * 4 + 1], x[ty * 33 + tx * 4 + 2], x[ty * 33 + tx * 4 + 3]);
}

extern "C" __global__ void __launch_bounds__(32) copy_aligned(const f16* __restrict__ x, f16* __restrict__ y) {
  const int tx = threadIdx.x;
  *reinterpret_cast<vec<f16, 8>*>(&y[tx * 8]) = *reinterpret_cast<const vec<f16, 8>*>(&x[tx * 8]);
}

extern "C" __global__ void __launch_bounds__(64) half_chain(
    const f16* __restrict__ x,
    const f16* __restrict__ y,
    f16* __restrict__ z) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 64 + tx;
  const f16 v0 = x[idx];
  const f16 v1 = y[idx];
  z[idx] = (f16)maximum((float)((v0 * v1 + f16(1.5f)) / v1 - v0), (float)v0);
}

extern "C" __global__ void __launch_bounds__(64) bf16_fma(
    const bf16* __restrict__ x,
    const bf16* __restrict__ y,
    bf16* __restrict__ z) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 64 + tx;
  const bf16 v0 = x[idx];
  const bf16 v1 = y[idx];
  z[idx] = fma(v0, v0 + v1, v1);
}
