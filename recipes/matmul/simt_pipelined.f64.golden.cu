// weft golden simt_pipelined.weft --set type=f64
extern "C" __global__ void __launch_bounds__(256, 2) matmul(
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
  alignas(16) double A_next[4];
  alignas(16) double B_next[4];
  alignas(16) double acc[4][4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      acc[i][j] = 0.0;
    }
  }
  const int row = tx % 8 * 2;
  const int row1 = bx * 64 + tx / 8;
  const int col = tx / 8;
  for (int i = 0; i < 2; ++i) {
    const double2 a = *reinterpret_cast<const double2*>(&A[(row1 + i * 32) * 512 + row]);
    const int col1 = col + i * 32;
    A_shared[0][row][col1] = a.x;
    A_shared[0][row + 1][col1] = a.y;
  }
  const int col1 = by * 64 + lane * 2;
  for (int i = 0; i < 2; ++i) {
    const int row2 = warp + i * 8;
    *reinterpret_cast<double2*>(&B_shared[0][row2][lane * 2])
        = *reinterpret_cast<const double2*>(&B[row2 * 512 + col1]);
  }
  const int col2 = lane / 4 * 4 + warp / 4 * 32;
  const int col3 = tx % 4 * 4 + warp % 4 * 16;
  for (int k = 0; k < 512; k += 16) {
    const bool in_k = k + 16 < 512;
    const int col4 = row + k + 16;
    const int row2 = warp + k;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<double2*>(&A_next[i * 2])
            = *reinterpret_cast<const double2*>(&A[(row1 + i * 32) * 512 + col4]);
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<double2*>(&B_next[i * 2])
            = *reinterpret_cast<const double2*>(&B[(row2 + i * 8 + 16) * 512 + col1]);
      }
    }
    __syncthreads();
    const int plane = k / 16 % 2;
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) double A_frag[4];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<double2*>(&A_frag[j * 2])
            = *reinterpret_cast<const double2*>(&A_shared[plane][i][col2 + j * 2]);
      }
      alignas(16) double B_frag[4];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<double2*>(&B_frag[j * 2])
            = *reinterpret_cast<const double2*>(&B_shared[plane][i][col3 + j * 2]);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          acc[j][l] += A_frag[j] * B_frag[l];
        }
      }
    }
    const int plane1 = (k / 16 + 1) % 2;
    if (in_k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const double v0 = A_next[i * 2];
        const double v1 = A_next[i * 2 + 1];
        const int col5 = col + i * 32;
        A_shared[plane1][row][col5] = v0;
        A_shared[plane1][row + 1][col5] = v1;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<double2*>(&B_shared[plane1][warp + i * 8][lane * 2])
            = *reinterpret_cast<const double2*>(&B_next[i * 2]);
      }
    }
  }
  const int row2 = bx * 64 + lane / 4 * 4 + warp / 4 * 32;
  const int col4 = by * 64 + tx % 4 * 4 + warp % 4 * 16;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row3 = row2 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<double2*>(&C[row3 * 512 + col4 + j * 2]) = *reinterpret_cast<const double2*>(&acc[i][j * 2]);
    }
  }
}
