// weft golden simt_pipelined --set type=f64
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
    const double* __restrict__ A,
    const double* __restrict__ B,
    double* __restrict__ C) {
  alignas(16) __shared__ double A_shared[2][16][66];
  alignas(16) __shared__ double B_shared[2][16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) double A_next[8];
  alignas(16) double B_next[8];
  alignas(16) double acc[2][8][2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        acc[i][j][l] = 0.0;
      }
    }
  }
  const int idx = tx % 8 * 2;
  const int row = bx * 64 + tx / 8;
  const int idx1 = floormod(tx * 2 / 8 * 3 - tx / 8 * 6, 4) * 2;
  const int idx2 = tx / 8;
  for (int i = 0; i < 4; ++i) {
    const double2 a = *reinterpret_cast<const double2*>(&A[(row + i * 16) * 512 + idx]);
    const int A_shared_col = i * 16 + (idx2 ^ idx1);
    A_shared[0][idx][A_shared_col] = a.x;
    A_shared[0][idx + 1][A_shared_col] = a.y;
  }
  const int col = by * 64 + lane * 2;
  for (int i = 0; i < 4; ++i) {
    const int row1 = warp + i * 4;
    *reinterpret_cast<double2*>(&B_shared[0][row1][lane * 2]) = *reinterpret_cast<const double2*>(&B[row1 * 512 + col]);
  }
  const int A_shared_col = lane / 4 * 8;
  const int B_shared_col = tx % 4 * 2 + warp * 16;
  for (int k = 0; k < 512; k += 16) {
    const bool in_k = k + 16 < 512;
    const int col1 = idx + k + 16;
    const int row1 = warp + k;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<double2*>(&A_next[i * 2])
            = *reinterpret_cast<const double2*>(&A[(row + i * 16) * 512 + col1]);
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<double2*>(&B_next[i * 2])
            = *reinterpret_cast<const double2*>(&B[(row1 + i * 4 + 16) * 512 + col]);
      }
    }
    __syncthreads();
    const int plane = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int idx3 = i / 8 * 3 * 2;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        alignas(16) double A_frag[8];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const int A_shared_col1 = A_shared_col + ((l * 2) ^ idx3);
          *reinterpret_cast<double2*>(&A_frag[l * 2])
              = *reinterpret_cast<const double2*>(&A_shared[plane][i][A_shared_col1]);
        }
        alignas(16) double B_frag[2];
        *reinterpret_cast<double2*>(&B_frag[0])
            = *reinterpret_cast<const double2*>(&B_shared[plane][i][B_shared_col + j * 8]);
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          #pragma unroll
          for (int m = 0; m < 8; ++m) {
            acc[j][m][l] += A_frag[m] * B_frag[l];
          }
        }
      }
    }
    const int plane1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const double v0 = A_next[i * 2];
        const double v1 = A_next[i * 2 + 1];
        const int A_shared_col1 = i * 16 + (idx2 ^ idx1);
        A_shared[plane1][idx][A_shared_col1] = v0;
        A_shared[plane1][idx + 1][A_shared_col1] = v1;
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<double2*>(&B_shared[plane1][warp + i * 4][lane * 2])
            = *reinterpret_cast<const double2*>(&B_next[i * 2]);
      }
    }
  }
  const int col1 = by * 64 + tx % 4 * 2 + warp * 16;
  const int row1 = bx * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int col2 = col1 + i * 8;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      *reinterpret_cast<double2*>(&C[(row1 + j) * 512 + col2]) = *reinterpret_cast<const double2*>(&acc[i][j][0]);
    }
  }
}
