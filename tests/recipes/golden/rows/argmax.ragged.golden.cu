// weft golden argmax --set m=70 --set n=333
extern "C" __global__ void __launch_bounds__(128) argmax(
    const float* __restrict__ X,
    float* __restrict__ largest,
    int* __restrict__ index) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int lane = tx % 32;
  const int warp = tx / 32;
  int index1;
  float largest1;
  const int row = bx * 4 + warp;
  const int idx = bx * 4 + tx - warp * 31;
  if (row < 70) {
    largest1 = __uint_as_float(0xff800000u);
    index1 = 0;
    float part;
    int part1;
    part = __uint_as_float(0xff800000u);
    part1 = 2147483647;
    for (int i = lane; i < 333; i += 32) {
      const float x = X[row * 333 + i];
      const float v0 = part;
      const bool cond = x > v0;
      const int v1 = cond ? i : part1;
      part = cond ? x : v0;
      part1 = v1;
    }
    const float v0 = part;
    const int v1 = part1;
    const float v2 = __shfl_xor_sync(0xffffffff, v0, 16);
    const int v3 = __shfl_xor_sync(0xffffffff, v1, 16);
    const bool cond = v2 > v0 || (v2 == v0 && v3 < v1);
    const float v4 = cond ? v2 : v0;
    const int v5 = cond ? v3 : v1;
    const float v6 = __shfl_xor_sync(0xffffffff, v4, 8);
    const int v7 = __shfl_xor_sync(0xffffffff, v5, 8);
    const bool cond1 = v6 > v4 || (v6 == v4 && v7 < v5);
    const float v8 = cond1 ? v6 : v4;
    const int v9 = cond1 ? v7 : v5;
    const float v10 = __shfl_xor_sync(0xffffffff, v8, 4);
    const int v11 = __shfl_xor_sync(0xffffffff, v9, 4);
    const bool cond2 = v10 > v8 || (v10 == v8 && v11 < v9);
    const float v12 = cond2 ? v10 : v8;
    const int v13 = cond2 ? v11 : v9;
    const float v14 = __shfl_xor_sync(0xffffffff, v12, 2);
    const int v15 = __shfl_xor_sync(0xffffffff, v13, 2);
    const bool cond3 = v14 > v12 || (v14 == v12 && v15 < v13);
    const float v16 = cond3 ? v14 : v12;
    const int v17 = cond3 ? v15 : v13;
    const float v18 = __shfl_xor_sync(0xffffffff, v16, 1);
    const int v19 = __shfl_xor_sync(0xffffffff, v17, 1);
    const bool cond4 = v18 > v16 || (v18 == v16 && v19 < v17);
    const float v20 = cond4 ? v18 : v16;
    const float v21 = largest1;
    const bool cond5 = v20 > v21;
    const int v22 = cond5 ? (cond4 ? v19 : v17) : index1;
    largest1 = cond5 ? v20 : v21;
    index1 = v22;
    if (lane < 1) {
      index[idx] = index1;
      largest[idx] = largest1;
    }
  }
}
