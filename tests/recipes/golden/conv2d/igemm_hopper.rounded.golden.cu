// weft golden igemm_hopper --set rounded=1
// prelude: vec, round_to_odd, bf16, TensorMap, in_shared, barrier_init, barrier_arrive, barrier_expect, barrier_wait, meet_at, fence_barriers, fence_async, fewer_registers, more_registers, load_box_2d, load_pixels_4d, store_box_2d, commit_stores, wait_stores_read, matrix_in_shared, hold_sums, begin_products, end_products, product_m64n128k16_bf16_by_rows

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
