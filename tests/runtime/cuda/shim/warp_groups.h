// Memory barriers, tensor maps and products of warp groups on the CPU, as the PTX ISA has them.
//
// What is asynchronous happens as late as it may: fibers copy a box when no thread can go on otherwise, or one waits for the store;
// with SHIM_THREADS a thread of its own does it. Products read their operands when they are waited for. A missing wait shows.
#pragma once
#include <tuple>
#define SHIM_READERS
#include "fragments.h"

#define __grid_constant__
typedef unsigned long long shim_word;
#include "readers.h"

// ---- memory barriers: a bit for the parity of the phase, how many arrivals it expects, how many are missing, and bytes --------------
struct shim_state {
  unsigned parity, expected, missing;
  int bytes;
  explicit shim_state(shim_word w) : parity(w & 1), expected(w >> 1 & 0xfffff), missing(w >> 21 & 0xfffff), bytes((int)((long long)w >> 41)) {}
  shim_word word() const { return parity | (shim_word)expected << 1 | (shim_word)missing << 21 | (shim_word)(long long)bytes << 41; }
};
template <int order = __ATOMIC_RELEASE> void shim_change(shim_word* barrier, int arrivals, int bytes) {
  shim_word old = __atomic_load_n(barrier, __ATOMIC_RELAXED);
  for (;;) {
    shim_state state(old);
    if (state.missing < (unsigned)arrivals) shim_wrong("more threads arrive at a memory barrier than it expects");
    state.missing -= arrivals, state.bytes += bytes;
    if (state.missing == 0 && state.bytes == 0) state.parity ^= 1, state.missing = state.expected;
    if (__atomic_compare_exchange_n(barrier, &old, state.word(), false, order, __ATOMIC_RELAXED)) return;
  }
}
inline bool shim_is_over(const shim_word* barrier, unsigned parity) {
  return shim_state(__atomic_load_n(barrier, __ATOMIC_ACQUIRE)).parity != parity;
}
inline void barrier_init(shim_word* barrier, int arrivals) {
  shim_state state(0);
  state.expected = state.missing = arrivals;
  __atomic_store_n(barrier, state.word(), __ATOMIC_RELEASE);
}
inline void barrier_arrive(shim_word* barrier) { shim_change(barrier, 1, 0); }
inline void barrier_expect(shim_word* barrier, int bytes) { shim_change(barrier, 1, bytes); }
SHIM_CALL void barrier_wait(shim_word* barrier, unsigned parity);
#ifndef SHIM_APART
SHIM_CALL void barrier_wait(shim_word* barrier, unsigned parity) {
  shim_wait([=] { return shim_is_over(barrier, parity); });
  shim_reader_acquires(barrier);
}
#endif
// ---- clusters: whose blocks arrive at each other's barriers, and meet ----------------------------------------------------------------
inline void barrier_arrive_in(shim_word* barrier, unsigned block) { shim_change(shim_in(barrier, block), 1, 0); }
inline void barrier_arrive_relaxed_in(shim_word* barrier, unsigned block) {
  shim_reader_releases(shim_in(barrier, block));
  shim_change<__ATOMIC_RELAXED>(shim_in(barrier, block), 1, 0);
}
inline void barrier_wait_in_cluster(shim_word* barrier, unsigned parity) { barrier_wait(barrier, parity); }
inline void cluster_arrive() { shim_arrive_in_cluster(); }
inline void cluster_arrive_each() { shim_arrive_in_cluster(); }
inline void cluster_arrive_relaxed() { shim_arrive_in_cluster(); }
inline void cluster_arrive_relaxed_each() { shim_arrive_in_cluster(); }
inline void cluster_wait() { shim_wait_for_cluster(), shim_reader_learns(); }
inline void cluster_wait_each() { cluster_wait(); }
inline void fence_barriers() {}
inline void fence_async() { shim_reader_learns(); }
template <int n> void fewer_registers() { static_assert(24 <= n && n <= 256 && n % 8 == 0, "registers come in eights"); }
template <int n> void more_registers() { static_assert(24 <= n && n <= 256 && n % 8 == 0, "registers come in eights"); }

