// prelude: vec, round_to_odd, bf16, bf16_of_bits, pack_bf16, pack_i8, load_matrices_x4, load_matrices_x4_transposed, mma_m16n8k16_bf16, mma_m16n8k32_i8

extern "C" __global__ void __launch_bounds__(128, 1) warps(
    const bf16* __restrict__ A,
    long long A_size1,
    const bf16* __restrict__ B,
    long long B_size0,
    float* __restrict__ C,
    long long k) {
  alignas(16) __shared__ bf16 A_shared[128][24];
  alignas(16) __shared__ bf16 B_shared[16][72];
  const int tx = threadIdx.x;
  const int idx = tx % 32;
  const int row = tx / 64 * 64;
  const int col = tx / 32 % 2 * 32;
  alignas(16) float C_frag[4][4][2][1][2];
  bf16 B_frag[4][2][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      C_frag[i][j][0][0][0] = 0.0f;
      C_frag[i][j][0][0][1] = 0.0f;
      C_frag[i][j][1][0][0] = 0.0f;
      C_frag[i][j][1][0][1] = 0.0f;
    }
  }
  for (long long kk = 0; kk < k; kk += 16) {
    for (int i = 0; i < 16; ++i) {
      A_shared[tx][i] = A[tx * A_size1 + kk + i];
    }
    const int B_shared_row = tx / 8;
    const int idx1 = tx % 8 * 8;
    for (int i = 0; i < 8; ++i) {
      const int col1 = idx1 + i;
      B_shared[B_shared_row][col1] = B[(kk + B_shared_row) * 64 + col1];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 4; i += 2) {
      unsigned B_frag1[4];
      load_matrices_x4_transposed(B_frag1, &B_shared[idx % 16][col + i * 8 + idx / 16 * 8]);
      B_frag[i][0][0] = bf16_of_bits(B_frag1[0]);
      B_frag[i][0][1] = bf16_of_bits(B_frag1[0] >> 16);
      B_frag[i][1][0] = bf16_of_bits(B_frag1[1]);
      B_frag[i][1][1] = bf16_of_bits(B_frag1[1] >> 16);
      B_frag[i + 1][0][0] = bf16_of_bits(B_frag1[2]);
      B_frag[i + 1][0][1] = bf16_of_bits(B_frag1[2] >> 16);
      B_frag[i + 1][1][0] = bf16_of_bits(B_frag1[3]);
      B_frag[i + 1][1][1] = bf16_of_bits(B_frag1[3] >> 16);
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned A_frag[4];
      load_matrices_x4(A_frag, &A_shared[row + i * 16 + idx % 16][idx / 16 * 8]);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        mma_m16n8k16_bf16(C_frag[i][j][0][0][0], C_frag[i][j][0][0][1], C_frag[i][j][1][0][0], C_frag[i][j][1][0][1],
            A_frag[0], A_frag[1], A_frag[2], A_frag[3], pack_bf16(B_frag[j][0][0], B_frag[j][0][1]),
            pack_bf16(B_frag[j][1][0], B_frag[j][1][1]));
      }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row1 = row + i * 16 + l * 8 + idx / 4;
        const int col1 = col + j * 8 + idx % 4 * 2;
        *reinterpret_cast<float2*>(&C[row1 * 64 + col1]) = *reinterpret_cast<const float2*>(&C_frag[i][j][l][0][0]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(128, 1) warps_32(
    const bf16* __restrict__ A,
    long long A_size1,
    const bf16* __restrict__ B,
    long long B_size0,
    float* __restrict__ C,
    long long k) {
  alignas(16) __shared__ bf16 A_shared[128][24];
  alignas(16) __shared__ bf16 B_shared[16][72];
  const int tx = threadIdx.x;
  const int A_extent1 = (int)A_size1;
  const int idx = tx % 32;
  const int row = tx / 64 * 64;
  const int col = tx / 32 % 2 * 32;
  alignas(16) float C_frag[4][4][2][1][2];
  bf16 B_frag[4][2][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      C_frag[i][j][0][0][0] = 0.0f;
      C_frag[i][j][0][0][1] = 0.0f;
      C_frag[i][j][1][0][0] = 0.0f;
      C_frag[i][j][1][0][1] = 0.0f;
    }
  }
  for (long long kk = 0; kk < k; kk += 16) {
    for (int i = 0; i < 16; ++i) {
      A_shared[tx][i] = A[tx * A_extent1 + kk + i];
    }
    const int B_shared_row = tx / 8;
    const int idx1 = tx % 8 * 8;
    for (int i = 0; i < 8; ++i) {
      const int col1 = idx1 + i;
      B_shared[B_shared_row][col1] = B[(kk + B_shared_row) * 64 + col1];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 4; i += 2) {
      unsigned B_frag1[4];
      load_matrices_x4_transposed(B_frag1, &B_shared[idx % 16][col + i * 8 + idx / 16 * 8]);
      B_frag[i][0][0] = bf16_of_bits(B_frag1[0]);
      B_frag[i][0][1] = bf16_of_bits(B_frag1[0] >> 16);
      B_frag[i][1][0] = bf16_of_bits(B_frag1[1]);
      B_frag[i][1][1] = bf16_of_bits(B_frag1[1] >> 16);
      B_frag[i + 1][0][0] = bf16_of_bits(B_frag1[2]);
      B_frag[i + 1][0][1] = bf16_of_bits(B_frag1[2] >> 16);
      B_frag[i + 1][1][0] = bf16_of_bits(B_frag1[3]);
      B_frag[i + 1][1][1] = bf16_of_bits(B_frag1[3] >> 16);
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned A_frag[4];
      load_matrices_x4(A_frag, &A_shared[row + i * 16 + idx % 16][idx / 16 * 8]);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        mma_m16n8k16_bf16(C_frag[i][j][0][0][0], C_frag[i][j][0][0][1], C_frag[i][j][1][0][0], C_frag[i][j][1][0][1],
            A_frag[0], A_frag[1], A_frag[2], A_frag[3], pack_bf16(B_frag[j][0][0], B_frag[j][0][1]),
            pack_bf16(B_frag[j][1][0], B_frag[j][1][1]));
      }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row1 = row + i * 16 + l * 8 + idx / 4;
        const int col1 = col + j * 8 + idx % 4 * 2;
        *reinterpret_cast<float2*>(&C[row1 * 64 + col1]) = *reinterpret_cast<const float2*>(&C_frag[i][j][l][0][0]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(32) bytes(
    const signed char* __restrict__ a,
    long long a_size1,
    const signed char* __restrict__ b,
    long long b_size1,
    int* __restrict__ c,
    long long k) {
  const int tx = threadIdx.x;
  const int row = tx / 4;
  const int row1 = tx / 4 + 8;
  int acc = 0;
  int acc1 = 0;
  int acc2 = 0;
  int acc3 = 0;
  for (long long kk = 0; kk < k; kk += 32) {
    const long long col = kk + tx % 4 * 4;
    const long long col1 = kk + tx % 4 * 4 + 16;
    const vec<signed char, 4> v0 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row * a_size1 + col]);
    const vec<signed char, 4> v1 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row1 * a_size1 + col]);
    const vec<signed char, 4> v2 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row * a_size1 + col1]);
    const vec<signed char, 4> v3 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row1 * a_size1 + col1]);
    const vec<signed char, 4> v4 = *reinterpret_cast<const vec<signed char, 4>*>(&b[row * b_size1 + col]);
    const vec<signed char, 4> v5 = *reinterpret_cast<const vec<signed char, 4>*>(&b[row * b_size1 + col1]);
    int d = acc, d1 = acc1, d2 = acc2, d3 = acc3;
    mma_m16n8k32_i8(d, d1, d2, d3, pack_i8(v0.at[0], v0.at[1], v0.at[2], v0.at[3]),
        pack_i8(v1.at[0], v1.at[1], v1.at[2], v1.at[3]), pack_i8(v2.at[0], v2.at[1], v2.at[2], v2.at[3]),
        pack_i8(v3.at[0], v3.at[1], v3.at[2], v3.at[3]), pack_i8(v4.at[0], v4.at[1], v4.at[2], v4.at[3]),
        pack_i8(v5.at[0], v5.at[1], v5.at[2], v5.at[3]));
    acc = d;
    acc1 = d1;
    acc2 = d2;
    acc3 = d3;
  }
  const int col = tx % 4 * 2;
  *reinterpret_cast<int2*>(&c[row * 8 + col]) = make_int2(acc, acc1);
  *reinterpret_cast<int2*>(&c[row1 * 8 + col]) = make_int2(acc2, acc3);
}

