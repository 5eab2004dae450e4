// weft golden igemm_split_k.weft
extern "C" __global__ void __launch_bounds__(128) conv2d(
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
  const int col = tx / 4;
  const int col1 = tx % 16 * 4;
  const int plane = tx / 4 / 16;
  const int row1 = tx / 4 % 16;
  const int row2 = tx / 16;
  const int row3 = bz * 144 + tx / 16;
  const int row4 = warp / 2 * 64 + tx % 32 / 4 * 8;
  const int col2 = tx % 4 * 8 + warp % 2 * 32;
  int kh = bz * 3 / 4;
  int kw = bz * 9 / 4 - bz * 3 / 4 * 3;
  int c = bz * 9 % 4 * 16;
  for (int k = 0; k < 144; k += 16) {
    const int col3 = row + c;
    const int plane1 = plane + kh;
    const int row5 = row1 + kw - 1;
    const bool in_row5 = (unsigned)row5 < 16;
    float v0;
    float v1;
    float v2;
    float v3;
    if ((unsigned)(plane1 - 1) < 8 && in_row5) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 - 1) * 1024 + row5 * 64 + col3]);
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
    X_shared[0][row][col] = v0;
    X_shared[0][row + 1][col] = v1;
    X_shared[0][row + 2][col] = v2;
    X_shared[0][row + 3][col] = v3;
    float v4;
    float v5;
    float v6;
    float v7;
    if (in_row5) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 1) * 1024 + row5 * 64 + col3]);
      v4 = x.x;
      v5 = x.y;
      v6 = x.z;
      v7 = x.w;
    } else {
      v4 = 0.0f;
      v5 = 0.0f;
      v6 = 0.0f;
      v7 = 0.0f;
    }
    X_shared[0][row][col + 32] = v4;
    X_shared[0][row + 1][col + 32] = v5;
    X_shared[0][row + 2][col + 32] = v6;
    X_shared[0][row + 3][col + 32] = v7;
    float v8;
    float v9;
    float v10;
    float v11;
    if (in_row5) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 3) * 1024 + row5 * 64 + col3]);
      v8 = x.x;
      v9 = x.y;
      v10 = x.z;
      v11 = x.w;
    } else {
      v8 = 0.0f;
      v9 = 0.0f;
      v10 = 0.0f;
      v11 = 0.0f;
    }
    X_shared[0][row][col + 64] = v8;
    X_shared[0][row + 1][col + 64] = v9;
    X_shared[0][row + 2][col + 64] = v10;
    X_shared[0][row + 3][col + 64] = v11;
    float v12;
    float v13;
    float v14;
    float v15;
    if (plane1 + 5 < 8 && in_row5) {
      const float4 x = *reinterpret_cast<const float4*>(&X[(plane1 + 5) * 1024 + row5 * 64 + col3]);
      v12 = x.x;
      v13 = x.y;
      v14 = x.z;
      v15 = x.w;
    } else {
      v12 = 0.0f;
      v13 = 0.0f;
      v14 = 0.0f;
      v15 = 0.0f;
    }
    X_shared[0][row][col + 96] = v12;
    X_shared[0][row + 1][col + 96] = v13;
    X_shared[0][row + 2][col + 96] = v14;
    X_shared[0][row + 3][col + 96] = v15;
    const int row6 = row3 + k;
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float4*>(&W_shared[0][row2 + i * 8][col1])
          = *reinterpret_cast<const float4*>(&W[(row6 + i * 8) * 64 + col1]);
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
    const int idx = c + 16;
    const bool in_idx = idx >= 64;
    const int idx1 = in_idx ? kw + 1 : kw;
    const bool in_idx1 = idx1 >= 3;
    kh = in_idx1 ? kh + 1 : kh;
    kw = in_idx1 ? idx1 - 3 : idx1;
    c = in_idx ? c - 48 : idx;
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
