// weft golden igemm_split_k --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: floormod

extern "C" __global__ void __launch_bounds__(128) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ temp0) {
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
  const int X_shared_row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const int idx = bz * 16 + tx % 4 * 4;
  const int d3 = (bz * 16 + tx % 4 * 4) % 5;
  const bool in_idx = idx + 1 < 45;
  const int d3_1 = (bz * 16 + tx % 4 * 4 + 1) % 5;
  const bool in_idx1 = idx + 2 < 45;
  const int d3_2 = (bz * 16 + tx % 4 * 4 + 2) % 5;
  const bool in_idx2 = idx + 3 < 45;
  const int d3_3 = (bz * 16 + tx % 4 * 4 + 3) % 5;
  const int idx1 = by * 128 + tx / 4;
  const int d1 = (bz * 16 + tx % 4 * 4) / 15;
  const int d2 = (bz * 16 + tx % 4 * 4) % 15 / 5;
  const int d1_1 = (bz * 16 + tx % 4 * 4 + 1) / 15;
  const int d2_1 = (bz * 16 + tx % 4 * 4 + 1) % 15 / 5;
  const int d1_2 = (bz * 16 + tx % 4 * 4 + 2) / 15;
  const int d2_2 = (bz * 16 + tx % 4 * 4 + 2) % 15 / 5;
  const int d1_3 = (bz * 16 + tx % 4 * 4 + 3) / 15;
  const int d2_3 = (bz * 16 + tx % 4 * 4 + 3) % 15 / 5;
  const int idx2 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx3 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const bool inside = idx1 + i * 32 < 540;
    const int d0 = (by * 128 + i * 32 + tx / 4) / 180;
    const int d1_4 = d1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int d2_4 = d2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v0 = inside && (unsigned)d1_4 < 29 && (unsigned)d2_4 < 23 ? X[d0 * 3335 + d1_4 * 115 + d2_4 * 5 + d3]
        : 0.0f;
    const int d1_5 = d1_1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int d2_5 = d2_1 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v1 = inside && in_idx && (unsigned)d1_5 < 29 && (unsigned)d2_5 < 23
        ? X[d0 * 3335 + d1_5 * 115 + d2_5 * 5 + d3_1] : 0.0f;
    const int d1_6 = d1_2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int d2_6 = d2_2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v2 = inside && in_idx1 && (unsigned)d1_6 < 29 && (unsigned)d2_6 < 23
        ? X[d0 * 3335 + d1_6 * 115 + d2_6 * 5 + d3_2] : 0.0f;
    const int d1_7 = d1_3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int d2_7 = d2_3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v3 = inside && in_idx2 && (unsigned)d1_7 < 29 && (unsigned)d2_7 < 23
        ? X[d0 * 3335 + d1_7 * 115 + d2_7 * 5 + d3_3] : 0.0f;
    const int X_shared_col = i * 32 + (idx3 ^ idx2);
    X_shared[0][X_shared_row][X_shared_col] = v0;
    X_shared[0][X_shared_row + 1][X_shared_col] = v1;
    X_shared[0][X_shared_row + 2][X_shared_col] = v2;
    X_shared[0][X_shared_row + 3][X_shared_col] = v3;
  }
  const int W_shared_row = tx / 16;
  const int row = bz * 16 + tx / 16;
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 8;
    const bool in_row1 = row1 < 45;
    *reinterpret_cast<float4*>(&W_shared[0][W_shared_row + i * 8][col])
        = make_float4(in_col && in_row1 ? W[row1 * 39 + col] : 0.0f, in_col1 && in_row1 ? W[row1 * 39 + col + 1]
        : 0.0f, in_col2 && in_row1 ? W[row1 * 39 + col + 2] : 0.0f, in_col3 && in_row1 ? W[row1 * 39 + col + 3] : 0.0f);
  }
  __syncthreads();
  const int idx4 = lane / 4 * 8;
  const int X_shared_col = warp / 2 * 64;
  const int col1 = tx % 4 * 8 + warp % 2 * 32;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    alignas(16) float X_frag[8];
    const int idx5 = i / 8 * 3 * 4;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int X_shared_col1 = X_shared_col + ((idx4 + j * 4) ^ idx5);
      *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[0][i][X_shared_col1]);
    }
    alignas(16) float W_frag[8];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[0][i][col1 + j * 4]);
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc[0][j][l] += X_frag[j] * W_frag[l];
      }
    }
  }
  const int row1 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    if (row2 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col2 = col1 + j;
        if (col2 < 39) {
          temp0[bz * 21060 + row2 * 39 + col2] = acc[0][i][j];
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_1(float* __restrict__ Y, const float* __restrict__ temp0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int row = (bx * 256 + tx) / 39;
  const int col = (bx * 256 + tx) % 39;
  if (bx * 256 + tx < 21060) {
    float acc = 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
      acc += temp0[i * 21060 + row * 39 + col];
    }
    Y[row * 39 + col] = acc;
  }
}
