extern "C" __global__ void __launch_bounds__(2) ten(const float* __restrict__ A, float* __restrict__ B) {
  const int tx = threadIdx.x;
  for (int i = tx * 3; i < 10; i += 6) {
    for (int j = i; j < min(10, i + 3); ++j) {
      B[j] = A[j];
    }
  }
}
