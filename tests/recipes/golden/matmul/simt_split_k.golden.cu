// weft golden simt_split_k
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C_2) {
  alignas(16) __shared__ float A_shared[2][1][16][132];
  alignas(16) __shared__ float B_shared[2][1][16][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float A_next[16];
  alignas(16) float B_next[16];
  alignas(16) float acc[1][16][8];
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int col = bz * 256 + tx % 4 * 4;
  const int A_shared_d2 = tx % 4 * 4;
  const int row = by * 128 + tx / 4;
  const int idx = floormod(tx * 4 / 8 * 3 - tx / 4 * 6, 4) * 4;
  const int idx1 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const float4 a = *reinterpret_cast<const float4*>(&A[(row + i * 32) * 1024 + col]);
    const int A_shared_d3 = i * 32 + (idx1 ^ idx);
    A_shared[0][0][A_shared_d2][A_shared_d3] = a.x;
    A_shared[0][0][A_shared_d2 + 1][A_shared_d3] = a.y;
    A_shared[0][0][A_shared_d2 + 2][A_shared_d3] = a.z;
    A_shared[0][0][A_shared_d2 + 3][A_shared_d3] = a.w;
  }
  const int col1 = bx * 128 + lane * 4;
  const int row1 = bz * 256 + warp;
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<float4*>(&B_shared[0][0][warp + i * 4][lane * 4])
        = *reinterpret_cast<const float4*>(&B[(row1 + i * 4) * 256 + col1]);
  }
  const int A_shared_d3 = lane / 4 * 16;
  const int B_shared_d3 = tx % 4 * 8 + warp * 32;
  for (int k = 0; k < 256; k += 16) {
    const bool in_k = k + 16 < 256;
    const int col2 = col + k + 16;
    const int row2 = row1 + k;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&A_next[i * 4]) = *reinterpret_cast<const float4*>(&A[(row + i * 32) * 1024 + col2]);
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float4*>(&B_next[i * 4])
            = *reinterpret_cast<const float4*>(&B[(row2 + i * 4 + 16) * 256 + col1]);
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
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&C_2[bz * 65536 + row3 * 256 + col2 + j * 4])
          = *reinterpret_cast<const float4*>(&acc[0][i][j * 4]);
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
