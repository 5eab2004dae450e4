extern "C" __global__ void __launch_bounds__(128) mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ result0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    for (int j = bx; j < 3; j += 2) {
      const int col = j * 32 + tx;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int row = i * 32 + l * 4 + by * 16 + ty;
        for (int m = 0; m < 48; ++m) {
          result0[row * 96 + col] += A[row * 48 + m] * B[m * 96 + col];
        }
      }
    }
  }
}
