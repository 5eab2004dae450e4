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

extern "C" __global__ void __launch_bounds__(128) conv2d_bias_relu(
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
  const int idx = by * 128 + tx / 4;
  const bool in_idx = idx < 540;
  const int plane = (by * 128 + tx / 4) / 180;
  const int row = tx % 4 * 4;
  const int col = tx / 4;
  const bool in_idx1 = idx + 32 < 540;
  const int plane1 = (by * 128 + tx / 4 + 32) / 180;
  const bool in_idx2 = idx + 64 < 540;
  const int plane2 = (by * 128 + tx / 4 + 64) / 180;
  const bool in_idx3 = idx + 96 < 540;
  const int plane3 = (by * 128 + tx / 4 + 96) / 180;
  const int col1 = tx % 16 * 4;
  const bool in_col1 = col1 < 39;
  const bool in_col1_1 = col1 + 1 < 39;
  const bool in_col1_2 = col1 + 2 < 39;
  const bool in_col1_3 = col1 + 3 < 39;
  const int plane4 = (by * 128 + tx / 4) % 180 / 12 * 2;
  const int row1 = (by * 128 + tx / 4) % 12 * 2;
  const int plane5 = (by * 128 + tx / 4 + 32) % 180 / 12 * 2;
  const int row2 = (by * 128 + tx / 4 + 32) % 12 * 2;
  const int plane6 = (by * 128 + tx / 4 + 64) % 180 / 12 * 2;
  const int row3 = (by * 128 + tx / 4 + 64) % 12 * 2;
  const int plane7 = (by * 128 + tx / 4) / 12 * 2 - (by * 128 + tx / 4 + 96) / 180 * 30;
  const int row4 = tx / 16;
  const int col2 = warp / 2 * 64 + lane / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  int kh = 0;
  int kw = tx % 4 * 4 / 5;
  int c = tx % 4 * 4 % 5;
  int kh1 = 0;
  int kw1 = (tx % 4 * 4 + 1) / 5;
  int c1 = (tx % 4 * 4 + 1) % 5;
  int kh2 = 0;
  int kw2 = (tx % 4 * 4 + 2) / 5;
  int c2 = (tx % 4 * 4 + 2) % 5;
  int kh3 = (tx % 4 * 4 + 3) / 15;
  int kw3 = (tx % 4 * 4 + 3) % 15 / 5;
  int c3 = (tx % 4 * 4 + 3) % 5;
  for (int k = 0; k < 48; k += 16) {
    const int idx1 = row + k;
    const bool in_idx1_1 = idx1 < 45;
    const int plane8 = plane4 + kh - 1;
    const int row5 = row1 + kw - 1;
    const bool in_row5 = (unsigned)row5 < 23;
    const float v0 = in_idx1_1 && in_idx && (unsigned)plane8 < 29 && in_row5
        ? X[plane * 3335 + plane8 * 115 + row5 * 5 + c] : 0.0f;
    const bool in_idx1_2 = idx1 + 1 < 45;
    const int plane9 = plane4 + kh1 - 1;
    const int row6 = row1 + kw1 - 1;
    const bool in_row6 = (unsigned)row6 < 23;
    const float v1 = in_idx1_2 && in_idx && (unsigned)plane9 < 29 && in_row6
        ? X[plane * 3335 + plane9 * 115 + row6 * 5 + c1] : 0.0f;
    const bool in_idx1_3 = idx1 + 2 < 45;
    const int plane10 = plane4 + kh2 - 1;
    const int row7 = row1 + kw2 - 1;
    const bool in_row7 = (unsigned)row7 < 23;
    const float v2 = in_idx1_3 && in_idx && (unsigned)plane10 < 29 && in_row7
        ? X[plane * 3335 + plane10 * 115 + row7 * 5 + c2] : 0.0f;
    const bool in_idx1_4 = idx1 + 3 < 45;
    const int plane11 = plane4 + kh3 - 1;
    const int row8 = row1 + kw3 - 1;
    const bool in_row8 = (unsigned)row8 < 23;
    const float v3 = in_idx1_4 && in_idx && (unsigned)plane11 < 29 && in_row8
        ? X[plane * 3335 + plane11 * 115 + row8 * 5 + c3] : 0.0f;
    X_shared[row][col] = v0;
    X_shared[row + 1][col] = v1;
    X_shared[row + 2][col] = v2;
    X_shared[row + 3][col] = v3;
    const int plane12 = plane5 + kh - 1;
    const int row9 = row2 + kw - 1;
    const float v4 = in_idx1_1 && in_idx1 && (unsigned)plane12 < 29 && (unsigned)row9 < 23
        ? X[plane1 * 3335 + plane12 * 115 + row9 * 5 + c] : 0.0f;
    const int plane13 = plane5 + kh1 - 1;
    const int row10 = row2 + kw1 - 1;
    const float v5 = in_idx1_2 && in_idx1 && (unsigned)plane13 < 29 && (unsigned)row10 < 23
        ? X[plane1 * 3335 + plane13 * 115 + row10 * 5 + c1] : 0.0f;
    const int plane14 = plane5 + kh2 - 1;
    const int row11 = row2 + kw2 - 1;
    const float v6 = in_idx1_3 && in_idx1 && (unsigned)plane14 < 29 && (unsigned)row11 < 23
        ? X[plane1 * 3335 + plane14 * 115 + row11 * 5 + c2] : 0.0f;
    const int plane15 = plane5 + kh3 - 1;
    const int row12 = row2 + kw3 - 1;
    const float v7 = in_idx1_4 && in_idx1 && (unsigned)plane15 < 29 && (unsigned)row12 < 23
        ? X[plane1 * 3335 + plane15 * 115 + row12 * 5 + c3] : 0.0f;
    X_shared[row][col + 32] = v4;
    X_shared[row + 1][col + 32] = v5;
    X_shared[row + 2][col + 32] = v6;
    X_shared[row + 3][col + 32] = v7;
    const int plane16 = plane6 + kh - 1;
    const int row13 = row3 + kw - 1;
    const float v8 = in_idx1_1 && in_idx2 && (unsigned)plane16 < 29 && (unsigned)row13 < 23
        ? X[plane2 * 3335 + plane16 * 115 + row13 * 5 + c] : 0.0f;
    const int plane17 = plane6 + kh1 - 1;
    const int row14 = row3 + kw1 - 1;
    const float v9 = in_idx1_2 && in_idx2 && (unsigned)plane17 < 29 && (unsigned)row14 < 23
        ? X[plane2 * 3335 + plane17 * 115 + row14 * 5 + c1] : 0.0f;
    const int plane18 = plane6 + kh2 - 1;
    const int row15 = row3 + kw2 - 1;
    const float v10 = in_idx1_3 && in_idx2 && (unsigned)plane18 < 29 && (unsigned)row15 < 23
        ? X[plane2 * 3335 + plane18 * 115 + row15 * 5 + c2] : 0.0f;
    const int plane19 = plane6 + kh3 - 1;
    const int row16 = row3 + kw3 - 1;
    const float v11 = in_idx1_4 && in_idx2 && (unsigned)plane19 < 29 && (unsigned)row16 < 23
        ? X[plane2 * 3335 + plane19 * 115 + row16 * 5 + c3] : 0.0f;
    X_shared[row][col + 64] = v8;
    X_shared[row + 1][col + 64] = v9;
    X_shared[row + 2][col + 64] = v10;
    X_shared[row + 3][col + 64] = v11;
    const int plane20 = plane7 + kh + 15;
    const float v12 = in_idx1_1 && in_idx3 && (unsigned)plane20 < 29 && in_row5
        ? X[plane3 * 3335 + plane20 * 115 + row5 * 5 + c] : 0.0f;
    const int plane21 = plane7 + kh1 + 15;
    const float v13 = in_idx1_2 && in_idx3 && (unsigned)plane21 < 29 && in_row6
        ? X[plane3 * 3335 + plane21 * 115 + row6 * 5 + c1] : 0.0f;
    const int plane22 = plane7 + kh2 + 15;
    const float v14 = in_idx1_3 && in_idx3 && (unsigned)plane22 < 29 && in_row7
        ? X[plane3 * 3335 + plane22 * 115 + row7 * 5 + c2] : 0.0f;
    const int plane23 = plane7 + kh3 + 15;
    const float v15 = in_idx1_4 && in_idx3 && (unsigned)plane23 < 29 && in_row8
        ? X[plane3 * 3335 + plane23 * 115 + row8 * 5 + c3] : 0.0f;
    X_shared[row][col + 96] = v12;
    X_shared[row + 1][col + 96] = v13;
    X_shared[row + 2][col + 96] = v14;
    X_shared[row + 3][col + 96] = v15;
    const int row17 = row4 + k;
    for (int i = 0; i < 2; ++i) {
      const int row18 = row17 + i * 8;
      const bool in_row18 = row18 < 45;
      *reinterpret_cast<float4*>(&W_shared[row4 + i * 8][col1])
          = make_float4(in_row18 && in_col1 ? W[row18 * 39 + col1] : 0.0f, in_row18 && in_col1_1
          ? W[row18 * 39 + col1 + 1] : 0.0f, in_row18 && in_col1_2 ? W[row18 * 39 + col1 + 2] : 0.0f, in_row18
          && in_col1_3 ? W[row18 * 39 + col1 + 3] : 0.0f);
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
    const int idx2 = c + 1;
    const bool in_idx2_1 = idx2 >= 5;
    const int idx3 = in_idx2_1 ? kw + 1 : kw;
    const bool in_idx3_1 = idx3 >= 3;
    const int idx4 = c1 + 1;
    const bool in_idx4 = idx4 >= 5;
    const int idx5 = in_idx4 ? kw1 + 1 : kw1;
    const bool in_idx5 = idx5 >= 3;
    const int idx6 = c2 + 1;
    const bool in_idx6 = idx6 >= 5;
    const int idx7 = in_idx6 ? kw2 + 1 : kw2;
    const bool in_idx7 = idx7 >= 3;
    const int idx8 = c3 + 1;
    const bool in_idx8 = idx8 >= 5;
    const int idx9 = in_idx8 ? kw3 + 1 : kw3;
    const bool in_idx9 = idx9 >= 3;
    kh = in_idx3_1 ? kh + 2 : kh + 1;
    kw = in_idx3_1 ? idx3 - 3 : idx3;
    c = in_idx2_1 ? c - 4 : idx2;
    kh1 = in_idx5 ? kh1 + 2 : kh1 + 1;
    kw1 = in_idx5 ? idx5 - 3 : idx5;
    c1 = in_idx4 ? c1 - 4 : idx4;
    kh2 = in_idx7 ? kh2 + 2 : kh2 + 1;
    kw2 = in_idx7 ? idx7 - 3 : idx7;
    c2 = in_idx6 ? c2 - 4 : idx6;
    kh3 = in_idx9 ? kh3 + 2 : kh3 + 1;
    kw3 = in_idx9 ? idx9 - 3 : idx9;
    c3 = in_idx8 ? c3 - 4 : idx8;
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
  const int row5 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row6 = row5 + i;
    const bool in_row6 = row6 < 540;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col4 = col3 + j;
      r1[i][j] += in_row6 && col4 < 39 ? residual[row6 * 39 + col4] : 0.0f;
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
    const int row6 = row5 + i;
    if (row6 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col4 = col3 + j;
        if (col4 < 39) {
          Y[row6 * 39 + col4] = r0[i][j];
        }
      }
    }
  }
}
