// weft golden shared --set type=f16
// prelude: round_to_odd, f16

extern "C" __global__ void __launch_bounds__(256) matmul(
    const f16* __restrict__ A,
    const f16* __restrict__ B,
    float* __restrict__ C) {
  __shared__ f16 A_shared[16][16];
  __shared__ f16 B_shared[16][16];
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
      acc += (float)A_shared[ty][i] * (float)B_shared[i][tx];
    }
    __syncthreads();
  }
  C[row * 512 + col] = acc;
}
