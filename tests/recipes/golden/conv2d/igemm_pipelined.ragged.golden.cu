// weft golden igemm_pipelined --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: floormod

extern "C" __global__ void __launch_bounds__(64, 1) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ float X_shared[2][8][132];
  alignas(16) __shared__ float W_shared[2][8][64];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int lane = tx % 32;
  float X_next[16];
  alignas(16) float W_next[8];
  float acc[16][8];
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int X_shared_row = tx % 2 * 4;
  const int d3 = tx % 2 * 4;
  const int d3_1 = (tx % 2 * 4 + 1) % 5;
  const int d3_2 = (tx % 2 * 4 + 2) % 5;
  const int d3_3 = (tx % 2 * 4 + 3) % 5;
  const int idx = by * 128 + tx / 2;
  const int d2 = (tx % 2 * 4 + 1) / 5;
  const int d2_1 = (tx % 2 * 4 + 2) / 5;
  const int d2_2 = (tx % 2 * 4 + 3) / 5;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 2 * 3, 4) * 4;
  const int idx2 = tx / 2;
  for (int i = 0; i < 4; ++i) {
    const bool inside = idx + i * 32 < 540;
    const int d0 = (by * 128 + i * 32 + tx / 2) / 180;
    const int d1 = (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
    const int d2_3 = (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
    const int d1_1 = (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
    const int d2_4 = d2 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
    const float v0 = inside && (unsigned)d1_1 < 29 && (unsigned)d2_4 < 23
        ? X[d0 * 3335 + d1_1 * 115 + d2_4 * 5 + d3_1] : 0.0f;
    const int d1_2 = (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
    const int d2_5 = d2_1 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
    const float v1 = inside && (unsigned)d1_2 < 29 && (unsigned)d2_5 < 23
        ? X[d0 * 3335 + d1_2 * 115 + d2_5 * 5 + d3_2] : 0.0f;
    const int d1_3 = (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
    const int d2_6 = d2_2 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
    const float v2 = inside && (unsigned)d1_3 < 29 && (unsigned)d2_6 < 23
        ? X[d0 * 3335 + d1_3 * 115 + d2_6 * 5 + d3_3] : 0.0f;
    const int X_shared_col = i * 32 + (idx2 ^ idx1);
    X_shared[0][X_shared_row][X_shared_col] = inside && (unsigned)d1 < 29 && (unsigned)d2_3 < 23
        ? X[d0 * 3335 + d1 * 115 + d2_3 * 5 + d3] : 0.0f;
    X_shared[0][X_shared_row + 1][X_shared_col] = v0;
    X_shared[0][X_shared_row + 2][X_shared_col] = v1;
    X_shared[0][X_shared_row + 3][X_shared_col] = v2;
  }
  const int col = tx % 16 * 4;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const int row = tx / 16;
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 4;
    *reinterpret_cast<float4*>(&W_shared[0][row1][col])
        = make_float4(in_col ? W[row1 * 39 + col] : 0.0f, in_col1 ? W[row1 * 39 + col + 1] : 0.0f, in_col2
        ? W[row1 * 39 + col + 2] : 0.0f, in_col3 ? W[row1 * 39 + col + 3] : 0.0f);
  }
  const int X_shared_col = lane / 4 * 16;
  const int col1 = tx % 4 * 8 + tx / 32 * 32;
  for (int k = 0; k < 48; k += 8) {
    const bool in_k = k + 8 < 48;
    const int idx3 = X_shared_row + k;
    const int d3_4 = (k + tx % 2 * 4 + 8) % 5;
    const int d3_5 = (k + tx % 2 * 4 + 9) % 5;
    const int d3_6 = (k + tx % 2 * 4) % 5;
    const int d3_7 = (k + tx % 2 * 4 + 11) % 5;
    const int d1 = (k + tx % 2 * 4 + 8) / 15;
    const int d2_3 = (k + tx % 2 * 4 + 8) % 15 / 5;
    const int d1_1 = (k + tx % 2 * 4 + 9) / 15;
    const int d2_4 = (k + tx % 2 * 4 + 9) % 15 / 5;
    const int d1_2 = (k + tx % 2 * 4 + 10) / 15;
    const int d2_5 = (k + tx % 2 * 4 + 10) % 15 / 5 - 2;
    const int d1_3 = (k + tx % 2 * 4 + 11) / 15;
    const int d2_6 = (k + tx % 2 * 4 + 11) % 15 / 5;
    const int row1 = row + k;
    if (in_k) {
      const bool in_idx3 = idx3 + 8 < 45;
      const bool in_idx3_1 = idx3 + 9 < 45;
      const bool in_idx3_2 = idx3 + 10 < 45;
      const bool in_idx3_3 = idx3 + 11 < 45;
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = idx + i * 32 < 540;
        const int d0 = (by * 128 + i * 32 + tx / 2) / 180;
        const int d1_4 = d1 + (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
        const int d2_7 = d2_3 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
        const float v0 = in_idx3 && inside && (unsigned)d1_4 < 29 && (unsigned)d2_7 < 23
            ? X[d0 * 3335 + d1_4 * 115 + d2_7 * 5 + d3_4] : 0.0f;
        const int d1_5 = d1_1 + (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
        const int d2_8 = d2_4 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
        const float v1 = in_idx3_1 && inside && (unsigned)d1_5 < 29 && (unsigned)d2_8 < 23
            ? X[d0 * 3335 + d1_5 * 115 + d2_8 * 5 + d3_5] : 0.0f;
        const int d1_6 = d1_2 + (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
        const int d2_9 = d2_5 + (by * 128 + i * 32 + tx / 2) % 12 * 2 + 1;
        const float v2 = in_idx3_2 && inside && (unsigned)d1_6 < 29 && (unsigned)d2_9 < 23
            ? X[d0 * 3335 + d1_6 * 115 + d2_9 * 5 + d3_6] : 0.0f;
        const int d1_7 = d1_3 + (by * 128 + i * 32 + tx / 2) % 180 / 12 * 2 - 1;
        const int d2_10 = d2_6 + (by * 128 + i * 32 + tx / 2) % 12 * 2 - 1;
        const float v3 = in_idx3_3 && inside && (unsigned)d1_7 < 29 && (unsigned)d2_10 < 23
            ? X[d0 * 3335 + d1_7 * 115 + d2_10 * 5 + d3_7] : 0.0f;
        X_next[i * 4] = v0;
        X_next[i * 4 + 1] = v1;
        X_next[i * 4 + 2] = v2;
        X_next[i * 4 + 3] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row2 = row1 + i * 4 + 8;
        const bool in_row2 = row2 < 45;
        W_next[i * 4] = in_row2 && in_col ? W[row2 * 39 + col] : 0.0f;
        W_next[i * 4 + 1] = in_row2 && in_col1 ? W[row2 * 39 + col + 1] : 0.0f;
        W_next[i * 4 + 2] = in_row2 && in_col2 ? W[row2 * 39 + col + 2] : 0.0f;
        W_next[i * 4 + 3] = in_row2 && in_col3 ? W[row2 * 39 + col + 3] : 0.0f;
      }
    }
    __syncthreads();
    const int plane = k / 8 % 2;
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      alignas(16) float X_frag[16];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int X_shared_col1 = X_shared_col + ((j * 4) ^ 0);
        *reinterpret_cast<float4*>(&X_frag[j * 4])
            = *reinterpret_cast<const float4*>(&X_shared[plane][i][X_shared_col1]);
      }
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4])
            = *reinterpret_cast<const float4*>(&W_shared[plane][i][col1 + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 16; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[j][l] += X_frag[j] * W_frag[l];
        }
      }
    }
    const int plane1 = (k / 8 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v0 = X_next[i * 4];
        const float v1 = X_next[i * 4 + 1];
        const float v2 = X_next[i * 4 + 2];
        const float v3 = X_next[i * 4 + 3];
        const int X_shared_col1 = i * 32 + (idx2 ^ idx1);
        X_shared[plane1][X_shared_row][X_shared_col1] = v0;
        X_shared[plane1][X_shared_row + 1][X_shared_col1] = v1;
        X_shared[plane1][X_shared_row + 2][X_shared_col1] = v2;
        X_shared[plane1][X_shared_row + 3][X_shared_col1] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<float4*>(&W_shared[plane1][row + i * 4][col])
            = *reinterpret_cast<const float4*>(&W_next[i * 4]);
      }
    }
  }
  const int row1 = by * 128 + lane / 4 * 16;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
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
