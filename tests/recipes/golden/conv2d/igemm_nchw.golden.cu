// weft golden igemm_nchw
// prelude: floormod

extern "C" __global__ void __launch_bounds__(128, 1) conv2d_nchw(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ float W_shared[16][132];
  alignas(16) __shared__ float X_shared[1][16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
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
  const int row = tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int X_shared_row = tx / 16;
  const int d2 = bx * 4 - tx / 16 * 4 + tx / 4;
  const int idx2 = lane / 4 * 8;
  const int W_shared_col = warp / 2 * 64;
  const int X_shared_col1 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int col = idx + k;
    for (int i = 0; i < 4; ++i) {
      const int row1 = row + i * 32;
      float v0;
      float v1;
      float v2;
      float v3;
      if (row1 < 32) {
        const float4 w = *reinterpret_cast<const float4*>(&W[row1 * 144 + col]);
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
      const int W_shared_col1 = i * 32 + (row ^ idx1);
      W_shared[idx][W_shared_col1] = v0;
      W_shared[idx + 1][W_shared_col1] = v1;
      W_shared[idx + 2][W_shared_col1] = v2;
      W_shared[idx + 3][W_shared_col1] = v3;
    }
    for (int i = 0; i < 2; ++i) {
      const int d1 = (k + i * 8 + tx / 16) / 9;
      const int d2_1 = d2 + (k + i * 8 + tx / 16) % 9 / 3 - 1;
      const int d3 = idx + (k + i * 8 + tx / 16) % 3;
      const bool in_d2_1 = (unsigned)d2_1 < 16;
      *reinterpret_cast<float4*>(&X_shared[0][X_shared_row + i * 8][X_shared_col])
          = make_float4(in_d2_1 && (unsigned)(d3 - 1) < 16 ? X[d1 * 256 + d2_1 * 16 + (d3 - 1)] : 0.0f, in_d2_1
          ? X[d1 * 256 + d2_1 * 16 + d3] : 0.0f, in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3 + 1] : 0.0f, in_d2_1 && d3
          + 2 < 16 ? X[d1 * 256 + d2_1 * 16 + d3 + 2] : 0.0f);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float W_frag[8];
      const int idx3 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int W_shared_col1 = W_shared_col + ((idx2 + j * 4) ^ idx3);
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
    if (row2 < 32) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&Y[row2 * 256 + col + j * 4]) = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
      }
    }
  }
}
