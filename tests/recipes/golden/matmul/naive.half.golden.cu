// weft golden naive --set type=f16
// prelude: round_to_odd, f16

extern "C" __global__ void __launch_bounds__(256) matmul(
    const f16* __restrict__ A,
    const f16* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  C[row * 512 + col] = 0.0f;
  for (int i = 0; i < 512; ++i) {
    C[row * 512 + col] += (float)A[row * 512 + i] * (float)B[i * 512 + col];
  }
}
