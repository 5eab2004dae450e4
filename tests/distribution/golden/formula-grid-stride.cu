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
