// weft golden igemm_tensor --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: vec, round_to_odd, bf16, bf16_of_bits, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(128, 1) conv2d(
    const bf16* __restrict__ X,
    const bf16* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ bf16 X_shared[128][32];
  alignas(16) __shared__ bf16 W_shared[32][128];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  float acc[4][8][2][1][1][2];
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
  const int col = tx % 16 * 8;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const bool in_col4 = col + 4 < 39;
  const bool in_col5 = col + 5 < 39;
  const bool in_col6 = col + 6 < 39;
  const bool in_col7 = col + 7 < 39;
  const int idx = tx % 4 * 8;
  const int X_shared_row = tx / 4;
  const int idx1 = by * 128 + tx / 4;
  const int idx2 = tx / 4 / 2 % 4 * 8;
  const int X_shared_col = tx / 4 * -32;
  const int row = tx / 16;
  const int idx3 = tx / 16 * 8;
  const int W_shared_col = tx / 16 * -128;
  const int idx4 = lane / 16 * 8;
  const int X_shared_row1 = tx % 16 + warp / 2 * 64;
  const int idx5 = tx % 16 / 2 % 4 * 8;
  const int W_shared_row = tx % 16;
  const int idx6 = tx % 8 * 8;
  const int W_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 64; k += 32) {
    const int idx7 = idx + k;
    const bool in_idx7 = idx7 < 45;
    const int d3 = (k + tx % 4 * 8) % 5;
    const bool in_idx7_1 = idx7 + 1 < 45;
    const int d3_1 = (k + tx % 4 * 8 + 1) % 5;
    const bool in_idx7_2 = idx7 + 2 < 45;
    const int d3_2 = (k + tx % 4 * 8 + 2) % 5;
    const bool in_idx7_3 = idx7 + 3 < 45;
    const int d3_3 = (k + tx % 4 * 8 + 3) % 5;
    const bool in_idx7_4 = idx7 + 4 < 45;
    const int d3_4 = (k + tx % 4 * 8 + 4) % 5;
    const bool in_idx7_5 = idx7 + 5 < 45;
    const bool in_idx7_6 = idx7 + 6 < 45;
    const int d3_5 = (k + tx % 4 * 8 + 6) % 5;
    const bool in_idx7_7 = idx7 + 7 < 45;
    const int d3_6 = (k + tx % 4 * 8 + 7) % 5;
    const int d1 = (k + tx % 4 * 8) / 15;
    const int d2 = (k + tx % 4 * 8) % 15 / 5;
    const int d1_1 = (k + tx % 4 * 8 + 1) / 15;
    const int d2_1 = (k + tx % 4 * 8 + 1) % 15 / 5;
    const int d1_2 = (k + tx % 4 * 8 + 2) / 15;
    const int d2_2 = (k + tx % 4 * 8 + 2) % 15 / 5;
    const int d1_3 = (k + tx % 4 * 8 + 3) / 15;
    const int d2_3 = (k + tx % 4 * 8 + 3) % 15 / 5;
    const int d1_4 = (k + tx % 4 * 8 + 4) / 15;
    const int d2_4 = (k + tx % 4 * 8 + 4) % 15 / 5;
    const int d1_5 = (k + tx % 4 * 8 + 5) / 15;
    const int d2_5 = (k + tx % 4 * 8 + 5) % 15 / 5 - 1;
    const int d1_6 = (k + tx % 4 * 8 + 6) / 15;
    const int d2_6 = (k + tx % 4 * 8 + 6) % 15 / 5;
    const int d1_7 = (k + tx % 4 * 8 + 7) / 15;
    const int d2_7 = (k + tx % 4 * 8 + 7) % 15 / 5;
    for (int i = 0; i < 4; ++i) {
      const bool inside = idx1 + i * 32 < 540;
      const int d0 = (by * 128 + i * 32 + tx / 4) / 180;
      const int d1_8 = d1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_8 = d2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v0 = in_idx7 && inside && (unsigned)d1_8 < 29 && (unsigned)d2_8 < 23
          ? X[d0 * 3335 + d1_8 * 115 + d2_8 * 5 + d3] : bf16(0.0f);
      const int d1_9 = d1_1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_9 = d2_1 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v1 = in_idx7_1 && inside && (unsigned)d1_9 < 29 && (unsigned)d2_9 < 23
          ? X[d0 * 3335 + d1_9 * 115 + d2_9 * 5 + d3_1] : bf16(0.0f);
      const int d1_10 = d1_2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_10 = d2_2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v2 = in_idx7_2 && inside && (unsigned)d1_10 < 29 && (unsigned)d2_10 < 23
          ? X[d0 * 3335 + d1_10 * 115 + d2_10 * 5 + d3_2] : bf16(0.0f);
      const int d1_11 = d1_3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_11 = d2_3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v3 = in_idx7_3 && inside && (unsigned)d1_11 < 29 && (unsigned)d2_11 < 23
          ? X[d0 * 3335 + d1_11 * 115 + d2_11 * 5 + d3_3] : bf16(0.0f);
      const int d1_12 = d1_4 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_12 = d2_4 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v4 = in_idx7_4 && inside && (unsigned)d1_12 < 29 && (unsigned)d2_12 < 23
          ? X[d0 * 3335 + d1_12 * 115 + d2_12 * 5 + d3_4] : bf16(0.0f);
      const int d1_13 = d1_5 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_13 = d2_5 + (by * 128 + i * 32 + tx / 4) % 12 * 2;
      const bf16 v5 = in_idx7_5 && inside && (unsigned)d1_13 < 29 && (unsigned)d2_13 < 23
          ? X[d0 * 3335 + d1_13 * 115 + d2_13 * 5 + d3] : bf16(0.0f);
      const int d1_14 = d1_6 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_14 = d2_6 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v6 = in_idx7_6 && inside && (unsigned)d1_14 < 29 && (unsigned)d2_14 < 23
          ? X[d0 * 3335 + d1_14 * 115 + d2_14 * 5 + d3_5] : bf16(0.0f);
      const int d1_15 = d1_7 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_15 = d2_7 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v7 = in_idx7_7 && inside && (unsigned)d1_15 < 29 && (unsigned)d2_15 < 23
          ? X[d0 * 3335 + d1_15 * 115 + d2_15 * 5 + d3_6] : bf16(0.0f);
      const int X_shared_col1 = X_shared_col + ((tx * 8) ^ idx2);
      *reinterpret_cast<vec<bf16, 8>*>(&X_shared[X_shared_row + i * 32][X_shared_col1]) = vec<bf16,
          8>{{v0, v1, v2, v3, v4, v5, v6, v7}};
    }
    const int row1 = row + k;
    for (int i = 0; i < 4; ++i) {
      const int row2 = row1 + i * 8;
      const bool in_row2 = row2 < 45;
      const int W_shared_col2 = W_shared_col + ((tx * 8) ^ idx3);
      *reinterpret_cast<vec<bf16, 8>*>(&W_shared[row + i * 8][W_shared_col2]) = vec<bf16,
          8>{{in_row2 && in_col ? W[row2 * 39 + col] : bf16(0.0f), in_row2 && in_col1 ? W[row2 * 39 + col + 1]
          : bf16(0.0f), in_row2 && in_col2 ? W[row2 * 39 + col + 2] : bf16(0.0f), in_row2 && in_col3
          ? W[row2 * 39 + col + 3] : bf16(0.0f), in_row2 && in_col4 ? W[row2 * 39 + col + 4] : bf16(0.0f), in_row2
          && in_col5 ? W[row2 * 39 + col + 5] : bf16(0.0f), in_row2 && in_col6 ? W[row2 * 39 + col + 6] : bf16(0.0f),
          in_row2 && in_col7 ? W[row2 * 39 + col + 7] : bf16(0.0f)}};
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 X_frag[4][4][2];
      const int idx8 = idx4 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned X_frag1[4];
        load_matrices_x4(X_frag1, &X_shared[X_shared_row1 + j * 16][idx8 ^ idx5]);
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
        load_matrices_x2_transposed(W_frag1, &W_shared[W_shared_row1][W_shared_col1 + ((j * 8) ^ idx6)]);
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
    __syncthreads();
  }
  const int row1 = by * 128 + lane / 4 + warp / 2 * 64;
  const int col1 = tx % 4 * 2 + warp % 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col2 = col1 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row3 = row2 + l * 8;
        if (row3 < 540) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int col3 = col2 + m;
            if (col3 < 39) {
              Y[row3 * 39 + col3] = acc[i][j][l][0][0][m];
            }
          }
        }
      }
    }
  }
}