// ---- boxes of tensors: `native.py` fills in the words of a map ------------------------------------------------------------------------
struct shim_map {  // outermost first: of the box, so many of `sizes`, `strides` in bytes, `box` as there are dimensions; a map of pixels
                   // has these and channels as its box, and steps, corners of the window for each dimension but the first and the last
  char* address;
  unsigned char rank, item, swizzle, nan;
  unsigned sizes[5];
  long long strides[5];
  unsigned short box[5];
  short lower[3], upper[3];
  unsigned short steps[3];
};
static_assert(sizeof(shim_map) <= 128, "as large as the driver's");
struct shim_box {
  shim_map map;
  char* tile;
  long long at[5], away[3];
};
inline size_t shim_exchanged(size_t place, unsigned span) { return span ? place ^ place / 128 % (span / 16) * 16 : place; }
inline long long shim_last(const shim_map& map, int axis) { return (long long)map.sizes[axis + 1] - 1 + map.upper[axis]; }
// Pixels, one after the other: w goes on, beyond the window h, then d, then the image; the distances are added to each last.
template <typename Move> void shim_each_pixel(const shim_box& box, Move move) {
  const shim_map& map = box.map;
  const int inner = map.rank - 2;
  long long at[4];
  for (int d = 0; d <= inner; ++d) at[d] = box.at[d];
  size_t n = 0;
  for (int pixel = 0; pixel < map.box[0]; ++pixel) {
    bool inside = at[0] >= 0 && at[0] < map.sizes[0];
    char* from = map.address + at[0] * map.strides[0];
    for (int d = 1; d <= inner; ++d) {
      long long i = at[d] + box.away[d - 1];
      from += i * map.strides[d], inside = inside && i >= 0 && i < map.sizes[d];
    }
    for (int c = 0; c < map.box[1]; ++c, ++n) {
      long long i = box.at[inner + 1] + c;
      bool there = inside && i >= 0 && i < map.sizes[inner + 1];
      move((char*)shim_exchanged((size_t)box.tile + n * map.item, map.swizzle), there ? from + i * map.strides[inner + 1] : nullptr);
    }
    int d = inner;
    while (d > 0 && (at[d] += map.steps[d - 1]) > shim_last(map, d - 1)) at[d] = map.lower[d - 1], --d;
    if (d == 0) ++at[0];
  }
}
template <typename Move> void shim_each_element(const shim_box& box, Move move) {
  const shim_map& map = box.map;
  if (map.steps[0]) return shim_each_pixel(box, move);
  size_t count = 1;
  for (int d = 0; d < map.rank; ++d) count *= map.box[d];
  for (size_t n = 0; n < count; ++n) {
    size_t rest = n;
    bool inside = true;
    char* from = map.address;
    for (int d = map.rank - 1; d >= 0; --d) {
      long long i = box.at[d] + (long long)(rest % map.box[d]);
      rest /= map.box[d], from += i * map.strides[d], inside = inside && i >= 0 && i < map.sizes[d];
    }
    move((char*)shim_exchanged((size_t)box.tile + n * map.item, map.swizzle), inside ? from : nullptr);
  }
}
template <typename Map, typename... X> shim_box shim_boxed(const Map& map, const void* tile, X... x) {
  shim_box box{};
  std::memcpy(&box.map, &map, sizeof box.map);
  if (box.map.steps[0]) shim_wrong("a box by a tensor map of pixels");
  if (sizeof...(x) != box.map.rank) shim_wrong("as many coordinates as dimensions");
  if ((size_t)tile % (box.map.swizzle ? 1024 : 128)) shim_wrong("a box in shared memory is not aligned");
  box.tile = (char*)tile;
  int d = box.map.rank;
  ((box.at[--d] = x), ...);
  return box;
}
inline void shim_bring(const shim_box& box, shim_word* barrier) {
  int bytes = 0, item = box.map.item;
  shim_each_element(box, [&](char* to, const char* from) {
    bytes += item;
    if (from) return (void)std::memcpy(to, from, item);
    std::memset(to, box.map.nan ? 0xff : 0, item);  // all ones are a NaN in each format
  });
  shim_change(barrier, 0, -bytes);
}
template <typename Map, typename... X> void shim_load_box(void* tile, const Map& map, shim_word* barrier, X... x) {
  shim_box box = shim_boxed(map, tile, x...);
  shim_later([=] { shim_bring(box, barrier); });
}
// To each block of the mask, at any time each.
template <typename Map, typename... X> void shim_load_box_for(unsigned short blocks, void* tile, const Map& map, shim_word* barrier, X... x) {
  for (unsigned rank = 0; rank < 16; ++rank)
    if (blocks >> rank & 1)
      shim_later([=, box = shim_boxed(map, tile, x...)]() mutable {
        box.tile = shim_in(box.tile, rank);
        shim_bring(box, shim_in(barrier, rank));
      });
}
template <typename Map, typename... X, size_t... i>
void shim_load_box_for(void* tile, const Map& map, shim_word* barrier, std::tuple<X...> x, std::index_sequence<i...>) {
  shim_load_box_for(std::get<sizeof...(i)>(x), tile, map, barrier, std::get<i>(x)...);
}
// Pixels by a map of such, at so many distances behind the coordinates.
template <int rank, typename Map> shim_box shim_pixels(const Map& map, const void* tile, const long long (&x)[2 * rank - 2]) {
  shim_box box{};
  std::memcpy(&box.map, &map, sizeof box.map);
  if (box.map.rank != rank || !box.map.steps[0]) shim_wrong("pixels by another tensor map");
  if ((size_t)tile % (box.map.swizzle ? 1024 : 128)) shim_wrong("pixels in shared memory are not aligned");
  box.tile = (char*)tile;
  for (int d = 0; d < rank; ++d) box.at[rank - 1 - d] = x[d];
  for (int d = 0; d < rank - 2; ++d) {
    long long away = box.away[rank - 3 - d] = x[rank + d];
    if (away < 0 || away >> (rank == 3 ? 16 : rank == 4 ? 8 : 5)) shim_wrong("a distance that an instruction cannot say");
  }
  for (int d = 0; d < rank - 2; ++d)
    if (box.at[d + 1] < box.map.lower[d] || box.at[d + 1] > shim_last(box.map, d)) shim_wrong("the first pixel is outside of the window");
  return box;
}
template <int rank, typename Map> void shim_load_pixels(const void* tile, const Map& map, shim_word* barrier, const long long (&x)[2 * rank - 2]) {
  shim_later([=, box = shim_pixels<rank>(map, tile, x)] { shim_bring(box, barrier); });
}
template <int rank, typename Map> void shim_load_pixels_for(const void* tile, const Map& map, shim_word* barrier, const long long (&x)[2 * rank - 1]) {
  long long own[2 * rank - 2];
  for (int d = 0; d < 2 * rank - 2; ++d) own[d] = x[d];
  for (unsigned to = 0; to < 16; ++to)
    if (x[2 * rank - 2] >> to & 1)
      shim_later([=, box = shim_pixels<rank>(map, tile, own)]() mutable {
        box.tile = shim_in(box.tile, to);
        shim_bring(box, shim_in(barrier, to));
      });
}
#define SHIM_PIXELS(rank) \
  template <typename Map, typename... X> void load_pixels_##rank##d(void* to, const Map& map, shim_word* barrier, X... x) { \
    shim_load_pixels<rank>(to, map, barrier, {(long long)x...}); \
  } \
  template <typename Map, typename... X> void load_pixels_##rank##d_for(void* to, const Map& map, shim_word* barrier, X... x) { \
    shim_load_pixels_for<rank>(to, map, barrier, {(long long)x...}); \
  }
