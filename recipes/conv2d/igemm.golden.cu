// weft golden igemm.weft
extern "C" __global__ void __launch_bounds__(128) conv2d(
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
  const int row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 32;
  const int row1 = tx / 4 % 16;
  const int plane = by * 8 + tx / 4 / 16;
  const int col1 = tx / 4;
  const int row2 = tx / 16;
  const int col2 = warp / 2 * 64 + lane / 4 * 8;
  const int col3 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int col4 = (k + tx * 4) % 16;
    const int row3 = row1 + (k + tx % 4 * 4) % 48 / 16 - 1;
    const bool in_row3 = (unsigned)row3 < 16;
    const int plane1 = plane + (k + tx % 4 * 4) / 48;
    for (int i = 0; i < 4; ++i) {
      const int plane2 = plane1 + i * 2 - 1;
      float v0;
      float v1;
      float v2;
      float v3;
      if ((unsigned)plane2 < 16 && in_row3) {
        const float4 x = *reinterpret_cast<const float4*>(&X[plane2 * 256 + row3 * 16 + col4]);
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
      const int col5 = col1 + i * 32;
      X_shared[row][col5] = v0;
      X_shared[row + 1][col5] = v1;
      X_shared[row + 2][col5] = v2;
      X_shared[row + 3][col5] = v3;
    }
    const int row4 = row2 + k;
    for (int i = 0; i < 2; ++i) {
      float v0;
      float v1;
      float v2;
      float v3;
      if (in_col) {
        const float4 w = *reinterpret_cast<const float4*>(&W[(row4 + i * 8) * 32 + col]);
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
      *reinterpret_cast<float4*>(&W_shared[row2 + i * 8][col]) = make_float4(v0, v1, v2, v3);
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
  }
  const int row3 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row4 = row3 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int col4 = col3 + j * 4;
      if (col4 < 32) {
        *reinterpret_cast<float4*>(&Y[row4 * 32 + col4]) = *reinterpret_cast<const float4*>(&acc[i][j * 4]);
      }
    }
  }
}
