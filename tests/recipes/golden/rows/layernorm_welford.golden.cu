// weft golden layernorm_welford
// prelude: maximum

extern "C" __global__ void __launch_bounds__(128, 3) layernorm_welford(
    const float* __restrict__ X,
    const float* __restrict__ Gamma,
    const float* __restrict__ Beta,
    float* __restrict__ Y) {
  __shared__ float w_parts[1][4];
  __shared__ float w_tile_parts[1][4];
  __shared__ float w_tile_2_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float s0 = 0.0f;
  alignas(16) float X_tile[32];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<float4*>(&X_tile[i * 4]) = *reinterpret_cast<const float4*>(&X[bx * 4096 + tx * 4 + i * 512]);
  }
  float w = s0;
  float w_tile = s0;
  float w_tile_2 = s0;
  float part;
  float part1;
  float part2;
  part = 0.0f;
  part1 = 0.0f;
  part2 = 0.0f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float v0 = X_tile[i * 4];
    const float v1 = X_tile[i * 4 + 1];
    const float v2 = X_tile[i * 4 + 2];
    const float v3 = X_tile[i * 4 + 3];
    const float v4 = part1;
    const float v5 = part + 1.0f;
    const float v6 = v0 - v4;
    const float v7 = v4 + v6 * (1.0f / v5);
    const float v8 = part2 + v6 * (v0 - v7);
    part = v5;
    part1 = v7;
    part2 = v8;
    const float v9 = part1;
    const float v10 = part + 1.0f;
    const float v11 = v1 - v9;
    const float v12 = v9 + v11 * (1.0f / v10);
    const float v13 = part2 + v11 * (v1 - v12);
    part = v10;
    part1 = v12;
    part2 = v13;
    const float v14 = part1;
    const float v15 = part + 1.0f;
    const float v16 = v2 - v14;
    const float v17 = v14 + v16 * (1.0f / v15);
    const float v18 = part2 + v16 * (v2 - v17);
    part = v15;
    part1 = v17;
    part2 = v18;
    const float v19 = part1;
    const float v20 = part + 1.0f;
    const float v21 = v3 - v19;
    const float v22 = v19 + v21 * (1.0f / v20);
    const float v23 = part2 + v21 * (v3 - v22);
    part = v20;
    part1 = v22;
    part2 = v23;
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
  if (tx % 32 == 0) {
    w_parts[0][warp] = v38;
    w_tile_parts[0][warp] = (v33 + v36 + v40 * ((v35 - v30) / v39)) * 0.5f;
    w_tile_2_parts[0][warp] = v34 + v37 + v40 * v40 * (v30 * v35 / v39);
  }
  __syncthreads();
  const float v41 = w_parts[0][0];
  const float v42 = w_tile_parts[0][0];
  const float v43 = w_parts[0][1];
  const float v44 = w_tile_parts[0][1];
  const float v45 = v41 + v43;
  const float v46 = maximum(v45, 1.0f);
  const float v47 = v44 - v42;
  const float v48 = (v42 + v44 + v47 * ((v43 - v41) / v46)) * 0.5f;
  const float v49 = w_parts[0][2];
  const float v50 = w_tile_parts[0][2];
  const float v51 = v45 + v49;
  const float v52 = maximum(v51, 1.0f);
  const float v53 = v50 - v48;
  const float v54 = (v48 + v50 + v53 * ((v49 - v45) / v52)) * 0.5f;
  const float v55 = w_tile_2_parts[0][0] + w_tile_2_parts[0][1] + v47 * v47 * (v41 * v43 / v46)
      + w_tile_2_parts[0][2] + v53 * v53 * (v45 * v49 / v52);
  const float v56 = w_parts[0][3];
  const float v57 = w_tile_parts[0][3];
  const float v58 = v51 + v56;
  const float v59 = maximum(v58, 1.0f);
  const float v60 = v57 - v54;
  const float v61 = (v54 + v57 + v60 * ((v56 - v51) / v59)) * 0.5f;
  const float v62 = w;
  const float v63 = w_tile;
  const float v64 = v62 + v58;
  const float v65 = v64 == 0.0f ? 1.0f : v64;
  const float v66 = v61 - v63;
  const float v67 = w_tile_2 + (v55 + w_tile_2_parts[0][3] + v60 * v60 * (v51 * v56 / v59))
      + v66 * v66 * (v62 * v58 / v65);
  w = v64;
  w_tile = (v63 + v61 + v66 * ((v58 - v62) / v65)) * 0.5f;
  w_tile_2 = v67;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int idx = tx * 4 + i * 512;
    const float v68 = X_tile[i * 4];
    const float v69 = X_tile[i * 4 + 1];
    const float v70 = X_tile[i * 4 + 2];
    const float v71 = X_tile[i * 4 + 3];
    const float4 gamma_ = *reinterpret_cast<const float4*>(&Gamma[idx]);
    const float4 beta = *reinterpret_cast<const float4*>(&Beta[idx]);
    const float v72 = w_tile;
    const float v73 = rsqrtf(w_tile_2 / 4096.0f + 1e-05f);
    *reinterpret_cast<float4*>(&Y[bx * 4096 + idx])
        = make_float4((v68 - v72) * v73 * gamma_.x + beta.x, (v69 - v72) * v73 * gamma_.y + beta.y,
        (v70 - v72) * v73 * gamma_.z + beta.z, (v71 - v72) * v73 * gamma_.w + beta.w);
  }
}
