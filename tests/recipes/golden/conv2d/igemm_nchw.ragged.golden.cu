// weft golden igemm_nchw --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: floormod

extern "C" __global__ void __launch_bounds__(128, 1) conv2d_nchw(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ float W_shared[16][132];
  alignas(16) __shared__ float X_shared[1][16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int bz = blockIdx.z;
  const int lane = tx % 32;
  const int warp = tx / 32;
  alignas(16) float acc[1][8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int idx = tx % 4 * 4;
  const int X_shared_col = tx % 16 * 4;
  const int idx1 = bx * 64 + tx % 16 * 4;
  const bool in_idx1 = idx1 < 180;
  const bool in_idx1_1 = idx1 + 1 < 180;
  const bool in_idx1_2 = idx1 + 2 < 180;
  const bool in_idx1_3 = idx1 + 3 < 180;
  const int row = tx / 4;
  const int idx2 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int X_shared_row = tx / 16;
  const int d2 = (bx * 16 + tx % 16) / 3 * 2;
  const int d3 = (bx * 16 + tx % 16) % 3 * 8;
  const int idx3 = lane / 4 * 8;
  const int W_shared_col = warp / 2 * 64;
  const int X_shared_col1 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 48; k += 16) {
    const int col = idx + k;
    const bool in_col = col < 45;
    const bool in_col1 = col + 1 < 45;
    const bool in_col2 = col + 2 < 45;
    const bool in_col3 = col + 3 < 45;
    for (int i = 0; i < 4; ++i) {
      const int row1 = row + i * 32;
      const bool in_row1 = row1 < 39;
      const int W_shared_col1 = i * 32 + (row ^ idx2);
      const float v0 = in_col1 && in_row1 ? W[row1 * 45 + col + 1] : 0.0f;
      const float v1 = in_col2 && in_row1 ? W[row1 * 45 + col + 2] : 0.0f;
      const float v2 = in_col3 && in_row1 ? W[row1 * 45 + col + 3] : 0.0f;
      W_shared[idx][W_shared_col1] = in_col && in_row1 ? W[row1 * 45 + col] : 0.0f;
      W_shared[idx + 1][W_shared_col1] = v0;
      W_shared[idx + 2][W_shared_col1] = v1;
      W_shared[idx + 3][W_shared_col1] = v2;
    }
    const int idx4 = X_shared_row + k;
    for (int i = 0; i < 2; ++i) {
      const bool inside = idx4 + i * 8 < 45;
      const int d1 = (k + i * 8 + tx / 16) / 9;
      const int d2_1 = d2 + (k + i * 8 + tx / 16) % 9 / 3 - 1;
      const int d3_1 = d3 + (k + i * 8 + tx / 16) % 3;
      const bool in_d2_1 = (unsigned)d2_1 < 29;
      const float v0 = inside && in_idx1 && in_d2_1 && (unsigned)(d3_1 - 1) < 23
          ? X[bz * 3335 + d1 * 667 + d2_1 * 23 + (d3_1 - 1)] : 0.0f;
      const float v1 = inside && in_idx1_3 && in_d2_1 && d3_1 + 5 < 23
          ? X[bz * 3335 + d1 * 667 + d2_1 * 23 + d3_1 + 5] : 0.0f;
      *reinterpret_cast<float4*>(&X_shared[0][X_shared_row + i * 8][X_shared_col])
          = make_float4(v0, inside && in_idx1_1 && in_d2_1 ? X[bz * 3335 + d1 * 667 + d2_1 * 23 + d3_1 + 1] : 0.0f,
          inside && in_idx1_2 && in_d2_1 ? X[bz * 3335 + d1 * 667 + d2_1 * 23 + d3_1 + 3] : 0.0f, v1);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float W_frag[8];
      const int idx5 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int W_shared_col1 = W_shared_col + ((idx3 + j * 4) ^ idx5);
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[i][W_shared_col1]);
      }
      alignas(16) float X_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&X_frag[j * 4])
            = *reinterpret_cast<const float4*>(&X_shared[0][i][X_shared_col1 + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[0][j][l] += X_frag[l] * W_frag[j];
        }
      }
    }
    __syncthreads();
  }
  const int row1 = warp / 2 * 64 + lane / 4 * 8;
  const int col = bx * 64 + tx % 4 * 8 + warp % 2 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    if (row2 < 39) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int col1 = col + j * 4;
        if (col1 < 180) {
          *reinterpret_cast<float4*>(&Y[bz * 7020 + row2 * 180 + col1])
              = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
        }
      }
    }
  }
}
