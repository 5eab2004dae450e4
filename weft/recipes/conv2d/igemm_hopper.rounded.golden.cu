// weft golden igemm_hopper.weft --set rounded=1
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

// The descriptor of a tensor for the tensor memory accelerator, encoded by the host's driver.
struct alignas(64) TensorMap { unsigned long long words[16]; };

// An address in shared memory, as instructions take it.
#ifdef __CUDA_ARCH__
__device__ inline unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#endif

// Initializes a memory barrier: a phase ends when this many threads have arrived, and no bytes are missing.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(in_shared(barrier)), "r"(arrivals) : "memory");
}
#endif

#ifdef __CUDA_ARCH__
__device__ inline void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(in_shared(barrier)) : "memory");
}
#endif

// Arrives, and announces the number of bytes to come.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(in_shared(barrier)), "r"(bytes)
      : "memory");
}
#endif

// Waits for the end of the phase with this parity.
#ifdef __CUDA_ARCH__
__device__ inline void barrier_wait(unsigned long long* barrier, unsigned parity) {
  asm volatile("{\n.reg .pred over;\n"
      "again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%0], %1;\n"
      "@over bra done;\nbra again;\ndone:\n}" :: "r"(in_shared(barrier)), "r"(parity) : "memory");
}
#endif

// Synchronizes this many threads of the block (whole warps) at a numbered barrier.
#ifdef __CUDA_ARCH__
__device__ inline void meet_at(int number, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(threads) : "memory");
}
#endif

// Makes initialized barriers visible to the tensor memory accelerator.
#ifdef __CUDA_ARCH__
__device__ inline void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
#endif

// Makes the thread's writes to shared memory visible to asynchronous reads.
#ifdef __CUDA_ARCH__
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

// The warp group has fewer registers from here on: n for each thread.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(n)); }
#endif

// The warp group has more registers from here on: n for each thread.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(n)); }
#endif

// Starts the copy of a box of a tensor to shared memory; its bytes are counted on the barrier. Coordinates are
// innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_box_2d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1) : "memory");
}
#endif

// Starts the copy of pixels of a tensor to shared memory, from the one at these coordinates on, at these distances; their
// bytes are counted on the barrier. Coordinates and distances are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void load_pixels_4d(void* to, const TensorMap& map, unsigned long long* barrier, int x0, int x1, int x2, int x3, unsigned short d1, unsigned short d2) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
      :: "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "h"(d1), "h"(d2) : "memory");
}
#endif

// Starts the copy of a box from shared memory to a tensor. Coordinates are innermost first.
#ifdef __CUDA_ARCH__
__device__ inline void store_box_2d(const TensorMap& map, const void* from, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
      :: "l"(&map), "r"(in_shared(from)), "r"(x0), "r"(x1) : "memory");
}
#endif

// The copies to tensors that the thread has started since the last call become a group.
#ifdef __CUDA_ARCH__
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
#endif

// Waits until at most n of the thread's groups are under way and not yet read.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory"); }
#endif

// The descriptor of a matrix in shared memory for products of a warp group: panels of 128 bytes of each row, `panel` bytes apart,
// with pieces of 16 bytes permuted; 8 rows are 1024 bytes. PTX ISA, "Matrix Descriptor Format".
#ifdef __CUDA_ARCH__
__device__ inline unsigned long long matrix_in_shared(const void* first, int panel) {
  return (unsigned long long)(in_shared(first) >> 4 & 0x3fff) | (unsigned long long)(panel >> 4) << 16
      | 1024ull >> 4 << 32 | 1ull << 62;
}
#endif

