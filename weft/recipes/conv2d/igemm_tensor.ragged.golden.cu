// weft golden igemm_tensor.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
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

extern "C" __global__ void __launch_bounds__(128, 1) conv2d(
    const bf16* __restrict__ X,
    const bf16* __restrict__ W,
    float* __restrict__ Y) {
  alignas(16) __shared__ bf16 X_shared[128][32];
  alignas(16) __shared__ bf16 W_shared[32][128];
  const int tx = threadIdx.x;
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
  const int col = tx % 16 * 8;
  const bool in_col = col < 39;
  const bool in_col1 = col + 1 < 39;
  const bool in_col2 = col + 2 < 39;
  const bool in_col3 = col + 3 < 39;
  const bool in_col4 = col + 4 < 39;
  const bool in_col5 = col + 5 < 39;
  const bool in_col6 = col + 6 < 39;
  const bool in_col7 = col + 7 < 39;
  const int idx = tx % 4 * 8;
  const int X_shared_row = tx / 4;
  const int idx1 = by * 128 + tx / 4;
  const int idx2 = tx / 4 / 2 % 4 * 8;
  const int X_shared_col = tx / 4 * -32;
  const int row = tx / 16;
  const int idx3 = tx / 16 * 8;
  const int W_shared_col = tx / 16 * -128;
  const int idx4 = lane / 16 * 8;
  const int X_shared_row1 = tx % 16 + warp / 2 * 64;
  const int idx5 = tx % 16 / 2 % 4 * 8;
  const int W_shared_row = tx % 16;
  const int idx6 = tx % 8 * 8;
  const int W_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 64; k += 32) {
    const int idx7 = idx + k;
    const bool in_idx7 = idx7 < 45;
    const int d3 = (k + tx % 4 * 8) % 5;
    const bool in_idx7_1 = idx7 + 1 < 45;
    const int d3_1 = (k + tx % 4 * 8 + 1) % 5;
    const bool in_idx7_2 = idx7 + 2 < 45;
    const int d3_2 = (k + tx % 4 * 8 + 2) % 5;
    const bool in_idx7_3 = idx7 + 3 < 45;
    const int d3_3 = (k + tx % 4 * 8 + 3) % 5;
    const bool in_idx7_4 = idx7 + 4 < 45;
    const int d3_4 = (k + tx % 4 * 8 + 4) % 5;
    const bool in_idx7_5 = idx7 + 5 < 45;
    const bool in_idx7_6 = idx7 + 6 < 45;
    const int d3_5 = (k + tx % 4 * 8 + 6) % 5;
    const bool in_idx7_7 = idx7 + 7 < 45;
    const int d3_6 = (k + tx % 4 * 8 + 7) % 5;
    const int d1 = (k + tx % 4 * 8) / 15;
    const int d2 = (k + tx % 4 * 8) % 15 / 5;
    const int d1_1 = (k + tx % 4 * 8 + 1) / 15;
    const int d2_1 = (k + tx % 4 * 8 + 1) % 15 / 5;
    const int d1_2 = (k + tx % 4 * 8 + 2) / 15;
    const int d2_2 = (k + tx % 4 * 8 + 2) % 15 / 5;
    const int d1_3 = (k + tx % 4 * 8 + 3) / 15;
    const int d2_3 = (k + tx % 4 * 8 + 3) % 15 / 5;
    const int d1_4 = (k + tx % 4 * 8 + 4) / 15;
    const int d2_4 = (k + tx % 4 * 8 + 4) % 15 / 5;
    const int d1_5 = (k + tx % 4 * 8 + 5) / 15;
    const int d2_5 = (k + tx % 4 * 8 + 5) % 15 / 5 - 1;
    const int d1_6 = (k + tx % 4 * 8 + 6) / 15;
    const int d2_6 = (k + tx % 4 * 8 + 6) % 15 / 5;
    const int d1_7 = (k + tx % 4 * 8 + 7) / 15;
    const int d2_7 = (k + tx % 4 * 8 + 7) % 15 / 5;
    for (int i = 0; i < 4; ++i) {
      const bool inside = idx1 + i * 32 < 540;
      const int d0 = (by * 128 + i * 32 + tx / 4) / 180;
      const int d1_8 = d1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_8 = d2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v0 = in_idx7 && inside && (unsigned)d1_8 < 29 && (unsigned)d2_8 < 23
          ? X[d0 * 3335 + d1_8 * 115 + d2_8 * 5 + d3] : bf16(0.0f);
      const int d1_9 = d1_1 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_9 = d2_1 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v1 = in_idx7_1 && inside && (unsigned)d1_9 < 29 && (unsigned)d2_9 < 23
          ? X[d0 * 3335 + d1_9 * 115 + d2_9 * 5 + d3_1] : bf16(0.0f);
      const int d1_10 = d1_2 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_10 = d2_2 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v2 = in_idx7_2 && inside && (unsigned)d1_10 < 29 && (unsigned)d2_10 < 23
          ? X[d0 * 3335 + d1_10 * 115 + d2_10 * 5 + d3_2] : bf16(0.0f);
      const int d1_11 = d1_3 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_11 = d2_3 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v3 = in_idx7_3 && inside && (unsigned)d1_11 < 29 && (unsigned)d2_11 < 23
          ? X[d0 * 3335 + d1_11 * 115 + d2_11 * 5 + d3_3] : bf16(0.0f);
      const int d1_12 = d1_4 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_12 = d2_4 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v4 = in_idx7_4 && inside && (unsigned)d1_12 < 29 && (unsigned)d2_12 < 23
          ? X[d0 * 3335 + d1_12 * 115 + d2_12 * 5 + d3_4] : bf16(0.0f);
      const int d1_13 = d1_5 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_13 = d2_5 + (by * 128 + i * 32 + tx / 4) % 12 * 2;
      const bf16 v5 = in_idx7_5 && inside && (unsigned)d1_13 < 29 && (unsigned)d2_13 < 23
          ? X[d0 * 3335 + d1_13 * 115 + d2_13 * 5 + d3] : bf16(0.0f);
      const int d1_14 = d1_6 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_14 = d2_6 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v6 = in_idx7_6 && inside && (unsigned)d1_14 < 29 && (unsigned)d2_14 < 23
          ? X[d0 * 3335 + d1_14 * 115 + d2_14 * 5 + d3_5] : bf16(0.0f);
      const int d1_15 = d1_7 + (by * 128 + i * 32 + tx / 4) % 180 / 12 * 2 - 1;
      const int d2_15 = d2_7 + (by * 128 + i * 32 + tx / 4) % 12 * 2 - 1;
      const bf16 v7 = in_idx7_7 && inside && (unsigned)d1_15 < 29 && (unsigned)d2_15 < 23
          ? X[d0 * 3335 + d1_15 * 115 + d2_15 * 5 + d3_6] : bf16(0.0f);
      const int X_shared_col1 = X_shared_col + ((tx * 8) ^ idx2);
      *reinterpret_cast<vec<bf16, 8>*>(&X_shared[X_shared_row + i * 32][X_shared_col1]) = vec<bf16,
          8>{{v0, v1, v2, v3, v4, v5, v6, v7}};
    }
    const int row1 = row + k;
    for (int i = 0; i < 4; ++i) {
      const int row2 = row1 + i * 8;
      const bool in_row2 = row2 < 45;
      const int W_shared_col2 = W_shared_col + ((tx * 8) ^ idx3);
      *reinterpret_cast<vec<bf16, 8>*>(&W_shared[row + i * 8][W_shared_col2]) = vec<bf16,
          8>{{in_row2 && in_col ? W[row2 * 39 + col] : bf16(0.0f), in_row2 && in_col1 ? W[row2 * 39 + col + 1]
          : bf16(0.0f), in_row2 && in_col2 ? W[row2 * 39 + col + 2] : bf16(0.0f), in_row2 && in_col3
          ? W[row2 * 39 + col + 3] : bf16(0.0f), in_row2 && in_col4 ? W[row2 * 39 + col + 4] : bf16(0.0f), in_row2
          && in_col5 ? W[row2 * 39 + col + 5] : bf16(0.0f), in_row2 && in_col6 ? W[row2 * 39 + col + 6] : bf16(0.0f),
          in_row2 && in_col7 ? W[row2 * 39 + col + 7] : bf16(0.0f)}};
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 X_frag[4][4][2];
      const int idx8 = idx4 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned X_frag1[4];
        load_matrices_x4(X_frag1, &X_shared[X_shared_row1 + j * 16][idx8 ^ idx5]);
        X_frag[j][0][0] = bf16_of_bits(X_frag1[0]);
        X_frag[j][0][1] = bf16_of_bits(X_frag1[0] >> 16);
        X_frag[j][1][0] = bf16_of_bits(X_frag1[1]);
        X_frag[j][1][1] = bf16_of_bits(X_frag1[1] >> 16);
        X_frag[j][2][0] = bf16_of_bits(X_frag1[2]);
        X_frag[j][2][1] = bf16_of_bits(X_frag1[2] >> 16);
        X_frag[j][3][0] = bf16_of_bits(X_frag1[3]);
        X_frag[j][3][1] = bf16_of_bits(X_frag1[3] >> 16);
      }
      bf16 W_frag[8][2][2];
      const int W_shared_row1 = W_shared_row + i;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned W_frag1[2];
        load_matrices_x2_transposed(W_frag1, &W_shared[W_shared_row1][W_shared_col1 + ((j * 8) ^ idx6)]);
        W_frag[j][0][0] = bf16_of_bits(W_frag1[0]);
        W_frag[j][0][1] = bf16_of_bits(W_frag1[0] >> 16);
        W_frag[j][1][0] = bf16_of_bits(W_frag1[1]);
        W_frag[j][1][1] = bf16_of_bits(W_frag1[1] >> 16);
      }
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          mma_m16n8k16_bf16(acc[j][l][0][0][0][0], acc[j][l][0][0][0][1], acc[j][l][1][0][0][0], acc[j][l][1][0][0][1],
              pack_bf16(X_frag[j][0][0], X_frag[j][0][1]), pack_bf16(X_frag[j][1][0], X_frag[j][1][1]),
              pack_bf16(X_frag[j][2][0], X_frag[j][2][1]), pack_bf16(X_frag[j][3][0], X_frag[j][3][1]),
              pack_bf16(W_frag[l][0][0], W_frag[l][0][1]), pack_bf16(W_frag[l][1][0], W_frag[l][1][1]));
        }
      }
    }
    __syncthreads();
  }
  const int row1 = by * 128 + lane / 4 + warp / 2 * 64;
  const int col1 = tx % 4 * 2 + warp % 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col2 = col1 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int row3 = row2 + l * 8;
        if (row3 < 540) {
          #pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int col3 = col2 + m;
            if (col3 < 39) {
              Y[row3 * 39 + col3] = acc[i][j][l][0][0][m];
            }
          }
        }
      }
    }
  }
}
