// weft golden concurrent_convs.weft
extern "C" __global__ void __launch_bounds__(256) test_parallel(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    const float* __restrict__ arg2,
    float* __restrict__ arg3) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 28;
  const int row = (bx * 256 + tx) / 28 % 28;
  const int plane = (bx * 256 + tx) / 28 / 28 / 64;
  const int plane1 = (bx * 256 + tx) / 28 / 28 % 64;
  const int idx = max(bx * -256 - tx + (bx * 256 + tx) / 28 * 28 + 1, 0);
  const int idx1 = min(bx * -256 - tx + (bx * 256 + tx) / 28 * 28 + 29, 3);
  const int begin = max((bx * 256 + tx) / 28 / 28 * 28 - (bx * 256 + tx) / 28 + 1, 0);
  const int end = min((bx * 256 + tx) / 28 / 28 * 28 - (bx * 256 + tx) / 28 + 29, 3);
  float acc = 0.0f;
  for (int k = begin; k < end; ++k) {
    const int row1 = row + k - 1;
    for (int kk = idx; kk < idx1; ++kk) {
      acc += arg0[plane * 784 + row1 * 28 + (col + kk - 1)] * arg1[plane1 * 9 + k * 3 + kk];
    }
  }
  arg3[plane * 50176 + plane1 * 784 + row * 28 + col] = acc + arg2[plane1];
}

extern "C" __global__ void __launch_bounds__(256) test_parallel_1(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    const float* __restrict__ arg2,
    float* __restrict__ arg3) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 28;
  const int row = (bx * 256 + tx) / 28 % 28;
  const int plane = (bx * 256 + tx) / 28 / 28 / 64;
  const int plane1 = (bx * 256 + tx) / 28 / 28 % 64;
  const int idx = max(bx * -256 - tx + (bx * 256 + tx) / 28 * 28 + 1, 0);
  const int idx1 = min(bx * -256 - tx + (bx * 256 + tx) / 28 * 28 + 29, 3);
  const int begin = max((bx * 256 + tx) / 28 / 28 * 28 - (bx * 256 + tx) / 28 + 1, 0);
  const int end = min((bx * 256 + tx) / 28 / 28 * 28 - (bx * 256 + tx) / 28 + 29, 3);
  float acc = 0.0f;
  for (int k = begin; k < end; ++k) {
    const int row1 = row + k - 1;
    for (int kk = idx; kk < idx1; ++kk) {
      acc += arg0[plane * 784 + row1 * 28 + (col + kk - 1)] * arg1[plane1 * 9 + k * 3 + kk];
    }
  }
  arg3[plane * 50176 + plane1 * 784 + row * 28 + col] = acc + arg2[plane1];
}

extern "C" __global__ void __launch_bounds__(256) test_parallel_2(
    const float* __restrict__ arg0,
    const float* __restrict__ arg1,
    float* __restrict__ arg2) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int col = (bx * 256 + tx) % 28;
  const int row = (bx * 256 + tx) / 28 % 28;
  const int plane = (bx * 256 + tx) / 28 / 28 / 64;
  const int plane1 = (bx * 256 + tx) / 28 / 28 % 64;
  const float v0 = arg0[plane * 50176 + plane1 * 784 + row * 28 + col]
      + arg1[plane * 50176 + plane1 * 784 + row * 28 + col];
  arg2[plane * 50176 + plane1 * 784 + row * 28 + col] = v0;
}
