// weft golden igemm_bias_relu.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2 --set residual=1
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
    const float* __restrict__ residual,
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
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const int idx = by * 128 + tx / 4;
  const int col1 = tx / 4;
  const int row1 = tx / 16;
  const int col2 = warp / 2 * 64 + lane / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 48; k += 16) {
    const int idx1 = row + k;
    const bool in_idx1 = idx1 < 45;
    const int col4 = (k + tx % 4 * 4) % 5;
    const bool in_idx1_1 = idx1 + 1 < 45;
    const int col5 = (k + tx % 4 * 4 + 1) % 5;
    const bool in_idx1_2 = idx1 + 2 < 45;
    const int col6 = (k + tx % 4 * 4 + 2) % 5;
    const bool in_idx1_3 = idx1 + 3 < 45;
    const int col7 = (k + tx % 4 * 4 + 3) % 5;
    const int plane = (k + tx % 4 * 4) / 15;
    const int row2 = (k + tx % 4 * 4) % 15 / 5;
    const int plane1 = (k + tx % 4 * 4 + 1) / 15;
    const int row3 = (k + tx % 4 * 4 + 1) % 15 / 5;
    const int plane2 = (k + tx % 4 * 4 + 2) / 15;
    const int row4 = (k + tx % 4 * 4 + 2) % 15 / 5;
    const int plane3 = (k + tx % 4 * 4 + 3) / 15;
    const int row5 = (k + tx % 4 * 4 + 3) % 15 / 5;
    for (int i = 0; i < 4; ++i) {
      const bool inside = idx + i * 32 < 540;
      const int plane4 = (by * 128 + i * 32 + tx / 4) / 180;
      const int plane5 = plane + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int row6 = row2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v0 = in_idx1 && inside && (unsigned)plane5 < 29 && (unsigned)row6 < 23
          ? X[plane4 * 3335 + plane5 * 115 + row6 * 5 + col4] : 0.0f;
      const int plane6 = plane1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int row7 = row3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v1 = in_idx1_1 && inside && (unsigned)plane6 < 29 && (unsigned)row7 < 23
          ? X[plane4 * 3335 + plane6 * 115 + row7 * 5 + col5] : 0.0f;
      const int plane7 = plane2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int row8 = row4 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v2 = in_idx1_2 && inside && (unsigned)plane7 < 29 && (unsigned)row8 < 23
          ? X[plane4 * 3335 + plane7 * 115 + row8 * 5 + col6] : 0.0f;
      const int plane8 = plane3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int row9 = row5 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v3 = in_idx1_3 && inside && (unsigned)plane8 < 29 && (unsigned)row9 < 23
          ? X[plane4 * 3335 + plane8 * 115 + row9 * 5 + col7] : 0.0f;
      const int col8 = col1 + i * 32;
      X_shared[row][col8] = v0;
      X_shared[row + 1][col8] = v1;
      X_shared[row + 2][col8] = v2;
      X_shared[row + 3][col8] = v3;
    }
    const int row6 = row1 + k;
    for (int i = 0; i < 2; ++i) {
      const int row7 = row6 + i * 8;
      const bool in_row7 = row7 < 45;
      *reinterpret_cast<float4*>(&W_shared[row1 + i * 8][col])
          = make_float4(in_row7 && in_col ? W[row7 * 39 + col] : 0.0f, in_row7 && in_col1 ? W[row7 * 39 + col + 1]
          : 0.0f, in_row7 && in_col2 ? W[row7 * 39 + col + 2] : 0.0f, in_row7 && in_col3 ? W[row7 * 39 + col + 3]
          : 0.0f);
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
  float r0[8][8];
  float r1[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int idx1 = col3 + j;
      r1[i][j] = acc[i][j] + (idx1 < 39 ? bias[idx1] : 0.0f);
    }
  }
  const int row2 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row3 = row2 + i;
    const bool in_row3 = row3 < 540;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col4 = col3 + j;
      r1[i][j] += in_row3 && col4 < 39 ? residual[row3 * 39 + col4] : 0.0f;
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      r0[i][j] = maximum(r1[i][j], 0.0f);
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row3 = row2 + i;
    if (row3 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col4 = col3 + j;
        if (col4 < 39) {
          Y[row3 * 39 + col4] = r0[i][j];
        }
      }
    }
  }
}
