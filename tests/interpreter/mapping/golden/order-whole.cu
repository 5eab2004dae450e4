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
  const int row = (by / 4 * 4 + bx % 4) * 8 + ty;
  const int col = (by % 4 * 2 + bx / 4) * 8 + tx;
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
