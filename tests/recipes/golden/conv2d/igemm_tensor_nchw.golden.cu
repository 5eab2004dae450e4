// weft golden igemm_tensor_nchw
// prelude: vec, round_to_odd, bf16, bf16_of_bits, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(256) conv2d_nchw(
    const bf16* __restrict__ X,
    const bf16* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ bf16 W_shared[2][128][32];
  alignas(16) __shared__ bf16 X_shared[2][1][32][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
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
    bf16 v0;
    bf16 v1;
    bf16 v2;
    bf16 v3;
    bf16 v4;
    bf16 v5;
    bf16 v6;
    bf16 v7;
    if (row1 < 32) {
      const vec<bf16, 8> w = *reinterpret_cast<const vec<bf16, 8>*>(&W[row1 * 144 + col]);
      v0 = w.at[0];
      v1 = w.at[1];
      v2 = w.at[2];
      v3 = w.at[3];
      v4 = w.at[4];
      v5 = w.at[5];
      v6 = w.at[6];
      v7 = w.at[7];
    } else {
      v0 = bf16(0.0f);
      v1 = bf16(0.0f);
      v2 = bf16(0.0f);
      v3 = bf16(0.0f);
      v4 = bf16(0.0f);
      v5 = bf16(0.0f);
      v6 = bf16(0.0f);
      v7 = bf16(0.0f);
    }
    const int W_shared_col1 = W_shared_col + ((tx * 8) ^ idx);
    *reinterpret_cast<vec<bf16, 8>*>(&W_shared[0][row1][W_shared_col1]) = vec<bf16,
        8>{{v0, v1, v2, v3, v4, v5, v6, v7}};
  }
  const int X_shared_d2 = tx / 16;
  const int d2 = bx * 8 - tx / 16 * 8 + tx / 2;
  const int d3 = tx % 2 * 8;
  const int idx1 = tx / 16 % 8 * 8;
  const int X_shared_d3 = tx / 16 * -128;
  for (int i = 0; i < 2; ++i) {
    const int X_shared_d2_1 = X_shared_d2 + i * 16;
    const int d1 = (i * 16 + tx / 16) / 9;
    const int d2_1 = d2 + (i * 16 + tx / 16) % 9 / 3 - 1;
    const int d3_1 = d3 + (i * 16 + tx / 16) % 3;
    const bool in_d2_1 = (unsigned)d2_1 < 16;
    const int X_shared_d3_1 = X_shared_d3 + ((tx * 8) ^ idx1);
    *reinterpret_cast<vec<bf16, 8>*>(&X_shared[0][0][X_shared_d2_1][X_shared_d3_1]) = vec<bf16,
        8>{{in_d2_1 && (unsigned)(d3_1 - 1) < 16 ? X[d1 * 256 + d2_1 * 16 + (d3_1 - 1)] : bf16(0.0f), in_d2_1
        ? X[d1 * 256 + d2_1 * 16 + d3_1] : bf16(0.0f), in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 1] : bf16(0.0f),
        in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 2] : bf16(0.0f), in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 3]
        : bf16(0.0f), in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 4] : bf16(0.0f), in_d2_1
        ? X[d1 * 256 + d2_1 * 16 + d3_1 + 5] : bf16(0.0f), in_d2_1 && d3_1 + 6 < 16
        ? X[d1 * 256 + d2_1 * 16 + d3_1 + 6] : bf16(0.0f)}};
  }
  const int idx2 = lane / 16 * 8;
  const int W_shared_row = tx % 16 + warp / 4 * 64;
  const int idx3 = tx % 16 / 2 % 4 * 8;
  const int X_shared_d2_1 = tx % 16;
  const int idx4 = tx % 8 * 8;
  const int X_shared_d3_1 = warp / 4 * -128;
  for (int k = 0; k < 160; k += 32) {
    const bool in_k = k + 32 < 160;
    const int col1 = col + k + 32;
    const int idx5 = X_shared_d2 + k;
    if (in_k) {
      const bool in_col1 = col1 < 144;
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row1 = row + i * 64;
        bf16 v0;
        bf16 v1;
        bf16 v2;
        bf16 v3;
        bf16 v4;
        bf16 v5;
        bf16 v6;
        bf16 v7;
        if (in_col1 && row1 < 32) {
          const vec<bf16, 8> w = *reinterpret_cast<const vec<bf16, 8>*>(&W[row1 * 144 + col1]);
          v0 = w.at[0];
          v1 = w.at[1];
          v2 = w.at[2];
          v3 = w.at[3];
          v4 = w.at[4];
          v5 = w.at[5];
          v6 = w.at[6];
          v7 = w.at[7];
        } else {
          v0 = bf16(0.0f);
          v1 = bf16(0.0f);
          v2 = bf16(0.0f);
          v3 = bf16(0.0f);
          v4 = bf16(0.0f);
          v5 = bf16(0.0f);
          v6 = bf16(0.0f);
          v7 = bf16(0.0f);
        }
        W_next[i * 8] = v0;
        W_next[i * 8 + 1] = v1;
        W_next[i * 8 + 2] = v2;
        W_next[i * 8 + 3] = v3;
        W_next[i * 8 + 4] = v4;
        W_next[i * 8 + 5] = v5;
        W_next[i * 8 + 6] = v6;
        W_next[i * 8 + 7] = v7;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool inside = idx5 + i * 16 + 32 < 144;
        const int d1 = (k + i * 16 + tx / 16 + 32) / 9;
        const int d2_1 = d2 + (k + i * 16 + tx / 16 + 32) % 9 / 3 - 1;
        const int d3_1 = d3 + (k + i * 16 + tx / 16 + 32) % 3;
        const bool in_d2_1 = (unsigned)d2_1 < 16;
        X_next[i * 8] = inside && in_d2_1 && (unsigned)(d3_1 - 1) < 16 ? X[d1 * 256 + d2_1 * 16 + (d3_1 - 1)]
            : bf16(0.0f);
        X_next[i * 8 + 1] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1] : bf16(0.0f);
        X_next[i * 8 + 2] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 1] : bf16(0.0f);
        X_next[i * 8 + 3] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 2] : bf16(0.0f);
        X_next[i * 8 + 4] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 3] : bf16(0.0f);
        X_next[i * 8 + 5] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 4] : bf16(0.0f);
        X_next[i * 8 + 6] = inside && in_d2_1 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 5] : bf16(0.0f);
        X_next[i * 8 + 7] = inside && in_d2_1 && d3_1 + 6 < 16 ? X[d1 * 256 + d2_1 * 16 + d3_1 + 6] : bf16(0.0f);
      }
    }
    __syncthreads();
    const int idx6 = k / 32 % 2;
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 W_frag[4][4][2];
      const int idx7 = idx2 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned W_frag1[4];
        load_matrices_x4(W_frag1, &W_shared[idx6][W_shared_row + j * 16][idx7 ^ idx3]);
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
            &X_shared[idx6][0][X_shared_d2_2][X_shared_d3_1 + ((warp * 32 + j * 8) ^ idx4)]);
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
    const int idx7 = (k / 32 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int W_shared_col1 = W_shared_col + ((tx * 8) ^ idx);
        *reinterpret_cast<vec<bf16, 8>*>(&W_shared[idx7][row + i * 64][W_shared_col1])
            = *reinterpret_cast<const vec<bf16, 8>*>(&W_next[i * 8]);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int X_shared_d3_2 = X_shared_d3 + ((tx * 8) ^ idx1);
        *reinterpret_cast<vec<bf16, 8>*>(&X_shared[idx7][0][X_shared_d2 + i * 16][X_shared_d3_2])
            = *reinterpret_cast<const vec<bf16, 8>*>(&X_next[i * 8]);
      }
    }
  }
  const int row1 = lane / 4 + warp / 4 * 64;
  const int col1 = bx * 128 + tx % 4 * 2 + warp % 4 * 32;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col2 = col1 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row3 = row2 + l * 8;
        if (row3 < 32) {
          *reinterpret_cast<float2*>(&Y[row3 * 256 + col2])
              = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0][0]);
        }
      }
    }
  }
}
