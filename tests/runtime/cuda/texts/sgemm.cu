extern "C" __global__ void __launch_bounds__(256) sgemm(
    const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
  __shared__ alignas(16) float A_shared[8][132];
  __shared__ alignas(16) float B_shared[8][128];
  const int t = threadIdx.x;
  const int row = (t / 64) * 32 + (t % 32) / 8 * 8;
  const int col = (t / 32 % 2) * 64 + (t % 8) * 8;
  const float* a = A + (blockIdx.y * 128 + t / 2) * K + t % 2 * 4;
  const float* b = B + t / 32 * N + blockIdx.x * 128 + t % 32 * 4;
  float acc[8][8] = {};
  for (int k = 0; k < K; k += 8) {
    const float4 from_a = *reinterpret_cast<const float4*>(a);
    A_shared[t % 2 * 4 + 0][t / 2] = from_a.x;
    A_shared[t % 2 * 4 + 1][t / 2] = from_a.y;
    A_shared[t % 2 * 4 + 2][t / 2] = from_a.z;
    A_shared[t % 2 * 4 + 3][t / 2] = from_a.w;
    *reinterpret_cast<float4*>(&B_shared[t / 32][t % 32 * 4]) = *reinterpret_cast<const float4*>(b);
    __syncthreads();
    #pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      float a_frag[8], b_frag[8];
      *reinterpret_cast<float4*>(&a_frag[0]) = *reinterpret_cast<const float4*>(&A_shared[kk][row]);
      *reinterpret_cast<float4*>(&a_frag[4]) = *reinterpret_cast<const float4*>(&A_shared[kk][row + 4]);
      *reinterpret_cast<float4*>(&b_frag[0]) = *reinterpret_cast<const float4*>(&B_shared[kk][col]);
      *reinterpret_cast<float4*>(&b_frag[4]) = *reinterpret_cast<const float4*>(&B_shared[kk][col + 4]);
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
          acc[i][j] += a_frag[i] * b_frag[j];
        }
      }
    }
    __syncthreads();
    a += 8;
    b += 8 * N;
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; j += 4) {
      *reinterpret_cast<float4*>(&C[(blockIdx.y * 128 + row + i) * N + blockIdx.x * 128 + col + j]) =
          make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
    }
  }
}
