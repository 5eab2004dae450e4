// weft golden simt_pipelined
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  alignas(16) __shared__ float A_shared[2][16][132];
  alignas(16) __shared__ float B_shared[2][16][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float A_next[16];
  alignas(16) float B_next[16];
  alignas(16) float acc[2][16][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 16; ++j) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        acc[i][j][l] = 0.0f;
      }
    }
  }
  const int idx = tx % 4 * 4;
  const int row = bx * 128 + tx / 4;
  const int idx1 = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx2 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const float4 a = *reinterpret_cast<const float4*>(&A[(row + i * 32) * 512 + idx]);
    const int A_shared_col = i * 32 + (idx2 ^ idx1);
    A_shared[0][idx][A_shared_col] = a.x;
    A_shared[0][idx + 1][A_shared_col] = a.y;
    A_shared[0][idx + 2][A_shared_col] = a.z;
    A_shared[0][idx + 3][A_shared_col] = a.w;
  }
  const int col = by * 128 + lane * 4;
  for (int i = 0; i < 4; ++i) {
    const int row1 = warp + i * 4;
    *reinterpret_cast<float4*>(&B_shared[0][row1][lane * 4]) = *reinterpret_cast<const float4*>(&B[row1 * 512 + col]);
  }
  const int A_shared_col = lane / 4 * 16;
  const int B_shared_col = tx % 4 * 4 + warp * 32;
  for (int k = 0; k < 512; k += 16) {
    const bool in_k = k + 16 < 512;
    const int col1 = idx + k + 16;
    const int row1 = warp + k;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&A_next[i * 4]) = *reinterpret_cast<const float4*>(&A[(row + i * 32) * 512 + col1]);
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&B_next[i * 4])
            = *reinterpret_cast<const float4*>(&B[(row1 + i * 4 + 16) * 512 + col]);
      }
    }
    __syncthreads();
    const int plane = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int idx3 = i / 8 * 3 * 4;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        alignas(16) float A_frag[16];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int A_shared_col1 = A_shared_col + ((l * 4) ^ idx3);
          *reinterpret_cast<float4*>(&A_frag[l * 4])
              = *reinterpret_cast<const float4*>(&A_shared[plane][i][A_shared_col1]);
        }
        alignas(16) float B_frag[4];
        *reinterpret_cast<float4*>(&B_frag[0])
            = *reinterpret_cast<const float4*>(&B_shared[plane][i][B_shared_col + j * 16]);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          #pragma unroll
          for (int m = 0; m < 16; ++m) {
            acc[j][m][l] += A_frag[m] * B_frag[l];
          }
        }
      }
    }
    const int plane1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v0 = A_next[i * 4];
        const float v1 = A_next[i * 4 + 1];
        const float v2 = A_next[i * 4 + 2];
        const float v3 = A_next[i * 4 + 3];
        const int A_shared_col1 = i * 32 + (idx2 ^ idx1);
        A_shared[plane1][idx][A_shared_col1] = v0;
        A_shared[plane1][idx + 1][A_shared_col1] = v1;
        A_shared[plane1][idx + 2][A_shared_col1] = v2;
        A_shared[plane1][idx + 3][A_shared_col1] = v3;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&B_shared[plane1][warp + i * 4][lane * 4])
            = *reinterpret_cast<const float4*>(&B_next[i * 4]);
      }
    }
  }
  const int col1 = by * 128 + tx % 4 * 4 + warp * 32;
  const int row1 = bx * 128 + lane / 4 * 16;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int col2 = col1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 16; ++j) {
      *reinterpret_cast<float4*>(&C[(row1 + j) * 512 + col2]) = *reinterpret_cast<const float4*>(&acc[i][j][0]);
    }
  }
}