SHIM_PIXELS(3) SHIM_PIXELS(4) SHIM_PIXELS(5)
template <typename Map, typename... X> void shim_store_box(const Map& map, const void* tile, X... x) {
  shim_box box = shim_boxed(map, tile, x...);
  shim_later_of_thread([=] {
    shim_each_element(box, [&](const char* from, char* to) { if (to) std::memcpy(to, from, box.map.item); });
  });
}
#define SHIM_BOX(rank) \
  template <typename Map, typename... X> void load_box_##rank##d(void* to, const Map& map, shim_word* barrier, X... x) { \
    static_assert(sizeof...(x) == rank, "as many coordinates as dimensions"); \
    shim_load_box(to, map, barrier, x...); \
  } \
  template <typename Map, typename... X> void load_box_##rank##d_for(void* to, const Map& map, shim_word* barrier, X... x) { \
    static_assert(sizeof...(x) == rank + 1, "as many coordinates as dimensions, and blocks"); \
    shim_load_box_for(to, map, barrier, std::tuple<X...>(x...), std::make_index_sequence<rank>()); \
  } \
  template <typename Map, typename... X> void store_box_##rank##d(const Map& map, const void* from, X... x) { \
    static_assert(sizeof...(x) == rank, "as many coordinates as dimensions"); \
    shim_store_box(map, from, x...); \
  }
