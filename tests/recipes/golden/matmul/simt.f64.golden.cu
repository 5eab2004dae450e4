// weft golden simt --set type=f64
// prelude: floormod

extern "C" __global__ void __maxnreg__(255) matmul(
    const double* __restrict__ A,
    const double* __restrict__ B,
    double* __restrict__ C) {
  alignas(16) __shared__ double A_shared[16][66];
  alignas(16) __shared__ double B_shared[16][64];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) double acc[4][4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      acc[i][j] = 0.0;
    }
  }
  const int idx = tx % 8 * 2;
  const int col = by * 64 + lane * 2;
  const int row = bx * 64 + tx / 8;
  const int idx1 = floormod(tx * 2 / 8 * 3 - tx / 8 * 6, 4) * 2;
  const int idx2 = tx / 8;
  const int idx3 = lane / 4 * 4;
  const int A_shared_col = warp / 4 * 32;
  const int B_shared_col = tx % 4 * 4 + warp % 4 * 16;
  for (int k = 0; k < 512; k += 16) {
    const int col1 = idx + k;
    for (int i = 0; i < 2; ++i) {
      const double2 a = *reinterpret_cast<const double2*>(&A[(row + i * 32) * 512 + col1]);
      const int A_shared_col1 = i * 32 + (idx2 ^ idx1);
      A_shared[idx][A_shared_col1] = a.x;
      A_shared[idx + 1][A_shared_col1] = a.y;
    }
    const int row1 = warp + k;
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<double2*>(&B_shared[warp + i * 8][lane * 2])
          = *reinterpret_cast<const double2*>(&B[(row1 + i * 8) * 512 + col]);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      alignas(16) double A_frag[4];
      const int idx4 = i / 8 * 3 * 2;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int A_shared_col1 = A_shared_col + ((idx3 + j * 2) ^ idx4);
        *reinterpret_cast<double2*>(&A_frag[j * 2]) = *reinterpret_cast<const double2*>(&A_shared[i][A_shared_col1]);
      }
      alignas(16) double B_frag[4];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<double2*>(&B_frag[j * 2])
            = *reinterpret_cast<const double2*>(&B_shared[i][B_shared_col + j * 2]);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          acc[j][l] += A_frag[j] * B_frag[l];
        }
      }
    }
    __syncthreads();
  }
  const int row1 = bx * 64 + lane / 4 * 4 + warp / 4 * 32;
  const int col1 = by * 64 + tx % 4 * 4 + warp % 4 * 16;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i;
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<double2*>(&C[row2 * 512 + col1 + j * 2]) = *reinterpret_cast<const double2*>(&acc[i][j * 2]);
    }
  }
}
