// weft golden igemm_split_k.weft
extern "C" __global__ void __launch_bounds__(128, 4) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ arg2) {
  alignas(16) __shared__ float X_shared[1][16][132];
  alignas(16) __shared__ float W_shared[1][16][64];
  const int tx = threadIdx.x;
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
  const int row1 = tx / 4 % 16;
  const int plane = tx / 4 / 16;
  const int col1 = tx / 4;
  const int row2 = tx / 16;
  const int row3 = bz * 144 + tx / 16;
  const int row4 = warp / 2 * 64 + tx % 32 / 4 * 8;
  const int col2 = tx % 4 * 8 + warp % 2 * 32;
  for (int k = 0; k < 144; k += 16) {
    const int col3 = (bz * 144 + k + tx % 4 * 4) % 64;
    const int row5 = row1 + (bz * 144 + k + tx % 4 * 4) % 192 / 64 - 1;
    const bool in_row5 = (unsigned)row5 < 16;
    const int plane1 = plane + (bz * 144 + k + tx % 4 * 4) / 192;
    for (int i = 0; i < 4; ++i) {
      const int plane2 = plane1 + i * 2 - 1;
      float v0;
      float v1;
      float v2;
      float v3;
      if ((unsigned)plane2 < 8 && in_row5) {
        const float4 x = *reinterpret_cast<const float4*>(&X[plane2 * 1024 + row5 * 64 + col3]);
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
      const int col4 = col1 + i * 32;
      X_shared[0][row][col4] = v0;
      X_shared[0][row + 1][col4] = v1;
      X_shared[0][row + 2][col4] = v2;
      X_shared[0][row + 3][col4] = v3;
    }
    const int row6 = row3 + k;
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float4*>(&W_shared[0][row2 + i * 8][col])
          = *reinterpret_cast<const float4*>(&W[(row6 + i * 8) * 64 + col]);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float X_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[0][i][row4 + j * 4]);
      }
      alignas(16) float W_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[0][i][col2 + j * 4]);
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
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row5 = row4 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&arg2[bz * 8192 + row5 * 64 + col2 + j * 4])
          = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_1(float* __restrict__ Y, const float* __restrict__ arg1) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float acc = 0.0f;
  const int row = bx * 4 + tx / 64;
  const int col = tx % 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    acc += arg1[i * 8192 + row * 64 + col];
  }
  Y[row * 64 + col] = acc;
}
