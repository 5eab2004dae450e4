// weft golden igemm_tensor_nchw --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
// prelude: vec, round_to_odd, bf16, bf16_of_bits, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(256) conv2d_nchw(
    const bf16* __restrict__ X,
    const bf16* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ bf16 W_shared[2][128][32];
  alignas(16) __shared__ bf16 X_shared[2][1][32][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) bf16 W_next[16];
  alignas(16) bf16 X_next[16];
  alignas(16) float acc[4][4][2][1][1][1][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          acc[i][j][l][0][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int col = tx % 4 * 8;
  const int row = tx / 4;
  const int idx = tx / 4 / 2 % 4 * 8;
  const int W_shared_col = tx / 4 * -32;
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 64;
    const bool in_row1 = row1 < 39;
    const int W_shared_col1 = W_shared_col + ((tx * 8) ^ idx);
    *reinterpret_cast<vec<bf16, 8>*>(&W_shared[0][row1][W_shared_col1]) = vec<bf16,
        8>{{in_row1 ? W[row1 * 45 + col] : bf16(0.0f), in_row1 ? W[row1 * 45 + col + 1] : bf16(0.0f), in_row1
        ? W[row1 * 45 + col + 2] : bf16(0.0f), in_row1 ? W[row1 * 45 + col + 3] : bf16(0.0f), in_row1
        ? W[row1 * 45 + col + 4] : bf16(0.0f), in_row1 ? W[row1 * 45 + col + 5] : bf16(0.0f), in_row1
        ? W[row1 * 45 + col + 6] : bf16(0.0f), in_row1 ? W[row1 * 45 + col + 7] : bf16(0.0f)}};
  }
  const int idx1 = bx * 128 + tx % 16 * 8;
  const bool in_idx1 = idx1 < 180;
  const bool in_idx1_1 = idx1 + 1 < 180;
  const bool in_idx1_2 = idx1 + 2 < 180;
  const bool in_idx1_3 = idx1 + 3 < 180;
  const bool in_idx1_4 = idx1 + 4 < 180;
  const bool in_idx1_5 = idx1 + 5 < 180;
  const bool in_idx1_6 = idx1 + 6 < 180;
  const bool in_idx1_7 = idx1 + 7 < 180;
  const int X_shared_d2 = tx / 16;
  const int d2 = (bx * 32 + tx % 16 * 2) / 3 * 2;
  const int d3 = (bx * 32 + tx % 16 * 2) % 3 * 8;
  const int d2_1 = (bx * 128 + tx % 16 * 8 + 1) / 12 * 2;
  const int d3_1 = (bx * 128 + tx % 16 * 8 + 1) % 12 * 2;
  const int d2_2 = (bx * 64 + tx % 16 * 4 + 1) / 6 * 2;
  const int d3_2 = (bx * 64 + tx % 16 * 4 + 1) % 6 * 4;
  const int d2_3 = (bx * 128 + tx % 16 * 8 + 3) / 12 * 2;
  const int d3_3 = (bx * 128 + tx % 16 * 8 + 3) % 12 * 2;
  const int d2_4 = (bx * 32 + tx % 16 * 2 + 1) / 3 * 2;
  const int d3_4 = (bx * 32 + tx % 16 * 2 + 1) % 3 * 8;
  const int d2_5 = (bx * 128 + tx % 16 * 8 + 5) / 12 * 2;
  const int d3_5 = (bx * 128 + tx % 16 * 8 + 5) % 12 * 2;
  const int d2_6 = (bx * 64 + tx % 16 * 4 + 3) / 6 * 2;
  const int d3_6 = (bx * 64 + tx % 16 * 4 + 3) % 6 * 4;
  const int d2_7 = (bx * 128 + tx % 16 * 8 + 7) / 12 * 2;
  const int d3_7 = (bx * 128 + tx % 16 * 8 + 7) % 12 * 2;
  const int idx2 = tx / 16 % 8 * 8;
  const int X_shared_d3 = tx / 16 * -128;
  for (int i = 0; i < 2; ++i) {
    const int X_shared_d2_1 = X_shared_d2 + i * 16;
    const int d1 = (i * 16 + tx / 16) / 9;
    const int d2_8 = d2 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_8 = d3 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v0 = in_idx1 && (unsigned)d2_8 < 29 && (unsigned)d3_8 < 23
        ? X[bz * 3335 + d1 * 667 + d2_8 * 23 + d3_8] : bf16(0.0f);
    const int d2_9 = d2_1 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_9 = d3_1 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v1 = in_idx1_1 && (unsigned)d2_9 < 29 && (unsigned)d3_9 < 23
        ? X[bz * 3335 + d1 * 667 + d2_9 * 23 + d3_9] : bf16(0.0f);
    const int d2_10 = d2_2 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_10 = d3_2 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v2 = in_idx1_2 && (unsigned)d2_10 < 29 && (unsigned)d3_10 < 23
        ? X[bz * 3335 + d1 * 667 + d2_10 * 23 + d3_10] : bf16(0.0f);
    const int d2_11 = d2_3 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_11 = d3_3 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v3 = in_idx1_3 && (unsigned)d2_11 < 29 && (unsigned)d3_11 < 23
        ? X[bz * 3335 + d1 * 667 + d2_11 * 23 + d3_11] : bf16(0.0f);
    const int d2_12 = d2_4 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_12 = d3_4 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v4 = in_idx1_4 && (unsigned)d2_12 < 29 && (unsigned)d3_12 < 23
        ? X[bz * 3335 + d1 * 667 + d2_12 * 23 + d3_12] : bf16(0.0f);
    const int d2_13 = d2_5 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_13 = d3_5 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v5 = in_idx1_5 && (unsigned)d2_13 < 29 && (unsigned)d3_13 < 23
        ? X[bz * 3335 + d1 * 667 + d2_13 * 23 + d3_13] : bf16(0.0f);
    const int d2_14 = d2_6 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_14 = d3_6 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v6 = in_idx1_6 && (unsigned)d2_14 < 29 && (unsigned)d3_14 < 23
        ? X[bz * 3335 + d1 * 667 + d2_14 * 23 + d3_14] : bf16(0.0f);
    const int d2_15 = d2_7 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_15 = d3_7 + (i * 16 + tx / 16) % 3 - 1;
    const bf16 v7 = in_idx1_7 && (unsigned)d2_15 < 29 && (unsigned)d3_15 < 23
        ? X[bz * 3335 + d1 * 667 + d2_15 * 23 + d3_15] : bf16(0.0f);
    const int X_shared_d3_1 = X_shared_d3 + ((tx * 8) ^ idx2);
    *reinterpret_cast<vec<bf16, 8>*>(&X_shared[0][0][X_shared_d2_1][X_shared_d3_1]) = vec<bf16,
        8>{{v0, v1, v2, v3, v4, v5, v6, v7}};
  }
  const int idx3 = lane / 16 * 8;
  const int W_shared_row = tx % 16 + warp / 4 * 64;
  const int idx4 = tx % 16 / 2 % 4 * 8;
  const int X_shared_d2_1 = tx % 16;
  const int idx5 = tx % 8 * 8;
  const int X_shared_d3_1 = warp / 4 * -128;
  for (int k = 0; k < 64; k += 32) {
    const bool in_k = k + 32 < 64;
    const int col1 = col + k;
    const int idx6 = X_shared_d2 + k;
    if (in_k) {
      const bool in_col1 = col1 + 32 < 45;
      const bool in_col1_1 = col1 + 33 < 45;
      const bool in_col1_2 = col1 + 34 < 45;
      const bool in_col1_3 = col1 + 35 < 45;
      const bool in_col1_4 = col1 + 36 < 45;
      const bool in_col1_5 = col1 + 37 < 45;
      const bool in_col1_6 = col1 + 38 < 45;
      const bool in_col1_7 = col1 + 39 < 45;
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row1 = row + i * 64;
        const bool in_row1 = row1 < 39;
        W_next[i * 8] = in_col1 && in_row1 ? W[row1 * 45 + col1 + 32] : bf16(0.0f);
        W_next[i * 8 + 1] = in_col1_1 && in_row1 ? W[row1 * 45 + col1 + 33] : bf16(0.0f);
        W_next[i * 8 + 2] = in_col1_2 && in_row1 ? W[row1 * 45 + col1 + 34] : bf16(0.0f);
        W_next[i * 8 + 3] = in_col1_3 && in_row1 ? W[row1 * 45 + col1 + 35] : bf16(0.0f);
        W_next[i * 8 + 4] = in_col1_4 && in_row1 ? W[row1 * 45 + col1 + 36] : bf16(0.0f);
        W_next[i * 8 + 5] = in_col1_5 && in_row1 ? W[row1 * 45 + col1 + 37] : bf16(0.0f);
        W_next[i * 8 + 6] = in_col1_6 && in_row1 ? W[row1 * 45 + col1 + 38] : bf16(0.0f);
        W_next[i * 8 + 7] = in_col1_7 && in_row1 ? W[row1 * 45 + col1 + 39] : bf16(0.0f);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool inside = idx6 + i * 16 + 32 < 45;
        const int d1 = (k + i * 16 + tx / 16 + 32) / 9;
        const int d2_8 = d2 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_8 = d3 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v0 = inside && in_idx1 && (unsigned)d2_8 < 29 && (unsigned)d3_8 < 23
            ? X[bz * 3335 + d1 * 667 + d2_8 * 23 + d3_8] : bf16(0.0f);
        const int d2_9 = d2_1 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_9 = d3_1 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v1 = inside && in_idx1_1 && (unsigned)d2_9 < 29 && (unsigned)d3_9 < 23
            ? X[bz * 3335 + d1 * 667 + d2_9 * 23 + d3_9] : bf16(0.0f);
        const int d2_10 = d2_2 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_10 = d3_2 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v2 = inside && in_idx1_2 && (unsigned)d2_10 < 29 && (unsigned)d3_10 < 23
            ? X[bz * 3335 + d1 * 667 + d2_10 * 23 + d3_10] : bf16(0.0f);
        const int d2_11 = d2_3 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_11 = d3_3 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v3 = inside && in_idx1_3 && (unsigned)d2_11 < 29 && (unsigned)d3_11 < 23
            ? X[bz * 3335 + d1 * 667 + d2_11 * 23 + d3_11] : bf16(0.0f);
        const int d2_12 = d2_4 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_12 = d3_4 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v4 = inside && in_idx1_4 && (unsigned)d2_12 < 29 && (unsigned)d3_12 < 23
            ? X[bz * 3335 + d1 * 667 + d2_12 * 23 + d3_12] : bf16(0.0f);
        const int d2_13 = d2_5 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_13 = d3_5 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v5 = inside && in_idx1_5 && (unsigned)d2_13 < 29 && (unsigned)d3_13 < 23
            ? X[bz * 3335 + d1 * 667 + d2_13 * 23 + d3_13] : bf16(0.0f);
        const int d2_14 = d2_6 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_14 = d3_6 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v6 = inside && in_idx1_6 && (unsigned)d2_14 < 29 && (unsigned)d3_14 < 23
            ? X[bz * 3335 + d1 * 667 + d2_14 * 23 + d3_14] : bf16(0.0f);
        const int d2_15 = d2_7 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_15 = d3_7 + (k + i * 16 + tx / 16 + 32) % 3 - 1;
        const bf16 v7 = inside && in_idx1_7 && (unsigned)d2_15 < 29 && (unsigned)d3_15 < 23
            ? X[bz * 3335 + d1 * 667 + d2_15 * 23 + d3_15] : bf16(0.0f);
        X_next[i * 8] = v0;
        X_next[i * 8 + 1] = v1;
        X_next[i * 8 + 2] = v2;
        X_next[i * 8 + 3] = v3;
        X_next[i * 8 + 4] = v4;
        X_next[i * 8 + 5] = v5;
        X_next[i * 8 + 6] = v6;
        X_next[i * 8 + 7] = v7;
      }
    }
    __syncthreads();
    const int idx7 = k / 32;
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 W_frag[4][4][2];
      const int idx8 = idx3 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned W_frag1[4];
        load_matrices_x4(W_frag1, &W_shared[idx7][W_shared_row + j * 16][idx8 ^ idx4]);
        W_frag[j][0][0] = bf16_of_bits(W_frag1[0]);
        W_frag[j][0][1] = bf16_of_bits(W_frag1[0] >> 16);
        W_frag[j][1][0] = bf16_of_bits(W_frag1[1]);
        W_frag[j][1][1] = bf16_of_bits(W_frag1[1] >> 16);
        W_frag[j][2][0] = bf16_of_bits(W_frag1[2]);
        W_frag[j][2][1] = bf16_of_bits(W_frag1[2] >> 16);
        W_frag[j][3][0] = bf16_of_bits(W_frag1[3]);
        W_frag[j][3][1] = bf16_of_bits(W_frag1[3] >> 16);
      }
      bf16 X_frag[4][2][2];
      const int X_shared_d2_2 = X_shared_d2_1 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned X_frag1[2];
        load_matrices_x2_transposed(X_frag1,
            &X_shared[idx7][0][X_shared_d2_2][X_shared_d3_1 + ((warp * 32 + j * 8) ^ idx5)]);
        X_frag[j][0][0] = bf16_of_bits(X_frag1[0]);
        X_frag[j][0][1] = bf16_of_bits(X_frag1[0] >> 16);
        X_frag[j][1][0] = bf16_of_bits(X_frag1[1]);
        X_frag[j][1][1] = bf16_of_bits(X_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0][0], acc[j][l][0][0][0][0][1], acc[j][l][1][0][0][0][0],
              acc[j][l][1][0][0][0][1], pack_bf16(W_frag[j][0][0], W_frag[j][0][1]),
              pack_bf16(W_frag[j][1][0], W_frag[j][1][1]), pack_bf16(W_frag[j][2][0], W_frag[j][2][1]),
              pack_bf16(W_frag[j][3][0], W_frag[j][3][1]), pack_bf16(X_frag[l][0][0], X_frag[l][0][1]),
              pack_bf16(X_frag[l][1][0], X_frag[l][1][1]));
        }
      }
    }
    const int idx8 = (k / 32 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int W_shared_col1 = W_shared_col + ((tx * 8) ^ idx);
        *reinterpret_cast<vec<bf16, 8>*>(&W_shared[idx8][row + i * 64][W_shared_col1])
            = *reinterpret_cast<const vec<bf16, 8>*>(&W_next[i * 8]);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int X_shared_d3_2 = X_shared_d3 + ((tx * 8) ^ idx2);
        *reinterpret_cast<vec<bf16, 8>*>(&X_shared[idx8][0][X_shared_d2 + i * 16][X_shared_d3_2])
            = *reinterpret_cast<const vec<bf16, 8>*>(&X_next[i * 8]);
      }
    }
  }
  const int col1 = bx * 128 + tx % 4 * 2 + warp % 4 * 32;
  const int row1 = lane / 4 + warp / 4 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col2 = col1 + j * 8;
      const bool in_col2 = col2 < 180;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row3 = row2 + l * 8;
        if (row3 < 39 && in_col2) {
          *reinterpret_cast<float2*>(&Y[bz * 7020 + row3 * 180 + col2])
              = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0][0]);
        }
      }
    }
  }
}
