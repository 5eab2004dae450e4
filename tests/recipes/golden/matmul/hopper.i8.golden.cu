// weft golden hopper --set type=i8 --set m=256 --set n=256 --set k=250
// prelude: TensorMap, in_shared, barrier_init, barrier_arrive, barrier_expect, barrier_wait, fence_barriers, fewer_registers, more_registers, load_box_2d, matrix_in_shared, hold_sums, begin_products, end_products, product_m64n256k32_i8

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