// The sums are in registers here, and no instruction that uses them moves across.
#ifdef __CUDA_ARCH__
template <int n> __device__ inline void hold_sums(float (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+f"(sums[i]) :: "memory");
}
template <int n> __device__ inline void hold_sums(int (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(sums[i]) :: "memory");
}
#endif

// Orders earlier accesses of the warp group to the sums before the products that follow.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void begin_products(T (&sums)[n]) {
  hold_sums(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
#endif

// Commits the products since the last group as a group, and waits for it: its sums are complete then.
#ifdef __CUDA_ARCH__
template <typename T, int n> __device__ inline void end_products(T (&sums)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold_sums(sums);
}
#endif

// D += A B by the warp group, 64 x 128 x 16: the thread's sums. A and B lie in shared memory, B row by row.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n128k16_bf16_by_rows(float* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1, 0, 1;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b));
}
#endif

extern "C" __global__ void __launch_bounds__(384, 1) conv2d(
    const __grid_constant__ TensorMap X_map,
    const __grid_constant__ TensorMap W_map,
    const __grid_constant__ TensorMap Y_map) {
  alignas(1024) extern __shared__ float4 dynamic_shared[];
  bf16 (*Y_shared)[128][64] = reinterpret_cast<bf16 (*)[128][64]>(dynamic_shared + 0);
  bf16 (*X_shared)[128][64] = reinterpret_cast<bf16 (*)[128][64]>(dynamic_shared + 2048);
  bf16 (*W_shared)[2][64][64] = reinterpret_cast<bf16 (*)[2][64][64]>(dynamic_shared + 6144);
  unsigned long long* full = reinterpret_cast<unsigned long long*>(dynamic_shared + 10240);
  unsigned long long* empty = reinterpret_cast<unsigned long long*>(dynamic_shared + 10242);
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int lane = tx % 32;
  if (tx == 0) {
    for (int i = 0; i < 4; ++i) {
      barrier_init(&full[i], 1);
    }
    for (int i = 0; i < 4; ++i) {
      barrier_init(&empty[i], 2);
    }
    fence_barriers();
  }
  __syncthreads();
  const int row = tx / 128 * 64;
  const int idx = tx % 4 * 2;
  const int Y_shared_row = tx % 128 / 32 * 16 + tx / 128 * 64 + lane / 4;
  const int idx1 = lane / 4 * 8;
  const int idx2 = by * 128 + tx / 128 * 64;
  if (tx < 256) {
    more_registers<240>();
    const bool inside = tx % 128 == 0;
    float acc[64] = {};
    for (int k = 0; k < 576; k += 64) {
      const int idx3 = k / 64 % 4;
      barrier_wait(&full[idx3], k / 64 / 4 % 2 != 0);
      const unsigned long long X_matrix = matrix_in_shared(&X_shared[idx3][row][0], 16384);
      const unsigned long long W_matrix = matrix_in_shared(&W_shared[idx3][0][0][0], 8192);
      begin_products(acc);
      product_m64n128k16_bf16_by_rows(acc, X_matrix, W_matrix);
      product_m64n128k16_bf16_by_rows(acc, X_matrix + 2, W_matrix + 128);
      product_m64n128k16_bf16_by_rows(acc, X_matrix + 4, W_matrix + 256);
      product_m64n128k16_bf16_by_rows(acc, X_matrix + 6, W_matrix + 384);
      end_products(acc);
      if (inside) {
        barrier_arrive(&empty[idx3]);
      }
    }
    const int v0 = tx / 128 + 1;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int idx3 = k * 8 + i;
        const int idx4 = idx + i * 8;
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          *reinterpret_cast<vec<bf16, 2>*>(&Y_shared[k][Y_shared_row + j * 8][idx4 ^ idx1]) = vec<bf16,
              2>{{(bf16)acc[idx3 * 4 + j * 2], (bf16)acc[idx3 * 4 + j * 2 + 1]}};
        }
      }
      fence_async();
      meet_at(v0, 128);
      if (inside) {
        store_box_2d(Y_map, &Y_shared[k][row][0], k * 64, idx2);
        commit_stores();
      }
    }
    if (inside) {
      wait_stores_read<0>();
    }
  } else {
    fewer_registers<24>();
    if (tx == 256) {
      const int v0 = by % 2 * 8 - 1;
      const int v1 = by / 2;
      #pragma unroll 1
      for (int i = 0; i < 576; i += 64) {
        const int idx3 = i / 64 % 4;
        barrier_wait(&empty[idx3], (i / 64 / 4 + 1) % 2 != 0);
        barrier_expect(&full[idx3], 32768);
        load_pixels_4d(&X_shared[idx3][0][0], X_map, &full[idx3], i % 64, -1, v0, v1, (unsigned short)(i % 192 / 64),
            (unsigned short)(i / 192));
        load_box_2d(&W_shared[idx3][0][0][0], W_map, &full[idx3], 0, i);
        load_box_2d(&W_shared[idx3][1][0][0], W_map, &full[idx3], 64, i);
      }
    }
  }
}
