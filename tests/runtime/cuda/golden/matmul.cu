extern "C" __global__ void __launch_bounds__(256) shared(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  __shared__ float s0[16][16];
  __shared__ float s1[16][17];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  float acc = 0.0f;
  for (int k = 0; k < 48; k += 16) {
    s0[ty][tx] = A[row * 48 + k + tx];
    s1[ty][tx] = B[(k + ty) * 32 + col];
    __syncthreads();
    for (int kk = 0; kk < 16; ++kk) {
      acc += s0[ty][kk] * s1[kk][tx];
    }
    __syncthreads();
  }
  C[row * 32 + col] = acc;
}

extern "C" __global__ void __launch_bounds__(256) ragged(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  __shared__ float s0[16][16];
  __shared__ float s1[16][16];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const int col = bx * 16 + tx;
  const bool in_row = row < 37;
  const bool in_col = col < 23;
  float acc = 0.0f;
  for (int k = 0; k < 29; k += 16) {
    const int col1 = k + tx;
    s0[ty][tx] = in_row && col1 < 29 ? A[row * 29 + col1] : 0.0f;
    const int row1 = k + ty;
    s1[ty][tx] = row1 < 29 && in_col ? B[row1 * 23 + col] : 0.0f;
    __syncthreads();
    for (int kk = 0; kk < 16; ++kk) {
      acc += s0[ty][kk] * s1[kk][tx];
    }
    __syncthreads();
  }
  if (in_row && in_col) {
    C[row * 23 + col] = acc;
  }
}
