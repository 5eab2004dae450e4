// weft golden igemm_nchw.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
extern "C" __global__ void __launch_bounds__(128) conv2d_nchw(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ float W_shared[16][132];
  alignas(16) __shared__ float X_shared[1][16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  alignas(16) float acc[1][8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const int idx = bx * 64 + tx % 16 * 4;
  const bool in_idx = idx < 180;
  const bool in_idx1 = idx + 1 < 180;
  const bool in_idx2 = idx + 2 < 180;
  const bool in_idx3 = idx + 3 < 180;
  const int col1 = tx / 4;
  const int row1 = tx / 16;
  const int row2 = (bx * 16 + tx % 16) / 3 * 2;
  const int col2 = (bx * 16 + tx % 16) % 3 * 8;
  const int row3 = warp / 2 * 64 + tx % 32 / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 48; k += 16) {
    const int col4 = row + k;
    const bool in_col4 = col4 < 45;
    const bool in_col4_1 = col4 + 1 < 45;
    const bool in_col4_2 = col4 + 2 < 45;
    const bool in_col4_3 = col4 + 3 < 45;
    for (int i = 0; i < 4; ++i) {
      const int col5 = col1 + i * 32;
      const bool in_col5 = col5 < 39;
      const float v0 = in_col4_1 && in_col5 ? W[col5 * 45 + col4 + 1] : 0.0f;
      const float v1 = in_col4_2 && in_col5 ? W[col5 * 45 + col4 + 2] : 0.0f;
      const float v2 = in_col4_3 && in_col5 ? W[col5 * 45 + col4 + 3] : 0.0f;
      W_shared[row][col5] = in_col4 && in_col5 ? W[col5 * 45 + col4] : 0.0f;
      W_shared[row + 1][col5] = v0;
      W_shared[row + 2][col5] = v1;
      W_shared[row + 3][col5] = v2;
    }
    const int idx1 = row1 + k;
    for (int i = 0; i < 2; ++i) {
      const bool inside = idx1 + i * 8 < 45;
      const int plane = (k + i * 8 + tx / 16) / 9;
      const int row4 = row2 + (k + i * 8 + tx / 16) % 9 / 3 - 1;
      const int col5 = col2 + (k + i * 8 + tx / 16) % 3;
      const bool in_row4 = (unsigned)row4 < 29;
      const float v0 = inside && in_idx && in_row4 && (unsigned)(col5 - 1) < 23
          ? X[bz * 3335 + plane * 667 + row4 * 23 + (col5 - 1)] : 0.0f;
      const float v1 = inside && in_idx3 && in_row4 && col5 + 5 < 23
          ? X[bz * 3335 + plane * 667 + row4 * 23 + col5 + 5] : 0.0f;
      *reinterpret_cast<float4*>(&X_shared[0][row1 + i * 8][col])
          = make_float4(v0, inside && in_idx1 && in_row4 ? X[bz * 3335 + plane * 667 + row4 * 23 + col5 + 1] : 0.0f,
          inside && in_idx2 && in_row4 ? X[bz * 3335 + plane * 667 + row4 * 23 + col5 + 3] : 0.0f, v1);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[i][row3 + j * 4]);
      }
      alignas(16) float X_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[0][i][col3 + j * 4]);
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
  const int col4 = bx * 64 + tx % 4 * 8 + warp % 2 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row4 = row3 + i;
    if (row4 < 39) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int col5 = col4 + j * 4;
        if (col5 < 180) {
          *reinterpret_cast<float4*>(&Y[bz * 7020 + row4 * 180 + col5])
              = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
        }
      }
    }
  }
}
