// weft golden scan
extern "C" __global__ void __launch_bounds__(256) scan(const float* __restrict__ X, float* __restrict__ sum_2) {
  __shared__ float sum_2_parts[8];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float sum_2_1 = -0.0f;
  float part = -0.0f;
  const int idx = bx * 8192 + tx * 4;
  for (int i = 0; i < 8; ++i) {
    const float4 x = *reinterpret_cast<const float4*>(&X[idx + i * 1024]);
    part += x.x;
    part += x.y;
    part += x.z;
    part += x.w;
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
  if (tx % 32 == 0) {
    sum_2_parts[tx / 32] = v8 + v9;
  }
  __syncthreads();
  const float v10 = sum_2_parts[0] + sum_2_parts[1] + sum_2_parts[2] + sum_2_parts[3] + sum_2_parts[4]
      + sum_2_parts[5] + sum_2_parts[6];
  sum_2_1 += v10 + sum_2_parts[7];
  if (tx < 1) {
    sum_2[bx] = sum_2_1;
  }
}

extern "C" __global__ void __launch_bounds__(1) scan_1(float* __restrict__ sum) {
  sum[0] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(1024) scan_2(
    const float* __restrict__ sum_2,
    float* __restrict__ sum,
    float* __restrict__ Y_2) {
  __shared__ float sum_parts[32];
  const int tx = threadIdx.x;
  const int warp = tx / 32;
  float part;
  float carry;
  float start;
  float sum_2_1[4];
  carry = -0.0f;
  start = -0.0f;
  const bool in_tx = tx == 0;
  if (in_tx) {
    start = sum[0];
  }
  part = start;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int idx = tx * 4 + i;
    if (idx < 128) {
      sum_2_1[i] = sum_2[idx];
      part += sum_2_1[i];
    }
  }
  const float v0 = part;
  const float v1 = __shfl_up_sync(0xffffffff, v0, 1);
  const float v2 = tx % 32 >= 1 ? v1 + v0 : v0;
  const float v3 = __shfl_up_sync(0xffffffff, v2, 2);
  const float v4 = tx % 32 >= 2 ? v3 + v2 : v2;
  const float v5 = __shfl_up_sync(0xffffffff, v4, 4);
  const float v6 = tx % 32 >= 4 ? v5 + v4 : v4;
  const float v7 = __shfl_up_sync(0xffffffff, v6, 8);
  const float v8 = tx % 32 >= 8 ? v7 + v6 : v6;
  const float v9 = __shfl_up_sync(0xffffffff, v8, 16);
  const float v10 = tx % 32 >= 16 ? v9 + v8 : v8;
  const float v11 = __shfl_up_sync(0xffffffff, v10, 1);
  if (tx % 32 == 31) {
    sum_parts[warp] = v10;
  }
  __syncthreads();
  const float v12 = sum_parts[0];
  const float v13 = v12 + sum_parts[1];
  const float v14 = v13 + sum_parts[2];
  const float v15 = v14 + sum_parts[3];
  const float v16 = v15 + sum_parts[4];
  const float v17 = v16 + sum_parts[5];
  const float v18 = warp >= 6 ? v17 : warp >= 5 ? v16 : warp >= 4 ? v15 : warp >= 3 ? v14 : warp >= 2 ? v13
      : warp >= 1 ? v12 : -0.0f;
  const float v19 = v17 + sum_parts[6];
  const float v20 = v19 + sum_parts[7];
  const float v21 = v20 + sum_parts[8];
  const float v22 = v21 + sum_parts[9];
  const float v23 = v22 + sum_parts[10];
  const float v24 = v23 + sum_parts[11];
  const float v25 = warp >= 12 ? v24 : warp >= 11 ? v23 : warp >= 10 ? v22 : warp >= 9 ? v21 : warp >= 8 ? v20
      : warp >= 7 ? v19 : v18;
  const float v26 = v24 + sum_parts[12];
  const float v27 = v26 + sum_parts[13];
  const float v28 = v27 + sum_parts[14];
  const float v29 = v28 + sum_parts[15];
  const float v30 = v29 + sum_parts[16];
  const float v31 = v30 + sum_parts[17];
  const float v32 = warp >= 18 ? v31 : warp >= 17 ? v30 : warp >= 16 ? v29 : warp >= 15 ? v28 : warp >= 14 ? v27
      : warp >= 13 ? v26 : v25;
  const float v33 = v31 + sum_parts[18];
  const float v34 = v33 + sum_parts[19];
  const float v35 = v34 + sum_parts[20];
  const float v36 = v35 + sum_parts[21];
  const float v37 = v36 + sum_parts[22];
  const float v38 = v37 + sum_parts[23];
  const float v39 = warp >= 24 ? v38 : warp >= 23 ? v37 : warp >= 22 ? v36 : warp >= 21 ? v35 : warp >= 20 ? v34
      : warp >= 19 ? v33 : v32;
  const float v40 = v38 + sum_parts[24];
  const float v41 = v40 + sum_parts[25];
  const float v42 = v41 + sum_parts[26];
  const float v43 = v42 + sum_parts[27];
  const float v44 = v43 + sum_parts[28];
  const float v45 = v44 + sum_parts[29];
  const float v46 = warp >= 30 ? v45 : warp >= 29 ? v44 : warp >= 28 ? v43 : warp >= 27 ? v42 : warp >= 26 ? v41
      : warp >= 25 ? v40 : v39;
  const float v47 = v45 + sum_parts[30];
  const float v48 = carry;
  const float v49 = v47 + sum_parts[31];
  part = v48 + ((warp >= 31 ? v47 : v46) + (tx % 32 >= 1 ? v11 : -0.0f)) + start;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int idx = tx * 4 + i;
    if (idx < 128) {
      const float v50 = part;
      part = v50 + sum_2_1[i];
      Y_2[idx] = v50;
    }
  }
  carry = v48 + v49;
  const float v50 = carry;
  if (in_tx) {
    sum[0] = v50;
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_3(
    const float* __restrict__ X,
    float* __restrict__ Y,
    const float* __restrict__ Y_2) {
  __shared__ float sum_tile[1];
  __shared__ float sum_tile_parts[8];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  if (tx < 1) {
    sum_tile[0] = Y_2[bx];
  }
  float part;
  float carry;
  float start;
  alignas(16) float X1[4];
  carry = -0.0f;
  start = -0.0f;
  const bool in_tx = tx == 0;
  if (in_tx) {
    start = sum_tile[0];
  }
  const bool inside = tx % 32 == 31;
  const bool in_warp = warp >= 1;
  const bool in_warp1 = warp >= 2;
  const bool in_warp2 = warp >= 3;
  const bool in_warp3 = warp >= 4;
  const bool in_warp4 = warp >= 5;
  const bool in_warp5 = warp >= 6;
  const bool in_warp6 = warp >= 7;
  const int idx = bx * 8192 + tx * 4;
  for (int k = 0; k < 8; ++k) {
    part = start;
    const int idx1 = idx + k * 1024;
    *reinterpret_cast<float4*>(&X1[0]) = *reinterpret_cast<const float4*>(&X[idx1]);
    const float v0 = X1[0];
    const float v1 = X1[1];
    const float v2 = X1[2];
    const float v3 = X1[3];
    part += v0;
    part += v1;
    part += v2;
    part += v3;
    const float v4 = part;
    const float v5 = __shfl_up_sync(0xffffffff, v4, 1);
    const float v6 = tx % 32 >= 1 ? v5 + v4 : v4;
    const float v7 = __shfl_up_sync(0xffffffff, v6, 2);
    const float v8 = tx % 32 >= 2 ? v7 + v6 : v6;
    const float v9 = __shfl_up_sync(0xffffffff, v8, 4);
    const float v10 = tx % 32 >= 4 ? v9 + v8 : v8;
    const float v11 = __shfl_up_sync(0xffffffff, v10, 8);
    const float v12 = tx % 32 >= 8 ? v11 + v10 : v10;
    const float v13 = __shfl_up_sync(0xffffffff, v12, 16);
    const float v14 = tx % 32 >= 16 ? v13 + v12 : v12;
    const float v15 = __shfl_up_sync(0xffffffff, v14, 1);
    if (inside) {
      sum_tile_parts[warp] = v14;
    }
    __syncthreads();
    const float v16 = sum_tile_parts[0];
    const float v17 = v16 + sum_tile_parts[1];
    const float v18 = v17 + sum_tile_parts[2];
    const float v19 = v18 + sum_tile_parts[3];
    const float v20 = v19 + sum_tile_parts[4];
    const float v21 = v20 + sum_tile_parts[5];
    const float v22 = in_warp5 ? v21 : in_warp4 ? v20 : in_warp3 ? v19 : in_warp2 ? v18 : in_warp1 ? v17 : in_warp
        ? v16 : -0.0f;
    const float v23 = v21 + sum_tile_parts[6];
    const float v24 = carry;
    const float v25 = v23 + sum_tile_parts[7];
    part = v24 + ((in_warp6 ? v23 : v22) + (tx % 32 >= 1 ? v15 : -0.0f)) + start;
    const float v26 = X1[0];
    const float v27 = X1[1];
    const float v28 = X1[2];
    const float v29 = X1[3];
    const float v30 = part + v26;
    part = v30;
    const float v31 = part + v27;
    part = v31;
    const float v32 = part + v28;
    part = v32;
    const float v33 = part + v29;
    part = v33;
    *reinterpret_cast<float4*>(&Y[idx1]) = make_float4(v30, v31, v32, v33);
    carry = v24 + v25;
    start = -0.0f;
    __syncthreads();
  }
  const float v0 = carry;
  if (in_tx) {
    sum_tile[0] = v0;
  }
}
