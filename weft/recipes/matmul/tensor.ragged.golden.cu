// weft golden tensor.weft --set m=1000 --set n=777 --set k=333
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

// Loads 2 8 x 8 matrices of 16-bit elements, transposed: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x2_transposed(unsigned (&to)[2], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
}
#endif

// Loads 4 8 x 8 matrices of 16-bit elements: the lane's part of each. Lane 8*t + r addresses row r of matrix t.
#ifdef __CUDA_ARCH__
__device__ inline void load_matrices_x4(unsigned (&to)[4], const void* row) {
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
#endif

// D += A B by the warp, 16 x 8 x 16: the lane's elements, those of A and B in registers of 2 bf16.
#ifdef __CUDA_ARCH__
__device__ inline void mma_m16n8k16_bf16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

extern "C" __global__ void __launch_bounds__(128, 1) matmul(
    const bf16* __restrict__ A,
    const bf16* __restrict__ B,
    float* __restrict__ C) {
  alignas(16) __shared__ bf16 A_shared[128][32];
  alignas(16) __shared__ bf16 B_shared[32][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  float acc[4][8][2][1][1][2];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        #pragma unroll
        for (int m = 0; m < 2; ++m) {
          acc[i][j][l][0][0][m] = 0.0f;
        }
      }
    }
  }
  const int col = (by * 7 + bx) / 8 * 128 + tx % 16 * 8;
  const bool in_col = col < 777;
  const bool in_col1 = col + 1 < 777;
  const bool in_col2 = col + 2 < 777;
  const bool in_col3 = col + 3 < 777;
  const bool in_col4 = col + 4 < 777;
  const bool in_col5 = col + 5 < 777;
  const bool in_col6 = col + 6 < 777;
  const bool in_col7 = col + 7 < 777;
  const int col1 = tx % 4 * 8;
  const int A_shared_row = tx / 4;
  const int row = (by * 7 + bx) % 8 * 128 + tx / 4;
  const int idx = tx / 4 / 2 % 4 * 8;
  const int A_shared_col = tx / 4 * -32;
  const int row1 = tx / 16;
  const int idx1 = tx / 16 * 8;
  const int B_shared_col = tx / 16 * -128;
  const int idx2 = lane / 16 * 8;
  const int A_shared_row1 = tx % 16 + warp / 2 * 64;
  const int idx3 = tx % 16 / 2 % 4 * 8;
  const int B_shared_row = tx % 16;
  const int idx4 = tx % 8 * 8;
  const int B_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 352; k += 32) {
    const int col2 = col1 + k;
    const bool in_col2_1 = col2 < 333;
    const bool in_col2_2 = col2 + 1 < 333;
    const bool in_col2_3 = col2 + 2 < 333;
    const bool in_col2_4 = col2 + 3 < 333;
    const bool in_col2_5 = col2 + 4 < 333;
    const bool in_col2_6 = col2 + 5 < 333;
    const bool in_col2_7 = col2 + 6 < 333;
    const bool in_col2_8 = col2 + 7 < 333;
    for (int i = 0; i < 4; ++i) {
      const int row2 = row + i * 32;
      const bool in_row2 = row2 < 1000;
      const int A_shared_col1 = A_shared_col + ((tx * 8) ^ idx);
      *reinterpret_cast<vec<bf16, 8>*>(&A_shared[A_shared_row + i * 32][A_shared_col1]) = vec<bf16,
          8>{{in_col2_1 && in_row2 ? A[row2 * 333 + col2] : bf16(0.0f), in_col2_2 && in_row2
          ? A[row2 * 333 + col2 + 1] : bf16(0.0f), in_col2_3 && in_row2 ? A[row2 * 333 + col2 + 2] : bf16(0.0f),
          in_col2_4 && in_row2 ? A[row2 * 333 + col2 + 3] : bf16(0.0f), in_col2_5 && in_row2
          ? A[row2 * 333 + col2 + 4] : bf16(0.0f), in_col2_6 && in_row2 ? A[row2 * 333 + col2 + 5] : bf16(0.0f),
          in_col2_7 && in_row2 ? A[row2 * 333 + col2 + 6] : bf16(0.0f), in_col2_8 && in_row2
          ? A[row2 * 333 + col2 + 7] : bf16(0.0f)}};
    }
    const int row2 = row1 + k;
    for (int i = 0; i < 4; ++i) {
      const int row3 = row2 + i * 8;
      const bool in_row3 = row3 < 333;
      const int B_shared_col2 = B_shared_col + ((tx * 8) ^ idx1);
      *reinterpret_cast<vec<bf16, 8>*>(&B_shared[row1 + i * 8][B_shared_col2]) = vec<bf16,
          8>{{in_row3 && in_col ? B[row3 * 777 + col] : bf16(0.0f), in_row3 && in_col1 ? B[row3 * 777 + col + 1]
          : bf16(0.0f), in_row3 && in_col2 ? B[row3 * 777 + col + 2] : bf16(0.0f), in_row3 && in_col3
          ? B[row3 * 777 + col + 3] : bf16(0.0f), in_row3 && in_col4 ? B[row3 * 777 + col + 4] : bf16(0.0f), in_row3
          && in_col5 ? B[row3 * 777 + col + 5] : bf16(0.0f), in_row3 && in_col6 ? B[row3 * 777 + col + 6] : bf16(0.0f),
          in_row3 && in_col7 ? B[row3 * 777 + col + 7] : bf16(0.0f)}};
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 A_frag[4][4][2];
      const int idx5 = idx2 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned A_frag1[4];
        load_matrices_x4(A_frag1, &A_shared[A_shared_row1 + j * 16][idx5 ^ idx3]);
        A_frag[j][0][0] = bf16_of_bits(A_frag1[0]);
        A_frag[j][0][1] = bf16_of_bits(A_frag1[0] >> 16);
        A_frag[j][1][0] = bf16_of_bits(A_frag1[1]);
        A_frag[j][1][1] = bf16_of_bits(A_frag1[1] >> 16);
        A_frag[j][2][0] = bf16_of_bits(A_frag1[2]);
        A_frag[j][2][1] = bf16_of_bits(A_frag1[2] >> 16);
        A_frag[j][3][0] = bf16_of_bits(A_frag1[3]);
        A_frag[j][3][1] = bf16_of_bits(A_frag1[3] >> 16);
      }
      bf16 B_frag[8][2][2];
      const int B_shared_row1 = B_shared_row + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned B_frag1[2];
        load_matrices_x2_transposed(B_frag1, &B_shared[B_shared_row1][B_shared_col1 + ((j * 8) ^ idx4)]);
        B_frag[j][0][0] = bf16_of_bits(B_frag1[0]);
        B_frag[j][0][1] = bf16_of_bits(B_frag1[0] >> 16);
        B_frag[j][1][0] = bf16_of_bits(B_frag1[1]);
        B_frag[j][1][1] = bf16_of_bits(B_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0], acc[j][l][0][0][0][1], acc[j][l][1][0][0][0], acc[j][l][1][0][0][1],
              pack_bf16(A_frag[j][0][0], A_frag[j][0][1]), pack_bf16(A_frag[j][1][0], A_frag[j][1][1]),
              pack_bf16(A_frag[j][2][0], A_frag[j][2][1]), pack_bf16(A_frag[j][3][0], A_frag[j][3][1]),
              pack_bf16(B_frag[l][0][0], B_frag[l][0][1]), pack_bf16(B_frag[l][1][0], B_frag[l][1][1]));
        }
      }
    }
    __syncthreads();
  }
  const int row2 = (by * 7 + bx) % 8 * 128 + lane / 4 + warp / 2 * 64;
  const int col2 = (by * 7 + bx) / 8 * 128 + tx % 4 * 2 + warp % 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row3 = row2 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col3 = col2 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row4 = row3 + l * 8;
        if (row4 < 1000) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int col4 = col3 + m;
            if (col4 < 777) {
              C[row4 * 777 + col4] = acc[i][j][l][0][0][m];
            }
          }
        }
      }
    }
  }
}
