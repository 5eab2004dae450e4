extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  float acc = 0.0f;
  const int col = tx + bx * 16;
  const bool in_col = col < 777;
  const int row = ty + by * 16;
  const bool in_row = row < 1000;
  for (int i = 0; i < 333; ++i) {
    acc += (in_row ? A[row * 333 + i] : 0.0f) * (in_col ? B[i * 777 + col] : 0.0f);
  }
  if (by * 16 + ty < 1000 && bx * 16 + tx < 777) {
    C[row * 777 + col] = acc;
  }
}
