// weft golden igemm_pipelined
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
  alignas(16) float acc[16][8];
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int idx = tx % 2 * 4;
  const int d2 = tx / 2 % 16;
  const bool in_d2 = (unsigned)(d2 - 1) < 16;
  const int d1 = by * 8 + tx / 2 / 16;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 2 * 3, 4) * 4;
  const int idx2 = tx / 2;
  for (int i = 0; i < 4; ++i) {
    const int d1_1 = d1 + i * 2 - 1;
    float v0;
    float v1;
    float v2;
    float v3;
    if ((unsigned)d1_1 < 16 && in_d2) {
      const float4 x = *reinterpret_cast<const float4*>(&X[d1_1 * 256 + (d2 - 1) * 16 + idx]);
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
    const int X_shared_col = i * 32 + (idx2 ^ idx1);
    X_shared[0][idx][X_shared_col] = v0;
    X_shared[0][idx + 1][X_shared_col] = v1;
    X_shared[0][idx + 2][X_shared_col] = v2;
    X_shared[0][idx + 3][X_shared_col] = v3;
  }
  const int col = tx % 16 * 4;
  const bool in_col = col < 32;
  const int row = tx / 16;
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 4;
    float v0;
    float v1;
    float v2;
    float v3;
    if (in_col) {
      const float4 w = *reinterpret_cast<const float4*>(&W[row1 * 32 + col]);
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
    *reinterpret_cast<float4*>(&W_shared[0][row1][col]) = make_float4(v0, v1, v2, v3);
  }
  const int X_shared_col = lane / 4 * 16;
  const int col1 = tx % 4 * 8 + tx / 32 * 32;
  for (int k = 0; k < 144; k += 8) {
    const bool in_k = k + 8 < 144;
    const int d3 = (k + tx % 2 * 4 + 8) % 16;
    const int d2_1 = d2 + (k + tx % 2 * 4 + 8) % 48 / 16 - 1;
    const int d1_1 = d1 + (k + tx % 2 * 4 + 8) / 48;
    const int row1 = row + k;
    if (in_k) {
      const bool in_d2_1 = (unsigned)d2_1 < 16;
      #pragma unroll
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
        X_next[i * 4] = v0;
        X_next[i * 4 + 1] = v1;
        X_next[i * 4 + 2] = v2;
        X_next[i * 4 + 3] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        float v0;
        float v1;
        float v2;
        float v3;
        if (in_col) {
          const float4 w = *reinterpret_cast<const float4*>(&W[(row1 + i * 4 + 8) * 32 + col]);
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
        W_next[i * 4] = v0;
        W_next[i * 4 + 1] = v1;
        W_next[i * 4 + 2] = v2;
        W_next[i * 4 + 3] = v3;
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
        X_shared[plane1][idx][X_shared_col1] = v0;
        X_shared[plane1][idx + 1][X_shared_col1] = v1;
        X_shared[plane1][idx + 2][X_shared_col1] = v2;
        X_shared[plane1][idx + 3][X_shared_col1] = v3;
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
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int col2 = col1 + j * 4;
      if (col2 < 32) {
        *reinterpret_cast<float4*>(&Y[row2 * 32 + col2]) = *reinterpret_cast<const float4*>(&acc[i][j * 4]);
      }
    }
  }
}
