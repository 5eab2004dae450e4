// weft golden layernorm_welford --set m=70 --set n=333
// prelude: maximum

extern "C" __global__ void __launch_bounds__(128, 3) layernorm_welford(
    const float* __restrict__ X,
    const float* __restrict__ Gamma,
    const float* __restrict__ Beta,
    float* __restrict__ Y) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int lane = tx % 32;
  float X_tile[11];
  float w_tile_2;
  float s0;
  float w_tile;
  float w;
  const int row = bx * 4 + tx / 32;
  if (row < 70) {
    s0 = 0.0f;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      const int col = lane + i * 32;
      if (col < 333) {
        X_tile[i] = X[row * 333 + col];
      }
    }
    w = s0;
    w_tile = s0;
    w_tile_2 = s0;
    float part;
    float part1;
    float part2;
    part = 0.0f;
    part1 = 0.0f;
    part2 = 0.0f;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      if (lane + i * 32 < 333) {
        const float v0 = X_tile[i];
        const float v1 = part1;
        const float v2 = part + 1.0f;
        const float v3 = v0 - v1;
        const float v4 = v1 + v3 * (1.0f / v2);
        const float v5 = part2 + v3 * (v0 - v4);
        part = v2;
        part1 = v4;
        part2 = v5;
      }
    }
    const float v0 = part;
    const float v1 = part1;
    const float v2 = part2;
    const float v3 = __shfl_xor_sync(0xffffffff, v0, 16);
    const float v4 = __shfl_xor_sync(0xffffffff, v1, 16);
    const float v5 = __shfl_xor_sync(0xffffffff, v2, 16);
    const float v6 = v0 + v3;
    const float v7 = maximum(v6, 1.0f);
    const float v8 = v4 - v1;
    const float v9 = (v1 + v4 + v8 * ((v3 - v0) / v7)) * 0.5f;
    const float v10 = v2 + v5 + v8 * v8 * (v0 * v3 / v7);
    const float v11 = __shfl_xor_sync(0xffffffff, v6, 8);
    const float v12 = __shfl_xor_sync(0xffffffff, v9, 8);
    const float v13 = __shfl_xor_sync(0xffffffff, v10, 8);
    const float v14 = v6 + v11;
    const float v15 = maximum(v14, 1.0f);
    const float v16 = v12 - v9;
    const float v17 = (v9 + v12 + v16 * ((v11 - v6) / v15)) * 0.5f;
    const float v18 = v10 + v13 + v16 * v16 * (v6 * v11 / v15);
    const float v19 = __shfl_xor_sync(0xffffffff, v14, 4);
    const float v20 = __shfl_xor_sync(0xffffffff, v17, 4);
    const float v21 = __shfl_xor_sync(0xffffffff, v18, 4);
    const float v22 = v14 + v19;
    const float v23 = maximum(v22, 1.0f);
    const float v24 = v20 - v17;
    const float v25 = (v17 + v20 + v24 * ((v19 - v14) / v23)) * 0.5f;
    const float v26 = v18 + v21 + v24 * v24 * (v14 * v19 / v23);
    const float v27 = __shfl_xor_sync(0xffffffff, v22, 2);
    const float v28 = __shfl_xor_sync(0xffffffff, v25, 2);
    const float v29 = __shfl_xor_sync(0xffffffff, v26, 2);
    const float v30 = v22 + v27;
    const float v31 = maximum(v30, 1.0f);
    const float v32 = v28 - v25;
    const float v33 = (v25 + v28 + v32 * ((v27 - v22) / v31)) * 0.5f;
    const float v34 = v26 + v29 + v32 * v32 * (v22 * v27 / v31);
    const float v35 = __shfl_xor_sync(0xffffffff, v30, 1);
    const float v36 = __shfl_xor_sync(0xffffffff, v33, 1);
    const float v37 = __shfl_xor_sync(0xffffffff, v34, 1);
    const float v38 = v30 + v35;
    const float v39 = maximum(v38, 1.0f);
    const float v40 = v36 - v33;
    const float v41 = (v33 + v36 + v40 * ((v35 - v30) / v39)) * 0.5f;
    const float v42 = w;
    const float v43 = w_tile;
    const float v44 = v42 + v38;
    const float v45 = v44 == 0.0f ? 1.0f : v44;
    const float v46 = v41 - v43;
    const float v47 = w_tile_2 + (v34 + v37 + v40 * v40 * (v30 * v35 / v39)) + v46 * v46 * (v42 * v38 / v45);
    w = v44;
    w_tile = (v43 + v41 + v46 * ((v38 - v42) / v45)) * 0.5f;
    w_tile_2 = v47;
    #pragma unroll
    for (int i = 0; i < 11; ++i) {
      const int idx = lane + i * 32;
      if (idx < 333) {
        Y[row * 333 + idx] = (X_tile[i] - w_tile) * rsqrtf(w_tile_2 / 333.0f + 1e-05f) * Gamma[idx] + Beta[idx];
      }
    }
  }
}
