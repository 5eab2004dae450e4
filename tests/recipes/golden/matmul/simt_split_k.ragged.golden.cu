// weft golden simt_split_k --set m=300 --set n=200 --set k=333
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ temp0) {
  alignas(16) __shared__ float A_shared[2][1][16][132];
  alignas(16) __shared__ float B_shared[2][1][16][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  float A_next[16];
  alignas(16) float B_next[16];
  alignas(16) float acc[1][16][8];
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int col = bz * 96 + tx % 4 * 4;
  const int A_shared_d2 = tx % 4 * 4;
  const int row = by * 128 + tx / 4;
  const int idx = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx1 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const int row1 = row + i * 32;
    const bool in_row1 = row1 < 300;
    const int A_shared_d3 = i * 32 + (idx1 ^ idx);
    const float v0 = in_row1 ? A[row1 * 333 + col + 1] : 0.0f;
    const float v1 = in_row1 ? A[row1 * 333 + col + 2] : 0.0f;
    const float v2 = in_row1 ? A[row1 * 333 + col + 3] : 0.0f;
    A_shared[0][0][A_shared_d2][A_shared_d3] = in_row1 ? A[row1 * 333 + col] : 0.0f;
    A_shared[0][0][A_shared_d2 + 1][A_shared_d3] = v0;
    A_shared[0][0][A_shared_d2 + 2][A_shared_d3] = v1;
    A_shared[0][0][A_shared_d2 + 3][A_shared_d3] = v2;
  }
  const int col1 = bx * 128 + lane * 4;
  const bool in_col1 = col1 < 200;
  const int row1 = bz * 96 + warp;
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 4;
    float v0;
    float v1;
    float v2;
    float v3;
    if (in_col1) {
      const float4 b = *reinterpret_cast<const float4*>(&B[row2 * 200 + col1]);
      v0 = b.x;
      v1 = b.y;
      v2 = b.z;
      v3 = b.w;
    } else {
      v0 = 0.0f;
      v1 = 0.0f;
      v2 = 0.0f;
      v3 = 0.0f;
    }
    *reinterpret_cast<float4*>(&B_shared[0][0][warp + i * 4][lane * 4]) = make_float4(v0, v1, v2, v3);
  }
  const int A_shared_d3 = lane / 4 * 16;
  const int B_shared_d3 = tx % 4 * 8 + warp * 32;
  for (int k = 0; k < 96; k += 16) {
    const bool in_k = k + 16 < 96;
    const int col2 = col + k;
    const int row2 = row1 + k;
    if (in_k) {
      const bool in_col2 = col2 + 16 < 333;
      const bool in_col2_1 = col2 + 17 < 333;
      const bool in_col2_2 = col2 + 18 < 333;
      const bool in_col2_3 = col2 + 19 < 333;
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row3 = row + i * 32;
        const bool in_row3 = row3 < 300;
        A_next[i * 4] = in_row3 && in_col2 ? A[row3 * 333 + col2 + 16] : 0.0f;
        A_next[i * 4 + 1] = in_row3 && in_col2_1 ? A[row3 * 333 + col2 + 17] : 0.0f;
        A_next[i * 4 + 2] = in_row3 && in_col2_2 ? A[row3 * 333 + col2 + 18] : 0.0f;
        A_next[i * 4 + 3] = in_row3 && in_col2_3 ? A[row3 * 333 + col2 + 19] : 0.0f;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row3 = row2 + i * 4 + 16;
        float v0;
        float v1;
        float v2;
        float v3;
        if (in_col1 && row3 < 333) {
          const float4 b = *reinterpret_cast<const float4*>(&B[row3 * 200 + col1]);
          v0 = b.x;
          v1 = b.y;
          v2 = b.z;
          v3 = b.w;
        } else {
          v0 = 0.0f;
          v1 = 0.0f;
          v2 = 0.0f;
          v3 = 0.0f;
        }
        B_next[i * 4] = v0;
        B_next[i * 4 + 1] = v1;
        B_next[i * 4 + 2] = v2;
        B_next[i * 4 + 3] = v3;
      }
    }
    __syncthreads();
    const int d0 = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) float A_frag[16];
      const int idx2 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int A_shared_d3_1 = A_shared_d3 + ((j * 4) ^ idx2);
        *reinterpret_cast<float4*>(&A_frag[j * 4])
            = *reinterpret_cast<const float4*>(&A_shared[d0][0][i][A_shared_d3_1]);
      }
      alignas(16) float B_frag[8];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<float4*>(&B_frag[j * 4])
            = *reinterpret_cast<const float4*>(&B_shared[d0][0][i][B_shared_d3 + j * 4]);
      }
      #pragma unroll
      for (int j = 0; j < 16; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc[0][j][l] += A_frag[j] * B_frag[l];
        }
      }
    }
    const int d0_1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v0 = A_next[i * 4];
        const float v1 = A_next[i * 4 + 1];
        const float v2 = A_next[i * 4 + 2];
        const float v3 = A_next[i * 4 + 3];
        const int A_shared_d3_1 = i * 32 + (idx1 ^ idx);
        A_shared[d0_1][0][A_shared_d2][A_shared_d3_1] = v0;
        A_shared[d0_1][0][A_shared_d2 + 1][A_shared_d3_1] = v1;
        A_shared[d0_1][0][A_shared_d2 + 2][A_shared_d3_1] = v2;
        A_shared[d0_1][0][A_shared_d2 + 3][A_shared_d3_1] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&B_shared[d0_1][0][warp + i * 4][lane * 4])
            = *reinterpret_cast<const float4*>(&B_next[i * 4]);
      }
    }
  }
  const int row2 = by * 128 + lane / 4 * 16;
  const int col2 = bx * 128 + tx % 4 * 8 + warp * 32;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int row3 = row2 + i;
    if (row3 < 300) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int col3 = col2 + j * 4;
        if (col3 < 200) {
          *reinterpret_cast<float4*>(&temp0[bz * 60000 + row3 * 200 + col3])
              = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_1(float* __restrict__ C, const float* __restrict__ temp0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int row = (bx * 256 + tx) / 200;
  const int col = (bx * 256 + tx) % 200;
  if (bx * 256 + tx < 60000) {
    float acc = 0.0f;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      acc += temp0[i * 60000 + row * 200 + col];
    }
    C[row * 200 + col] = acc;
  }
}
