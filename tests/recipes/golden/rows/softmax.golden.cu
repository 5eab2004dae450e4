// weft golden softmax
// prelude: maximum

extern "C" __global__ void __launch_bounds__(128) softmax(const float* __restrict__ X, float* __restrict__ Y) {
  __shared__ float largest_parts[1][4];
  __shared__ float sum_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float sum;
  float largest = __uint_as_float(0xff800000u);
  alignas(16) float X_tile[32];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<float4*>(&X_tile[i * 4]) = *reinterpret_cast<const float4*>(&X[bx * 4096 + tx * 4 + i * 512]);
  }
  float part = __uint_as_float(0xff800000u);
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float v0 = X_tile[i * 4];
    const float v1 = X_tile[i * 4 + 1];
    const float v2 = X_tile[i * 4 + 2];
    const float v3 = X_tile[i * 4 + 3];
    part = maximum(v0, part);
    part = maximum(v1, part);
    part = maximum(v2, part);
    part = maximum(v3, part);
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
  for (int i = 0; i < 8; ++i) {
    const float v11 = X_tile[i * 4];
    const float v12 = X_tile[i * 4 + 1];
    const float v13 = X_tile[i * 4 + 2];
    const float v14 = X_tile[i * 4 + 3];
    part1 += expf(v11 - largest);
    part1 += expf(v12 - largest);
    part1 += expf(v13 - largest);
    part1 += expf(v14 - largest);
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
  for (int i = 0; i < 8; ++i) {
    const float v21 = X_tile[i * 4];
    const float v22 = X_tile[i * 4 + 1];
    const float v23 = X_tile[i * 4 + 2];
    const float v24 = X_tile[i * 4 + 3];
    const float v25 = largest;
    const float v26 = 1.0f / sum;
    *reinterpret_cast<float4*>(&Y[bx * 4096 + tx * 4 + i * 512])
        = make_float4(expf(v21 - v25) * v26, expf(v22 - v25) * v26, expf(v23 - v25) * v26, expf(v24 - v25) * v26);
  }
}
