// weft golden layernorm
extern "C" __global__ void __launch_bounds__(128, 3) layernorm(
    const float* __restrict__ X,
    const float* __restrict__ Gamma,
    const float* __restrict__ Beta,
    float* __restrict__ Y) {
  __shared__ float sum_parts[1][4];
  __shared__ float squares_parts[1][4];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int warp = tx / 32;
  float squares = 0.0f;
  alignas(16) float X_tile[32];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<float4*>(&X_tile[i * 4]) = *reinterpret_cast<const float4*>(&X[bx * 4096 + tx * 4 + i * 512]);
  }
  float sum = squares;
  float part = -0.0f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float v0 = X_tile[i * 4];
    const float v1 = X_tile[i * 4 + 1];
    const float v2 = X_tile[i * 4 + 2];
    const float v3 = X_tile[i * 4 + 3];
    part += v0;
    part += v1;
    part += v2;
    part += v3;
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
  const bool inside = tx % 32 == 0;
  if (inside) {
    sum_parts[0][warp] = v8 + v9;
  }
  __syncthreads();
  sum += sum_parts[0][0] + sum_parts[0][1] + sum_parts[0][2] + sum_parts[0][3];
  float part1 = -0.0f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float v10 = X_tile[i * 4];
    const float v11 = X_tile[i * 4 + 1];
    const float v12 = X_tile[i * 4 + 2];
    const float v13 = X_tile[i * 4 + 3];
    const float v14 = v10 - sum / 4096.0f;
    part1 += v14 * v14;
    const float v15 = v11 - sum / 4096.0f;
    part1 += v15 * v15;
    const float v16 = v12 - sum / 4096.0f;
    part1 += v16 * v16;
    const float v17 = v13 - sum / 4096.0f;
    part1 += v17 * v17;
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
  if (inside) {
    squares_parts[0][warp] = v18 + v19;
  }
  __syncthreads();
  squares += squares_parts[0][0] + squares_parts[0][1] + squares_parts[0][2] + squares_parts[0][3];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int idx = tx * 4 + i * 512;
    const float v20 = X_tile[i * 4];
    const float v21 = X_tile[i * 4 + 1];
    const float v22 = X_tile[i * 4 + 2];
    const float v23 = X_tile[i * 4 + 3];
    const float4 gamma_ = *reinterpret_cast<const float4*>(&Gamma[idx]);
    const float4 beta = *reinterpret_cast<const float4*>(&Beta[idx]);
    const float v24 = sum / 4096.0f;
    const float v25 = rsqrtf(squares / 4096.0f + 1e-05f);
    *reinterpret_cast<float4*>(&Y[bx * 4096 + idx])
        = make_float4((v20 - v24) * v25 * gamma_.x + beta.x, (v21 - v24) * v25 * gamma_.y + beta.y,
        (v22 - v24) * v25 * gamma_.z + beta.z, (v23 - v24) * v25 * gamma_.w + beta.w);
  }
}
