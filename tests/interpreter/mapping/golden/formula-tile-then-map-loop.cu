__device__ inline int ceildiv(int a, int b) { return a / b + ((a % b != 0) & ((a < 0) == (b < 0))); }
__device__ inline long long ceildiv(long long a, long long b) { return a / b + ((a % b != 0) & ((a < 0) == (b < 0))); }

extern "C" __global__ void __launch_bounds__(128) saxpy(
    const float* __restrict__ x,
    long long x_size0,
    float* __restrict__ y,
    long long y_size0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  for (long long i = bx; i < ceildiv(x_size0, 128LL); i += (int)gridDim.x) {
    const long long idx = tx + i * 128;
    if (idx < x_size0) {
      y[idx] += x[idx] * 2.0f;
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) saxpy_32(
    const float* __restrict__ x,
    long long x_size0,
    float* __restrict__ y,
    long long y_size0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int x_extent0 = (int)x_size0;
  for (int i = bx; i < ceildiv(x_extent0, 128); i += (int)gridDim.x) {
    const int idx = tx + i * 128;
    if (idx < x_extent0) {
      y[idx] += x[idx] * 2.0f;
    }
  }
}
