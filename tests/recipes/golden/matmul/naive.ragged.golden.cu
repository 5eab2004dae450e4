// weft golden naive --set m=1000 --set n=777 --set k=333
extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  float C_tile = 0.0f;
  const int col = bx * 16 + tx;
  const bool in_col = col < 777;
  const int row = by * 16 + ty;
  const bool in_row = row < 1000;
  for (int i = 0; i < 333; ++i) {
    C_tile += (in_row ? A[row * 333 + i] : 0.0f) * (in_col ? B[i * 777 + col] : 0.0f);
  }
  if (in_row && in_col) {
    C[row * 777 + col] = C_tile;
  }
}
