// weft golden naive.weft --set type=f16
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

extern "C" __global__ void __launch_bounds__(256) matmul(
    const f16* __restrict__ A,
    const f16* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  C[row * 512 + col] = 0.0f;
  for (int i = 0; i < 512; ++i) {
    C[row * 512 + col] += (float)A[row * 512 + i] * (float)B[i * 512 + col];
  }
}
