// weft golden histogram
extern "C" __global__ void __launch_bounds__(256) histogram(int* __restrict__ H) {
  const int tx = threadIdx.x;
  H[tx] = 0;
}

extern "C" __global__ void __launch_bounds__(256) histogram_1(const int* __restrict__ X, int* __restrict__ H) {
  __shared__ int H_shared[256];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  H_shared[tx] = 0;
  __syncthreads();
  const int idx = bx * 16384 + tx;
  for (int i = 0; i < 64; ++i) {
    const int x = X[idx + i * 256];
    if ((unsigned)x < 256) {
      atomicAdd(&H_shared[(long long)(unsigned)x], 1);
    }
  }
  __syncthreads();
  atomicAdd(&H[tx], H_shared[tx]);
}
