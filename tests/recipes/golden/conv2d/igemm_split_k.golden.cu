// weft golden igemm_split_k
// prelude: floormod

extern "C" __global__ void __launch_bounds__(128, 1) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ Y_2) {
  alignas(16) __shared__ float X_shared[1][16][132];
  alignas(16) __shared__ float W_shared[1][16][64];
  const int tx = threadIdx.x;
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
  const int X_shared_row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const int d2 = tx / 4 % 16;
  const int d1 = tx / 4 / 16;
  const int idx = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx1 = tx / 4;
  const int W_shared_row = tx / 16;
  const int row = bz * 144 + tx / 16;
  const int idx2 = lane / 4 * 8;
  const int X_shared_col = warp / 2 * 64;
  const int col1 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int d3 = (bz * 144 + k + tx % 4 * 4) % 64;
    const int d2_1 = d2 + (bz * 144 + k + tx % 4 * 4) % 192 / 64 - 1;
    const bool in_d2_1 = (unsigned)d2_1 < 16;
    const int d1_1 = d1 + (bz * 144 + k + tx % 4 * 4) / 192;
    for (int i = 0; i < 4; ++i) {
      const int d1_2 = d1_1 + i * 2 - 1;
      float v0;
      float v1;
      float v2;
      float v3;
      if ((unsigned)d1_2 < 8 && in_d2_1) {
        const float4 x = *reinterpret_cast<const float4*>(&X[d1_2 * 1024 + d2_1 * 64 + d3]);
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
      X_shared[0][X_shared_row][X_shared_col1] = v0;
      X_shared[0][X_shared_row + 1][X_shared_col1] = v1;
      X_shared[0][X_shared_row + 2][X_shared_col1] = v2;
      X_shared[0][X_shared_row + 3][X_shared_col1] = v3;
    }
    const int row1 = row + k;
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float4*>(&W_shared[0][W_shared_row + i * 8][col])
          = *reinterpret_cast<const float4*>(&W[(row1 + i * 8) * 64 + col]);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float X_frag[8];
      const int idx3 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int X_shared_col1 = X_shared_col + ((idx2 + j * 4) ^ idx3);
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
    __syncthreads();
  }
  const int row1 = warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&Y_2[bz * 8192 + row2 * 64 + col1 + j * 4])
          = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_1(float* __restrict__ Y, const float* __restrict__ Y_2) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float acc = 0.0f;
  const int row = bx * 4 + tx / 64;
  const int col = tx % 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    acc += Y_2[i * 8192 + row * 64 + col];
  }
  Y[row * 64 + col] = acc;
}
