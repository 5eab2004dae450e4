// weft golden attention
// prelude: floormod, maximum

extern "C" __global__ void __launch_bounds__(256, 2) attention(
    const float* __restrict__ Q,
    const float* __restrict__ K,
    const float* __restrict__ V,
    float* __restrict__ O) {
  extern __shared__ float4 dynamic_shared[];
  float (*Q_shared)[64][128] = reinterpret_cast<float (*)[64][128]>(dynamic_shared + 0);
  float (*K_shared)[64][68] = reinterpret_cast<float (*)[64][68]>(dynamic_shared + 2048);
  float (*V_shared)[64][64] = reinterpret_cast<float (*)[64][64]>(dynamic_shared + 3136);
  float (*sum)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 4160);
  float (*powers)[128][64] = reinterpret_cast<float (*)[128][64]>(dynamic_shared + 4192);
  float (*largest)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 6240);
  float (*temp0)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 6272);
  float (*temp1)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 6304);
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int idx = tx / 2 + ty * 8;
  const int row = by * 128 + tx / 2 + ty * 8;
  const int idx1 = tx % 2 * 4;
  const int idx2 = tx * 4 % 8 * 4;
  for (int i = 0; i < 8; ++i) {
    const int idx3 = idx1 + i * 8;
    const float4 q = *reinterpret_cast<const float4*>(&Q[bz * 16384 + row * 64 + idx3]);
    Q_shared[0][idx3][idx ^ idx2] = q.x;
    Q_shared[0][idx3 + 1][idx ^ ((i * 8 + tx % 2 * 4 + 1) % 8 * 4)] = q.y;
    Q_shared[0][idx3 + 2][idx ^ ((i * 8 + tx % 2 * 4 + 2) % 8 * 4)] = q.z;
    Q_shared[0][idx3 + 3][idx ^ ((i * 8 + tx % 2 * 4 + 3) % 8 * 4)] = q.w;
  }
  float m0;
  const int col = tx + ty * 16;
  const bool in_col = col < 128;
  if (in_col) {
    m0 = __uint_as_float(0xff800000u);
  }
  if (in_col) {
    sum[0][col] = 0.0f;
  }
  float O_tile[1][8][4];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      O_tile[0][i][j] = 0.0f;
    }
  }
  const int row1 = (tx + ty * 16) % 128 / 2;
  const int col1 = (tx + ty * 16) % 32;
  const bool in_col1 = col1 < 1;
  const bool in_col1_1 = col1 == 0;
  const int idx3 = (tx + ty * 16) / 128 * 8 + tx % 2 * 4;
  const int idx4 = (tx + ty * 16) / 32;
  const int largest_col = tx - (tx + ty * 16) / 32 * 31 + ty * 16;
  for (int k = 0; k < 256; k += 64) {
    const int row2 = row1 + k;
    for (int i = 0; i < 4; ++i) {
      const int idx5 = idx3 + i * 16;
      const float4 k1 = *reinterpret_cast<const float4*>(&K[bz * 16384 + row2 * 64 + idx5]);
      const int K_shared_col = row1 ^ (floormod(i * 6 + (tx + ty * 16) / 128 * 3 - tx / 2 * 3 + tx * 4 / 8 * 3, 4) * 4);
      K_shared[0][idx5][K_shared_col] = k1.x;
      K_shared[0][idx5 + 1][K_shared_col] = k1.y;
      K_shared[0][idx5 + 2][K_shared_col] = k1.z;
      K_shared[0][idx5 + 3][K_shared_col] = k1.w;
    }
    __syncthreads();
    float products[1][8][4];
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        products[0][i][j] = -0.0f;
      }
    }
    #pragma unroll 8
    for (int i = 0; i < 64; ++i) {
      alignas(16) float Q_frag[8];
      const int idx5 = i % 8 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&Q_frag[j * 4])
            = *reinterpret_cast<const float4*>(&Q_shared[0][i][(ty * 8 + j * 4) ^ idx5]);
      }
      alignas(16) float K_frag[4];
      const int K_shared_col = (tx * 4) ^ (i / 8 * 3 % 4 * 4);
      *reinterpret_cast<float4*>(&K_frag[0]) = *reinterpret_cast<const float4*>(&K_shared[0][i][K_shared_col]);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          products[0][j][l] += Q_frag[j] * K_frag[l];
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      *reinterpret_cast<float4*>(&powers[0][ty * 8 + i][tx * 4])
          = make_float4(products[0][i][0] * 0.125f, products[0][i][1] * 0.125f, products[0][i][2] * 0.125f,
          products[0][i][3] * 0.125f);
    }
    __syncthreads();
    float largest1;
    for (int i = 0; i < 16; ++i) {
      largest1 = __uint_as_float(0xff800000u);
      float part = __uint_as_float(0xff800000u);
      const int powers_row = idx4 + i * 8;
      for (int j = 0; j < 2; ++j) {
        part = maximum(part, powers[0][powers_row][col1 + j * 32]);
      }
      const float v0 = part;
      const float v1 = __shfl_xor_sync(0xffffffff, v0, 16);
      const float v2 = maximum(v0, v1);
      const float v3 = __shfl_xor_sync(0xffffffff, v2, 8);
      const float v4 = maximum(v2, v3);
      const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
      const float v6 = maximum(v4, v5);
      const float v7 = __shfl_xor_sync(0xffffffff, v6, 2);
      const float v8 = maximum(v6, v7);
      const float v9 = __shfl_xor_sync(0xffffffff, v8, 1);
      largest1 = maximum(largest1, maximum(v8, v9));
      if (in_col1) {
        largest[0][largest_col + i * 8] = largest1;
      }
    }
    __syncthreads();
    if (in_col) {
      const float v0 = m0;
      const float v1 = maximum(v0, largest[0][col]);
      const float v2 = v1 == __uint_as_float(0xff800000u) ? 0.0f : v1;
      m0 = v1;
      temp1[0][col] = expf(v0 - v2);
      temp0[0][col] = v2;
    }
    if (in_col) {
      sum[0][col] *= temp1[0][col];
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      const int idx5 = ty + i * 16;
      const float4 v0 = *reinterpret_cast<const float4*>(&powers[0][idx5][tx * 4]);
      const float v1 = temp0[0][idx5];
      *reinterpret_cast<float4*>(&powers[0][idx5][tx * 4])
          = make_float4(expf(v0.x - v1), expf(v0.y - v1), expf(v0.z - v1), expf(v0.w - v1));
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float part = -0.0f;
      const int idx5 = idx4 + i * 8;
      for (int j = 0; j < 2; ++j) {
        part += powers[0][idx5][col1 + j * 32];
      }
      const float v0 = part;
      const float v1 = __shfl_xor_sync(0xffffffff, v0, 16);
      const float v2 = v0 + v1;
      const float v3 = __shfl_xor_sync(0xffffffff, v2, 8);
      const float v4 = v2 + v3;
      const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
      const float v6 = v4 + v5;
      const float v7 = __shfl_xor_sync(0xffffffff, v6, 2);
      const float v8 = v6 + v7;
      const float v9 = __shfl_xor_sync(0xffffffff, v8, 1);
      if (in_col1_1) {
        sum[0][idx5] += v8 + v9;
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int temp1_col = ty * 8 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        O_tile[0][i][j] *= temp1[0][temp1_col];
      }
    }
    const int row3 = ty + k;
    for (int i = 0; i < 4; ++i) {
      *reinterpret_cast<float4*>(&V_shared[0][ty + i * 16][tx * 4])
          = *reinterpret_cast<const float4*>(&V[bz * 16384 + (row3 + i * 16) * 64 + tx * 4]);
    }
    __syncthreads();
    for (int i = 0; i < 64; i += 4) {
      alignas(16) float powers_frag[8][4];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        *reinterpret_cast<float4*>(&powers_frag[j][0]) = *reinterpret_cast<const float4*>(&powers[0][ty * 8 + j][i]);
      }
      alignas(16) float V_frag[4][4];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        *reinterpret_cast<float4*>(&V_frag[j][0]) = *reinterpret_cast<const float4*>(&V_shared[0][i + j][tx * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          #pragma unroll
          for (int m = 0; m < 4; ++m) {
            O_tile[0][j][m] += powers_frag[j][l] * V_frag[l][m];
          }
        }
      }
    }
  }
  const int row2 = by * 128 + ty * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float v0 = sum[0][ty * 8 + i];
    *reinterpret_cast<float4*>(&O[bz * 16384 + (row2 + i) * 64 + tx * 4])
        = make_float4(O_tile[0][i][0] / v0, O_tile[0][i][1] / v0, O_tile[0][i][2] / v0, O_tile[0][i][3] / v0);
  }
}
