// prelude: copy_async4, copy_async8, copy_async16, copy_async16_l1, commit_copies, wait_copies

extern "C" __global__ void __launch_bounds__(32) mirror(
    const float* __restrict__ x,
    const int* __restrict__ n,
    const short* __restrict__ h,
    const double* __restrict__ d,
    double* __restrict__ out) {
  alignas(16) __shared__ float x_shared[64];
  alignas(16) __shared__ int n_shared[64];
  alignas(16) __shared__ short s0[64];
  alignas(16) __shared__ double s1[64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  if (tx < 16) {
    copy_async16(&x_shared[tx * 4], &x[bx * 64 + tx * 4]);
  }
  commit_copies();
  copy_async8(&n_shared[tx * 2], &n[bx * 64 + tx * 2]);
  copy_async4(&s0[tx * 2], &h[bx * 64 + tx * 2]);
  copy_async16_l1(&s1[tx * 2], &d[bx * 64 + tx * 2]);
  commit_copies();
  wait_copies<1>();
  __syncthreads();
  const int idx = 63 - tx;
  const float v0 = x_shared[idx];
  const float v1 = x_shared[idx - 32];
  wait_copies<0>();
  __syncthreads();
  for (int i = tx; i < 64; i += 32) {
    const int idx1 = 63 - i;
    out[bx * 64 + i] = (double)n_shared[idx1] + (double)s0[idx1] + s1[idx1] + (double)(i < 32 ? v0 : v1);
  }
}

extern "C" __global__ void __launch_bounds__(16, 1) sums(
    const float* __restrict__ x,
    long long x_size1,
    long long k,
    float* __restrict__ y) {
  alignas(16) __shared__ float ring[2][4][16];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  copy_async16(&ring[0][ty][tx * 4], &x[ty * x_size1 + tx * 4], max(min(k - tx * 4, 4LL), 0LL) * 4);
  commit_copies();
  float acc = 0.0f;
  for (long long kk = 0; kk < k; kk += 16) {
    const int ring_plane = kk / 16 % 2;
    wait_copies<0>();
    __syncthreads();
    const long long idx = kk + 16 + tx * 4;
    copy_async16(&ring[1 - ring_plane][ty][tx * 4], &x[ty * x_size1 + idx], max(min(k - idx, 4LL), 0LL) * 4);
    commit_copies();
    for (int kkk = 0; kkk < 16; ++kkk) {
      acc += ring[ring_plane][ty][kkk];
    }
  }
  if (tx == 0) {
    y[ty] = acc;
  }
}

extern "C" __global__ void __launch_bounds__(16) sums_32(
    const float* __restrict__ x,
    long long x_size1,
    long long k,
    float* __restrict__ y) {
  alignas(16) __shared__ float ring[2][4][16];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x_extent1 = (int)x_size1;
  copy_async16(&ring[0][ty][tx * 4], &x[ty * x_extent1 + tx * 4], max(min(k - tx * 4, 4LL), 0LL) * 4);
  commit_copies();
  float acc = 0.0f;
  for (long long kk = 0; kk < k; kk += 16) {
    const int ring_plane = kk / 16 % 2;
    wait_copies<0>();
    __syncthreads();
    const long long idx = kk + 16 + tx * 4;
    copy_async16(&ring[1 - ring_plane][ty][tx * 4], &x[ty * x_extent1 + idx], max(min(k - idx, 4LL), 0LL) * 4);
    commit_copies();
    for (int kkk = 0; kkk < 16; ++kkk) {
      acc += ring[ring_plane][ty][kkk];
    }
  }
  if (tx == 0) {
    y[ty] = acc;
  }
}
