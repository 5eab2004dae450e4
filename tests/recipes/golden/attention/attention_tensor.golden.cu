// weft golden attention_tensor
// prelude: vec, maximum, round_to_odd, bf16, bf16_of_bits, copy_async16, commit_copies, wait_copies, pack_bf16, load_matrices_x2, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __maxnreg__(255) attention(
    const bf16* __restrict__ Q,
    const bf16* __restrict__ K,
    const bf16* __restrict__ V,
    bf16* __restrict__ O) {
  alignas(16) __shared__ bf16 Q_shared[1][64][72];
  alignas(16) __shared__ bf16 K_shared[2][1][64][72];
  alignas(16) __shared__ bf16 V_shared[2][1][64][72];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  const int idx = tx % 8 * 8;
  const int row = by * 64 + tx / 8;
  const int idx1 = tx / 8;
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<vec<bf16, 8>*>(&Q_shared[0][idx1 + i * 8][idx]) = *reinterpret_cast<const vec<bf16,
        8>*>(&Q[bz * 16384 + (row + i * 8) * 64 + idx]);
  }
  float sum[2][2][1][1];
  float m0[2][2][1][1];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      m0[i][j][0][0] = __uint_as_float(0xff800000u);
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      sum[i][j][0][0] = 0.0f;
    }
  }
  float O_tile[2][8][2][1][1][2];
  float O_tile_2[2][8][2][1][1][1][2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          O_tile_2[i][j][l][0][0][0][m] = 0.0f;
        }
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    const int idx2 = idx1 + i * 8;
    copy_async16(&K_shared[0][0][idx2][idx], &K[bz * 16384 + idx2 * 64 + idx]);
  }
  for (int i = 0; i < 8; ++i) {
    const int idx2 = idx1 + i * 8;
    copy_async16(&V_shared[0][0][idx2][idx], &V[bz * 16384 + idx2 * 64 + idx]);
  }
  commit_copies();
  const int Q_shared_col = lane / 16 * 8;
  const int Q_shared_row = tx % 16 + warp * 32;
  const int K_shared_d3 = tx % 16 / 8 * 8;
  const int K_shared_d2 = tx % 8;
  const int V_shared_d2 = tx % 16;
  for (int k = 0; k < 256; k += 64) {
    wait_copies<0>();
    __syncthreads();
    const int d0 = (k / 64 + 1) % 2;
    const int row1 = idx1 + k;
    if (k + 64 < 256) {
      for (int i = 0; i < 8; ++i) {
        copy_async16(&K_shared[d0][0][idx1 + i * 8][idx], &K[bz * 16384 + (row1 + i * 8 + 64) * 64 + idx]);
      }
      for (int i = 0; i < 8; ++i) {
        copy_async16(&V_shared[d0][0][idx1 + i * 8][idx], &V[bz * 16384 + (row1 + i * 8 + 64) * 64 + idx]);
      }
    }
    commit_copies();
    float largest[2][2][1][1];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        largest[i][j][0][0] = __uint_as_float(0xff800000u);
      }
    }
    float acc[2][8][2][1][1][1][2];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            acc[i][j][l][0][0][0][m] = -0.0f;
          }
        }
      }
    }
    const int d0_1 = k / 64 % 2;
    #pragma unroll
    for (int i = 0; i < 64; i += 16) {
      bf16 Q_frag[2][4][2];
      const int Q_shared_col1 = Q_shared_col + i;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        unsigned Q_frag1[4];
        load_matrices_x4(Q_frag1, &Q_shared[0][Q_shared_row + j * 16][Q_shared_col1]);
        Q_frag[j][0][0] = bf16_of_bits(Q_frag1[0]);
        Q_frag[j][0][1] = bf16_of_bits(Q_frag1[0] >> 16);
        Q_frag[j][1][0] = bf16_of_bits(Q_frag1[1]);
        Q_frag[j][1][1] = bf16_of_bits(Q_frag1[1] >> 16);
        Q_frag[j][2][0] = bf16_of_bits(Q_frag1[2]);
        Q_frag[j][2][1] = bf16_of_bits(Q_frag1[2] >> 16);
        Q_frag[j][3][0] = bf16_of_bits(Q_frag1[3]);
        Q_frag[j][3][1] = bf16_of_bits(Q_frag1[3] >> 16);
      }
      bf16 K_frag[8][2][2];
      const int K_shared_d3_1 = K_shared_d3 + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned K_frag1[2];
        load_matrices_x2(K_frag1, &K_shared[d0_1][0][K_shared_d2 + j * 8][K_shared_d3_1]);
        K_frag[j][0][0] = bf16_of_bits(K_frag1[0]);
        K_frag[j][0][1] = bf16_of_bits(K_frag1[0] >> 16);
        K_frag[j][1][0] = bf16_of_bits(K_frag1[1]);
        K_frag[j][1][1] = bf16_of_bits(K_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0][0], acc[j][l][0][0][0][0][1], acc[j][l][1][0][0][0][0],
              acc[j][l][1][0][0][0][1], pack_bf16(Q_frag[j][0][0], Q_frag[j][0][1]),
              pack_bf16(Q_frag[j][1][0], Q_frag[j][1][1]), pack_bf16(Q_frag[j][2][0], Q_frag[j][2][1]),
              pack_bf16(Q_frag[j][3][0], Q_frag[j][3][1]), pack_bf16(K_frag[l][0][0], K_frag[l][0][1]),
              pack_bf16(K_frag[l][1][0], K_frag[l][1][1]));
        }
      }
    }
    float powers[2][8][2][1][1][2];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            powers[i][j][l][0][0][m] = acc[i][j][l][0][0][0][m] * 0.125f;
          }
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        float part = __uint_as_float(0xff800000u);
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          part = maximum(part, powers[i][l][j][0][0][0]);
          part = maximum(part, powers[i][l][j][0][0][1]);
        }
        const float v0 = part;
        const float v1 = __shfl_xor_sync(0xffffffff, v0, 2);
        const float v2 = maximum(v0, v1);
        const float v3 = __shfl_xor_sync(0xffffffff, v2, 1);
        largest[i][j][0][0] = maximum(largest[i][j][0][0], maximum(v2, v3));
      }
    }
    float temp0[2][2][1][1];
    float temp1[2][2][1][1];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v0 = m0[i][j][0][0];
        const float v1 = maximum(v0, largest[i][j][0][0]);
        const float v2 = v1 == __uint_as_float(0xff800000u) ? 0.0f : v1;
        m0[i][j][0][0] = v1;
        temp1[i][j][0][0] = expf(v0 - v2);
        temp0[i][j][0][0] = v2;
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        sum[i][j][0][0] *= temp1[i][j][0][0];
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            powers[i][j][l][0][0][m] = expf(powers[i][j][l][0][0][m] - temp0[i][l][0][0]);
          }
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        float part = -0.0f;
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          part += powers[i][l][j][0][0][0];
          part += powers[i][l][j][0][0][1];
        }
        const float v0 = part;
        const float v1 = __shfl_xor_sync(0xffffffff, v0, 2);
        const float v2 = v0 + v1;
        const float v3 = __shfl_xor_sync(0xffffffff, v2, 1);
        sum[i][j][0][0] += v2 + v3;
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            O_tile_2[i][j][l][0][0][0][m] *= temp1[i][l][0][0];
          }
        }
      }
    }
    float powers_tile[2][8][2][1][1][2];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            powers_tile[i][j][l][0][0][m] = powers[i][j][l][0][0][m];
          }
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 64; i += 16) {
      bf16 powers_tile_frag[2][4][2];
      const int d1 = i / 16 * 2;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        powers_tile_frag[j][0][0] = (bf16)powers_tile[j][d1][0][0][0][0];
        powers_tile_frag[j][0][1] = (bf16)powers_tile[j][d1][0][0][0][1];
        powers_tile_frag[j][1][0] = (bf16)powers_tile[j][d1][1][0][0][0];
        powers_tile_frag[j][1][1] = (bf16)powers_tile[j][d1][1][0][0][1];
        powers_tile_frag[j][2][0] = (bf16)powers_tile[j][d1 + 1][0][0][0][0];
        powers_tile_frag[j][2][1] = (bf16)powers_tile[j][d1 + 1][0][0][0][1];
        powers_tile_frag[j][3][0] = (bf16)powers_tile[j][d1 + 1][1][0][0][0];
        powers_tile_frag[j][3][1] = (bf16)powers_tile[j][d1 + 1][1][0][0][1];
      }
      bf16 V_frag[8][2][2];
      const int V_shared_d2_1 = V_shared_d2 + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned V_frag1[2];
        load_matrices_x2_transposed(V_frag1, &V_shared[d0_1][0][V_shared_d2_1][j * 8]);
        V_frag[j][0][0] = bf16_of_bits(V_frag1[0]);
        V_frag[j][0][1] = bf16_of_bits(V_frag1[0] >> 16);
        V_frag[j][1][0] = bf16_of_bits(V_frag1[1]);
        V_frag[j][1][1] = bf16_of_bits(V_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(O_tile_2[j][l][0][0][0][0][0], O_tile_2[j][l][0][0][0][0][1],
              O_tile_2[j][l][1][0][0][0][0], O_tile_2[j][l][1][0][0][0][1],
              pack_bf16(powers_tile_frag[j][0][0], powers_tile_frag[j][0][1]),
              pack_bf16(powers_tile_frag[j][1][0], powers_tile_frag[j][1][1]),
              pack_bf16(powers_tile_frag[j][2][0], powers_tile_frag[j][2][1]),
              pack_bf16(powers_tile_frag[j][3][0], powers_tile_frag[j][3][1]),
              pack_bf16(V_frag[l][0][0], V_frag[l][0][1]), pack_bf16(V_frag[l][1][0], V_frag[l][1][1]));
        }
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          O_tile[i][j][l][0][0][m] = O_tile_2[i][j][l][0][0][0][m] / sum[i][l][0][0];
        }
      }
    }
  }
  const int col = tx % 4 * 2;
  const int row1 = by * 64 + lane / 4 + warp * 32;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col1 = col + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        *reinterpret_cast<vec<bf16, 2>*>(&O[bz * 16384 + (row2 + l * 8) * 64 + col1]) = vec<bf16,
            2>{{(bf16)O_tile[i][j][l][0][0][0], (bf16)O_tile[i][j][l][0][0][1]}};
      }
    }
  }
}
