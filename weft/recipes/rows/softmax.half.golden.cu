// weft golden softmax.weft --set type=f16
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

extern "C" __global__ void __launch_bounds__(128) softmax(const f16* __restrict__ X, f16* __restrict__ Y) {
  __shared__ float largest_parts[1][4];
  __shared__ float sum_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float sum;
  float largest = __uint_as_float(0xff800000u);
  alignas(16) f16 X_tile[32];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<vec<f16, 8>*>(&X_tile[i * 8]) = *reinterpret_cast<const vec<f16,
        8>*>(&X[bx * 4096 + tx * 8 + i * 1024]);
  }
  float part = __uint_as_float(0xff800000u);
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v0 = X_tile[i * 8];
    const f16 v1 = X_tile[i * 8 + 1];
    const f16 v2 = X_tile[i * 8 + 2];
    const f16 v3 = X_tile[i * 8 + 3];
    const f16 v4 = X_tile[i * 8 + 4];
    const f16 v5 = X_tile[i * 8 + 5];
    const f16 v6 = X_tile[i * 8 + 6];
    const f16 v7 = X_tile[i * 8 + 7];
    part = maximum((float)v0, part);
    part = maximum((float)v1, part);
    part = maximum((float)v2, part);
    part = maximum((float)v3, part);
    part = maximum((float)v4, part);
    part = maximum((float)v5, part);
    part = maximum((float)v6, part);
    part = maximum((float)v7, part);
  }
  const float v0 = part;
  const float v1 = __shfl_xor_sync(0xffffffff, v0, 16);
  const float v2 = maximum(v0, v1);
  const float v3 = __shfl_xor_sync(0xffffffff, v2, 8);
  const float v4 = maximum(v2, v3);
  const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
  const float v6 = maximum(v4, v5);
  const float v7 = __shfl_xor_sync(0xffffffff, v6, 2);
  const float v8 = maximum(v6, v7);
  const float v9 = __shfl_xor_sync(0xffffffff, v8, 1);
  const bool inside = tx % 32 == 0;
  if (inside) {
    largest_parts[0][warp] = maximum(v8, v9);
  }
  __syncthreads();
  const float v10
      = maximum(maximum(maximum(largest_parts[0][0], largest_parts[0][1]), largest_parts[0][2]), largest_parts[0][3]);
  largest = maximum(largest, v10);
  sum = 0.0f;
  float part1 = -0.0f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v11 = X_tile[i * 8];
    const f16 v12 = X_tile[i * 8 + 1];
    const f16 v13 = X_tile[i * 8 + 2];
    const f16 v14 = X_tile[i * 8 + 3];
    const f16 v15 = X_tile[i * 8 + 4];
    const f16 v16 = X_tile[i * 8 + 5];
    const f16 v17 = X_tile[i * 8 + 6];
    const f16 v18 = X_tile[i * 8 + 7];
    part1 += expf((float)v11 - largest);
    part1 += expf((float)v12 - largest);
    part1 += expf((float)v13 - largest);
    part1 += expf((float)v14 - largest);
    part1 += expf((float)v15 - largest);
    part1 += expf((float)v16 - largest);
    part1 += expf((float)v17 - largest);
    part1 += expf((float)v18 - largest);
  }
  const float v11 = part1;
  const float v12 = __shfl_xor_sync(0xffffffff, v11, 16);
  const float v13 = v11 + v12;
  const float v14 = __shfl_xor_sync(0xffffffff, v13, 8);
  const float v15 = v13 + v14;
  const float v16 = __shfl_xor_sync(0xffffffff, v15, 4);
  const float v17 = v15 + v16;
  const float v18 = __shfl_xor_sync(0xffffffff, v17, 2);
  const float v19 = v17 + v18;
  const float v20 = __shfl_xor_sync(0xffffffff, v19, 1);
  if (inside) {
    sum_parts[0][warp] = v19 + v20;
  }
  __syncthreads();
  sum += sum_parts[0][0] + sum_parts[0][1] + sum_parts[0][2] + sum_parts[0][3];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v21 = X_tile[i * 8];
    const f16 v22 = X_tile[i * 8 + 1];
    const f16 v23 = X_tile[i * 8 + 2];
    const f16 v24 = X_tile[i * 8 + 3];
    const f16 v25 = X_tile[i * 8 + 4];
    const f16 v26 = X_tile[i * 8 + 5];
    const f16 v27 = X_tile[i * 8 + 6];
    const f16 v28 = X_tile[i * 8 + 7];
    const float v29 = largest;
    const float v30 = 1.0f / sum;
    *reinterpret_cast<vec<f16, 8>*>(&Y[bx * 4096 + tx * 8 + i * 1024]) = vec<f16,
        8>{{(f16)(expf((float)v21 - v29) * v30), (f16)(expf((float)v22 - v29) * v30),
        (f16)(expf((float)v23 - v29) * v30), (f16)(expf((float)v24 - v29) * v30), (f16)(expf((float)v25 - v29) * v30),
        (f16)(expf((float)v26 - v29) * v30), (f16)(expf((float)v27 - v29) * v30), (f16)(expf((float)v28 - v29) * v30)}};
  }
}
