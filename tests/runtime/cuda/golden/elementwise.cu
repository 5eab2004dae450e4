// prelude: vec, maximum, round_to_odd, f16, bf16, fma.bf16

extern "C" __global__ void __launch_bounds__(128) gelu(const float* __restrict__ x, float* __restrict__ y) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 128 + tx;
  if (idx < 1000) {
    const float v0 = x[idx];
    y[idx] = v0 * 0.5f * (erff(v0 * 0.70710677f) + 1.0f);
  }
}

extern "C" __global__ void __launch_bounds__(128) axpy4(
    const float* __restrict__ X,
    float* __restrict__ Y,
    float alpha) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int by = blockIdx.y;
  const int row = by * 16 + ty;
  const float4 x = *reinterpret_cast<const float4*>(&X[row * 32 + tx * 4]);
  const float4 y = *reinterpret_cast<const float4*>(&Y[row * 32 + tx * 4]);
  *reinterpret_cast<float4*>(&Y[row * 32 + tx * 4])
      = make_float4(fmaf(x.x, alpha, y.x), fmaf(x.y, alpha, y.y), fmaf(x.z, alpha, y.z), fmaf(x.w, alpha, y.w));
}

extern "C" __global__ void __launch_bounds__(128) copy_unaligned(const float* __restrict__ x, float* __restrict__ y) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  *reinterpret_cast<float4*>(&y[ty * 36 + tx * 4])
      = make_float4(x[ty * 33 + tx * 4], x[ty * 33 + tx * 4 + 1], x[ty * 33 + tx * 4 + 2], x[ty * 33 + tx * 4 + 3]);
}

extern "C" __global__ void __launch_bounds__(32) copy_aligned(const f16* __restrict__ x, f16* __restrict__ y) {
  const int tx = threadIdx.x;
  *reinterpret_cast<vec<f16, 8>*>(&y[tx * 8]) = *reinterpret_cast<const vec<f16, 8>*>(&x[tx * 8]);
}

extern "C" __global__ void __launch_bounds__(64) half_chain(
    const f16* __restrict__ x,
    const f16* __restrict__ y,
    f16* __restrict__ z) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 64 + tx;
  const f16 v0 = x[idx];
  const f16 v1 = y[idx];
  z[idx] = (f16)maximum((float)((v0 * v1 + f16(1.5f)) / v1 - v0), (float)v0);
}

extern "C" __global__ void __launch_bounds__(64) bf16_fma(
    const bf16* __restrict__ x,
    const bf16* __restrict__ y,
    bf16* __restrict__ z) {
  const int tx = threadIdx.x;
  const int bx = blockIdx.x;
  const int idx = bx * 64 + tx;
  const bf16 v0 = x[idx];
  const bf16 v1 = y[idx];
  z[idx] = fma(v0, v0 + v1, v1);
}
