__device__ const int hilbert_6x5[30] = {0, 5, 10, 11, 6, 1, 2, 7, 8, 3, 4, 9, 14, 19, 18, 13, 12, 17, 22, 23, 24, 29, 28, 27, 26, 21, 16, 15, 20, 25};

extern "C" __global__ void __launch_bounds__(64) mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ result0) {
  __shared__ float A_shared[8][8];
  __shared__ float B_shared[8][8];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  for (int k = 0; k < 6; ++k) {
    const int idx = hilbert_6x5[bx + k * 5];
    float r;
    const int row = ty + idx / 5 * 8;
    const int col = tx + idx % 5 * 8;
    const bool in_row = row < 41;
    const bool in_col = col < 35;
    const bool inside = in_row && in_col;
    r = inside ? result0[row * 35 + col] : 0.0f;
    for (int kk = 0; kk < 24; kk += 8) {
      const int col1 = tx + kk;
      A_shared[ty][tx] = col1 < 17 && in_row ? A[row * 17 + col1] : -0.0f;
      const int row1 = ty + kk;
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
}
