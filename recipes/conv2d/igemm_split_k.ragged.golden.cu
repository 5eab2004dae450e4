// weft golden igemm_split_k.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
extern "C" __global__ void __launch_bounds__(128) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ arg2) {
  alignas(16) __shared__ float X_shared[1][16][132];
  alignas(16) __shared__ float W_shared[1][16][64];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int lane = tx % 32;
  const int warp = tx / 32;
  float acc[1][8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
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
  const int idx1 = bz * 16 + tx % 4 * 4;
  const int col2 = (bz * 16 + tx % 4 * 4) % 5;
  const int plane4 = (by * 128 + tx / 4) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4) / 15 - 1;
  const int row1 = (by * 128 + tx / 4) % 12 * 2 + (bz * 16 + tx % 4 * 4) % 15 / 5 - 1;
  const bool in_row1 = (unsigned)row1 < 23;
  const bool in_idx1_1 = idx1 + 1 < 45;
  const int col3 = (bz * 16 + tx % 4 * 4 + 1) % 5;
  const int plane5 = (by * 128 + tx / 4) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) / 15 - 1;
  const int row2 = (by * 128 + tx / 4) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) % 15 / 5 - 1;
  const bool in_row2 = (unsigned)row2 < 23;
  const float v0 = in_idx && in_idx1_1 && (unsigned)plane5 < 29 && in_row2
      ? X[plane * 3335 + plane5 * 115 + row2 * 5 + col3] : 0.0f;
  const bool in_idx1_2 = idx1 + 2 < 45;
  const int col4 = (bz * 16 + tx % 4 * 4 + 2) % 5;
  const int plane6 = (by * 128 + tx / 4) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) / 15 - 1;
  const int row3 = (by * 128 + tx / 4) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) % 15 / 5 - 1;
  const bool in_row3 = (unsigned)row3 < 23;
  const float v1 = in_idx && in_idx1_2 && (unsigned)plane6 < 29 && in_row3
      ? X[plane * 3335 + plane6 * 115 + row3 * 5 + col4] : 0.0f;
  const bool in_idx1_3 = idx1 + 3 < 45;
  const int col5 = (bz * 16 + tx % 4 * 4 + 3) % 5;
  const int plane7 = (by * 128 + tx / 4) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) / 15 - 1;
  const int row4 = (by * 128 + tx / 4) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) % 15 / 5 - 1;
  const bool in_row4 = (unsigned)row4 < 23;
  const float v2 = in_idx && in_idx1_3 && (unsigned)plane7 < 29 && in_row4
      ? X[plane * 3335 + plane7 * 115 + row4 * 5 + col5] : 0.0f;
  X_shared[0][row][col] = in_idx && (unsigned)plane4 < 29 && in_row1
      ? X[plane * 3335 + plane4 * 115 + row1 * 5 + col2] : 0.0f;
  X_shared[0][row + 1][col] = v0;
  X_shared[0][row + 2][col] = v1;
  X_shared[0][row + 3][col] = v2;
  const int plane8 = (by * 128 + tx / 4 + 32) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4) / 15 - 1;
  const int row5 = (by * 128 + tx / 4 + 32) % 12 * 2 + (bz * 16 + tx % 4 * 4) % 15 / 5 - 1;
  const float v3 = in_idx1 && (unsigned)plane8 < 29 && (unsigned)row5 < 23
      ? X[plane1 * 3335 + plane8 * 115 + row5 * 5 + col2] : 0.0f;
  const int plane9 = (by * 128 + tx / 4 + 32) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) / 15 - 1;
  const int row6 = (by * 128 + tx / 4 + 32) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) % 15 / 5 - 1;
  const float v4 = in_idx1 && in_idx1_1 && (unsigned)plane9 < 29 && (unsigned)row6 < 23
      ? X[plane1 * 3335 + plane9 * 115 + row6 * 5 + col3] : 0.0f;
  const int plane10 = (by * 128 + tx / 4 + 32) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) / 15 - 1;
  const int row7 = (by * 128 + tx / 4 + 32) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) % 15 / 5 - 1;
  const float v5 = in_idx1 && in_idx1_2 && (unsigned)plane10 < 29 && (unsigned)row7 < 23
      ? X[plane1 * 3335 + plane10 * 115 + row7 * 5 + col4] : 0.0f;
  const int plane11 = (by * 128 + tx / 4 + 32) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) / 15 - 1;
  const int row8 = (by * 128 + tx / 4 + 32) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) % 15 / 5 - 1;
  const float v6 = in_idx1 && in_idx1_3 && (unsigned)plane11 < 29 && (unsigned)row8 < 23
      ? X[plane1 * 3335 + plane11 * 115 + row8 * 5 + col5] : 0.0f;
  X_shared[0][row][col + 32] = v3;
  X_shared[0][row + 1][col + 32] = v4;
  X_shared[0][row + 2][col + 32] = v5;
  X_shared[0][row + 3][col + 32] = v6;
  const int plane12 = (by * 128 + tx / 4 + 64) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4) / 15 - 1;
  const int row9 = (by * 128 + tx / 4 + 64) % 12 * 2 + (bz * 16 + tx % 4 * 4) % 15 / 5 - 1;
  const float v7 = in_idx2 && (unsigned)plane12 < 29 && (unsigned)row9 < 23
      ? X[plane2 * 3335 + plane12 * 115 + row9 * 5 + col2] : 0.0f;
  const int plane13 = (by * 128 + tx / 4 + 64) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) / 15 - 1;
  const int row10 = (by * 128 + tx / 4 + 64) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 1) % 15 / 5 - 1;
  const float v8 = in_idx2 && in_idx1_1 && (unsigned)plane13 < 29 && (unsigned)row10 < 23
      ? X[plane2 * 3335 + plane13 * 115 + row10 * 5 + col3] : 0.0f;
  const int plane14 = (by * 128 + tx / 4 + 64) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) / 15 - 1;
  const int row11 = (by * 128 + tx / 4 + 64) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 2) % 15 / 5 - 1;
  const float v9 = in_idx2 && in_idx1_2 && (unsigned)plane14 < 29 && (unsigned)row11 < 23
      ? X[plane2 * 3335 + plane14 * 115 + row11 * 5 + col4] : 0.0f;
  const int plane15 = (by * 128 + tx / 4 + 64) % 180 / 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) / 15 - 1;
  const int row12 = (by * 128 + tx / 4 + 64) % 12 * 2 + (bz * 16 + tx % 4 * 4 + 3) % 15 / 5 - 1;
  const float v10 = in_idx2 && in_idx1_3 && (unsigned)plane15 < 29 && (unsigned)row12 < 23
      ? X[plane2 * 3335 + plane15 * 115 + row12 * 5 + col5] : 0.0f;
  X_shared[0][row][col + 64] = v7;
  X_shared[0][row + 1][col + 64] = v8;
  X_shared[0][row + 2][col + 64] = v9;
  X_shared[0][row + 3][col + 64] = v10;
  const int plane16 = (by * 128 + tx / 4) / 12 * 2 - (by * 128 + tx / 4 + 96) / 180 * 30
      + (bz * 16 + tx % 4 * 4) / 15 + 15;
  const float v11 = in_idx3 && (unsigned)plane16 < 29 && in_row1 ? X[plane3 * 3335 + plane16 * 115 + row1 * 5 + col2]
      : 0.0f;
  const int plane17 = (by * 128 + tx / 4) / 12 * 2 - (by * 128 + tx / 4 + 96) / 180 * 30
      + (bz * 16 + tx % 4 * 4 + 1) / 15 + 15;
  const float v12 = in_idx3 && in_idx1_1 && (unsigned)plane17 < 29 && in_row2
      ? X[plane3 * 3335 + plane17 * 115 + row2 * 5 + col3] : 0.0f;
  const int plane18 = (by * 128 + tx / 4) / 12 * 2 - (by * 128 + tx / 4 + 96) / 180 * 30
      + (bz * 16 + tx % 4 * 4 + 2) / 15 + 15;
  const float v13 = in_idx3 && in_idx1_2 && (unsigned)plane18 < 29 && in_row3
      ? X[plane3 * 3335 + plane18 * 115 + row3 * 5 + col4] : 0.0f;
  const int plane19 = (by * 128 + tx / 4) / 12 * 2 - (by * 128 + tx / 4 + 96) / 180 * 30
      + (bz * 16 + tx % 4 * 4 + 3) / 15 + 15;
  const float v14 = in_idx3 && in_idx1_3 && (unsigned)plane19 < 29 && in_row4
      ? X[plane3 * 3335 + plane19 * 115 + row4 * 5 + col5] : 0.0f;
  X_shared[0][row][col + 96] = v11;
  X_shared[0][row + 1][col + 96] = v12;
  X_shared[0][row + 2][col + 96] = v13;
  X_shared[0][row + 3][col + 96] = v14;
  const int row13 = tx / 16;
  const int row14 = bz * 16 + tx / 16;
  for (int i = 0; i < 2; ++i) {
    const int row15 = row14 + i * 8;
    const bool in_row15 = row15 < 45;
    *reinterpret_cast<float4*>(&W_shared[0][row13 + i * 8][col1])
        = make_float4(in_col1 && in_row15 ? W[row15 * 39 + col1] : 0.0f, in_col1_1 && in_row15
        ? W[row15 * 39 + col1 + 1] : 0.0f, in_col1_2 && in_row15 ? W[row15 * 39 + col1 + 2] : 0.0f, in_col1_3
        && in_row15 ? W[row15 * 39 + col1 + 3] : 0.0f);
  }
  __syncthreads();
  const int col6 = warp / 2 * 64 + lane / 4 * 8;
  const int col7 = tx % 4 * 8 + warp % 2 * 32;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    alignas(16) float X_frag[8];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[0][i][col6 + j * 4]);
    }
    alignas(16) float W_frag[8];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[0][i][col7 + j * 4]);
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc[0][j][l] += X_frag[j] * W_frag[l];
      }
    }
  }
  const int row15 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row16 = row15 + i;
    if (row16 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col8 = col7 + j;
        if (col8 < 39) {
          arg2[bz * 21060 + row16 * 39 + col8] = acc[0][i][j];
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_1(float* __restrict__ Y, const float* __restrict__ arg1) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int row = (bx * 256 + tx) / 39;
  const int col = (bx * 256 + tx) % 39;
  if (bx * 256 + tx < 21060) {
    float acc = 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
      acc += arg1[i * 21060 + row * 39 + col];
    }
    Y[row * 39 + col] = acc;
  }
}
