// weft golden igemm_split_k.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
extern "C" __global__ void __launch_bounds__(128, 4) conv2d(
    const float* __restrict__ X,
    const float* __restrict__ W,
    float* __restrict__ arg2) {
  alignas(16) __shared__ float X_shared[1][16][132];
  alignas(16) __shared__ float W_shared[1][16][64];
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int lane = tx % 32;
  const int warp = tx / 32;
  float acc[1][8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      acc[0][i][j] = 0.0f;
    }
  }
  const int row = tx % 4 * 4;
  const int col = tx % 16 * 4;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const int idx = bz * 16 + tx % 4 * 4;
  const int col1 = (bz * 16 + tx % 4 * 4) % 5;
  const bool in_idx = idx + 1 < 45;
  const int col2 = (bz * 16 + tx % 4 * 4 + 1) % 5;
  const bool in_idx1 = idx + 2 < 45;
  const int col3 = (bz * 16 + tx % 4 * 4 + 2) % 5;
  const bool in_idx2 = idx + 3 < 45;
  const int col4 = (bz * 16 + tx % 4 * 4 + 3) % 5;
  const int idx1 = by * 128 + tx / 4;
  const int plane = (bz * 16 + tx % 4 * 4) / 15;
  const int row1 = (bz * 16 + tx % 4 * 4) % 15 / 5;
  const int plane1 = (bz * 16 + tx % 4 * 4 + 1) / 15;
  const int row2 = (bz * 16 + tx % 4 * 4 + 1) % 15 / 5;
  const int plane2 = (bz * 16 + tx % 4 * 4 + 2) / 15;
  const int row3 = (bz * 16 + tx % 4 * 4 + 2) % 15 / 5;
  const int plane3 = (bz * 16 + tx % 4 * 4 + 3) / 15;
  const int row4 = (bz * 16 + tx % 4 * 4 + 3) % 15 / 5;
  const int col5 = tx / 4;
  for (int i = 0; i < 4; ++i) {
    const bool inside = idx1 + i * 32 < 540;
    const int plane4 = (by * 128 + i * 32 + tx / 4) / 180;
    const int plane5 = plane + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int row5 = row1 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v0 = inside && (unsigned)plane5 < 29 && (unsigned)row5 < 23
        ? X[plane4 * 3335 + plane5 * 115 + row5 * 5 + col1] : 0.0f;
    const int plane6 = plane1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int row6 = row2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v1 = inside && in_idx && (unsigned)plane6 < 29 && (unsigned)row6 < 23
        ? X[plane4 * 3335 + plane6 * 115 + row6 * 5 + col2] : 0.0f;
    const int plane7 = plane2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int row7 = row3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v2 = inside && in_idx1 && (unsigned)plane7 < 29 && (unsigned)row7 < 23
        ? X[plane4 * 3335 + plane7 * 115 + row7 * 5 + col3] : 0.0f;
    const int plane8 = plane3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
    const int row8 = row4 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
    const float v3 = inside && in_idx2 && (unsigned)plane8 < 29 && (unsigned)row8 < 23
        ? X[plane4 * 3335 + plane8 * 115 + row8 * 5 + col4] : 0.0f;
    const int col6 = col5 + i * 32;
    X_shared[0][row][col6] = v0;
    X_shared[0][row + 1][col6] = v1;
    X_shared[0][row + 2][col6] = v2;
    X_shared[0][row + 3][col6] = v3;
  }
  const int row5 = tx / 16;
  const int row6 = bz * 16 + tx / 16;
  for (int i = 0; i < 2; ++i) {
    const int row7 = row6 + i * 8;
    const bool in_row7 = row7 < 45;
    *reinterpret_cast<float4*>(&W_shared[0][row5 + i * 8][col])
        = make_float4(in_col && in_row7 ? W[row7 * 39 + col] : 0.0f, in_col1 && in_row7 ? W[row7 * 39 + col + 1]
        : 0.0f, in_col2 && in_row7 ? W[row7 * 39 + col + 2] : 0.0f, in_col3 && in_row7 ? W[row7 * 39 + col + 3] : 0.0f);
  }
  __syncthreads();
  const int col6 = warp / 2 * 64 + lane / 4 * 8;
  const int col7 = tx % 4 * 8 + warp % 2 * 32;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    alignas(16) float X_frag[8];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&X_frag[j * 4]) = *reinterpret_cast<const float4*>(&X_shared[0][i][col6 + j * 4]);
    }
    alignas(16) float W_frag[8];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      *reinterpret_cast<float4*>(&W_frag[j * 4]) = *reinterpret_cast<const float4*>(&W_shared[0][i][col7 + j * 4]);
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc[0][j][l] += X_frag[j] * W_frag[l];
      }
    }
  }
  const int row7 = by * 128 + warp / 2 * 64 + lane / 4 * 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row8 = row7 + i;
    if (row8 < 540) {
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int col8 = col7 + j;
        if (col8 < 39) {
          arg2[bz * 21060 + row8 * 39 + col8] = acc[0][i][j];
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_1(float* __restrict__ Y, const float* __restrict__ arg1) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int row = (bx * 256 + tx) / 39;
  const int col = (bx * 256 + tx) % 39;
  if (bx * 256 + tx < 21060) {
    float acc = 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
      acc += arg1[i * 21060 + row * 39 + col];
    }
    Y[row * 39 + col] = acc;
  }
}
