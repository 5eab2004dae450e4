// weft golden igemm_tensor
// prelude: round_to_odd, bf16, bf16_of_bits, copy_async16, commit_copies, wait_copies, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(128, 1) conv2d(
    const bf16* __restrict__ X,
    const bf16* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ bf16 X_shared[3][128][32];
  alignas(16) __shared__ bf16 W_shared[3][32][128];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float acc[4][8][2][1][1][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          acc[i][j][l][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int idx = tx % 4 * 8;
  const int d3 = tx % 2 * 8;
  const int d2 = tx / 2 - tx / 4 * 2 + tx / 4 % 16 - 1;
  const bool in_d2 = (unsigned)d2 < 16;
  const int d1 = by * 8 + tx / 4 / 16;
  const int X_shared_row = tx / 4;
  const int idx1 = tx / 4 / 2 % 4 * 8;
  const int X_shared_col = tx / 4 * -32;
  for (int i = 0; i < 4; ++i) {
    const int d1_1 = d1 + i * 2 - 1;
    copy_async16(&X_shared[0][X_shared_row + i * 32][X_shared_col + ((tx * 8) ^ idx1)], &X[d1_1 * 256 + d2 * 16 + d3],
        ((unsigned)d1_1 < 16 && in_d2 ? 8 : 0) * 2);
  }
  const int col = tx % 16 * 8;
  const bool in_col = col < 32;
  const int row = tx / 16;
  const int idx2 = tx / 16 * 8;
  const int W_shared_col = tx / 16 * -128;
  for (int i = 0; i < 4; ++i) {
    const int row1 = row + i * 8;
    copy_async16(&W_shared[0][row1][W_shared_col + ((tx * 8) ^ idx2)], &W[row1 * 32 + col], (in_col ? 8 : 0) * 2);
  }
  commit_copies();
  const int d2_1 = tx / 2 - (tx % 4 + 4) / 6 * 3 - tx / 4 * 2 + tx / 4 % 16 + 1;
  const bool in_d2_1 = (unsigned)d2_1 < 16;
  const int d1_1 = by * 8 + tx / 4 / 16 + (tx % 4 + 4) / 6;
  for (int i = 0; i < 4; ++i) {
    const int d1_2 = d1_1 + i * 2 - 1;
    copy_async16(&X_shared[1][X_shared_row + i * 32][X_shared_col + ((tx * 8) ^ idx1)],
        &X[d1_2 * 256 + d2_1 * 16 + d3], ((unsigned)d1_2 < 16 && in_d2_1 ? 8 : 0) * 2);
  }
  for (int i = 0; i < 4; ++i) {
    const int row1 = row + i * 8;
    copy_async16(&W_shared[1][row1][W_shared_col + ((tx * 8) ^ idx2)], &W[(row1 + 32) * 32 + col],
        (in_col ? 8 : 0) * 2);
  }
  commit_copies();
  const int d2_2 = tx / 4 % 16 - tx / 4 * 2;
  const int idx3 = lane / 16 * 8;
  const int X_shared_row1 = tx % 16 + warp / 2 * 64;
  const int idx4 = tx % 16 / 2 % 4 * 8;
  const int W_shared_row = tx % 16;
  const int idx5 = tx % 8 * 8;
  const int W_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 160; k += 32) {
    wait_copies<1>();
    __syncthreads();
    const int d3_1 = (k + tx * 8) % 16;
    const int plane = (k / 32 + 2) % 3;
    const int d2_3 = d2_2 + ((k + tx * 8) / 16 - (k + tx % 4 * 8 + 64) / 48 * 3) + 3;
    const int d1_2 = d1 + (k + tx % 4 * 8 + 64) / 48;
    const int row1 = row + k;
    if (k + 64 < 160) {
      const bool inside = idx + k + 64 < 144;
      const bool in_d2_3 = (unsigned)d2_3 < 16;
      for (int i = 0; i < 4; ++i) {
        const int d1_3 = d1_2 + i * 2 - 1;
        copy_async16(&X_shared[plane][X_shared_row + i * 32][X_shared_col + ((tx * 8) ^ idx1)],
            &X[d1_3 * 256 + d2_3 * 16 + d3_1], (inside && d1_3 < 16 && in_d2_3 ? 8 : 0) * 2);
      }
      for (int i = 0; i < 4; ++i) {
        const int row2 = row1 + i * 8 + 64;
        copy_async16(&W_shared[plane][row + i * 8][W_shared_col + ((tx * 8) ^ idx2)], &W[row2 * 32 + col],
            (row2 < 144 && in_col ? 8 : 0) * 2);
      }
    }
    commit_copies();
    const int plane1 = k / 32 % 3;
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 X_frag[4][4][2];
      const int idx6 = idx3 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned X_frag1[4];
        load_matrices_x4(X_frag1, &X_shared[plane1][X_shared_row1 + j * 16][idx6 ^ idx4]);
        X_frag[j][0][0] = bf16_of_bits(X_frag1[0]);
        X_frag[j][0][1] = bf16_of_bits(X_frag1[0] >> 16);
        X_frag[j][1][0] = bf16_of_bits(X_frag1[1]);
        X_frag[j][1][1] = bf16_of_bits(X_frag1[1] >> 16);
        X_frag[j][2][0] = bf16_of_bits(X_frag1[2]);
        X_frag[j][2][1] = bf16_of_bits(X_frag1[2] >> 16);
        X_frag[j][3][0] = bf16_of_bits(X_frag1[3]);
        X_frag[j][3][1] = bf16_of_bits(X_frag1[3] >> 16);
      }
      bf16 W_frag[8][2][2];
      const int W_shared_row1 = W_shared_row + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned W_frag1[2];
        load_matrices_x2_transposed(W_frag1, &W_shared[plane1][W_shared_row1][W_shared_col1 + ((j * 8) ^ idx5)]);
        W_frag[j][0][0] = bf16_of_bits(W_frag1[0]);
        W_frag[j][0][1] = bf16_of_bits(W_frag1[0] >> 16);
        W_frag[j][1][0] = bf16_of_bits(W_frag1[1]);
        W_frag[j][1][1] = bf16_of_bits(W_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0], acc[j][l][0][0][0][1], acc[j][l][1][0][0][0], acc[j][l][1][0][0][1],
              pack_bf16(X_frag[j][0][0], X_frag[j][0][1]), pack_bf16(X_frag[j][1][0], X_frag[j][1][1]),
              pack_bf16(X_frag[j][2][0], X_frag[j][2][1]), pack_bf16(X_frag[j][3][0], X_frag[j][3][1]),
              pack_bf16(W_frag[l][0][0], W_frag[l][0][1]), pack_bf16(W_frag[l][1][0], W_frag[l][1][1]));
        }
      }
    }
  }
  const int col1 = tx % 4 * 2 + warp % 2 * 64;
  const int row1 = by * 128 + lane / 4 + warp / 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col2 = col1 + j * 8;
      const bool in_col2 = col2 < 32;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        if (in_col2) {
          *reinterpret_cast<float2*>(&Y[(row2 + l * 8) * 32 + col2])
              = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0]);
        }
      }
    }
  }
}
