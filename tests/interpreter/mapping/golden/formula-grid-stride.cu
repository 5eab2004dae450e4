extern "C" __global__ void __launch_bounds__(256) saxpy(
    const float* __restrict__ x,
    long long x_size0,
    float* __restrict__ y,
    long long y_size0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const long long step = (long long)(int)gridDim.x * 256;
  for (long long i = (long long)bx * 256 + tx; i < x_size0; i += step) {
    y[i] += x[i] * 2.0f;
  }
}

extern "C" __global__ void __launch_bounds__(256) saxpy_32(
    const float* __restrict__ x,
    long long x_size0,
    float* __restrict__ y,
    long long y_size0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int x_extent0 = (int)x_size0;
  for (int i = bx * 256 + tx; i < x_extent0; i += (int)gridDim.x * 256) {
    y[i] += x[i] * 2.0f;
  }
}
