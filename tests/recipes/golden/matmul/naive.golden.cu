// weft golden naive
extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  C[row * 512 + col] = 0.0f;
  for (int i = 0; i < 512; ++i) {
    C[row * 512 + col] += A[row * 512 + i] * B[i * 512 + col];
  }
}
