// weft golden igemm --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: floormod

extern "C" __global__ void __launch_bounds__(128, 1) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
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
  const int X_shared_row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const int idx = by * 128 + tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx2 = tx / 4;
  const int row = tx / 16;
  const int idx3 = lane / 4 * 8;
  const int X_shared_col = warp / 2 * 64;
  const int col1 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 48; k += 16) {
    const int idx4 = X_shared_row + k;
    const bool in_idx4 = idx4 < 45;
    const int d3 = (k + tx % 4 * 4) % 5;
    const bool in_idx4_1 = idx4 + 1 < 45;
    const int d3_1 = (k + tx % 4 * 4 + 1) % 5;
    const bool in_idx4_2 = idx4 + 2 < 45;
    const int d3_2 = (k + tx % 4 * 4 + 2) % 5;
    const bool in_idx4_3 = idx4 + 3 < 45;
    const int d3_3 = (k + tx % 4 * 4 + 3) % 5;
    const int d1 = (k + tx % 4 * 4) / 15;
    const int d2 = (k + tx % 4 * 4) % 15 / 5;
    const int d1_1 = (k + tx % 4 * 4 + 1) / 15;
    const int d2_1 = (k + tx % 4 * 4 + 1) % 15 / 5;
    const int d1_2 = (k + tx % 4 * 4 + 2) / 15;
    const int d2_2 = (k + tx % 4 * 4 + 2) % 15 / 5;
    const int d1_3 = (k + tx % 4 * 4 + 3) / 15;
    const int d2_3 = (k + tx % 4 * 4 + 3) % 15 / 5;
    for (int i = 0; i < 4; ++i) {
      const bool inside = idx + i * 32 < 540;
      const int d0 = (by * 128 + i * 32 + tx / 4) / 180;
      const int d1_4 = d1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_4 = d2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v0 = in_idx4 && inside && (unsigned)d1_4 < 29 && (unsigned)d2_4 < 23
          ? X[d0 * 3335 + d1_4 * 115 + d2_4 * 5 + d3] : 0.0f;
      const int d1_5 = d1_1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_5 = d2_1 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v1 = in_idx4_1 && inside && (unsigned)d1_5 < 29 && (unsigned)d2_5 < 23
          ? X[d0 * 3335 + d1_5 * 115 + d2_5 * 5 + d3_1] : 0.0f;
      const int d1_6 = d1_2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_6 = d2_2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v2 = in_idx4_2 && inside && (unsigned)d1_6 < 29 && (unsigned)d2_6 < 23
          ? X[d0 * 3335 + d1_6 * 115 + d2_6 * 5 + d3_2] : 0.0f;
      const int d1_7 = d1_3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_7 = d2_3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const float v3 = in_idx4_3 && inside && (unsigned)d1_7 < 29 && (unsigned)d2_7 < 23
          ? X[d0 * 3335 + d1_7 * 115 + d2_7 * 5 + d3_3] : 0.0f;
      const int X_shared_col1 = i * 32 + (idx2 ^ idx1);
      X_shared[X_shared_row][X_shared_col1] = v0;
      X_shared[X_shared_row + 1][X_shared_col1] = v1;
      X_shared[X_shared_row + 2][X_shared_col1] = v2;
      X_shared[X_shared_row + 3][X_shared_col1] = v3;
    }
    const int row1 = row + k;
    for (int i = 0; i < 2; ++i) {
      const int row2 = row1 + i * 8;
      const bool in_row2 = row2 < 45;
      *reinterpret_cast<float4*>(&W_shared[row + i * 8][col])
          = make_float4(in_row2 && in_col ? W[row2 * 39 + col] : 0.0f, in_row2 && in_col1 ? W[row2 * 39 + col + 1]
          : 0.0f, in_row2 && in_col2 ? W[row2 * 39 + col + 2] : 0.0f, in_row2 && in_col3 ? W[row2 * 39 + col + 3]
          : 0.0f);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float X_frag[8];
      const int idx5 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int X_shared_col1 = X_shared_col + ((idx3 + j * 4) ^ idx5);
        *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[i][X_shared_col1]);
      }
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[i][col1 + j * 4]);
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
  const int row1 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    if (row2 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col2 = col1 + j;
        if (col2 < 39) {
          Y[row2 * 39 + col2] = acc[i][j];
        }
      }
    }
  }
}
