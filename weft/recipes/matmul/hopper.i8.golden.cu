// weft golden hopper.weft --set type=i8 --set m=256 --set n=256 --set k=250
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

// Makes initialized barriers visible to the tensor memory accelerator.
#ifdef __CUDA_ARCH__
__device__ inline void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
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

// D += A B by the warp group, 64 x 256 x 32: the thread's sums. A and B lie in shared memory.
#ifdef __CUDA_ARCH__
__device__ inline void product_m64n256k32_i8(int* d, unsigned long long a, unsigned long long b) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, "
      "%72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, "
      "%88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, "
      "%104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, "
      "%120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add;\n}"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),
        "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]),
        "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]),
        "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]),
        "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]),
        "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]),
        "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
        "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]),
        "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71]),
        "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79]),
        "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]),
        "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]),
        "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]),
        "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111]),
        "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]),
        "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
      : "l"(a), "l"(b));
}
#endif

extern "C" __global__ void __launch_bounds__(384, 1) matmul(
    int* __restrict__ C,
    const __grid_constant__ TensorMap A_packed_map,
    const __grid_constant__ TensorMap B_packed_map) {
  alignas(1024) extern __shared__ float4 dynamic_shared[];
  signed char (*A_packed_shared)[128][128] = reinterpret_cast<signed char (*)[128][128]>(dynamic_shared + 0);
  signed char (*B_packed_shared)[256][128] = reinterpret_cast<signed char (*)[256][128]>(dynamic_shared + 4096);
  unsigned long long* full = reinterpret_cast<unsigned long long*>(dynamic_shared + 12288);
  unsigned long long* empty = reinterpret_cast<unsigned long long*>(dynamic_shared + 12290);
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
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
  const int A_packed_shared_row = tx / 128 * 64;
  const int col = tx % 4 * 2;
  const int row = by * 128 + tx % 128 / 32 * 16 + tx / 128 * 64 + tx % 32 / 4;
  if (tx < 256) {
    more_registers<240>();
    const bool inside = tx % 128 == 0;
    int acc[128] = {};
    for (int k = 0; k < 256; k += 128) {
      const int plane = k / 128;
      barrier_wait(&full[plane], false);
      const unsigned long long A_packed_matrix
          = matrix_in_shared(&A_packed_shared[plane][A_packed_shared_row][0], 16384);
      const unsigned long long B_packed_matrix = matrix_in_shared(&B_packed_shared[plane][0][0], 32768);
      begin_products(acc);
      product_m64n256k32_i8(acc, A_packed_matrix, B_packed_matrix);
      product_m64n256k32_i8(acc, A_packed_matrix + 2, B_packed_matrix + 2);
      product_m64n256k32_i8(acc, A_packed_matrix + 4, B_packed_matrix + 4);
      product_m64n256k32_i8(acc, A_packed_matrix + 6, B_packed_matrix + 6);
      end_products(acc);
      if (inside) {
        barrier_arrive(&empty[plane]);
      }
    }
    #pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int col1 = col + i * 8;
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        *reinterpret_cast<int2*>(&C[(row + j * 8) * 256 + col1])
            = make_int2(acc[i * 4 + j * 2], acc[i * 4 + j * 2 + 1]);
      }
    }
  } else {
    fewer_registers<24>();
    if (tx == 256) {
      #pragma unroll 1
      for (int i = 0; i < 256; i += 128) {
        const int plane = i / 128;
        barrier_wait(&empty[plane], true);
        barrier_expect(&full[plane], 49152);
        load_box_2d(&A_packed_shared[plane][0][0], A_packed_map, &full[plane], i, by * 128);
        load_box_2d(&B_packed_shared[plane][0][0], B_packed_map, &full[plane], i, 0);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_1(
    const signed char* __restrict__ A,
    signed char* __restrict__ A_packed) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  if (tx < 250) {
    A_packed[bx * 256 + tx] = A[bx * 250 + tx];
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_2(
    const signed char* __restrict__ B,
    signed char* __restrict__ B_packed) {
  __shared__ signed char B_shared[64][68];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int col = bx * 64 + tx % 64;
  const int idx = tx % 64;
  const int row = by * 64 + tx / 64;
  const int idx1 = tx / 64;
  for (int i = 0; i < 16; ++i) {
    const int row1 = row + i * 4;
    B_shared[idx1 + i * 4][idx] = row1 < 250 ? B[row1 * 256 + col] : 0;
  }
  __syncthreads();
  const int col1 = by * 64 + tx % 64;
  const bool in_col1 = col1 < 250;
  const int row1 = bx * 64 + tx / 64;
  for (int i = 0; i < 16; ++i) {
    if (in_col1) {
      B_packed[(row1 + i * 4) * 256 + col1] = B_shared[idx][idx1 + i * 4];
    }
  }
}
