// weft golden concurrent_convs --set batch=3 --set filters=5 --set size=7
extern "C" __global__ void __launch_bounds__(256, 6) test_parallel(
    const float* __restrict__ arg0,
    const float* __restrict__ constant_0,
    const float* __restrict__ constant_1,
    float* __restrict__ alloc) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int d3 = (bx * 256 + tx) % 7;
  const int d2 = (bx * 256 + tx) / 7 % 7;
  const int d0 = (bx * 256 + tx) / 7 / 7 / 5;
  const int idx = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    const int idx1 = max(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 1, 0);
    const int idx2 = min(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 8, 3);
    const int begin = max((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 1, 0);
    const int end = min((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 8, 3);
    float acc = 0.0f;
    for (int k = begin; k < end; ++k) {
      const int d2_1 = d2 + k - 1;
      for (int kk = idx1; kk < idx2; ++kk) {
        acc += arg0[d0 * 49 + d2_1 * 7 + (d3 + kk - 1)] * constant_0[idx * 9 + k * 3 + kk];
      }
    }
    alloc[d0 * 245 + idx * 49 + d2 * 7 + d3] = acc + constant_1[idx];
  }
}

extern "C" __global__ void __launch_bounds__(256, 6) test_parallel_1(
    const float* __restrict__ arg0,
    const float* __restrict__ constant_2,
    const float* __restrict__ constant_3,
    float* __restrict__ alloc_0) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int d3 = (bx * 256 + tx) % 7;
  const int d2 = (bx * 256 + tx) / 7 % 7;
  const int d0 = (bx * 256 + tx) / 7 / 7 / 5;
  const int idx = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    const int idx1 = max(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 1, 0);
    const int idx2 = min(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 8, 3);
    const int begin = max((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 1, 0);
    const int end = min((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 8, 3);
    float acc = 0.0f;
    for (int k = begin; k < end; ++k) {
      const int d2_1 = d2 + k - 1;
      for (int kk = idx1; kk < idx2; ++kk) {
        acc += arg0[d0 * 49 + d2_1 * 7 + (d3 + kk - 1)] * constant_2[idx * 9 + k * 3 + kk];
      }
    }
    alloc_0[d0 * 245 + idx * 49 + d2 * 7 + d3] = acc + constant_3[idx];
  }
}

extern "C" __global__ void __launch_bounds__(256, 6) test_parallel_2(
    const float* __restrict__ alloc,
    const float* __restrict__ alloc_0,
    float* __restrict__ alloc_1) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int d3 = (bx * 256 + tx) % 7;
  const int d2 = (bx * 256 + tx) / 7 % 7;
  const int d0 = (bx * 256 + tx) / 7 / 7 / 5;
  const int d1 = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    alloc_1[d0 * 245 + d1 * 49 + d2 * 7 + d3] = alloc[d0 * 245 + d1 * 49 + d2 * 7 + d3]
        + alloc_0[d0 * 245 + d1 * 49 + d2 * 7 + d3];
  }
}