SHIM_BOX(1) SHIM_BOX(2) SHIM_BOX(3) SHIM_BOX(4) SHIM_BOX(5)
inline void commit_stores() { shim_commit(); }
template <int n> void wait_stores() { shim_finish_but(n); }
template <int n> void wait_stores_read() { shim_finish_but(n); }

// ---- products of warp groups -----------------------------------------------------------------------------------------------------------
// A descriptor has 18 bits of an address; the others, from where all shared memory lies on, stand in bits that a GPU has no use for. What is
// added may go beyond 18 bits here: shared memory begins anywhere.
const size_t shim_windows = (size_t)shim_dynamic_shared >> 18;
inline shim_word matrix_in_shared(const void* first, int panel) {
  size_t address = (size_t)first;
  long long window = (long long)(address >> 18) - (long long)shim_windows + 512;
  if (address % 16 || panel % 16 || panel >> 18 || window >> 10) shim_wrong("what a descriptor cannot say");
  return (address & 0x3ffff) >> 4 | (shim_word)(panel >> 4) << 16 | 1024ull >> 4 << 32 | (shim_word)window << 52 | 1ull << 62;
}
struct shim_matrix {
  size_t start, leading, stride;
  explicit shim_matrix(shim_word w)
      : start(((shim_windows + (w >> 52 & 0x3ff) - 512) << 18) + ((w & 0xffff) << 4)), leading((w >> 16 & 0x3fff) << 4), stride((w >> 32 & 0x3fff) << 4) {}
  // Byte `b` of the 32 of a row along the sum; and byte `b` of one along the columns, in row `k` of the sum.
  const char* by_sum(int row, int b) const { return (char*)shim_exchanged(start + row / 8 * stride + row % 8 * 128 + b, 128); }
  const char* by_rows(int k, int b) const { return (char*)shim_exchanged(start + b / 128 * leading + k / 8 * stride + k % 8 * 128 + b % 128, 128); }
};
template <typename T> SHIM_UNSEEN inline T shim_at(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}
inline float shim_of_bf16(const char* p) { return __uint_as_float((unsigned)shim_at<unsigned short>(p) << 16); }
inline float shim_of_f16(const char* p) { return (float)shim_half(shim_at<unsigned short>(p)); }
inline float shim_of_tf32(const char* p) { return __uint_as_float(shim_at<unsigned>(p) & ~0x1fffu); }
inline float shim_of_f8E5M2(const char* p) { return (float)shim_half((unsigned short)(shim_at<unsigned char>(p) << 8)); }
inline float shim_of_f8E4M3FN(const char* p) {
  unsigned byte = shim_at<unsigned char>(p), exponent = byte >> 3 & 15, digits = byte & 7;
  float size = (byte & 127) == 127 ? std::nanf("") : std::ldexp(exponent ? 8.0f + digits : (float)digits, (int)(exponent ? exponent : 1) - 10);
  return byte >> 7 ? -size : size;
}
inline int shim_of_i8(const char* p) { return shim_at<signed char>(p); }

