// weft golden softmax --set type=f16
// prelude: vec, maximum, round_to_odd, f16

extern "C" __global__ void __launch_bounds__(128) softmax(const f16* __restrict__ X, f16* __restrict__ Y) {
  __shared__ float largest_parts[1][4];
  __shared__ float sum_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float sum;
  float largest = __uint_as_float(0xff800000u);
  alignas(16) f16 X_tile[32];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<vec<f16, 8>*>(&X_tile[i * 8]) = *reinterpret_cast<const vec<f16,
        8>*>(&X[bx * 4096 + tx * 8 + i * 1024]);
  }
  float part = __uint_as_float(0xff800000u);
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v0 = X_tile[i * 8];
    const f16 v1 = X_tile[i * 8 + 1];
    const f16 v2 = X_tile[i * 8 + 2];
    const f16 v3 = X_tile[i * 8 + 3];
    const f16 v4 = X_tile[i * 8 + 4];
    const f16 v5 = X_tile[i * 8 + 5];
    const f16 v6 = X_tile[i * 8 + 6];
    const f16 v7 = X_tile[i * 8 + 7];
    part = maximum((float)v0, part);
    part = maximum((float)v1, part);
    part = maximum((float)v2, part);
    part = maximum((float)v3, part);
    part = maximum((float)v4, part);
    part = maximum((float)v5, part);
    part = maximum((float)v6, part);
    part = maximum((float)v7, part);
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
  const bool inside = tx % 32 == 0;
  if (inside) {
    largest_parts[0][warp] = maximum(v8, v9);
  }
  __syncthreads();
  const float v10
      = maximum(maximum(maximum(largest_parts[0][0], largest_parts[0][1]), largest_parts[0][2]), largest_parts[0][3]);
  largest = maximum(largest, v10);
  sum = 0.0f;
  float part1 = -0.0f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v11 = X_tile[i * 8];
    const f16 v12 = X_tile[i * 8 + 1];
    const f16 v13 = X_tile[i * 8 + 2];
    const f16 v14 = X_tile[i * 8 + 3];
    const f16 v15 = X_tile[i * 8 + 4];
    const f16 v16 = X_tile[i * 8 + 5];
    const f16 v17 = X_tile[i * 8 + 6];
    const f16 v18 = X_tile[i * 8 + 7];
    part1 += expf((float)v11 - largest);
    part1 += expf((float)v12 - largest);
    part1 += expf((float)v13 - largest);
    part1 += expf((float)v14 - largest);
    part1 += expf((float)v15 - largest);
    part1 += expf((float)v16 - largest);
    part1 += expf((float)v17 - largest);
    part1 += expf((float)v18 - largest);
  }
  const float v11 = part1;
  const float v12 = __shfl_xor_sync(0xffffffff, v11, 16);
  const float v13 = v11 + v12;
  const float v14 = __shfl_xor_sync(0xffffffff, v13, 8);
  const float v15 = v13 + v14;
  const float v16 = __shfl_xor_sync(0xffffffff, v15, 4);
  const float v17 = v15 + v16;
  const float v18 = __shfl_xor_sync(0xffffffff, v17, 2);
  const float v19 = v17 + v18;
  const float v20 = __shfl_xor_sync(0xffffffff, v19, 1);
  if (inside) {
    sum_parts[0][warp] = v19 + v20;
  }
  __syncthreads();
  sum += sum_parts[0][0] + sum_parts[0][1] + sum_parts[0][2] + sum_parts[0][3];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const f16 v21 = X_tile[i * 8];
    const f16 v22 = X_tile[i * 8 + 1];
    const f16 v23 = X_tile[i * 8 + 2];
    const f16 v24 = X_tile[i * 8 + 3];
    const f16 v25 = X_tile[i * 8 + 4];
    const f16 v26 = X_tile[i * 8 + 5];
    const f16 v27 = X_tile[i * 8 + 6];
    const f16 v28 = X_tile[i * 8 + 7];
    const float v29 = largest;
    const float v30 = 1.0f / sum;
    *reinterpret_cast<vec<f16, 8>*>(&Y[bx * 4096 + tx * 8 + i * 1024]) = vec<f16,
        8>{{(f16)(expf((float)v21 - v29) * v30), (f16)(expf((float)v22 - v29) * v30),
        (f16)(expf((float)v23 - v29) * v30), (f16)(expf((float)v24 - v29) * v30), (f16)(expf((float)v25 - v29) * v30),
        (f16)(expf((float)v26 - v29) * v30), (f16)(expf((float)v27 - v29) * v30), (f16)(expf((float)v28 - v29) * v30)}};
  }
}
