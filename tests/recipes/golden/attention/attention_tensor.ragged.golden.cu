// weft golden attention_tensor --set b=2 --set n=100 --set m=77 --set d=33 --set causal=1 --set type=f16
// prelude: maximum, round_to_odd, f16, f16_of_bits, pack_f16, load_matrices_x2, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_f16

extern "C" __global__ void __maxnreg__(255) attention(
    const f16* __restrict__ Q,
    const f16* __restrict__ K,
    const f16* __restrict__ V,
    f16* __restrict__ O) {
  alignas(16) __shared__ f16 Q_shared[1][64][56];
  alignas(16) __shared__ f16 K_shared[1][64][56];
  alignas(16) __shared__ f16 V_shared[1][64][56];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  for (int i = 0; i < 48; ++i) {
    const int col = (i * 64 + tx) % 48;
    const int row = by * 64 + (i * 64 + tx) / 48;
    Q_shared[0][(i * 64 + tx) / 48][col] = col < 33 && row < 100 ? Q[bz * 3300 + row * 33 + col] : f16(-0.0f);
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
  float O_tile[2][6][2][1][1][2];
  float O_tile_2[2][6][2][1][1][1][2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          O_tile_2[i][j][l][0][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int Q_shared_col = lane / 16 * 8;
  const int Q_shared_row = tx % 16 + warp * 32;
  const int K_shared_col = tx % 16 / 8 * 8;
  const int K_shared_row = tx % 8;
  const int row = by * 64 + lane / 4 + warp * 32;
  const int col = tx % 4 * 2;
  const int V_shared_row = tx % 16;
  for (int k = 0; k < 128; k += 64) {
    float largest[2][2][1][1];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        largest[i][j][0][0] = __uint_as_float(0xff800000u);
      }
    }
    for (int i = 0; i < 48; ++i) {
      const int col1 = (i * 64 + tx) % 48;
      const int row1 = k + (i * 64 + tx) / 48;
      K_shared[0][(i * 64 + tx) / 48][col1] = row1 < 77 && col1 < 33 ? K[bz * 2541 + row1 * 33 + col1] : f16(0.0f);
    }
    float powers[2][8][2][1][1][2];
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
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 48; i += 16) {
      f16 Q_frag[2][4][2];
      const int Q_shared_col1 = Q_shared_col + i;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        unsigned Q_frag1[4];
        load_matrices_x4(Q_frag1, &Q_shared[0][Q_shared_row + j * 16][Q_shared_col1]);
        Q_frag[j][0][0] = f16_of_bits(Q_frag1[0]);
        Q_frag[j][0][1] = f16_of_bits(Q_frag1[0] >> 16);
        Q_frag[j][1][0] = f16_of_bits(Q_frag1[1]);
        Q_frag[j][1][1] = f16_of_bits(Q_frag1[1] >> 16);
        Q_frag[j][2][0] = f16_of_bits(Q_frag1[2]);
        Q_frag[j][2][1] = f16_of_bits(Q_frag1[2] >> 16);
        Q_frag[j][3][0] = f16_of_bits(Q_frag1[3]);
        Q_frag[j][3][1] = f16_of_bits(Q_frag1[3] >> 16);
      }
      f16 K_frag[8][2][2];
      const int K_shared_col1 = K_shared_col + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned K_frag1[2];
        load_matrices_x2(K_frag1, &K_shared[0][K_shared_row + j * 8][K_shared_col1]);
        K_frag[j][0][0] = f16_of_bits(K_frag1[0]);
        K_frag[j][0][1] = f16_of_bits(K_frag1[0] >> 16);
        K_frag[j][1][0] = f16_of_bits(K_frag1[1]);
        K_frag[j][1][1] = f16_of_bits(K_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_f16(acc[j][l][0][0][0][0][0], acc[j][l][0][0][0][0][1], acc[j][l][1][0][0][0][0],
              acc[j][l][1][0][0][0][1], pack_f16(Q_frag[j][0][0], Q_frag[j][0][1]),
              pack_f16(Q_frag[j][1][0], Q_frag[j][1][1]), pack_f16(Q_frag[j][2][0], Q_frag[j][2][1]),
              pack_f16(Q_frag[j][3][0], Q_frag[j][3][1]), pack_f16(K_frag[l][0][0], K_frag[l][0][1]),
              pack_f16(K_frag[l][1][0], K_frag[l][1][1]));
        }
      }
    }
    float scores[2][8][2][1][1][2];
    const int idx = col + k;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int idx1 = row + i * 16;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int idx2 = idx + j * 8;
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          const int idx3 = idx1 + l * 8;
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            scores[i][j][l][0][0][m] = idx2 + m <= idx3 ? acc[i][j][l][0][0][0][m] * 0.17407766f
                : __uint_as_float(0xff800000u);
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
          const int idx1 = idx + l * 8;
          part = maximum(part, idx1 < 77 ? scores[i][l][j][0][0][0] : __uint_as_float(0xff800000u));
          part = maximum(part, idx1 + 1 < 77 ? scores[i][l][j][0][0][1] : __uint_as_float(0xff800000u));
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
            powers[i][j][l][0][0][m] = expf(scores[i][j][l][0][0][m] - temp0[i][l][0][0]);
          }
        }
      }
    }
    float powers_tile[2][8][2][1][1][2];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        float part = -0.0f;
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const int idx1 = idx + l * 8;
          part += idx1 < 77 ? powers[i][l][j][0][0][0] : 0.0f;
          part += idx1 + 1 < 77 ? powers[i][l][j][0][0][1] : 0.0f;
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
      for (int j = 0; j < 6; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            O_tile_2[i][j][l][0][0][0][m] *= temp1[i][l][0][0];
          }
        }
      }
    }
    for (int i = 0; i < 48; ++i) {
      const int row1 = k + (i * 64 + tx) / 48;
      const int col1 = (i * 64 + tx) % 48;
      V_shared[0][(i * 64 + tx) / 48][col1] = row1 < 77 && col1 < 33 ? V[bz * 2541 + row1 * 33 + col1] : f16(0.0f);
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int idx1 = idx + j * 8;
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            powers_tile[i][j][l][0][0][m] = idx1 + m < 77 ? powers[i][j][l][0][0][m] : 0.0f;
          }
        }
      }
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i += 16) {
      f16 powers_tile_frag[2][4][2];
      const int d1 = i / 16 * 2;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        powers_tile_frag[j][0][0] = (f16)powers_tile[j][d1][0][0][0][0];
        powers_tile_frag[j][0][1] = (f16)powers_tile[j][d1][0][0][0][1];
        powers_tile_frag[j][1][0] = (f16)powers_tile[j][d1][1][0][0][0];
        powers_tile_frag[j][1][1] = (f16)powers_tile[j][d1][1][0][0][1];
        powers_tile_frag[j][2][0] = (f16)powers_tile[j][d1 + 1][0][0][0][0];
        powers_tile_frag[j][2][1] = (f16)powers_tile[j][d1 + 1][0][0][0][1];
        powers_tile_frag[j][3][0] = (f16)powers_tile[j][d1 + 1][1][0][0][0];
        powers_tile_frag[j][3][1] = (f16)powers_tile[j][d1 + 1][1][0][0][1];
      }
      f16 V_frag[6][2][2];
      const int V_shared_row1 = V_shared_row + i;
      #pragma unroll
      for (int j = 0; j < 6; ++j) {
        unsigned V_frag1[2];
        load_matrices_x2_transposed(V_frag1, &V_shared[0][V_shared_row1][j * 8]);
        V_frag[j][0][0] = f16_of_bits(V_frag1[0]);
        V_frag[j][0][1] = f16_of_bits(V_frag1[0] >> 16);
        V_frag[j][1][0] = f16_of_bits(V_frag1[1]);
        V_frag[j][1][1] = f16_of_bits(V_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int l = 0; l < 6; ++l) {
          mma_m16n8k16_f16(O_tile_2[j][l][0][0][0][0][0], O_tile_2[j][l][0][0][0][0][1], O_tile_2[j][l][1][0][0][0][0],
              O_tile_2[j][l][1][0][0][0][1], pack_f16(powers_tile_frag[j][0][0], powers_tile_frag[j][0][1]),
              pack_f16(powers_tile_frag[j][1][0], powers_tile_frag[j][1][1]),
              pack_f16(powers_tile_frag[j][2][0], powers_tile_frag[j][2][1]),
              pack_f16(powers_tile_frag[j][3][0], powers_tile_frag[j][3][1]),
              pack_f16(V_frag[l][0][0], V_frag[l][0][1]), pack_f16(V_frag[l][1][0], V_frag[l][1][1]));
        }
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          O_tile[i][j][l][0][0][m] = O_tile_2[i][j][l][0][0][0][m] / sum[i][l][0][0];
        }
      }
    }
  }
  f16 Y[2][6][2][1][1][2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          Y[i][j][l][0][0][m] = (f16)O_tile[i][j][l][0][0][m];
        }
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row1 = row + i * 16;
    #pragma unroll
    for (int j = 0; j < 6; ++j) {
      const int col1 = col + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row2 = row1 + l * 8;
        if (row2 < 100) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int col2 = col1 + m;
            if (col2 < 33) {
              O[bz * 3300 + row2 * 33 + col2] = Y[i][j][l][0][0][m];
            }
          }
        }
      }
    }
  }
}
