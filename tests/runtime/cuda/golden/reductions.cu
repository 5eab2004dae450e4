extern "C" __global__ void __launch_bounds__(64) row_sum(const float* __restrict__ A, float* __restrict__ out) {
  const int tx = threadIdx.x;
  if (tx < 50) {
    float acc = 0.0f;
    for (int k = 0; k < 77; ++k) {
      acc += A[tx * 77 + k];
    }
    out[tx] = acc;
  }
}

extern "C" __global__ void __launch_bounds__(8) dot_i8(
    const signed char* __restrict__ a,
    const signed char* __restrict__ b,
    int* __restrict__ c) {
  const int tx = threadIdx.x;
  int acc = 0;
  for (int k = 0; k < 96; ++k) {
    acc += (unsigned)(a[tx * 96 + k] * b[k]);
  }
  c[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(8) dot_i32(
    const int* __restrict__ a,
    const int* __restrict__ b,
    int* __restrict__ c) {
  const int tx = threadIdx.x;
  int acc = 0;
  for (int k = 0; k < 96; ++k) {
    acc += a[tx * 96 + k] * (unsigned)b[k];
  }
  c[tx] = acc;
}

extern "C" __global__ void __launch_bounds__(256) tree(const double* __restrict__ x, double* __restrict__ out) {
  __shared__ double s0[256];
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  s0[tx] = x[bx * 256 + tx];
  __syncthreads();
  long long state = 128;
  while (state > 0) {
    if (tx < state) {
      s0[tx] += s0[tx + state];
    }
    __syncthreads();
    state = (long long)((unsigned long long)state >> 1);
  }
  if (tx == 0) {
    out[bx] = s0[0];
  }
}

extern "C" __global__ void __launch_bounds__(64) collatz(const int* __restrict__ x, int* __restrict__ steps) {
  const int tx = threadIdx.x;
  const int v0 = x[tx];
  int state = v0;
  int state1 = 0;
  int v2;
  while (true) {
    v2 = state1 + 1u;
    if (!(state != 1)) break;
    state = (int)((unsigned)state % 2) == 1 ? state * 3u + 1 : (unsigned)state / 2;
    state1 = v2;
  }
  steps[tx] = v2;
}

extern "C" __global__ void __launch_bounds__(32) fibonacci(long long* __restrict__ out) {
  const int tx = threadIdx.x;
  long long acc = 0;
  long long acc1 = 1;
  for (int k = 0; k < tx; ++k) {
    const long long next = acc1;
    const long long next1 = acc + (unsigned long long)acc1;
    acc = next;
    acc1 = next1;
  }
  out[tx] = acc;
}
