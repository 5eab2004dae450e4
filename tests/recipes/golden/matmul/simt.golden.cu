// weft golden simt
// prelude: floormod

extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  alignas(16) __shared__ float A_shared[16][132];
  alignas(16) __shared__ float B_shared[16][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int idx = tx % 4 * 4;
  const int col = by * 128 + lane * 4;
  const int row = bx * 128 + tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx2 = tx / 4;
  const int idx3 = lane / 4 * 8;
  const int A_shared_col = warp / 4 * 64;
  const int B_shared_col = tx % 4 * 8 + warp % 4 * 32;
  for (int k = 0; k < 512; k += 16) {
    const int col1 = idx + k;
    for (int i = 0; i < 2; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&A[(row + i * 64) * 512 + col1]);
      const int A_shared_col1 = i * 64 + (idx2 ^ idx1);
      A_shared[idx][A_shared_col1] = a.x;
      A_shared[idx + 1][A_shared_col1] = a.y;
      A_shared[idx + 2][A_shared_col1] = a.z;
      A_shared[idx + 3][A_shared_col1] = a.w;
    }
    const int row1 = warp + k;
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float4*>(&B_shared[warp + i * 8][lane * 4])
          = *reinterpret_cast<const float4*>(&B[(row1 + i * 8) * 512 + col]);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float A_frag[8];
      const int idx4 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int A_shared_col1 = A_shared_col + ((idx3 + j * 4) ^ idx4);
        *reinterpret_cast<float4*>(&A_frag[j * 4]) = *reinterpret_cast<const float4*>(&A_shared[i][A_shared_col1]);
      }
      alignas(16) float B_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&B_frag[j * 4])
            = *reinterpret_cast<const float4*>(&B_shared[i][B_shared_col + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[j][l] += A_frag[j] * B_frag[l];
        }
      }
    }
    __syncthreads();
  }
  const int row1 = bx * 128 + lane / 4 * 8 + warp / 4 * 64;
  const int col1 = by * 128 + tx % 4 * 8 + warp % 4 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&C[row2 * 512 + col1 + j * 4]) = *reinterpret_cast<const float4*>(&acc[i][j * 4]);
    }
  }
}
