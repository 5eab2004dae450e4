// weft golden simt --set m=1000 --set n=777 --set k=333
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
  float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int idx = tx % 4 * 4;
  const int col = (by * 7 + bx) / 8 * 128 + lane * 4;
  const bool in_col = col < 777;
  const bool in_col1 = col + 1 < 777;
  const bool in_col2 = col + 2 < 777;
  const bool in_col3 = col + 3 < 777;
  const int row = (by * 7 + bx) % 8 * 128 + tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx2 = tx / 4;
  const int idx3 = lane / 4 * 8;
  const int A_shared_col = warp / 4 * 64;
  const int B_shared_col = tx % 4 * 8 + warp % 4 * 32;
  for (int k = 0; k < 336; k += 16) {
    const int col1 = idx + k;
    const bool in_col1_1 = col1 < 333;
    const bool in_col1_2 = col1 + 1 < 333;
    const bool in_col1_3 = col1 + 2 < 333;
    const bool in_col1_4 = col1 + 3 < 333;
    for (int i = 0; i < 2; ++i) {
      const int row1 = row + i * 64;
      const bool in_row1 = row1 < 1000;
      const int A_shared_col1 = i * 64 + (idx2 ^ idx1);
      const float v0 = in_col1_2 && in_row1 ? A[row1 * 333 + col1 + 1] : 0.0f;
      const float v1 = in_col1_3 && in_row1 ? A[row1 * 333 + col1 + 2] : 0.0f;
      const float v2 = in_col1_4 && in_row1 ? A[row1 * 333 + col1 + 3] : 0.0f;
      A_shared[idx][A_shared_col1] = in_col1_1 && in_row1 ? A[row1 * 333 + col1] : 0.0f;
      A_shared[idx + 1][A_shared_col1] = v0;
      A_shared[idx + 2][A_shared_col1] = v1;
      A_shared[idx + 3][A_shared_col1] = v2;
    }
    const int row1 = warp + k;
    for (int i = 0; i < 2; ++i) {
      const int row2 = row1 + i * 8;
      const bool in_row2 = row2 < 333;
      *reinterpret_cast<float4*>(&B_shared[warp + i * 8][lane * 4])
          = make_float4(in_row2 && in_col ? B[row2 * 777 + col] : 0.0f, in_row2 && in_col1 ? B[row2 * 777 + col + 1]
          : 0.0f, in_row2 && in_col2 ? B[row2 * 777 + col + 2] : 0.0f, in_row2 && in_col3 ? B[row2 * 777 + col + 3]
          : 0.0f);
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
  const int row1 = (by * 7 + bx) % 8 * 128 + lane / 4 * 8 + warp / 4 * 64;
  const int col1 = (by * 7 + bx) / 8 * 128 + tx % 4 * 8 + warp % 4 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row2 = row1 + i;
    if (row2 < 1000) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col2 = col1 + j;
        if (col2 < 777) {
          C[row2 * 777 + col2] = acc[i][j];
        }
      }
    }
  }
}
