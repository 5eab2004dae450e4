extern "C" __global__ void __launch_bounds__(128) mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ result0) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 32;
    for (int j = bx; j < 3; j += 2) {
      const int col = tx + j * 32;
      for (int l = 0; l < 4; ++l) {
        const int row2 = row1 + l * 4;
        for (int m = 0; m < 48; ++m) {
          result0[row2 * 96 + col] += A[row2 * 48 + m] * B[m * 96 + col];
        }
      }
    }
  }
}
