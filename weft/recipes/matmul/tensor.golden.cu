// weft golden tensor.weft
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

// Starts a copy of 16 bytes of global to shared memory, past L1; all but the first `bytes` of them become zero.
#ifdef __CUDA_ARCH__
__device__ inline void copy_async16(void* to, const void* from, int bytes = 16) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}
#endif

// The copies that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#endif

// Waits until at most n of the thread's groups are under way, the last n.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
#endif

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
  alignas(16) __shared__ bf16 A_shared[3][128][32];
  alignas(16) __shared__ bf16 B_shared[3][32][128];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int warp = tx / 32;
  const int lane = tx % 32;
  alignas(16) float acc[4][8][2][1][1][2];
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
  const int col = tx % 4 * 8;
  const int A_shared_row = tx / 4;
  const int row = bx * 128 + tx / 4;
  const int idx = tx / 4 / 2 % 4 * 8;
  const int A_shared_col = tx / 4 * -32;
  for (int i = 0; i < 4; ++i) {
    copy_async16(&A_shared[0][A_shared_row + i * 32][A_shared_col + ((tx * 8) ^ idx)], &A[(row + i * 32) * 512 + col]);
  }
  const int col1 = by * 128 + tx % 16 * 8;
  const int row1 = tx / 16;
  const int idx1 = tx / 16 * 8;
  const int B_shared_col = tx / 16 * -128;
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 8;
    copy_async16(&B_shared[0][row2][B_shared_col + ((tx * 8) ^ idx1)], &B[row2 * 512 + col1]);
  }
  commit_copies();
  for (int i = 0; i < 4; ++i) {
    copy_async16(&A_shared[1][A_shared_row + i * 32][A_shared_col + ((tx * 8) ^ idx)],
        &A[(row + i * 32) * 512 + col + 32]);
  }
  for (int i = 0; i < 4; ++i) {
    const int row2 = row1 + i * 8;
    copy_async16(&B_shared[1][row2][B_shared_col + ((tx * 8) ^ idx1)], &B[(row2 + 32) * 512 + col1]);
  }
  commit_copies();
  const int idx2 = lane / 16 * 8;
  const int A_shared_row1 = tx % 16 + warp / 2 * 64;
  const int idx3 = tx % 16 / 2 % 4 * 8;
  const int B_shared_row = tx % 16;
  const int idx4 = tx % 8 * 8;
  const int B_shared_col1 = warp % 2 * 64;
  for (int k = 0; k < 512; k += 32) {
    wait_copies<1>();
    __syncthreads();
    const int plane = (k / 32 + 2) % 3;
    const int col2 = col + k + 64;
    const int row2 = row1 + k;
    if (k + 64 < 512) {
      for (int i = 0; i < 4; ++i) {
        copy_async16(&A_shared[plane][A_shared_row + i * 32][A_shared_col + ((tx * 8) ^ idx)],
            &A[(row + i * 32) * 512 + col2]);
      }
      for (int i = 0; i < 4; ++i) {
        copy_async16(&B_shared[plane][row1 + i * 8][B_shared_col + ((tx * 8) ^ idx1)],
            &B[(row2 + i * 8 + 64) * 512 + col1]);
      }
    }
    commit_copies();
    const int plane1 = k / 32 % 3;
    #pragma unroll
    for (int i = 0; i < 32; i += 16) {
      bf16 A_frag[4][4][2];
      const int idx5 = idx2 + i;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned A_frag1[4];
        load_matrices_x4(A_frag1, &A_shared[plane1][A_shared_row1 + j * 16][idx5 ^ idx3]);
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
        load_matrices_x2_transposed(B_frag1, &B_shared[plane1][B_shared_row1][B_shared_col1 + ((j * 8) ^ idx4)]);
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
  }
  const int col2 = by * 128 + tx % 4 * 2 + warp % 2 * 64;
  const int row2 = bx * 128 + lane / 4 + warp / 2 * 64;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row3 = row2 + i * 16;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col3 = col2 + j * 8;
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        *reinterpret_cast<float2*>(&C[(row3 + l * 8) * 512 + col3])
            = *reinterpret_cast<const float2*>(&acc[i][j][l][0][0][0]);
      }
    }
  }
}
