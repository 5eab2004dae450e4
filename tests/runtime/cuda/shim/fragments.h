// Tensor cores on the CPU: what a warp loads and multiplies together, element by element as in the PTX ISA ("Matrix fragments for
// mma.m16n8k16" and its neighbors). What an instruction adds to an f32 is exact, and then rounded toward zero: a GPU does so, but for a
// few digits (Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores").
#pragma once
#include "cuda_shim.h"

template <int n> struct shim_rows { unsigned* to; const void* row; };
template <int n, bool transposed> inline void shim_load_matrices(unsigned* to, const void* row) {
  shim_rows<n> own{to, row};
  shim_together([](void** lanes) {
    unsigned short matrix[n][8][8];
    for (int t = 0; t < n; ++t)
      for (int r = 0; r < 8; ++r) {
        const void* from = ((shim_rows<n>*)lanes[8 * t + r])->row;
        if ((size_t)from % 16) std::abort();
        std::memcpy(matrix[t][r], from, 16);
      }
    for (int lane = 0; lane < 32; ++lane)
      for (int t = 0; t < n; ++t) {
        int i = lane / 4, j = lane % 4 * 2;
        unsigned low = transposed ? matrix[t][j][i] : matrix[t][i][j], high = transposed ? matrix[t][j + 1][i] : matrix[t][i][j + 1];
        ((shim_rows<n>*)lanes[lane])->to[t] = low | high << 16;
      }
  }, &own);
}
template <typename T> void load_matrices_x1(T& to, const void* row) { shim_load_matrices<1, false>(&to[0], row); }
template <typename T> void load_matrices_x2(T& to, const void* row) { shim_load_matrices<2, false>(&to[0], row); }
template <typename T> void load_matrices_x4(T& to, const void* row) { shim_load_matrices<4, false>(&to[0], row); }
template <typename T> void load_matrices_x1_transposed(T& to, const void* row) { shim_load_matrices<1, true>(&to[0], row); }
template <typename T> void load_matrices_x2_transposed(T& to, const void* row) { shim_load_matrices<2, true>(&to[0], row); }
template <typename T> void load_matrices_x4_transposed(T& to, const void* row) { shim_load_matrices<4, true>(&to[0], row); }

// Elements of registers, as numbers.
inline double shim_half(unsigned bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double size = exponent == 31 ? (mantissa ? NAN : INFINITY) : std::ldexp(exponent ? mantissa + 1024 : mantissa, exponent ? exponent - 25 : -24);
  return bits & 0x8000 ? -size : size;
}
struct shim_f16 { static const int each = 2; using word = unsigned; static double at(word w, int j) { return shim_half(w >> 16 * j & 0xffff); } };
struct shim_bf16 {
  static const int each = 2;
  using word = unsigned;
  static double at(word w, int j) { return __uint_as_float((j ? w >> 16 : w & 0xffff) << 16); }
};
struct shim_i8 { static const int each = 4; using word = unsigned; static double at(word w, int j) { return (signed char)(w >> 8 * j); } };
struct shim_f64 { static const int each = 1; using word = double; static double at(word w, int) { return w; } };
// To 10 bits of mantissa, to nearest, ties away from zero.
inline unsigned to_tf32(float x) { return std::isfinite(x) ? (__float_as_uint(x) + 0x1000u) & ~0x1fffu : __float_as_uint(x); }
struct shim_tf32 {  // a word with other bits is not a tf32
  static const int each = 1;
  using word = unsigned;
  static double at(word w, int) { return std::isfinite(__uint_as_float(w)) && w & 0x1fffu ? NAN : __uint_as_float(w); }
};

// In what sums are made, and what becomes of them.
template <typename S> struct shim_sums {
  using wide = std::conditional_t<std::is_arithmetic_v<S>, S, float>;
  static S rounded(wide x) { return S(x); }
};
template <> struct shim_sums<float> {
  using wide = double;
  static float rounded(double x) {
    float r = (float)x;
    return std::isfinite(r) && std::fabs((double)r) > std::fabs(x) ? std::nextafter(r, 0.0f) : r;
  }
};

