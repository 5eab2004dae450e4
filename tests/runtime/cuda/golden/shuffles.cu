// prelude: round_to_odd, f16, bf16, f16_of_bits, bf16_of_bits

extern "C" __global__ void __launch_bounds__(256, 1) row_sums(
    const float* __restrict__ A,
    long long A_size0,
    float* __restrict__ S,
    long long S_size0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const long long idx = (long long)bx * 8 + ty;
  if (idx < A_size0) {
    const float4 a = *reinterpret_cast<const float4*>(&A[idx * 128 + tx * 4]);
    const float v0 = a.x + a.y + a.z + a.w;
    const float v1 = __shfl_xor_sync(0xffffffff, v0, 1);
    const float v2 = v0 + v1;
    const float v3 = __shfl_xor_sync(0xffffffff, v2, 2);
    const float v4 = v2 + v3;
    const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
    const float v6 = v4 + v5;
    const float v7 = __shfl_xor_sync(0xffffffff, v6, 8);
    const float v8 = v6 + v7;
    const float v9 = __shfl_xor_sync(0xffffffff, v8, 16);
    if (tx == 0) {
      S[idx] = v8 + v9;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) row_sums_32(
    const float* __restrict__ A,
    long long A_size0,
    float* __restrict__ S,
    long long S_size0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int A_extent0 = (int)A_size0;
  const int idx = bx * 8 + ty;
  if (idx < A_extent0) {
    const float4 a = *reinterpret_cast<const float4*>(&A[idx * 128 + tx * 4]);
    const float v0 = a.x + a.y + a.z + a.w;
    const float v1 = __shfl_xor_sync(0xffffffff, v0, 1);
    const float v2 = v0 + v1;
    const float v3 = __shfl_xor_sync(0xffffffff, v2, 2);
    const float v4 = v2 + v3;
    const float v5 = __shfl_xor_sync(0xffffffff, v4, 4);
    const float v6 = v4 + v5;
    const float v7 = __shfl_xor_sync(0xffffffff, v6, 8);
    const float v8 = v6 + v7;
    const float v9 = __shfl_xor_sync(0xffffffff, v8, 16);
    if (tx == 0) {
      S[idx] = v8 + v9;
    }
  }
}

extern "C" __global__ void __launch_bounds__(128, 1) scan(int* __restrict__ A, long long A_size0) {
  const int tx = threadIdx.x;
  const int a = A[tx];
  int acc = a;
  int acc1 = 1;
  #pragma unroll
  for (int k = 0; k < 5; ++k) {
    const int v0 = __shfl_up_sync(0xffffffff, acc, acc1);
    acc = tx % 32 >= (unsigned)acc1 ? (int)(acc + (unsigned)v0) : acc;
    acc1 = (unsigned)acc1 << 1;
  }
  A[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(128) scan_32(int* __restrict__ A, long long A_size0) {
  const int tx = threadIdx.x;
  const int a = A[tx];
  int acc = a;
  int acc1 = 1;
  #pragma unroll
  for (int k = 0; k < 5; ++k) {
    const int v0 = __shfl_up_sync(0xffffffff, acc, acc1);
    acc = tx % 32 >= (unsigned)acc1 ? (int)(acc + (unsigned)v0) : acc;
    acc1 = (unsigned)acc1 << 1;
  }
  A[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(64) in_groups(
    f16* __restrict__ A,
    bf16* __restrict__ B,
    long long* __restrict__ C,
    int from) {
  const int tx = threadIdx.x;
  const f16 a = A[tx];
  const f16 v0 = f16_of_bits(__shfl_down_sync(0xffffffff, a.bits, 1, 8));
  A[tx] = tx % 8 < 7 ? v0 : a;
  const bf16 b = B[tx];
  const bf16 v1 = bf16_of_bits(__shfl_sync(0xffffffff, b.bits, from, 8));
  B[tx] = (unsigned)from < 8 ? v1 : b;
  const long long v2 = __shfl_xor_sync(0xffffffff, C[tx], 1, 8);
  C[tx] = v2;
}
