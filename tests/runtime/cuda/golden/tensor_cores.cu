// n elements that one access moves.
template <typename T, int n> struct alignas(sizeof(T) * n) vec { T at[n]; };

// Round to odd: a second rounding, to at least two bits less, then gives what one rounding would.
__device__ inline float round_to_odd(double x) {
  float r = (float)x;
  if (x != x || (double)r == x) return r;
  unsigned bits = __float_as_uint(r);
  if (((double)r > x) == (x > 0.0)) bits -= 1;
  return __uint_as_float(bits | 1u);
}

// The upper half of a float: 16 bits in memory; each operation calculates in float and rounds once.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ explicit bf16(float x);
  __device__ explicit bf16(double x);
  __device__ explicit operator float() const;
  __device__ explicit operator double() const { return (double)(float)*this; }
};
__device__ inline bf16::bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned pair;  // two at once, which is faster than one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
  bits = pair;
#else
  unsigned u = __float_as_uint(x);
  bits = x != x ? 0x7fffu : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
#endif
}
__device__ inline bf16::bf16(double x) { *this = bf16(round_to_odd(x)); }
__device__ inline bf16::operator float() const { return __uint_as_float((unsigned)bits << 16); }
__device__ inline bf16 operator+(bf16 a, bf16 b) { return bf16((float)a + (float)b); }
__device__ inline bf16 operator-(bf16 a, bf16 b) { return bf16((float)a - (float)b); }
__device__ inline bf16 operator*(bf16 a, bf16 b) { return bf16((float)a * (float)b); }
__device__ inline bf16 operator/(bf16 a, bf16 b) { return bf16((float)a / (float)b); }
__device__ inline bf16 operator-(bf16 a) { a.bits ^= 0x8000; return a; }

__device__ inline bf16 bf16_of_bits(int bits) {
  bf16 r;
  r.bits = (unsigned short)bits;
  return r;
}

__device__ inline unsigned pack_bf16(bf16 low, bf16 high) { return low.bits | (unsigned)high.bits << 16; }

__device__ inline unsigned pack_i8(signed char a, signed char b, signed char c, signed char d) {
  return (unsigned char)a | (unsigned char)b << 8 | (unsigned char)c << 16 | (unsigned)(unsigned char)d << 24;
}

// Loads 4 8 x 8 matrices of 16-bit elements: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x4(unsigned (&to)[4], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
#endif

// Loads 4 8 x 8 matrices of 16-bit elements, transposed: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x4_transposed(unsigned (&to)[4], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
#endif

// D += A B by the warp, 16 x 8 x 16: the lane's elements, those of A and B in registers of 2 bf16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_bf16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// D += A B by the warp, 16 x 8 x 32: the lane's elements, those of A and B in registers of 4 i8.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k32_i8(int& d0, int& d1, int& d2, int& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

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