// D += A B, of m x 8 x k.
template <int m, int k, typename T, typename S> struct shim_product {
  static const int as = m * k / 32 / T::each, bs = k / 4 / T::each, ds = m / 4;
  S* d[ds];
  typename T::word a[as], b[bs];
};
template <int m, int k, typename T, typename S> inline void shim_multiply(shim_product<m, k, T, S> own) {
  using P = shim_product<m, k, T, S>;
  shim_together([](void** lanes) {
    static thread_local double a[m][k], b[k][8];
    for (int lane = 0; lane < 32; ++lane) {
      P& p = *(P*)lanes[lane];
      int group = lane / 4, in_group = lane % 4;
      for (int i = 0; i < P::as * T::each; ++i) {
        int r = i / T::each, j = i % T::each;
        a[group + (m == 16 && r % 2 ? 8 : 0)][in_group * T::each + j + r / (m / 8) * 4 * T::each] = T::at(p.a[r], j);
      }
      for (int i = 0; i < P::bs * T::each; ++i)
        b[in_group * T::each + i % T::each + i / T::each * 4 * T::each][group] = T::at(p.b[i / T::each], i % T::each);
    }
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < P::ds; ++i) {
        S& d = *((P*)lanes[lane])->d[i];
        using wide = typename shim_sums<S>::wide;
        wide sum = d;
        for (int q = 0; q < k; ++q) sum += (wide)(a[lane / 4 + i / 2 * 8][q] * b[q][lane % 4 * 2 + i % 2]);
        d = shim_sums<S>::rounded(sum);
      }
  }, &own);
}
#define SHIM_D4(T) T &d0, T &d1, T &d2, T &d3
#define SHIM_DS {&d0, &d1, &d2, &d3}
template <int k, typename T, typename S, typename W> inline void shim_42(SHIM_D4(S), W a0, W a1, W a2, W a3, W b0, W b1) {
  shim_multiply<16, k, T, S>({SHIM_DS, {a0, a1, a2, a3}, {b0, b1}});
}
template <int k, typename T, typename S, typename W> inline void shim_21(SHIM_D4(S), W a0, W a1, W b0) {
  shim_multiply<16, k, T, S>({SHIM_DS, {a0, a1}, {b0}});
}
constexpr auto mma_m16n8k16_f16 = shim_42<16, shim_f16, float, unsigned>;
constexpr auto mma_m16n8k16_bf16 = shim_42<16, shim_bf16, float, unsigned>;
constexpr auto mma_m16n8k8_tf32 = shim_42<8, shim_tf32, float, unsigned>;
constexpr auto mma_m16n8k32_i8 = shim_42<32, shim_i8, int, unsigned>;
constexpr auto mma_m16n8k8_f16 = shim_21<8, shim_f16, float, unsigned>;
constexpr auto mma_m16n8k8_bf16 = shim_21<8, shim_bf16, float, unsigned>;
constexpr auto mma_m16n8k4_tf32 = shim_21<4, shim_tf32, float, unsigned>;
constexpr auto mma_m16n8k16_i8 = shim_21<16, shim_i8, int, unsigned>;
inline void mma_m8n8k4_f64(double& d0, double& d1, double a0, double b0) { shim_multiply<8, 4, shim_f64, double>({{&d0, &d1}, {a0}, {b0}}); }
// Sums in f16, each rounded once.
template <typename T, typename F> inline void shim_in_f16(T* d0, T* d1, F multiply) {
  T* sums[4] = {d0, d0 + 1, d1, d1 + 1};
  double d[4];
  for (int i = 0; i < 4; ++i) d[i] = shim_half(sums[i]->bits);
  multiply(d);
  for (int i = 0; i < 4; ++i) sums[i]->bits = shim_bits<unsigned short>((_Float16)d[i]);
}
template <typename T> void mma_m16n8k16_f16_in_f16(T* d0, T* d1, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  shim_in_f16(d0, d1, [=](double* d) { shim_42<16, shim_f16, double, unsigned>(d[0], d[1], d[2], d[3], a0, a1, a2, a3, b0, b1); });
}
template <typename T> void mma_m16n8k8_f16_in_f16(T* d0, T* d1, unsigned a0, unsigned a1, unsigned b0) {
  shim_in_f16(d0, d1, [=](double* d) { shim_21<8, shim_f16, double, unsigned>(d[0], d[1], d[2], d[3], a0, a1, b0); });
}

