extern "C" __global__ void __launch_bounds__(64) mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ result0) {
  __shared__ float A_shared[8][8];
  __shared__ float B_shared[8][8];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const bool in_by = by < 4;
  float r;
  const int row = (by / 4 * 4 + (in_by ? (by * 5 + bx) % 4 : (by * 5 + bx) % 2)) * 8 + ty;
  const int col = (in_by ? (by * 5 + bx) / 4 - by / 4 * 5 : (by * 5 + bx) / 2 - by / 4 * 10) * 8 + tx;
  const bool in_row = row < 41;
  const bool in_col = col < 35;
  const bool inside = in_row && in_col;
  r = inside ? result0[row * 35 + col] : 0.0f;
  for (int k = 0; k < 24; k += 8) {
    const int col1 = tx + k;
    A_shared[ty][tx] = col1 < 17 && in_row ? A[row * 17 + col1] : -0.0f;
    const int row1 = ty + k;
    B_shared[ty][tx] = row1 < 17 && in_col ? B[row1 * 35 + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      r += A_shared[ty][i] * B_shared[i][tx];
    }
    __syncthreads();
  }
  if (inside) {
    result0[row * 35 + col] = r;
  }
}
