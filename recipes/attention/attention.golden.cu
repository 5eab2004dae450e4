// weft golden attention.weft
// arith.maximum: a NaN if either is one, and -0 below +0.
__device__ inline float maximum(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a != a || b != b) return a + b;
  if (a == b) return __float_as_int(a) >= 0 ? a : b;
  return a > b ? a : b;
#endif
}
__device__ inline double maximum(double a, double b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __double_as_longlong(a) >= 0 ? a : b;
  return a > b ? a : b;
}

extern "C" __global__ void __launch_bounds__(256) attention(
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
  const int idx = (tx + ty * 16) % 64;
  const int idx1 = (tx + ty * 16) / 64;
  const int row = by * 128 + (tx + ty * 16) / 64;
  const int idx2 = tx % 2 * 4;
  for (int i = 0; i < 32; ++i) {
    Q_shared[0][idx][(idx1 + i * 4) ^ idx2] = Q[bz * 16384 + (row + i * 4) * 64 + idx];
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
  const int col1 = (tx + ty * 16) % 32;
  const bool in_col1 = col1 < 1;
  const bool in_col1_1 = col1 == 0;
  const int idx3 = (tx + ty * 16) / 32;
  const int largest_col = tx - (tx + ty * 16) / 32 * 31 + ty * 16;
  for (int k = 0; k < 256; k += 64) {
    const int row1 = idx1 + k;
    for (int i = 0; i < 16; ++i) {
      K_shared[0][idx][idx1 + i * 4] = K[bz * 16384 + (row1 + i * 4) * 64 + idx];
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
    for (int i = 0; i < 64; ++i) {
      alignas(16) float Q_frag[8];
      const int idx4 = i % 2 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int Q_shared_col = ty * 8 + ((j * 4) ^ idx4);
        *reinterpret_cast<float4*>(&Q_frag[j * 4]) = *reinterpret_cast<const float4*>(&Q_shared[0][i][Q_shared_col]);
      }
      alignas(16) float K_frag[4];
      *reinterpret_cast<float4*>(&K_frag[0]) = *reinterpret_cast<const float4*>(&K_shared[0][i][tx * 4]);
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
      const int powers_row = ty * 8 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        powers[0][powers_row][tx * 4 + j] = products[0][i][j] * 0.125f;
      }
    }
    __syncthreads();
    float largest1;
    for (int i = 0; i < 16; ++i) {
      largest1 = __uint_as_float(0xff800000u);
      float part = __uint_as_float(0xff800000u);
      const int powers_row = idx3 + i * 8;
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
    for (int i = 0; i < 32; ++i) {
      const int idx4 = idx1 + i * 4;
      powers[0][idx4][idx] = expf(powers[0][idx4][idx] - temp0[0][idx4]);
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float part = -0.0f;
      const int idx4 = idx3 + i * 8;
      for (int j = 0; j < 2; ++j) {
        part += powers[0][idx4][col1 + j * 32];
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
        sum[0][idx4] += v8 + v9;
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
    for (int i = 0; i < 16; ++i) {
      V_shared[0][idx1 + i * 4][idx] = V[bz * 16384 + (row1 + i * 4) * 64 + idx];
    }
    __syncthreads();
    #pragma unroll 4
    for (int i = 0; i < 64; ++i) {
      alignas(16) float V_frag[4];
      *reinterpret_cast<float4*>(&V_frag[0]) = *reinterpret_cast<const float4*>(&V_shared[0][i][tx * 4]);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int powers_row = ty * 8 + j;
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          O_tile[0][j][l] += powers[0][powers_row][i] * V_frag[l];
        }
      }
    }
  }
  const int row1 = by * 128 + ty * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int sum_col = ty * 8 + i;
    const int row2 = row1 + i;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      O[bz * 16384 + row2 * 64 + tx * 4 + j] = O_tile[0][i][j] / sum[0][sum_col];
    }
  }
}