template <int n, int k, bool by_rows, typename S, typename N> void shim_group_product(S* d, shim_word a, shim_word b, N number) {
  shim_together([](void**) {}, nullptr);  // all lanes of a warp execute it
  shim_products().push_back([=] {
    const shim_matrix left(a), right(b);
    constexpr int item = 32 / k;
    using wide = typename shim_sums<S>::wide;
    unsigned t = shim_thread_in_block() % 128, lane = t % 32;
    if (shim_readers) {
      std::vector<const char*> pieces;
      for (int b = 0; b < 32; b += 16) {
        for (int h = 0; h < 2; ++h) pieces.push_back(left.by_sum(t / 32 * 16 + lane / 4 + 8 * h, b));
        for (int j = 0; j < n / 4 && !by_rows; ++j) pieces.push_back(right.by_sum(8 * (j / 2) + lane % 4 * 2 + j % 2, b));
      }
      for (int j = 0; j < n / 8 * k && by_rows; ++j) pieces.push_back(right.by_rows(j % k, j / k * 16));
      shim_reader_reads(pieces.data(), pieces.size());
    }
    for (int h = 0; h < 2; ++h) {
      wide row[k];
      for (int q = 0; q < k; ++q) row[q] = number(left.by_sum(t / 32 * 16 + lane / 4 + 8 * h, q * item));
      for (int j = 0; j < n / 8; ++j)
        for (int e = 0; e < 2; ++e) {
          int column = 8 * j + lane % 4 * 2 + e;
          wide sum = (wide)d[4 * j + 2 * h + e];
          for (int q = 0; q < k; ++q) sum += row[q] * number(by_rows ? right.by_rows(q, column * item) : right.by_sum(column, q * item));
          d[4 * j + 2 * h + e] = shim_sums<S>::rounded(sum);
        }
    }
  });
}
// With a left operand in registers: words that nobody may change before the product is over, of which a warp's lanes have 16 rows.
template <int k, typename T> struct shim_held { const unsigned* words; double rows[2][k]; };
template <int n, int k, bool by_rows, typename T, typename S, typename N> void shim_held_product(S* d, const unsigned* a, shim_word b, N number) {
  constexpr int item = 32 / k, count = 4;
  using own = shim_held<k, T>;
  auto read = [](own& mine) {  // of the lanes together, when the product is issued
    shim_together([](void** lanes) {
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < count * T::each; ++i) {
          int r = i / T::each, j = i % T::each, column = lane % 4 * T::each + j + r / 2 * 4 * T::each;
          double x = T::at(((own*)lanes[lane])->words[r], j);
          for (int other = lane / 4 * 4; other < lane / 4 * 4 + 4; ++other) ((own*)lanes[other])->rows[r % 2][column] = x;
        }
    }, &mine);
  };
  own mine{a, {}};
  read(mine);
  unsigned before[count];
  std::memcpy(before, a, sizeof before);
  std::vector<unsigned> words(before, before + count);
  shim_products().push_back([=] {
    if (std::memcmp(words.data(), a, sizeof before)) shim_wrong("registers of a product in flight that have changed");
    const shim_matrix right(b);
    using wide = typename shim_sums<S>::wide;
    unsigned lane = shim_thread_in_block() % 32;
    for (int h = 0; h < 2; ++h)
      for (int j = 0; j < n / 8; ++j)
        for (int e = 0; e < 2; ++e) {
          int column = 8 * j + lane % 4 * 2 + e;
          wide sum = (wide)d[4 * j + 2 * h + e];
          for (int q = 0; q < k; ++q)
            sum += (wide)mine.rows[h][q] * number(by_rows ? right.by_rows(q, column * item) : right.by_sum(column, q * item));
          d[4 * j + 2 * h + e] = shim_sums<S>::rounded(sum);
        }
  });
}
#define SHIM_HELD_PRODUCT(name, n, k, kind, by_rows) \
  inline void name(float* d, const unsigned* a, shim_word b) { shim_held_product<n, k, by_rows, shim_##kind>(d, a, b, shim_of_##kind); }
template <int n> void hold_registers(unsigned (&)[n]) {}
#define SHIM_PRODUCT(name, S, n, k, kind, by_rows) \
  inline void name(S* d, shim_word a, shim_word b) { shim_group_product<n, k, by_rows, S>(d, a, b, shim_of_##kind); }
#define SHIM_PRODUCT_IN_PAIRS(name, n, k, kind) /* of f16, which the text defines */ \
  template <typename S> void name(S* d, shim_word a, shim_word b) { shim_group_product<n, k, false, S>(d, a, b, shim_of_##kind); }
SHIM_CALL void shim_begin_products();
SHIM_CALL void shim_end_products(size_t pending);
SHIM_CALL void shim_commit_products();
#ifndef SHIM_APART
SHIM_CALL void shim_begin_products() {
  if (!shim_products().empty()) shim_wrong("products that nobody has waited for");
}
SHIM_CALL void shim_end_products(size_t pending) {  // the group's are complete when all of its warps are done with theirs
  auto& flying = shim_flying();
  if (flying.size() <= pending) return;
  for (; flying.size() > pending; flying.erase(flying.begin()))
    for (auto& product : flying.front()) product();
  shim_readers_meet();
}
SHIM_CALL void shim_commit_products() {
  shim_flying().push_back(std::move(shim_products()));
  shim_products().clear();
}
#endif
template <typename T, int n> void begin_products(T (&)[n]) { shim_begin_products(); }
template <int pending, typename T, int n> void commit_products(T (&)[n]) {
  shim_commit_products();
  shim_end_products(pending);
}
template <typename T, int n> void end_products(T (&sums)[n]) { commit_products<0>(sums); }
template <typename... S> void wait_products(S&...) { shim_end_products(0); }
