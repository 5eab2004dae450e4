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

__device__ inline f16 f16_of_bits(int bits) {
  f16 r;
  r.bits = (unsigned short)bits;
  return r;
}

__device__ inline bf16 bf16_of_bits(int bits) {
  bf16 r;
  r.bits = (unsigned short)bits;
  return r;
}

extern "C" __global__ void __launch_bounds__(256, 1) row_sums(
    const float* __restrict__ A,
    long long A_size0,
    float* __restrict__ S,
    long long S_size0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const long long idx = (long long)bx * 8 + ty;
  if (idx < A_size0) {
    const float4 a = *reinterpret_cast<const float4*>(&A[idx * 128 + tx * 4]);
    const float v0 = a.x + a.y + a.z + a.w;
    const float v1 = __shfl_xor_sync(0xffffffff, v0, 1);
    const float v2 = v0 + v1;
    const float v3 = __shfl_xor_sync(0xffffffff, v2, 2);
    const float v4 = v2 + v3;
    const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
    const float v6 = v4 + v5;
    const float v7 = __shfl_xor_sync(0xffffffff, v6, 8);
    const float v8 = v6 + v7;
    const float v9 = __shfl_xor_sync(0xffffffff, v8, 16);
    if (tx == 0) {
      S[idx] = v8 + v9;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) row_sums_32(
    const float* __restrict__ A,
    long long A_size0,
    float* __restrict__ S,
    long long S_size0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int A_extent0 = (int)A_size0;
  const int idx = bx * 8 + ty;
  if (idx < A_extent0) {
    const float4 a = *reinterpret_cast<const float4*>(&A[idx * 128 + tx * 4]);
    const float v0 = a.x + a.y + a.z + a.w;
    const float v1 = __shfl_xor_sync(0xffffffff, v0, 1);
    const float v2 = v0 + v1;
    const float v3 = __shfl_xor_sync(0xffffffff, v2, 2);
    const float v4 = v2 + v3;
    const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
    const float v6 = v4 + v5;
    const float v7 = __shfl_xor_sync(0xffffffff, v6, 8);
    const float v8 = v6 + v7;
    const float v9 = __shfl_xor_sync(0xffffffff, v8, 16);
    if (tx == 0) {
      S[idx] = v8 + v9;
    }
  }
}

extern "C" __global__ void __launch_bounds__(128, 1) scan(int* __restrict__ A, long long A_size0) {
  const int tx = threadIdx.x;
  const int a = A[tx];
  int acc = a;
  int acc1 = 1;
  #pragma unroll
  for (int k = 0; k < 5; ++k) {
    const int v0 = __shfl_up_sync(0xffffffff, acc, acc1);
    acc = tx % 32 >= (unsigned)acc1 ? (int)(acc + (unsigned)v0) : acc;
    acc1 = (unsigned)acc1 << 1;
  }
  A[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(128) scan_32(int* __restrict__ A, long long A_size0) {
  const int tx = threadIdx.x;
  const int a = A[tx];
  int acc = a;
  int acc1 = 1;
  #pragma unroll
  for (int k = 0; k < 5; ++k) {
    const int v0 = __shfl_up_sync(0xffffffff, acc, acc1);
    acc = tx % 32 >= (unsigned)acc1 ? (int)(acc + (unsigned)v0) : acc;
    acc1 = (unsigned)acc1 << 1;
  }
  A[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(64) in_groups(
    f16* __restrict__ A,
    bf16* __restrict__ B,
    long long* __restrict__ C,
    int from) {
  const int tx = threadIdx.x;
  const f16 a = A[tx];
  const f16 v0 = f16_of_bits(__shfl_down_sync(0xffffffff, a.bits, 1, 8));
  A[tx] = tx % 8 < 7 ? v0 : a;
  const bf16 b = B[tx];
  const bf16 v1 = bf16_of_bits(__shfl_sync(0xffffffff, b.bits, from, 8));
  B[tx] = (unsigned)from < 8 ? v1 : b;
  const long long v2 = __shfl_xor_sync(0xffffffff, C[tx], 1, 8);
  C[tx] = v2;
}
