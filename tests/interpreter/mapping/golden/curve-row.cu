extern "C" __global__ void __launch_bounds__(64) mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ result0) {
  __shared__ float A_shared[8][8];
  __shared__ float B_shared[8][8];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  float r;
  const int col = bx * 8 + tx;
  const bool in_ty = ty < 5;
  r = in_ty ? result0[ty * 40 + col] : 0.0f;
  for (int k = 0; k < 16; k += 8) {
    A_shared[ty][tx] = in_ty ? A[ty * 16 + tx + k] : 0.0f;
    B_shared[ty][tx] = B[(ty + k) * 40 + col];
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      r += A_shared[ty][i] * B_shared[i][tx];
    }
    __syncthreads();
  }
  if (in_ty) {
    result0[ty * 40 + col] = r;
  }
}
