// weft golden tensor --set type=f32
// prelude: copy_async16, commit_copies, wait_copies, to_tf32, mma_m16n8k8_tf32

extern "C" __global__ void __maxnreg__(248) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  extern __shared__ float4 dynamic_shared[];
  float (*A_shared)[128][16] = reinterpret_cast<float (*)[128][16]>(dynamic_shared + 0);
  float (*B_shared)[16][136] = reinterpret_cast<float (*)[16][136]>(dynamic_shared + 1536);
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float acc[4][4][2][1][1][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          acc[i][j][l][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int col = tx % 4 * 4;
  const int A_shared_row = tx / 4;
  const int row = bx * 128 + tx / 4;
  const int A_shared_col = tx / 4 * -16;
  for (int i = 0; i < 2; ++i) {
    copy_async16(&A_shared[0][A_shared_row + i * 64][A_shared_col + ((tx * 4) ^ (tx / 4 / 2 * 3 % 4 * 4))],
        &A[(row + i * 64) * 512 + col]);
  }
  const int col1 = by * 128 + lane * 4;
  for (int i = 0; i < 2; ++i) {
    const int row1 = warp + i * 8;
    copy_async16(&B_shared[0][row1][lane * 4], &B[row1 * 512 + col1]);
  }
  commit_copies();
  for (int i = 0; i < 2; ++i) {
    copy_async16(&A_shared[1][A_shared_row + i * 64][A_shared_col + ((tx * 4) ^ (tx / 4 / 2 * 3 % 4 * 4))],
        &A[(row + i * 64) * 512 + col + 16]);
  }
  for (int i = 0; i < 2; ++i) {
    const int row1 = warp + i * 8;
    copy_async16(&B_shared[1][row1][lane * 4], &B[(row1 + 16) * 512 + col1]);
  }
  commit_copies();
  const int B_shared_row = tx % 4;
  const int A_shared_row1 = lane / 4 + warp / 4 * 64;
  const int B_shared_col = lane / 4 + warp % 4 * 32;
  for (int k = 0; k < 512; k += 16) {
    wait_copies<1>();
    __syncthreads();
    const int plane = (k / 16 + 2) % 3;
    const int col2 = col + k + 32;
    const int row1 = warp + k;
    if (k + 32 < 512) {
      for (int i = 0; i < 2; ++i) {
        copy_async16(&A_shared[plane][A_shared_row + i * 64][A_shared_col + ((tx * 4) ^ (tx / 4 / 2 * 3 % 4 * 4))],
            &A[(row + i * 64) * 512 + col2]);
      }
      for (int i = 0; i < 2; ++i) {
        copy_async16(&B_shared[plane][warp + i * 8][lane * 4], &B[(row1 + i * 8 + 32) * 512 + col1]);
      }
    }
    commit_copies();
    const int plane1 = k / 16 % 3;
    #pragma unroll
    for (int i = 0; i < 16; i += 8) {
      float A_frag[4][4][1];
      const int B_shared_row1 = B_shared_row + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int A_shared_row2 = A_shared_row1 + j * 16;
        const int idx = lane / 4 / 2 * 3 % 4 * 4;
        const int A_shared_col1 = B_shared_row1 ^ idx;
        const int A_shared_col2 = (B_shared_row1 + 4) ^ idx;
        A_frag[j][0][0] = A_shared[plane1][A_shared_row2][A_shared_col1];
        A_frag[j][1][0] = A_shared[plane1][A_shared_row2 + 8][A_shared_col1];
        A_frag[j][2][0] = A_shared[plane1][A_shared_row2][A_shared_col2];
        A_frag[j][3][0] = A_shared[plane1][A_shared_row2 + 8][A_shared_col2];
      }
      float B_frag[4][2][1];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int B_shared_col1 = B_shared_col + j * 8;
        B_frag[j][0][0] = B_shared[plane1][B_shared_row1][B_shared_col1];
        B_frag[j][1][0] = B_shared[plane1][B_shared_row1 + 4][B_shared_col1];
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v0 = A_frag[j][0][0];
          const float v1 = A_frag[j][1][0];
          const float v2 = A_frag[j][2][0];
          const float v3 = A_frag[j][3][0];
          const float v4 = __int_as_float(__float_as_int(v0) & -8192);
          const float v5 = __int_as_float(__float_as_int(v1) & -8192);
          const float v6 = __int_as_float(__float_as_int(v2) & -8192);
          const float v7 = __int_as_float(__float_as_int(v3) & -8192);
          const float v8 = B_frag[l][0][0];
          const float v9 = B_frag[l][1][0];
          const float v10 = __int_as_float(__float_as_int(v8) & -8192);
          const float v11 = __int_as_float(__float_as_int(v9) & -8192);
          float d = 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
          mma_m16n8k8_tf32(d, d1, d2, d3, to_tf32(v0 - v4), to_tf32(v1 - v5), to_tf32(v2 - v6), to_tf32(v3 - v7),
              __float_as_uint(v10), __float_as_uint(v11));
          mma_m16n8k8_tf32(d, d1, d2, d3, __float_as_uint(v4), __float_as_uint(v5), __float_as_uint(v6),
              __float_as_uint(v7), to_tf32(v8 - v10), to_tf32(v9 - v11));
          mma_m16n8k8_tf32(d, d1, d2, d3, __float_as_uint(v4), __float_as_uint(v5), __float_as_uint(v6),
              __float_as_uint(v7), __float_as_uint(v10), __float_as_uint(v11));
          acc[j][l][0][0][0][0] = acc[j][l][0][0][0][0] + d;
          acc[j][l][0][0][0][1] = acc[j][l][0][0][0][1] + d1;
          acc[j][l][1][0][0][0] = acc[j][l][1][0][0][0] + d2;
          acc[j][l][1][0][0][1] = acc[j][l][1][0][0][1] + d3;
        }
      }
    }
  }
  const int col2 = by * 128 + tx % 4 * 2 + warp % 4 * 32;
  const int row1 = bx * 128 + lane / 4 + warp / 4 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col3 = col2 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        *reinterpret_cast<float2*>(&C[(row2 + l * 8) * 512 + col3])
            = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0]);
      }
    }
  }
}
