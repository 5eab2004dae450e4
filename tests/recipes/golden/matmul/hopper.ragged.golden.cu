// weft golden hopper --set m=1000 --set n=776 --set k=328
// prelude: round_to_odd, bf16, TensorMap, in_shared, barrier_init, barrier_arrive, barrier_expect, barrier_wait, meet_at, fence_barriers, fence_async, fewer_registers, more_registers, load_box_2d, store_box_2d, commit_stores, wait_stores_read, matrix_in_shared, hold_sums, begin_products, end_products, product_m64n256k16_bf16_by_rows

extern "C" __global__ void __launch_bounds__(384, 1) matmul(
    const __grid_constant__ TensorMap A_map,
    const __grid_constant__ TensorMap B_map,
    const __grid_constant__ TensorMap C_map) {
  alignas(1024) extern __shared__ float4 dynamic_shared[];
  float (*C_shared)[128][8] = reinterpret_cast<float (*)[128][8]>(dynamic_shared + 0);
  bf16 (*A_shared)[128][64] = reinterpret_cast<bf16 (*)[128][64]>(dynamic_shared + 2048);
  bf16 (*B_shared)[4][64][64] = reinterpret_cast<bf16 (*)[4][64][64]>(dynamic_shared + 6144);
  unsigned long long* full = reinterpret_cast<unsigned long long*>(dynamic_shared + 14336);
  unsigned long long* empty = reinterpret_cast<unsigned long long*>(dynamic_shared + 14338);
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
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
  const int C_shared_row = tx % 128 / 32 * 16 + tx / 128 * 64 + lane / 4;
  const int idx = tx % 4 * 2;
  const int idx1 = lane / 4 / 4 * 4;
  const int idx2 = (by * 4 + bx) % 8 * 128 + tx / 128 * 64;
  const int idx3 = (by * 4 + bx) / 8 * 256;
  const int idx4 = (by * 4 + bx) % 8 * 128;
  if (tx < 256) {
    more_registers<240>();
    const bool inside = tx % 128 == 0;
    float acc[128] = {};
    for (int k = 0; k < 384; k += 64) {
      const int idx5 = k / 64 % 4;
      barrier_wait(&full[idx5], k / 64 / 4 != 0);
      const unsigned long long A_matrix = matrix_in_shared(&A_shared[idx5][row][0], 16384);
      const unsigned long long B_matrix = matrix_in_shared(&B_shared[idx5][0][0][0], 8192);
      begin_products(acc);
      product_m64n256k16_bf16_by_rows(acc, A_matrix, B_matrix);
      product_m64n256k16_bf16_by_rows(acc, A_matrix + 2, B_matrix + 128);
      product_m64n256k16_bf16_by_rows(acc, A_matrix + 4, B_matrix + 256);
      product_m64n256k16_bf16_by_rows(acc, A_matrix + 6, B_matrix + 384);
      end_products(acc);
      if (inside) {
        barrier_arrive(&empty[idx5]);
      }
    }
    const int v0 = tx / 128 + 1;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (inside) {
        wait_stores_read<0>();
      }
      meet_at(v0, 128);
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int idx5 = k * 8 + i;
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          *reinterpret_cast<float2*>(&C_shared[i][C_shared_row + j * 8][idx ^ idx1])
              = make_float2(acc[idx5 * 4 + j * 2], acc[idx5 * 4 + j * 2 + 1]);
        }
      }
      fence_async();
      meet_at(v0, 128);
      const int idx5 = idx3 + k * 64;
      if (inside) {
        for (int i = 0; i < 8; ++i) {
          store_box_2d(C_map, &C_shared[i][row][0], idx5 + i * 8, idx2);
        }
        commit_stores();
      }
    }
    if (inside) {
      wait_stores_read<0>();
    }
  } else {
    fewer_registers<24>();
    if (tx == 256) {
      #pragma unroll 1
      for (int i = 0; i < 384; i += 64) {
        const int idx5 = i / 64 % 4;
        barrier_wait(&empty[idx5], (i / 64 / 4 + 1) % 2 != 0);
        barrier_expect(&full[idx5], 49152);
        load_box_2d(&A_shared[idx5][0][0], A_map, &full[idx5], i, idx4);
        load_box_2d(&B_shared[idx5][0][0][0], B_map, &full[idx5], idx3, i);
        load_box_2d(&B_shared[idx5][1][0][0], B_map, &full[idx5], idx3 + 64, i);
        load_box_2d(&B_shared[idx5][2][0][0], B_map, &full[idx5], idx3 + 128, i);
        load_box_2d(&B_shared[idx5][3][0][0], B_map, &full[idx5], idx3 + 192, i);
      }
    }
  }
}
