// weft golden simt_pipelined --set m=1000 --set n=777 --set k=333
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
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
  float A_next[16];
  alignas(16) float B_next[16];
  float acc[2][16][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 16; ++j) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        acc[i][j][l] = 0.0f;
      }
    }
  }
  const int idx = tx % 4 * 4;
  const int row = (by * 7 + bx) % 8 * 128 + tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx2 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const int row1 = row + i * 32;
    const bool in_row1 = row1 < 1000;
    const int A_shared_col = i * 32 + (idx2 ^ idx1);
    const float v0 = in_row1 ? A[row1 * 333 + idx + 1] : 0.0f;
    const float v1 = in_row1 ? A[row1 * 333 + idx + 2] : 0.0f;
    const float v2 = in_row1 ? A[row1 * 333 + idx + 3] : 0.0f;
    A_shared[0][idx][A_shared_col] = in_row1 ? A[row1 * 333 + idx] : 0.0f;
    A_shared[0][idx + 1][A_shared_col] = v0;
    A_shared[0][idx + 2][A_shared_col] = v1;
    A_shared[0][idx + 3][A_shared_col] = v2;
  }
  const int col = (by * 7 + bx) / 8 * 128 + lane * 4;
  const bool in_col = col < 777;
  const bool in_col1 = col + 1 < 777;
  const bool in_col2 = col + 2 < 777;
  const bool in_col3 = col + 3 < 777;
  for (int i = 0; i < 4; ++i) {
    const int row1 = warp + i * 4;
    *reinterpret_cast<float4*>(&B_shared[0][row1][lane * 4])
        = make_float4(in_col ? B[row1 * 777 + col] : 0.0f, in_col1 ? B[row1 * 777 + col + 1] : 0.0f, in_col2
        ? B[row1 * 777 + col + 2] : 0.0f, in_col3 ? B[row1 * 777 + col + 3] : 0.0f);
  }
  const int A_shared_col = lane / 4 * 16;
  const int B_shared_col = tx % 4 * 4 + warp * 32;
  for (int k = 0; k < 336; k += 16) {
    const bool in_k = k + 16 < 336;
    const int col1 = idx + k;
    const int row1 = warp + k;
    if (in_k) {
      const bool in_col1_1 = col1 + 16 < 333;
      const bool in_col1_2 = col1 + 17 < 333;
      const bool in_col1_3 = col1 + 18 < 333;
      const bool in_col1_4 = col1 + 19 < 333;
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row2 = row + i * 32;
        const bool in_row2 = row2 < 1000;
        A_next[i * 4] = in_col1_1 && in_row2 ? A[row2 * 333 + col1 + 16] : 0.0f;
        A_next[i * 4 + 1] = in_col1_2 && in_row2 ? A[row2 * 333 + col1 + 17] : 0.0f;
        A_next[i * 4 + 2] = in_col1_3 && in_row2 ? A[row2 * 333 + col1 + 18] : 0.0f;
        A_next[i * 4 + 3] = in_col1_4 && in_row2 ? A[row2 * 333 + col1 + 19] : 0.0f;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row2 = row1 + i * 4 + 16;
        const bool in_row2 = row2 < 333;
        B_next[i * 4] = in_row2 && in_col ? B[row2 * 777 + col] : 0.0f;
        B_next[i * 4 + 1] = in_row2 && in_col1 ? B[row2 * 777 + col + 1] : 0.0f;
        B_next[i * 4 + 2] = in_row2 && in_col2 ? B[row2 * 777 + col + 2] : 0.0f;
        B_next[i * 4 + 3] = in_row2 && in_col3 ? B[row2 * 777 + col + 3] : 0.0f;
      }
    }
    __syncthreads();
    const int plane = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int idx3 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        alignas(16) float A_frag[16];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int A_shared_col1 = A_shared_col + ((l * 4) ^ idx3);
          *reinterpret_cast<float4*>(&A_frag[l * 4])
              = *reinterpret_cast<const float4*>(&A_shared[plane][i][A_shared_col1]);
        }
        alignas(16) float B_frag[4];
        *reinterpret_cast<float4*>(&B_frag[0])
            = *reinterpret_cast<const float4*>(&B_shared[plane][i][B_shared_col + j * 16]);
        #pragma unroll
        for (int l = 0; l < 16; ++l) {
          #pragma unroll
          for (int m = 0; m < 4; ++m) {
            acc[j][l][m] += A_frag[l] * B_frag[m];
          }
        }
      }
    }
    const int plane1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v0 = A_next[i * 4];
        const float v1 = A_next[i * 4 + 1];
        const float v2 = A_next[i * 4 + 2];
        const float v3 = A_next[i * 4 + 3];
        const int A_shared_col1 = i * 32 + (idx2 ^ idx1);
        A_shared[plane1][idx][A_shared_col1] = v0;
        A_shared[plane1][idx + 1][A_shared_col1] = v1;
        A_shared[plane1][idx + 2][A_shared_col1] = v2;
        A_shared[plane1][idx + 3][A_shared_col1] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&B_shared[plane1][warp + i * 4][lane * 4])
            = *reinterpret_cast<const float4*>(&B_next[i * 4]);
      }
    }
  }
  const int row1 = (by * 7 + bx) % 8 * 128 + lane / 4 * 16;
  const int col1 = (by * 7 + bx) / 8 * 128 + tx % 4 * 4 + warp * 32;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int col2 = col1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 16; ++j) {
      const int row2 = row1 + j;
      if (row2 < 1000) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int col3 = col2 + l;
          if (col3 < 777) {
            C[row2 * 777 + col3] = acc[i][j][l];
          }
        }
      }
    }
  }
}
