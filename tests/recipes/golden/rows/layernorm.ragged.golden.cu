// weft golden layernorm --set m=70 --set n=333
extern "C" __global__ void __launch_bounds__(128, 3) layernorm(
    const float* __restrict__ X,
    const float* __restrict__ Gamma,
    const float* __restrict__ Beta,
    float* __restrict__ Y) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int lane = tx % 32;
  float X_tile[11];
  float sum;
  float squares;
  const int row = bx * 4 + tx / 32;
  if (row < 70) {
    squares = 0.0f;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      const int col = lane + i * 32;
      if (col < 333) {
        X_tile[i] = X[row * 333 + col];
      }
    }
    sum = squares;
    float part = -0.0f;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      if (lane + i * 32 < 333) {
        part += X_tile[i];
      }
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
    sum += v8 + v9;
    float part1 = -0.0f;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      if (lane + i * 32 < 333) {
        const float v10 = X_tile[i] - sum / 333.0f;
        part1 += v10 * v10;
      }
    }
    const float v10 = part1;
    const float v11 = __shfl_xor_sync(0xffffffff, v10, 16);
    const float v12 = v10 + v11;
    const float v13 = __shfl_xor_sync(0xffffffff, v12, 8);
    const float v14 = v12 + v13;
    const float v15 = __shfl_xor_sync(0xffffffff, v14, 4);
    const float v16 = v14 + v15;
    const float v17 = __shfl_xor_sync(0xffffffff, v16, 2);
    const float v18 = v16 + v17;
    const float v19 = __shfl_xor_sync(0xffffffff, v18, 1);
    squares += v18 + v19;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      const int idx = lane + i * 32;
      if (idx < 333) {
        Y[row * 333 + idx] = (X_tile[i] - sum / 333.0f) * rsqrtf(squares / 333.0f + 1e-05f) * Gamma[idx] + Beta[idx];
      }
    }
  }
}
