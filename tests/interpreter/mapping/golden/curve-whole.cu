__device__ const int hilbert_8x8[64] = {0, 8, 9, 1, 2, 3, 11, 10, 18, 19, 27, 26, 25, 17, 16, 24, 32, 33, 41, 40, 48, 56, 57, 49, 50, 58, 59, 51, 43,
  42, 34, 35, 36, 37, 45, 44, 52, 60, 61, 53, 54, 62, 63, 55, 47, 46, 38, 39, 31, 23, 22, 30, 29, 28, 20, 21, 13, 12, 4, 5, 6, 14, 15, 7};

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
  const int idx = hilbert_8x8[by * 8 + bx];
  const int row = idx / 8 * 8 + ty;
  const int col = idx % 8 * 8 + tx;
  for (int k = 0; k < 16; k += 8) {
    A_shared[ty][tx] = A[row * 16 + tx + k];
    B_shared[ty][tx] = B[(ty + k) * 64 + col];
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      result0[row * 64 + col] += A_shared[ty][i] * B_shared[i][tx];
    }
    __syncthreads();
  }
}
