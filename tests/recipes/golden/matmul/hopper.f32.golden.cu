// weft golden hopper --set type=f32 --set as_type=bf16x3 --set m=256 --set n=256 --set k=256
// prelude: vec, round_to_odd, bf16, TensorMap, in_shared, barrier_init, barrier_arrive, barrier_expect, barrier_wait, meet_at, fence_barriers, fence_async, fewer_registers, more_registers, load_box_2d, store_box_2d, commit_stores, wait_stores_read, matrix_in_shared, hold_sums, begin_products, end_products, product_m64n128k16_bf16

extern "C" __global__ void __launch_bounds__(384, 1) matmul(
    const __grid_constant__ TensorMap C_map,
    const __grid_constant__ TensorMap A_packed_map,
    const __grid_constant__ TensorMap B_packed_map) {
  alignas(1024) extern __shared__ float4 dynamic_shared[];
  float (*C_shared)[128][8] = reinterpret_cast<float (*)[128][8]>(dynamic_shared + 0);
  bf16 (*A_packed_shared)[128][64] = reinterpret_cast<bf16 (*)[128][64]>(dynamic_shared + 2048);
  bf16 (*B_packed_shared)[128][64] = reinterpret_cast<bf16 (*)[128][64]>(dynamic_shared + 6144);
  unsigned long long* full = reinterpret_cast<unsigned long long*>(dynamic_shared + 10240);
  unsigned long long* empty = reinterpret_cast<unsigned long long*>(dynamic_shared + 10242);
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
  const int idx2 = bx * 128 + tx / 128 * 64;
  if (tx < 256) {
    more_registers<240>();
    alignas(16) float acc[16][2][1][2];
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        #pragma unroll
        for (int l = 0; l < 2; ++l) {
          acc[i][j][0][l] = 0.0f;
        }
      }
    }
    const bool inside = tx % 128 == 0;
    for (int i = 0; i < 768; i += 64) {
      const int plane = i / 64 % 4;
      barrier_wait(&full[plane], i / 64 / 4 % 2 != 0);
      const unsigned long long A_packed_matrix = matrix_in_shared(&A_packed_shared[plane][row][0], 16384);
      const unsigned long long B_packed_matrix = matrix_in_shared(&B_packed_shared[plane][0][0], 16384);
      float acc1[64] = {};
      begin_products(acc1);
      product_m64n128k16_bf16(acc1, A_packed_matrix, B_packed_matrix);
      product_m64n128k16_bf16(acc1, A_packed_matrix + 2, B_packed_matrix + 2);
      product_m64n128k16_bf16(acc1, A_packed_matrix + 4, B_packed_matrix + 4);
      product_m64n128k16_bf16(acc1, A_packed_matrix + 6, B_packed_matrix + 6);
      end_products(acc1);
      #pragma unroll
      for (int j = 0; j < 16; ++j) {
        acc[j][0][0][0] = acc[j][0][0][0] + acc1[j * 4];
        acc[j][0][0][1] = acc[j][0][0][1] + acc1[j * 4 + 1];
        acc[j][1][0][0] = acc[j][1][0][0] + acc1[j * 4 + 2];
        acc[j][1][0][1] = acc[j][1][0][1] + acc1[j * 4 + 3];
      }
      if (inside) {
        barrier_arrive(&empty[plane]);
      }
    }
    const int v0 = tx / 128 + 1;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (inside) {
        wait_stores_read<0>();
      }
      meet_at(v0, 128);
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int d0 = k * 8 + i;
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          *reinterpret_cast<float2*>(&C_shared[i][C_shared_row + j * 8][idx ^ idx1])
              = *reinterpret_cast<const float2*>(&acc[d0][j][0][0]);
        }
      }
      fence_async();
      meet_at(v0, 128);
      const int idx3 = by * 128 + k * 64;
      if (inside) {
        for (int i = 0; i < 8; ++i) {
          store_box_2d(C_map, &C_shared[i][row][0], idx3 + i * 8, idx2);
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
      for (int i = 0; i < 768; i += 64) {
        const int plane = i / 64 % 4;
        barrier_wait(&empty[plane], (i / 64 / 4 + 1) % 2 != 0);
        barrier_expect(&full[plane], 32768);
        load_box_2d(&A_packed_shared[plane][0][0], A_packed_map, &full[plane], i, bx * 128);
        load_box_2d(&B_packed_shared[plane][0][0], B_packed_map, &full[plane], i, by * 128);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_1(const float* __restrict__ A, bf16* __restrict__ A_packed) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  if (tx < 32) {
    const float4 a = *reinterpret_cast<const float4*>(&A[bx * 256 + tx * 8]);
    const float4 a1 = *reinterpret_cast<const float4*>(&A[bx * 256 + tx * 8 + 4]);
    const bf16 v0 = (bf16)a.x;
    const bool in_by = by == 0;
    const bf16 v1 = (bf16)a.y;
    const bf16 v2 = (bf16)a.z;
    const bf16 v3 = (bf16)a.w;
    const bf16 v4 = (bf16)a1.x;
    const bf16 v5 = (bf16)a1.y;
    const bf16 v6 = (bf16)a1.z;
    const bf16 v7 = (bf16)a1.w;
    *reinterpret_cast<vec<bf16, 8>*>(&A_packed[bx * 768 + by * 256 + tx * 8]) = vec<bf16,
        8>{{in_by ? (bf16)(a.x - (float)v0) : v0, in_by ? (bf16)(a.y - (float)v1) : v1, in_by
        ? (bf16)(a.z - (float)v2) : v2, in_by ? (bf16)(a.w - (float)v3) : v3, in_by ? (bf16)(a1.x - (float)v4) : v4,
        in_by ? (bf16)(a1.y - (float)v5) : v5, in_by ? (bf16)(a1.z - (float)v6) : v6, in_by
        ? (bf16)(a1.w - (float)v7) : v7}};
  }
}

extern "C" __global__ void __launch_bounds__(256) matmul_2(const float* __restrict__ B, bf16* __restrict__ B_packed) {
  __shared__ float B_shared[64][65];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int bz = blockIdx.z;
  const int col = bx * 64 + tx % 64;
  const int idx = tx % 64;
  const int row = by * 64 + tx / 64;
  const int idx1 = tx / 64;
  for (int i = 0; i < 16; ++i) {
    B_shared[idx1 + i * 4][idx] = B[(row + i * 4) * 256 + col];
  }
  __syncthreads();
  const bool in_bz = bz == 1;
  const int col1 = by * 64 + tx % 64;
  const int plane = bx * 64 + tx / 64;
  for (int i = 0; i < 16; ++i) {
    const float v0 = B_shared[idx][idx1 + i * 4];
    const bf16 v1 = (bf16)v0;
    B_packed[(plane + i * 4) * 768 + bz * 256 + col1] = in_bz ? (bf16)(v0 - (float)v1) : v1;
  }
}
