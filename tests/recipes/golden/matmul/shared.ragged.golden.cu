// weft golden shared --set m=1000 --set n=777 --set k=333
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
  const bool in_row = row < 1000;
  const int col = bx * 16 + tx;
  const bool in_col = col < 777;
  for (int k = 0; k < 336; k += 16) {
    const int col1 = tx + k;
    A_shared[ty][tx] = col1 < 333 && in_row ? A[row * 333 + col1] : 0.0f;
    const int row1 = ty + k;
    B_shared[ty][tx] = row1 < 333 && in_col ? B[row1 * 777 + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      acc += A_shared[ty][i] * B_shared[i][tx];
    }
    __syncthreads();
  }
  if (in_row && in_col) {
    C[row * 777 + col] = acc;
  }
}
