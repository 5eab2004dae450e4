// weft golden igemm_nchw.weft
extern "C" __global__ void __launch_bounds__(128) conv2d_nchw(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ float W_shared[16][132];
  alignas(16) __shared__ float X_shared[1][16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  alignas(16) float acc[1][8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int col = tx % 4 * 4;
  const int col1 = tx % 16 * 4;
  const int col2 = tx / 4;
  const int row = tx / 16;
  const int row1 = bx * 4 - tx / 16 * 4 + tx / 4;
  const int row2 = warp / 2 * 64 + tx % 32 / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int col4 = col + k;
    for (int i = 0; i < 4; ++i) {
      const int col5 = col2 + i * 32;
      float v0;
      float v1;
      float v2;
      float v3;
      if (col5 < 32) {
        const float4 w = *reinterpret_cast<const float4*>(&W[col5 * 144 + col4]);
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
      W_shared[col][col5] = v0;
      W_shared[col + 1][col5] = v1;
      W_shared[col + 2][col5] = v2;
      W_shared[col + 3][col5] = v3;
    }
    for (int i = 0; i < 2; ++i) {
      const int plane = (k + i * 8 + tx / 16) / 9;
      const int row3 = row1 + (k + i * 8 + tx / 16) % 9 / 3 - 1;
      const int col5 = col + (k + i * 8 + tx / 16) % 3;
      const bool in_row3 = (unsigned)row3 < 16;
      *reinterpret_cast<float4*>(&X_shared[0][row + i * 8][col1])
          = make_float4(in_row3 && (unsigned)(col5 - 1) < 16 ? X[plane * 256 + row3 * 16 + (col5 - 1)] : 0.0f,
          in_row3 ? X[plane * 256 + row3 * 16 + col5] : 0.0f, in_row3 ? X[plane * 256 + row3 * 16 + col5 + 1] : 0.0f,
          in_row3 && col5 + 2 < 16 ? X[plane * 256 + row3 * 16 + col5 + 2] : 0.0f);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[i][row2 + j * 4]);
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
    const int row3 = row2 + i;
    if (row3 < 32) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&Y[row3 * 256 + col4 + j * 4]) = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
      }
    }
  }
}
