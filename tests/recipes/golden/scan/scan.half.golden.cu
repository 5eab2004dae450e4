// weft golden scan --set n=8000 --set type=f16
// prelude: vec, round_to_odd, f16

extern "C" __global__ void __launch_bounds__(1) scan(float* __restrict__ sum) {
  sum[0] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(1024) scan_1(
    const f16* __restrict__ X,
    f16* __restrict__ Y,
    float* __restrict__ sum) {
  __shared__ float sum_parts[32];
  const int tx = threadIdx.x;
  const int warp = tx / 32;
  float part;
  float carry;
  float start;
  alignas(16) f16 X1[8];
  carry = -0.0f;
  start = -0.0f;
  const bool in_tx = tx == 0;
  if (in_tx) {
    start = sum[0];
  }
  part = start;
  const bool in_tx1 = tx < 1000;
  if (in_tx1) {
    *reinterpret_cast<vec<f16, 8>*>(&X1[0]) = *reinterpret_cast<const vec<f16, 8>*>(&X[tx * 8]);
    const f16 v0 = X1[0];
    const f16 v1 = X1[1];
    const f16 v2 = X1[2];
    const f16 v3 = X1[3];
    const f16 v4 = X1[4];
    const f16 v5 = X1[5];
    const f16 v6 = X1[6];
    const f16 v7 = X1[7];
    part += (float)v0;
    part += (float)v1;
    part += (float)v2;
    part += (float)v3;
    part += (float)v4;
    part += (float)v5;
    part += (float)v6;
    part += (float)v7;
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
  if (in_tx1) {
    const f16 v50 = X1[0];
    const f16 v51 = X1[1];
    const f16 v52 = X1[2];
    const f16 v53 = X1[3];
    const f16 v54 = X1[4];
    const f16 v55 = X1[5];
    const f16 v56 = X1[6];
    const f16 v57 = X1[7];
    const float v58 = part + (float)v50;
    part = v58;
    const float v59 = part + (float)v51;
    part = v59;
    const float v60 = part + (float)v52;
    part = v60;
    const float v61 = part + (float)v53;
    part = v61;
    const float v62 = part + (float)v54;
    part = v62;
    const float v63 = part + (float)v55;
    part = v63;
    const float v64 = part + (float)v56;
    part = v64;
    const float v65 = part + (float)v57;
    part = v65;
    *reinterpret_cast<vec<f16, 8>*>(&Y[tx * 8]) = vec<f16,
        8>{{(f16)v58, (f16)v59, (f16)v60, (f16)v61, (f16)v62, (f16)v63, (f16)v64, (f16)v65}};
  }
  carry = v48 + v49;
  const float v50 = carry;
  if (in_tx) {
    sum[0] = v50;
  }
}
