// weft golden tensor_split_k --set m=100 --set n=77 --set k=1333
// prelude: vec, round_to_odd, bf16, bf16_of_bits, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(128, 1) matmul(
    const bf16* __restrict__ A,
    const bf16* __restrict__ B,
    float* __restrict__ temp0) {
  alignas(16) __shared__ bf16 A_shared[1][128][32];
  alignas(16) __shared__ bf16 B_shared[1][32][128];
  const int tx = threadIdx.x;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  float acc[4][8][2][1][1][1][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          acc[i][j][l][0][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int col = tx % 16 * 8;
  const bool in_col = col < 77;
  const bool in_col1 = col + 1 < 77;
  const bool in_col2 = col + 2 < 77;
  const bool in_col3 = col + 3 < 77;
  const bool in_col4 = col + 4 < 77;
  const bool in_col5 = col + 5 < 77;
  const bool in_col6 = col + 6 < 77;
  const bool in_col7 = col + 7 < 77;
  const int col1 = bz * 352 + tx % 4 * 8;
  const int row = tx / 4;
  const int idx = tx / 4 / 2 % 4 * 8;
  const int A_shared_col = tx / 4 * -32;
  const int B_shared_row = tx / 16;
  const int row1 = bz * 352 + tx / 16;
  const int idx1 = tx / 16 * 8;
  const int B_shared_col = tx / 16 * -128;
  const int idx2 = lane / 16 * 8;
  const int A_shared_row = tx % 16 + warp / 2 * 64;
  const int idx3 = tx % 16 / 2 % 4 * 8;
  const int B_shared_row1 = tx % 16;
  const int idx4 = tx % 8 * 8;
  const int B_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 352; k += 32) {
    const int col2 = col1 + k;
    const bool in_col2_1 = col2 < 1333;
    const bool in_col2_2 = col2 + 1 < 1333;
    const bool in_col2_3 = col2 + 2 < 1333;
    const bool in_col2_4 = col2 + 3 < 1333;
    const bool in_col2_5 = col2 + 4 < 1333;
    const bool in_col2_6 = col2 + 5 < 1333;
    const bool in_col2_7 = col2 + 6 < 1333;
    const bool in_col2_8 = col2 + 7 < 1333;
    for (int i = 0; i < 4; ++i) {
      const int row2 = row + i * 32;
      const bool in_row2 = row2 < 100;
      const int A_shared_col1 = A_shared_col + ((tx * 8) ^ idx);
      *reinterpret_cast<vec<bf16, 8>*>(&A_shared[0][row2][A_shared_col1]) = vec<bf16,
          8>{{in_row2 && in_col2_1 ? A[row2 * 1333 + col2] : bf16(0.0f), in_row2 && in_col2_2
          ? A[row2 * 1333 + col2 + 1] : bf16(0.0f), in_row2 && in_col2_3 ? A[row2 * 1333 + col2 + 2] : bf16(0.0f),
          in_row2 && in_col2_4 ? A[row2 * 1333 + col2 + 3] : bf16(0.0f), in_row2 && in_col2_5
          ? A[row2 * 1333 + col2 + 4] : bf16(0.0f), in_row2 && in_col2_6 ? A[row2 * 1333 + col2 + 5] : bf16(0.0f),
          in_row2 && in_col2_7 ? A[row2 * 1333 + col2 + 6] : bf16(0.0f), in_row2 && in_col2_8
          ? A[row2 * 1333 + col2 + 7] : bf16(0.0f)}};
    }
    const int row2 = row1 + k;
    for (int i = 0; i < 4; ++i) {
      const int row3 = row2 + i * 8;
      const bool in_row3 = row3 < 1333;
      const int B_shared_col2 = B_shared_col + ((tx * 8) ^ idx1);
      *reinterpret_cast<vec<bf16, 8>*>(&B_shared[0][B_shared_row + i * 8][B_shared_col2]) = vec<bf16,
          8>{{in_col && in_row3 ? B[row3 * 77 + col] : bf16(0.0f), in_col1 && in_row3 ? B[row3 * 77 + col + 1]
          : bf16(0.0f), in_col2 && in_row3 ? B[row3 * 77 + col + 2] : bf16(0.0f), in_col3 && in_row3
          ? B[row3 * 77 + col + 3] : bf16(0.0f), in_col4 && in_row3 ? B[row3 * 77 + col + 4] : bf16(0.0f), in_col5
          && in_row3 ? B[row3 * 77 + col + 5] : bf16(0.0f), in_col6 && in_row3 ? B[row3 * 77 + col + 6] : bf16(0.0f),
          in_col7 && in_row3 ? B[row3 * 77 + col + 7] : bf16(0.0f)}};
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 A_frag[4][4][2];
      const int idx5 = idx2 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned A_frag1[4];
        load_matrices_x4(A_frag1, &A_shared[0][A_shared_row + j * 16][idx5 ^ idx3]);
        A_frag[j][0][0] = bf16_of_bits(A_frag1[0]);
        A_frag[j][0][1] = bf16_of_bits(A_frag1[0] >> 16);
        A_frag[j][1][0] = bf16_of_bits(A_frag1[1]);
        A_frag[j][1][1] = bf16_of_bits(A_frag1[1] >> 16);
        A_frag[j][2][0] = bf16_of_bits(A_frag1[2]);
        A_frag[j][2][1] = bf16_of_bits(A_frag1[2] >> 16);
        A_frag[j][3][0] = bf16_of_bits(A_frag1[3]);
        A_frag[j][3][1] = bf16_of_bits(A_frag1[3] >> 16);
      }
      bf16 B_frag[8][2][2];
      const int B_shared_row2 = B_shared_row1 + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned B_frag1[2];
        load_matrices_x2_transposed(B_frag1, &B_shared[0][B_shared_row2][B_shared_col1 + ((j * 8) ^ idx4)]);
        B_frag[j][0][0] = bf16_of_bits(B_frag1[0]);
        B_frag[j][0][1] = bf16_of_bits(B_frag1[0] >> 16);
        B_frag[j][1][0] = bf16_of_bits(B_frag1[1]);
        B_frag[j][1][1] = bf16_of_bits(B_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0][0], acc[j][l][0][0][0][0][1], acc[j][l][1][0][0][0][0],
              acc[j][l][1][0][0][0][1], pack_bf16(A_frag[j][0][0], A_frag[j][0][1]),
              pack_bf16(A_frag[j][1][0], A_frag[j][1][1]), pack_bf16(A_frag[j][2][0], A_frag[j][2][1]),
              pack_bf16(A_frag[j][3][0], A_frag[j][3][1]), pack_bf16(B_frag[l][0][0], B_frag[l][0][1]),
              pack_bf16(B_frag[l][1][0], B_frag[l][1][1]));
        }
      }
    }
    __syncthreads();
  }
  const int row2 = lane / 4 + warp / 2 * 64;
  const int col2 = tx % 4 * 2 + warp % 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row3 = row2 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col3 = col2 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row4 = row3 + l * 8;
        if (row4 < 100) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int col4 = col3 + m;
            if (col4 < 77) {
              temp0[bz * 7700 + row4 * 77 + col4] = acc[i][j][l][0][0][0][m];
            }
          }
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_1(float* __restrict__ C, const float* __restrict__ temp0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int row = (bx * 256 + tx) / 77;
  const int col = (bx * 256 + tx) % 77;
  if (bx * 256 + tx < 7700) {
    float acc = 0.0f;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      acc += temp0[i * 7700 + row * 77 + col];
    }
    C[row * 77 + col] = acc;
  }
}
