// weft golden concurrent_convs.weft --set batch=3 --set filters=5 --set size=7
extern "C" __global__ void __launch_bounds__(256) test_parallel(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    const float* __restrict__ arg2,
    float* __restrict__ arg3) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 7;
  const int row = (bx * 256 + tx) / 7 % 7;
  const int plane = (bx * 256 + tx) / 7 / 7 / 5;
  const int plane1 = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    const int idx = max(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 1, 0);
    const int idx1 = min(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 8, 3);
    const int begin = max((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 1, 0);
    const int end = min((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 8, 3);
    float acc = 0.0f;
    for (int k = begin; k < end; ++k) {
      const int row1 = row + k - 1;
      for (int kk = idx; kk < idx1; ++kk) {
        acc += arg0[plane * 49 + row1 * 7 + (col + kk - 1)] * arg1[plane1 * 9 + k * 3 + kk];
      }
    }
    arg3[plane * 245 + plane1 * 49 + row * 7 + col] = acc + arg2[plane1];
  }
}

extern "C" __global__ void __launch_bounds__(256) test_parallel_1(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    const float* __restrict__ arg2,
    float* __restrict__ arg3) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 7;
  const int row = (bx * 256 + tx) / 7 % 7;
  const int plane = (bx * 256 + tx) / 7 / 7 / 5;
  const int plane1 = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    const int idx = max(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 1, 0);
    const int idx1 = min(bx * -256 - tx + (bx * 256 + tx) / 7 * 7 + 8, 3);
    const int begin = max((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 1, 0);
    const int end = min((bx * 256 + tx) / 7 / 7 * 7 - (bx * 256 + tx) / 7 + 8, 3);
    float acc = 0.0f;
    for (int k = begin; k < end; ++k) {
      const int row1 = row + k - 1;
      for (int kk = idx; kk < idx1; ++kk) {
        acc += arg0[plane * 49 + row1 * 7 + (col + kk - 1)] * arg1[plane1 * 9 + k * 3 + kk];
      }
    }
    arg3[plane * 245 + plane1 * 49 + row * 7 + col] = acc + arg2[plane1];
  }
}

extern "C" __global__ void __launch_bounds__(256) test_parallel_2(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    float* __restrict__ arg2) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 7;
  const int row = (bx * 256 + tx) / 7 % 7;
  const int plane = (bx * 256 + tx) / 7 / 7 / 5;
  const int plane1 = (bx * 256 + tx) / 7 / 7 % 5;
  if (bx * 256 + tx < 735) {
    arg2[plane * 245 + plane1 * 49 + row * 7 + col] = arg0[plane * 245 + plane1 * 49 + row * 7 + col]
        + arg1[plane * 245 + plane1 * 49 + row * 7 + col];
  }
}
