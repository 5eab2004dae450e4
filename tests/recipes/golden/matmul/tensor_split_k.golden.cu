// weft golden tensor_split_k
// prelude: round_to_odd, bf16, bf16_of_bits, copy_async16, commit_copies, wait_copies, pack_bf16, load_matrices_x2_transposed, load_matrices_x4, mma_m16n8k16_bf16

extern "C" __global__ void __launch_bounds__(128, 1) matmul(
    const bf16* __restrict__ A,
    const bf16* __restrict__ B,
    float* __restrict__ C_2) {
  alignas(16) __shared__ bf16 A_shared[3][1][128][32];
  alignas(16) __shared__ bf16 B_shared[3][1][32][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float acc[4][8][2][1][1][1][2];
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
  const int col = bz * 512 + tx % 4 * 8;
  const int row = by * 128 + tx / 4;
  const int A_shared_d2 = tx / 4;
  const int idx = tx / 4 / 2 % 4 * 8;
  const int A_shared_d3 = tx / 4 * -32;
  for (int i = 0; i < 4; ++i) {
    copy_async16(&A_shared[0][0][A_shared_d2 + i * 32][A_shared_d3 + ((tx * 8) ^ idx)],
        &A[(row + i * 32) * 2048 + col]);
  }
  const int col1 = bx * 128 + tx % 16 * 8;
  const int row1 = bz * 512 + tx / 16;
  const int B_shared_d2 = tx / 16;
  const int idx1 = tx / 16 * 8;
  const int B_shared_d3 = tx / 16 * -128;
  for (int i = 0; i < 4; ++i) {
    copy_async16(&B_shared[0][0][B_shared_d2 + i * 8][B_shared_d3 + ((tx * 8) ^ idx1)],
        &B[(row1 + i * 8) * 256 + col1]);
  }
  commit_copies();
  for (int i = 0; i < 4; ++i) {
    copy_async16(&A_shared[1][0][A_shared_d2 + i * 32][A_shared_d3 + ((tx * 8) ^ idx)],
        &A[(row + i * 32) * 2048 + col + 32]);
  }
  for (int i = 0; i < 4; ++i) {
    copy_async16(&B_shared[1][0][B_shared_d2 + i * 8][B_shared_d3 + ((tx * 8) ^ idx1)],
        &B[(row1 + i * 8 + 32) * 256 + col1]);
  }
  commit_copies();
  const int idx2 = lane / 16 * 8;
  const int A_shared_d2_1 = tx % 16 + warp / 2 * 64;
  const int idx3 = tx % 16 / 2 % 4 * 8;
  const int B_shared_d2_1 = tx % 16;
  const int idx4 = tx % 8 * 8;
  const int B_shared_d3_1 = warp % 2 * 64;
  for (int k = 0; k < 512; k += 32) {
    wait_copies<1>();
    __syncthreads();
    const int col2 = col + k + 64;
    const int d0 = (k / 32 + 2) % 3;
    const int row2 = row1 + k;
    if (k + 64 < 512) {
      for (int i = 0; i < 4; ++i) {
        copy_async16(&A_shared[d0][0][A_shared_d2 + i * 32][A_shared_d3 + ((tx * 8) ^ idx)],
            &A[(row + i * 32) * 2048 + col2]);
      }
      for (int i = 0; i < 4; ++i) {
        copy_async16(&B_shared[d0][0][B_shared_d2 + i * 8][B_shared_d3 + ((tx * 8) ^ idx1)],
            &B[(row2 + i * 8 + 64) * 256 + col1]);
      }
    }
    commit_copies();
    const int d0_1 = k / 32 % 3;
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 A_frag[4][4][2];
      const int idx5 = idx2 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned A_frag1[4];
        load_matrices_x4(A_frag1, &A_shared[d0_1][0][A_shared_d2_1 + j * 16][idx5 ^ idx3]);
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
      const int B_shared_d2_2 = B_shared_d2_1 + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned B_frag1[2];
        load_matrices_x2_transposed(B_frag1, &B_shared[d0_1][0][B_shared_d2_2][B_shared_d3_1 + ((j * 8) ^ idx4)]);
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
  }
  const int col2 = bx * 128 + tx % 4 * 2 + warp % 2 * 64;
  const int row2 = by * 128 + lane / 4 + warp / 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row3 = row2 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col3 = col2 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        *reinterpret_cast<float2*>(&C_2[bz * 65536 + (row3 + l * 8) * 256 + col3])
            = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0][0]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_1(float* __restrict__ C, const float* __restrict__ C_2) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  float acc = 0.0f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    acc += C_2[i * 65536 + bx * 256 + tx];
  }
  C[bx * 256 + tx] = acc;
}
