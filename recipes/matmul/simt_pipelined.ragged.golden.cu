// weft golden simt_pipelined.weft --set m=1000 --set n=777 --set k=333
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
  float A_next[8];
  alignas(16) float B_next[8];
  float acc[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  const int row = tx % 4 * 4;
  const int row1 = (by * 7 + bx) % 8 * 128 + tx / 4;
  const int col = tx / 4;
  for (int i = 0; i < 2; ++i) {
    const int row2 = row1 + i * 64;
    const bool in_row2 = row2 < 1000;
    const int col1 = col + i * 64;
    const float v0 = in_row2 ? A[row2 * 333 + row + 1] : 0.0f;
    const float v1 = in_row2 ? A[row2 * 333 + row + 2] : 0.0f;
    const float v2 = in_row2 ? A[row2 * 333 + row + 3] : 0.0f;
    A_shared[0][row][col1] = in_row2 ? A[row2 * 333 + row] : 0.0f;
    A_shared[0][row + 1][col1] = v0;
    A_shared[0][row + 2][col1] = v1;
    A_shared[0][row + 3][col1] = v2;
  }
  const int col1 = (by * 7 + bx) / 8 * 128 + lane * 4;
  const bool in_col1 = col1 < 777;
  const bool in_col1_1 = col1 + 1 < 777;
  const bool in_col1_2 = col1 + 2 < 777;
  const bool in_col1_3 = col1 + 3 < 777;
  for (int i = 0; i < 2; ++i) {
    const int row2 = warp + i * 8;
    *reinterpret_cast<float4*>(&B_shared[0][row2][lane * 4])
        = make_float4(in_col1 ? B[row2 * 777 + col1] : 0.0f, in_col1_1 ? B[row2 * 777 + col1 + 1] : 0.0f, in_col1_2
        ? B[row2 * 777 + col1 + 2] : 0.0f, in_col1_3 ? B[row2 * 777 + col1 + 3] : 0.0f);
  }
  const int col2 = lane / 4 * 8 + warp / 4 * 64;
  const int col3 = tx % 4 * 8 + warp % 4 * 32;
  for (int k = 0; k < 336; k += 16) {
    const bool in_k = k + 16 < 336;
    const int col4 = row + k;
    const int row2 = warp + k;
    if (in_k) {
      const bool in_col4 = col4 + 16 < 333;
      const bool in_col4_1 = col4 + 17 < 333;
      const bool in_col4_2 = col4 + 18 < 333;
      const bool in_col4_3 = col4 + 19 < 333;
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row3 = row1 + i * 64;
        const bool in_row3 = row3 < 1000;
        A_next[i * 4] = in_col4 && in_row3 ? A[row3 * 333 + col4 + 16] : 0.0f;
        A_next[i * 4 + 1] = in_col4_1 && in_row3 ? A[row3 * 333 + col4 + 17] : 0.0f;
        A_next[i * 4 + 2] = in_col4_2 && in_row3 ? A[row3 * 333 + col4 + 18] : 0.0f;
        A_next[i * 4 + 3] = in_col4_3 && in_row3 ? A[row3 * 333 + col4 + 19] : 0.0f;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row3 = row2 + i * 8 + 16;
        const bool in_row3 = row3 < 333;
        B_next[i * 4] = in_row3 && in_col1 ? B[row3 * 777 + col1] : 0.0f;
        B_next[i * 4 + 1] = in_row3 && in_col1_1 ? B[row3 * 777 + col1 + 1] : 0.0f;
        B_next[i * 4 + 2] = in_row3 && in_col1_2 ? B[row3 * 777 + col1 + 2] : 0.0f;
        B_next[i * 4 + 3] = in_row3 && in_col1_3 ? B[row3 * 777 + col1 + 3] : 0.0f;
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
  const int row2 = (by * 7 + bx) % 8 * 128 + lane / 4 * 8 + warp / 4 * 64;
  const int col4 = (by * 7 + bx) / 8 * 128 + tx % 4 * 8 + warp % 4 * 32;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row3 = row2 + i;
    if (row3 < 1000) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col5 = col4 + j;
        if (col5 < 777) {
          C[row3 * 777 + col5] = acc[i][j];
        }
      }
    }
  }
}
