// weft golden shared
extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  __shared__ float A_shared[16][16];
  __shared__ float B_shared[16][16];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  float acc = 0.0f;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  for (int k = 0; k < 512; k += 16) {
    A_shared[ty][tx] = A[row * 512 + tx + k];
    B_shared[ty][tx] = B[(ty + k) * 512 + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      acc += A_shared[ty][i] * B_shared[i][tx];
    }
    __syncthreads();
  }
  C[row * 512 + col] = acc;
}
