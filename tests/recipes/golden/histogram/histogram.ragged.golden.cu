// weft golden histogram --set n=99999 --set bins=1000
extern "C" __global__ void __launch_bounds__(256) histogram(int* __restrict__ H) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 256 + tx;
  if (idx < 1000) {
    H[idx] = 0;
  }
}

extern "C" __global__ void __launch_bounds__(256) histogram_1(const int* __restrict__ X, int* __restrict__ H) {
  __shared__ int H_shared[1000];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  for (int i = tx; i < 1000; i += 256) {
    H_shared[i] = 0;
  }
  __syncthreads();
  for (int i = tx; i < min(99999 - bx * 16384, 16384); i += 256) {
    const int x = X[bx * 16384 + i];
    if ((unsigned)x < 1000) {
      atomicAdd(&H_shared[(long long)(unsigned)x], 1);
    }
  }
  __syncthreads();
  for (int i = tx; i < 1000; i += 256) {
    atomicAdd(&H[i], H_shared[i]);
  }
}
