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

extern "C" __global__ void __launch_bounds__(128) conv2d_bias_relu(
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
  const int col = tx / 4;
  const int col1 = tx % 16 * 4;
  const bool in_col1 = col1 < 32;
  const int plane = by * 8 + tx / 4 / 16;
  const int row1 = tx / 4 % 16;
  const int row2 = tx / 16;
  const int col2 = warp / 2 * 64 + lane / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  int kh = 0;
  int kw = 0;
  for (int k = 0; k < 144; k += 16) {
    const int plane1 = plane + kh;
    const int row3 = row1 + kw - 1;
    const bool in_row3 = (unsigned)row3 < 16;
    float v0;
    float v1;
    float v2;
    float v3;
    if ((unsigned)(plane1 - 1) < 16 && in_row3) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 - 1) * 256 + row3 * 16 + row]);
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
    X_shared[row][col] = v0;
    X_shared[row + 1][col] = v1;
    X_shared[row + 2][col] = v2;
    X_shared[row + 3][col] = v3;
    float v4;
    float v5;
    float v6;
    float v7;
    if (in_row3) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 1) * 256 + row3 * 16 + row]);
      v4 = x.x;
      v5 = x.y;
      v6 = x.z;
      v7 = x.w;
    } else {
      v4 = 0.0f;
      v5 = 0.0f;
      v6 = 0.0f;
      v7 = 0.0f;
    }
    X_shared[row][col + 32] = v4;
    X_shared[row + 1][col + 32] = v5;
    X_shared[row + 2][col + 32] = v6;
    X_shared[row + 3][col + 32] = v7;
    float v8;
    float v9;
    float v10;
    float v11;
    if (in_row3) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 3) * 256 + row3 * 16 + row]);
      v8 = x.x;
      v9 = x.y;
      v10 = x.z;
      v11 = x.w;
    } else {
      v8 = 0.0f;
      v9 = 0.0f;
      v10 = 0.0f;
      v11 = 0.0f;
    }
    X_shared[row][col + 64] = v8;
    X_shared[row + 1][col + 64] = v9;
    X_shared[row + 2][col + 64] = v10;
    X_shared[row + 3][col + 64] = v11;
    float v12;
    float v13;
    float v14;
    float v15;
    if (plane1 + 5 < 16 && in_row3) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 5) * 256 + row3 * 16 + row]);
      v12 = x.x;
      v13 = x.y;
      v14 = x.z;
      v15 = x.w;
    } else {
      v12 = 0.0f;
      v13 = 0.0f;
      v14 = 0.0f;
      v15 = 0.0f;
    }
    X_shared[row][col + 96] = v12;
    X_shared[row + 1][col + 96] = v13;
    X_shared[row + 2][col + 96] = v14;
    X_shared[row + 3][col + 96] = v15;
    const int row4 = row2 + k;
    for (int i = 0; i < 2; ++i) {
      float v16;
      float v17;
      float v18;
      float v19;
      if (in_col1) {
        const float4 w = *reinterpret_cast<const float4*>(&W[(row4 + i * 8) * 32 + col1]);
        v16 = w.x;
        v17 = w.y;
        v18 = w.z;
        v19 = w.w;
      } else {
        v16 = 0.0f;
        v17 = 0.0f;
        v18 = 0.0f;
        v19 = 0.0f;
      }
      *reinterpret_cast<float4*>(&W_shared[row2 + i * 8][col1]) = make_float4(v16, v17, v18, v19);
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
    const int idx = kw + 1;
    const bool in_idx = idx >= 3;
    kh = in_idx ? kh + 1 : kh;
    kw = in_idx ? kw - 2 : idx;
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
