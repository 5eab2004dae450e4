// weft golden simt_pipelined.weft
extern "C" __global__ void __launch_bounds__(256, 2) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  alignas(16) __shared__ float A_shared[2][16][132];
  alignas(16) __shared__ float B_shared[2][16][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float A_next[8];
  alignas(16) float B_next[8];
  alignas(16) float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int row = tx % 4 * 4;
  const int row1 = bx * 128 + tx / 4;
  const int col = tx / 4;
  for (int i = 0; i < 2; ++i) {
    const float4 a = *reinterpret_cast<const float4*>(&A[(row1 + i * 64) * 512 + row]);
    const int col1 = col + i * 64;
    A_shared[0][row][col1] = a.x;
    A_shared[0][row + 1][col1] = a.y;
    A_shared[0][row + 2][col1] = a.z;
    A_shared[0][row + 3][col1] = a.w;
  }
  const int col1 = by * 128 + lane * 4;
  for (int i = 0; i < 2; ++i) {
    const int row2 = warp + i * 8;
    *reinterpret_cast<float4*>(&B_shared[0][row2][lane * 4]) = *reinterpret_cast<const float4*>(&B[row2 * 512 + col1]);
  }
  const int col2 = lane / 4 * 8 + warp / 4 * 64;
  const int col3 = tx % 4 * 8 + warp % 4 * 32;
  for (int k = 0; k < 512; k += 16) {
    const bool in_k = k + 16 < 512;
    const int col4 = row + k + 16;
    const int row2 = warp + k;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<float4*>(&A_next[i * 4]) = *reinterpret_cast<const float4*>(&A[(row1 + i * 64) * 512 + col4]);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<float4*>(&B_next[i * 4])
            = *reinterpret_cast<const float4*>(&B[(row2 + i * 8 + 16) * 512 + col1]);
      }
    }
    __syncthreads();
    const int plane = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float A_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&A_frag[j * 4])
            = *reinterpret_cast<const float4*>(&A_shared[plane][i][col2 + j * 4]);
      }
      alignas(16) float B_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&B_frag[j * 4])
            = *reinterpret_cast<const float4*>(&B_shared[plane][i][col3 + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[j][l] += A_frag[j] * B_frag[l];
        }
      }
    }
    const int plane1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float v0 = A_next[i * 4];
        const float v1 = A_next[i * 4 + 1];
        const float v2 = A_next[i * 4 + 2];
        const float v3 = A_next[i * 4 + 3];
        const int col5 = col + i * 64;
        A_shared[plane1][row][col5] = v0;
        A_shared[plane1][row + 1][col5] = v1;
        A_shared[plane1][row + 2][col5] = v2;
        A_shared[plane1][row + 3][col5] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<float4*>(&B_shared[plane1][warp + i * 8][lane * 4])
            = *reinterpret_cast<const float4*>(&B_next[i * 4]);
      }
    }
  }
  const int row2 = bx * 128 + lane / 4 * 8 + warp / 4 * 64;
  const int col4 = by * 128 + tx % 4 * 8 + warp % 4 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row3 = row2 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&C[row3 * 512 + col4 + j * 4]) = *reinterpret_cast<const float4*>(&acc[i][j * 4]);
    }
  }
}
