// weft golden attention --set b=2 --set n=100 --set m=77 --set d=33 --set causal=1 --set type=f16
// prelude: vec, maximum, round_to_odd, f16

extern "C" __global__ void __maxnreg__(255) attention(
    const f16* __restrict__ Q,
    const f16* __restrict__ K,
    const f16* __restrict__ V,
    f16* __restrict__ O) {
  extern __shared__ float4 dynamic_shared[];
  f16 (*Q_shared)[33][136] = reinterpret_cast<f16 (*)[33][136]>(dynamic_shared + 0);
  f16 (*K_shared)[33][72] = reinterpret_cast<f16 (*)[33][72]>(dynamic_shared + 561);
  f16 (*V_shared)[64][48] = reinterpret_cast<f16 (*)[64][48]>(dynamic_shared + 858);
  float (*sum)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 1242);
  float (*powers)[128][64] = reinterpret_cast<float (*)[128][64]>(dynamic_shared + 1274);
  float (*scores)[128][64] = reinterpret_cast<float (*)[128][64]>(dynamic_shared + 3322);
  float (*largest)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 5370);
  float (*temp0)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 5402);
  float (*temp1)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 5434);
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bz = blockIdx.z;
  const int col = tx + ty * 16;
  for (int i = col; i < 4224; i += 256) {
    const bool in_i = i < 4096;
    const int row = in_i ? i % 1024 / 8 : i % 1024;
    const int idx = in_i ? i % 8 : 0;
    const int idx1 = i / 1024 * 8 + idx;
    Q_shared[0][idx1][row ^ (i / 1024 * 3 % 4 * 8)] = row < 100 ? Q[bz * 3300 + row * 33 + idx1] : f16(0.0f);
  }
  float m0;
  const bool in_col = col < 128;
  if (in_col) {
    m0 = __uint_as_float(0xff800000u);
  }
  if (in_col) {
    sum[0][col] = 0.0f;
  }
  float O_tile[1][8][3];
  float O_tile_2[1][8][3];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      O_tile_2[0][i][j] = 0.0f;
    }
  }
  const int col1 = (tx + ty * 16) % 32;
  const bool in_col1 = col1 < 1;
  const bool in_col1_1 = col1 == 0;
  const int idx = (tx + ty * 16) / 32;
  const int largest_col = tx - (tx + ty * 16) / 32 * 31 + ty * 16;
  for (int k = 0; k < 128; k += 64) {
    for (int i = col; i < 2112; i += 256) {
      const bool in_i = i < 2048;
      const int row = in_i ? i % 512 / 8 : i % 512;
      const int idx1 = in_i ? i % 8 : 0;
      const int row1 = k + row;
      const int idx2 = i / 512 * 8 + idx1;
      K_shared[0][idx2][row ^ (i / 512 * 3 % 4 * 8)] = row1 < 77 ? K[bz * 2541 + row1 * 33 + idx2] : f16(0.0f);
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
    #pragma unroll 4
    for (int i = 0; i < 33; ++i) {
      alignas(16) f16 Q_frag[8];
      const int idx1 = i / 8 * 3 % 4 * 8;
      *reinterpret_cast<vec<f16, 8>*>(&Q_frag[0]) = *reinterpret_cast<const vec<f16,
          8>*>(&Q_shared[0][i][(ty * 8) ^ idx1]);
      alignas(16) f16 K_frag[4];
      *reinterpret_cast<vec<f16, 4>*>(&K_frag[0]) = *reinterpret_cast<const vec<f16,
          4>*>(&K_shared[0][i][(tx * 4) ^ idx1]);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          products[0][j][l] += (float)Q_frag[j] * (float)K_frag[l];
        }
      }
    }
    const int idx1 = tx * 4 + k;
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int scores_row = ty * 8 + i;
      *reinterpret_cast<float4*>(&scores[0][scores_row][tx * 4])
          = make_float4(idx1 <= scores_row ? products[0][i][0] * 0.17407766f : __uint_as_float(0xff800000u), idx1
          + 1 <= scores_row ? products[0][i][1] * 0.17407766f : __uint_as_float(0xff800000u), idx1 + 2 <= scores_row
          ? products[0][i][2] * 0.17407766f : __uint_as_float(0xff800000u), idx1 + 3 <= scores_row
          ? products[0][i][3] * 0.17407766f : __uint_as_float(0xff800000u));
    }
    __syncthreads();
    float largest1;
    const int idx2 = col1 + k;
    for (int i = 0; i < 16; ++i) {
      largest1 = __uint_as_float(0xff800000u);
      float part = __uint_as_float(0xff800000u);
      const int scores_row = idx + i * 8;
      for (int j = 0; j < 2; ++j) {
        const float v0
            = maximum(part, idx2 + j * 32 < 77 ? scores[0][scores_row][col1 + j * 32] : __uint_as_float(0xff800000u));
        part = v0;
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
      const int idx3 = ty + i * 16;
      const float4 v0 = *reinterpret_cast<const float4*>(&scores[0][idx3][tx * 4]);
      const float v1 = temp0[0][idx3];
      *reinterpret_cast<float4*>(&powers[0][idx3][tx * 4])
          = make_float4(expf(v0.x - v1), expf(v0.y - v1), expf(v0.z - v1), expf(v0.w - v1));
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float part = -0.0f;
      const int idx3 = idx + i * 8;
      for (int j = 0; j < 2; ++j) {
        part += idx2 + j * 32 < 77 ? powers[0][idx3][col1 + j * 32] : 0.0f;
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
        sum[0][idx3] += v8 + v9;
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int temp1_col = ty * 8 + i;
      #pragma unroll
      for (int j = 0; j < 3; ++j) {
        O_tile_2[0][i][j] *= temp1[0][temp1_col];
      }
    }
    for (int i = 0; i < 12; ++i) {
      const int col2 = (i * 256 + tx + ty * 16) % 48;
      const int row = k + (i * 256 + tx + ty * 16) / 48;
      V_shared[0][(i * 256 + tx + ty * 16) / 48][col2] = row < 77 && col2 < 33 ? V[bz * 2541 + row * 33 + col2]
          : f16(0.0f);
    }
    __syncthreads();
    for (int i = 0; i < 64; i += 4) {
      f16 V_frag[4][3];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int V_shared_row = i + j;
        #pragma unroll
        for (int l = 0; l < 3; ++l) {
          V_frag[j][l] = V_shared[0][V_shared_row][tx * 3 + l];
        }
      }
      const int idx3 = k + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int powers_row = ty * 8 + j;
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int powers_col = i + l;
          const bool inside = idx3 + l < 77;
          #pragma unroll
          for (int m = 0; m < 3; ++m) {
            O_tile_2[0][j][m] += (inside ? powers[0][powers_row][powers_col] : 0.0f) * (float)V_frag[l][m];
          }
        }
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int sum_col = ty * 8 + i;
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      O_tile[0][i][j] = O_tile_2[0][i][j] / sum[0][sum_col];
    }
  }
  f16 Y[1][8][3];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 3; ++j) {
      Y[0][i][j] = (f16)O_tile[0][i][j];
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = ty * 8 + i;
    if (row < 100) {
      #pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int col2 = tx * 3 + j;
        if (col2 < 33) {
          O[bz * 3300 + row * 33 + col2] = Y[0][i][j];
        }
      }
    }
  }
}