extern "C" __global__ void __launch_bounds__(32) bytes_32(
    const signed char* __restrict__ a,
    long long a_size1,
    const signed char* __restrict__ b,
    long long b_size1,
    int* __restrict__ c,
    long long k) {
  const int tx = threadIdx.x;
  const int a_extent1 = (int)a_size1;
  const int b_extent1 = (int)b_size1;
  const int row = tx / 4;
  const int row1 = tx / 4 + 8;
  int acc = 0;
  int acc1 = 0;
  int acc2 = 0;
  int acc3 = 0;
  for (long long kk = 0; kk < k; kk += 32) {
    const long long col = kk + tx % 4 * 4;
    const long long col1 = kk + tx % 4 * 4 + 16;
    const vec<signed char, 4> v0 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row * a_extent1 + col]);
    const vec<signed char, 4> v1 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row1 * a_extent1 + col]);
    const vec<signed char, 4> v2 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row * a_extent1 + col1]);
    const vec<signed char, 4> v3 = *reinterpret_cast<const vec<signed char, 4>*>(&a[row1 * a_extent1 + col1]);
    const vec<signed char, 4> v4 = *reinterpret_cast<const vec<signed char, 4>*>(&b[row * b_extent1 + col]);
    const vec<signed char, 4> v5 = *reinterpret_cast<const vec<signed char, 4>*>(&b[row * b_extent1 + col1]);
    int d = acc, d1 = acc1, d2 = acc2, d3 = acc3;
    mma_m16n8k32_i8(d, d1, d2, d3, pack_i8(v0.at[0], v0.at[1], v0.at[2], v0.at[3]),
        pack_i8(v1.at[0], v1.at[1], v1.at[2], v1.at[3]), pack_i8(v2.at[0], v2.at[1], v2.at[2], v2.at[3]),
        pack_i8(v3.at[0], v3.at[1], v3.at[2], v3.at[3]), pack_i8(v4.at[0], v4.at[1], v4.at[2], v4.at[3]),
        pack_i8(v5.at[0], v5.at[1], v5.at[2], v5.at[3]));
    acc = d;
    acc1 = d1;
    acc2 = d2;
    acc3 = d3;
  }
  const int col = tx % 4 * 2;
  *reinterpret_cast<int2*>(&c[row * 8 + col]) = make_int2(acc, acc1);
  *reinterpret_cast<int2*>(&c[row1 * 8 + col]) = make_int2(acc2, acc3);
}
