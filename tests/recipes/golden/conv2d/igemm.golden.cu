// weft golden igemm
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
  alignas(16) float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int X_shared_row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 32;
  const int d2 = tx / 4 % 16;
  const int d1 = by * 8 + tx / 4 / 16;
  const int idx = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx1 = tx / 4;
  const int row = tx / 16;
  const int idx2 = lane / 4 * 8;
  const int X_shared_col = warp / 2 * 64;
  const int col1 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int d3 = (k + tx * 4) % 16;
    const int d2_1 = d2 + (k + tx % 4 * 4) % 48 / 16 - 1;
    const bool in_d2_1 = (unsigned)d2_1 < 16;
    const int d1_1 = d1 + (k + tx % 4 * 4) / 48;
    for (int i = 0; i < 4; ++i) {
      const int d1_2 = d1_1 + i * 2 - 1;
      float v0;
      float v1;
      float v2;
      float v3;
      if ((unsigned)d1_2 < 16 && in_d2_1) {
        const float4 x = *reinterpret_cast<const float4*>(&X[d1_2 * 256 + d2_1 * 16 + d3]);
        v0 = x.x;
        v1 = x.y;
        v2 = x.z;
        v3 = x.w;
      } else {
        v0 = 0.0f;
        v1 = 0.0f;
        v2 = 0.0f;
        v3 = 0.0f;
      }
      const int X_shared_col1 = i * 32 + (idx1 ^ idx);
      X_shared[X_shared_row][X_shared_col1] = v0;
      X_shared[X_shared_row + 1][X_shared_col1] = v1;
      X_shared[X_shared_row + 2][X_shared_col1] = v2;
      X_shared[X_shared_row + 3][X_shared_col1] = v3;
    }
    const int row1 = row + k;
    for (int i = 0; i < 2; ++i) {
      float v0;
      float v1;
      float v2;
      float v3;
      if (in_col) {
        const float4 w = *reinterpret_cast<const float4*>(&W[(row1 + i * 8) * 32 + col]);
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
      *reinterpret_cast<float4*>(&W_shared[row + i * 8][col]) = make_float4(v0, v1, v2, v3);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float X_frag[8];
      const int idx3 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int X_shared_col1 = X_shared_col + ((idx2 + j * 4) ^ idx3);
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
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int col2 = col1 + j * 4;
      if (col2 < 32) {
        *reinterpret_cast<float4*>(&Y[row2 * 32 + col2]) = *reinterpret_cast<const float4*>(&acc[i][j * 4]);
      }
    }
  }
}
