__device__ const float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};

extern "C" __global__ void __launch_bounds__(256) blur(const float* __restrict__ image, float* __restrict__ out) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int col = bx * 16 + tx;
  const int row = by * 16 + ty;
  if (row >= 1 && row <= 38 && col >= 1 && col <= 48) {
    float acc = 0.0f;
    for (int k = 0; k < 3; ++k) {
      for (int kk = 0; kk < 3; ++kk) {
        acc += image[(k + row - 1) * 50 + (kk + col - 1)] * weights[k][kk];
      }
    }
    out[row * 50 + col] = acc;
  }
}

extern "C" __global__ void __launch_bounds__(64) register_tile(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = ty * 4;
  const int col = tx * 4;
  alignas(16) float acc[4][4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  for (int i = 0; i < 16; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float a = A[(row + j) * 16 + i];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        acc[j][l] = fmaf(a, B[i * 32 + col + l], acc[j][l]);
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int offset = row + i;
    *reinterpret_cast<float4*>(&C[offset * 32 + col]) = *reinterpret_cast<const float4*>(&acc[i][0]);
  }
}

extern "C" __global__ void transpose(
    const float* __restrict__ x,
    long long x_size0,
    long long x_size1,
    long long x_stride0,
    long long x_stride1,
    long long x_offset,
    float* __restrict__ y,
    long long y_size0,
    long long y_size1) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const long long idx = (long long)bx * (int)blockDim.x + tx;
  const long long idx1 = (long long)(int)gridDim.x * (int)blockDim.x;
  const int step = (int)gridDim.y * (int)blockDim.y;
  for (long long i = by * (int)blockDim.y + ty; i < x_size0; i += step) {
    for (long long j = idx; j < x_size1; j += idx1) {
      y[j * y_size1 + i] = x[x_offset + (i * x_stride0 + j * x_stride1)];
    }
  }
}

extern "C" __global__ void transpose_32(
    const float* __restrict__ x,
    long long x_size0,
    long long x_size1,
    long long x_stride0,
    long long x_stride1,
    long long x_offset,
    float* __restrict__ y,
    long long y_size0,
    long long y_size1) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int x_extent0 = (int)x_size0;
  const int x_extent1 = (int)x_size1;
  const int y_extent1 = (int)y_size1;
  const int idx = bx * (int)blockDim.x + tx;
  const int idx1 = (int)gridDim.x * (int)blockDim.x;
  const int step = (int)gridDim.y * (int)blockDim.y;
  for (int i = by * (int)blockDim.y + ty; i < x_extent0; i += step) {
    for (int j = idx; j < x_extent1; j += idx1) {
      y[j * y_extent1 + i] = x[x_offset + (i * x_stride0 + j * x_stride1)];
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) reverse(float* __restrict__ x) {
  extern __shared__ float4 dynamic_shared[];
  float (*s0)[128] = reinterpret_cast<float (*)[128]>(dynamic_shared + 0);
  const int tx = threadIdx.x;
  for (int i = 0; i < 128; ++i) {
    s0[i][tx] = x[i * 128 + tx];
  }
  __syncthreads();
  for (int i = 0; i < 128; ++i) {
    x[i * 128 + tx] = s0[127 - i][127 - tx];
  }
}

extern "C" __global__ void __launch_bounds__(24) views(const float* __restrict__ x, float* __restrict__ y) {
  const int tx = threadIdx.x;
  for (int i = 0; i < 8; ++i) {
    const float v0 = x[tx * 8 + i];
    y[tx * 8 + i] = v0;
    y[tx * 8 + i] = y[i + tx * 8] + v0;
  }
}
