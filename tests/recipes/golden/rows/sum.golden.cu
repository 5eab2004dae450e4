// weft golden sum
extern "C" __global__ void __launch_bounds__(256) sum(const float* __restrict__ X, float* __restrict__ sum_2) {
  __shared__ float sum_2_parts[1][8];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float sum_2_1 = 0.0f;
  float part = -0.0f;
  const int idx = bx * 1024 + tx * 4;
  float v0;
  float v1;
  float v2;
  float v3;
  if (idx < 1000000) {
    const float4 x = *reinterpret_cast<const float4*>(&X[idx]);
    v0 = x.x;
    v1 = x.y;
    v2 = x.z;
    v3 = x.w;
  } else {
    v0 = 0.0f;
    v1 = 0.0f;
    v2 = 0.0f;
    v3 = 0.0f;
  }
  part += v0;
  part += v1;
  part += v2;
  part += v3;
  const float v4 = part;
  const float v5 = __shfl_xor_sync(0xffffffff, v4, 16);
  const float v6 = v4 + v5;
  const float v7 = __shfl_xor_sync(0xffffffff, v6, 8);
  const float v8 = v6 + v7;
  const float v9 = __shfl_xor_sync(0xffffffff, v8, 4);
  const float v10 = v8 + v9;
  const float v11 = __shfl_xor_sync(0xffffffff, v10, 2);
  const float v12 = v10 + v11;
  const float v13 = __shfl_xor_sync(0xffffffff, v12, 1);
  if (tx % 32 == 0) {
    sum_2_parts[0][tx / 32] = v12 + v13;
  }
  __syncthreads();
  const float v14 = sum_2_parts[0][0] + sum_2_parts[0][1] + sum_2_parts[0][2] + sum_2_parts[0][3] + sum_2_parts[0][4]
      + sum_2_parts[0][5];
  sum_2_1 += v14 + sum_2_parts[0][6] + sum_2_parts[0][7];
  if (tx < 1) {
    sum_2[bx + tx] = sum_2_1;
  }
}

extern "C" __global__ void __launch_bounds__(1) sum_1(float* __restrict__ sum) {
  sum[0] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(256) sum_2(float* __restrict__ sum, const float* __restrict__ sum_2) {
  __shared__ float sum_parts[8];
  const int tx = threadIdx.x;
  float part = -0.0f;
  for (int i = tx; i < 977; i += 256) {
    part += sum_2[i];
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
    sum_parts[tx / 32] = v8 + v9;
  }
  __syncthreads();
  const float v10 = sum_parts[0] + sum_parts[1] + sum_parts[2] + sum_parts[3] + sum_parts[4] + sum_parts[5]
      + sum_parts[6];
  const float v11 = v10 + sum_parts[7];
  if (tx == 0) {
    sum[0] += v11;
  }
}
