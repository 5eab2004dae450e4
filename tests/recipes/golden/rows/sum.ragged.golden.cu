// weft golden sum --set n=99999
extern "C" __global__ void __launch_bounds__(256) sum(const float* __restrict__ X, float* __restrict__ sum_2) {
  __shared__ float sum_2_parts[1][8];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float sum_2_1 = 0.0f;
  float part = -0.0f;
  const int idx = bx * 256 + tx;
  part += idx < 99999 ? X[idx] : 0.0f;
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
    sum_2_parts[0][tx / 32] = v8 + v9;
  }
  __syncthreads();
  const float v10 = sum_2_parts[0][0] + sum_2_parts[0][1] + sum_2_parts[0][2] + sum_2_parts[0][3] + sum_2_parts[0][4]
      + sum_2_parts[0][5];
  sum_2_1 += v10 + sum_2_parts[0][6] + sum_2_parts[0][7];
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
  for (int i = tx; i < 391; i += 256) {
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
