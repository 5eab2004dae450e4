// weft golden igemm_bias_relu.weft
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

extern "C" __global__ void __launch_bounds__(128, 4) conv2d_bias_relu(
    const float* __restrict__ X,
    const float* __restrict__ W,
    const float* __restrict__ bias,
    float* __restrict__ Y) {
  alignas(16) __shared__ float X_shared[16][132];
  alignas(16) __shared__ float W_shared[16][64];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int lane = tx % 32;
  const int warp = tx / 32;
  float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 32;
  const int row1 = tx / 4 % 16;
  const int plane = by * 8 + tx / 4 / 16;
  const int col1 = tx / 4;
  const int row2 = tx / 16;
  const int col2 = warp / 2 * 64 + lane / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int col4 = (k + tx * 4) % 16;
    const int row3 = row1 + (k + tx % 4 * 4) % 48 / 16 - 1;
    const bool in_row3 = (unsigned)row3 < 16;
    const int plane1 = plane + (k + tx % 4 * 4) / 48;
    for (int i = 0; i < 4; ++i) {
      const int plane2 = plane1 + i * 2 - 1;
      float v0;
      float v1;
      float v2;
      float v3;
      if ((unsigned)plane2 < 16 && in_row3) {
        const float4 x = *reinterpret_cast<const float4*>(&X[plane2 * 256 + row3 * 16 + col4]);
        v0 = x.x;
        v1 = x.y;
        v2 = x.z;
        v3 = x.w;
      } else {
        v0 = 0.0f;
        v1 = 0.0f;
        v2 = 0.0f;
        v3 = 0.0f;
      }
      const int col5 = col1 + i * 32;
      X_shared[row][col5] = v0;
      X_shared[row + 1][col5] = v1;
      X_shared[row + 2][col5] = v2;
      X_shared[row + 3][col5] = v3;
    }
    const int row4 = row2 + k;
    for (int i = 0; i < 2; ++i) {
      float v0;
      float v1;
      float v2;
      float v3;
      if (in_col) {
        const float4 w = *reinterpret_cast<const float4*>(&W[(row4 + i * 8) * 32 + col]);
        v0 = w.x;
        v1 = w.y;
        v2 = w.z;
        v3 = w.w;
      } else {
        v0 = 0.0f;
        v1 = 0.0f;
        v2 = 0.0f;
        v3 = 0.0f;
      }
      *reinterpret_cast<float4*>(&W_shared[row2 + i * 8][col]) = make_float4(v0, v1, v2, v3);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float X_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[i][col2 + j * 4]);
      }
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[i][col3 + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[j][l] += X_frag[j] * W_frag[l];
        }
      }
    }
    __syncthreads();
  }
  alignas(16) float r0[8][8];
  float r1[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int idx = col3 + j * 4;
      float v0;
      float v1;
      float v2;
      float v3;
      if (idx < 32) {
        const float4 v4 = *reinterpret_cast<const float4*>(&bias[idx]);
        v0 = v4.x;
        v1 = v4.y;
        v2 = v4.z;
        v3 = v4.w;
      } else {
        v0 = 0.0f;
        v1 = 0.0f;
        v2 = 0.0f;
        v3 = 0.0f;
      }
      r1[i][j * 4] = acc[i][j * 4] + v0;
      r1[i][j * 4 + 1] = acc[i][j * 4 + 1] + v1;
      r1[i][j * 4 + 2] = acc[i][j * 4 + 2] + v2;
      r1[i][j * 4 + 3] = acc[i][j * 4 + 3] + v3;
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      r0[i][j] = maximum(r1[i][j], 0.0f);
    }
  }
  const int row3 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row4 = row3 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int col4 = col3 + j * 4;
      if (col4 < 32) {
        *reinterpret_cast<float4*>(&Y[row4 * 32 + col4]) = *reinterpret_cast<const float4*>(&r0[i][j * 4]);
      }
    }
  }
}
