// weft golden argmax
extern "C" __global__ void __launch_bounds__(128) argmax(
    const float* __restrict__ X,
    float* __restrict__ largest,
    int* __restrict__ index) {
  __shared__ float largest_parts[1][4];
  __shared__ int index_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float largest1 = __uint_as_float(0xff800000u);
  int index1 = 0;
  float part;
  int part1;
  part = __uint_as_float(0xff800000u);
  part1 = 2147483647;
  for (int i = 0; i < 8; ++i) {
    const int col = tx * 4 + i * 512;
    const float4 x = *reinterpret_cast<const float4*>(&X[bx * 4096 + col]);
    const float v0 = part;
    const bool cond = x.x > v0;
    const int v1 = cond ? col : part1;
    part = cond ? x.x : v0;
    part1 = v1;
    const float v2 = part;
    const bool cond1 = x.y > v2;
    const int v3 = cond1 ? col + 1 : part1;
    part = cond1 ? x.y : v2;
    part1 = v3;
    const float v4 = part;
    const bool cond2 = x.z > v4;
    const int v5 = cond2 ? col + 2 : part1;
    part = cond2 ? x.z : v4;
    part1 = v5;
    const float v6 = part;
    const bool cond3 = x.w > v6;
    const int v7 = cond3 ? col + 3 : part1;
    part = cond3 ? x.w : v6;
    part1 = v7;
  }
  const float v0 = part;
  const int v1 = part1;
  const float v2 = __shfl_xor_sync(0xffffffff, v0, 16);
  const int v3 = __shfl_xor_sync(0xffffffff, v1, 16);
  const bool cond = v2 > v0 || (v2 == v0 && v3 < v1);
  const float v4 = cond ? v2 : v0;
  const int v5 = cond ? v3 : v1;
  const float v6 = __shfl_xor_sync(0xffffffff, v4, 8);
  const int v7 = __shfl_xor_sync(0xffffffff, v5, 8);
  const bool cond1 = v6 > v4 || (v6 == v4 && v7 < v5);
  const float v8 = cond1 ? v6 : v4;
  const int v9 = cond1 ? v7 : v5;
  const float v10 = __shfl_xor_sync(0xffffffff, v8, 4);
  const int v11 = __shfl_xor_sync(0xffffffff, v9, 4);
  const bool cond2 = v10 > v8 || (v10 == v8 && v11 < v9);
  const float v12 = cond2 ? v10 : v8;
  const int v13 = cond2 ? v11 : v9;
  const float v14 = __shfl_xor_sync(0xffffffff, v12, 2);
  const int v15 = __shfl_xor_sync(0xffffffff, v13, 2);
  const bool cond3 = v14 > v12 || (v14 == v12 && v15 < v13);
  const float v16 = cond3 ? v14 : v12;
  const int v17 = cond3 ? v15 : v13;
  const float v18 = __shfl_xor_sync(0xffffffff, v16, 1);
  const int v19 = __shfl_xor_sync(0xffffffff, v17, 1);
  const bool cond4 = v18 > v16 || (v18 == v16 && v19 < v17);
  if (tx % 32 == 0) {
    largest_parts[0][warp] = cond4 ? v18 : v16;
    index_parts[0][warp] = cond4 ? v19 : v17;
  }
  __syncthreads();
  const float v20 = largest_parts[0][0];
  const int v21 = index_parts[0][0];
  const float v22 = largest_parts[0][1];
  const int v23 = index_parts[0][1];
  const bool cond5 = v22 > v20 || (v22 == v20 && v23 < v21);
  const float v24 = cond5 ? v22 : v20;
  const int v25 = cond5 ? v23 : v21;
  const float v26 = largest_parts[0][2];
  const int v27 = index_parts[0][2];
  const bool cond6 = v26 > v24 || (v26 == v24 && v27 < v25);
  const float v28 = cond6 ? v26 : v24;
  const int v29 = cond6 ? v27 : v25;
  const float v30 = largest_parts[0][3];
  const int v31 = index_parts[0][3];
  const bool cond7 = v30 > v28 || (v30 == v28 && v31 < v29);
  const float v32 = cond7 ? v30 : v28;
  const float v33 = largest1;
  const bool cond8 = v32 > v33;
  const int v34 = cond8 ? (cond7 ? v31 : v29) : index1;
  largest1 = cond8 ? v32 : v33;
  index1 = v34;
  const int idx = bx + tx;
  if (tx < 1) {
    index[idx] = index1;
    largest[idx] = largest1;
  }
}
