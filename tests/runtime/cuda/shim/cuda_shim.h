// What CUDA C++ has and C++ lacks, for tests: the emitted text runs on the CPU, unchanged, behind this header.
//
// Two ways to run a block's threads:
//   fibers (default)  every GPU thread is a fiber of one OS thread (fibers.h); __syncthreads() switches to the next. Fast; also
//                     notices when some threads wait at a barrier that others never reach.
//   SHIM_THREADS      every GPU thread is a std::thread, __syncthreads() a std::barrier: for the thread sanitizer.
// What runs them is compiled once, from runtime.cpp (SHIM_RUNTIME), and a unit with kernels has its declarations alone (SHIM_APART): the
// functions and vectors of the standard library in it take longer to compile than a kernel. The sanitizer's units have all of it.
// Blocks run one after another, so that a `static` array is as good as a block's shared memory. Those of a cluster run side by side: there
// each has a part of an array, and thread t of block r of the cluster has the number 1024 r + t.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#ifdef SHIM_APART
#define SHIM_STATE extern __attribute__((visibility("hidden")))
#define SHIM_IS(...)
#else
#define SHIM_IS(...) = __VA_ARGS__
#endif
#ifdef SHIM_RUNTIME
#define SHIM_STATE __attribute__((visibility("hidden")))
#endif
#if defined(SHIM_APART) || defined(SHIM_RUNTIME)
#define SHIM_CALL __attribute__((visibility("hidden")))
#else
#define SHIM_STATE static
#define SHIM_CALL inline
#endif

struct shim_dim3 { unsigned x, y, z; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(n)
SHIM_STATE bool shim_outside;
#ifdef SHIM_GUARDED
// What a block finds in shared memory is SHIM_POISON in every byte, and the first index outside of an array ends the kernel.
#define __shared__ static __attribute__((section("shim_shared")))
extern "C" __attribute__((weak, visibility("hidden"))) char __start_shim_shared[], __stop_shim_shared[];
inline void shim_poison_shared() {
  const char* byte = std::getenv("SHIM_POISON");
  if (byte) std::memset(__start_shim_shared, std::atoi(byte), __stop_shim_shared - __start_shim_shared);
}
#else
#define __shared__ static
inline void shim_poison_shared() {}
#endif

template <typename To, typename From> inline To shim_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline float __uint_as_float(unsigned v) { return shim_bits<float>(v); }
inline float __int_as_float(int v) { return shim_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return shim_bits<unsigned>(v); }
inline int __float_as_int(float v) { return shim_bits<int>(v); }
inline double __longlong_as_double(long long v) { return shim_bits<double>(v); }
inline long long __double_as_longlong(double v) { return shim_bits<long long>(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline float rsqrtf(float v) { return (float)(1.0 / std::sqrt((double)v)); }
inline double rsqrt(double v) { return 1.0 / std::sqrt(v); }
inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

template <typename T, typename F> inline T shim_atomic(T* at, F change) {
  T old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (;;) {
    T made = change(old);
    if (__atomic_compare_exchange(at, &old, &made, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}
template <typename T> inline T atomicAdd(T* at, T v) { return shim_atomic(at, [&](T old) { return (T)(old + v); }); }
template <typename T> inline T atomicMax(T* at, T v) { return shim_atomic(at, [&](T old) { return old < v ? v : old; }); }
template <typename T> inline T atomicMin(T* at, T v) { return shim_atomic(at, [&](T old) { return v < old ? v : old; }); }
template <typename T> inline T atomicAnd(T* at, T v) { return shim_atomic(at, [&](T old) { return (T)(old & v); }); }
template <typename T> inline T atomicOr(T* at, T v) { return shim_atomic(at, [&](T old) { return (T)(old | v); }); }
template <typename T> inline T atomicXor(T* at, T v) { return shim_atomic(at, [&](T old) { return (T)(old ^ v); }); }
template <typename T> inline T atomicExch(T* at, T v) { return shim_atomic(at, [&](T) { return v; }); }

inline shim_dim3 shim_place(unsigned linear, shim_dim3 size) {
  return {linear % size.x, linear / size.x % size.y, linear / (size.x * size.y)};
}
constexpr unsigned shim_most_blocks = 8, shim_most_threads = 1024;
constexpr size_t shim_most_shared = 227 * 1024;
alignas(1024) SHIM_STATE float4 shim_dynamic_shared[shim_most_blocks * shim_most_shared / 16];
SHIM_CALL unsigned shim_number();  // of the thread
inline unsigned shim_rank() { return shim_number() / shim_most_threads; }
inline float4* shim_own_dynamic() { return shim_dynamic_shared + shim_rank() * (shim_most_shared / 16); }
SHIM_STATE shim_dim3 shim_cluster SHIM_IS({1, 1, 1});
inline unsigned shim_cluster_blocks() { return shim_cluster.x * shim_cluster.y * shim_cluster.z; }

// Arrays of which each block of a cluster has one, and the dynamic ones: where the place of this block's is in another block.
struct shim_region { char* first; size_t size; };
SHIM_STATE shim_region shim_regions[64] SHIM_IS({{(char*)shim_dynamic_shared, shim_most_shared}});
template <typename T> T& shim_part(T (&arrays)[shim_most_blocks]) {
  for (shim_region& region : shim_regions) {
    char* none = nullptr;
    if (__atomic_compare_exchange_n(&region.first, &none, (char*)arrays, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == (char*)arrays) {
      __atomic_store_n(&region.size, sizeof(T), __ATOMIC_RELAXED);
      return arrays[shim_rank()];
    }
  }
  std::abort();
}

// ---- asynchronous copies: nothing arrives before its thread waits for it -----------------------------------------------
SHIM_CALL void shim_start_copy(void* to, const void* from, int size, int bytes);
SHIM_CALL void shim_finish_copies(size_t pending);
SHIM_CALL void commit_copies();
#ifndef SHIM_APART
struct shim_copy { void* to; const void* from; int size, bytes; };
struct shim_copies {  // of one GPU thread; the last group is open
  std::vector<std::vector<shim_copy>> groups{1};
};
inline shim_copies& shim_own_copies();
SHIM_CALL void shim_start_copy(void* to, const void* from, int size, int bytes) {
  if ((size_t)to % size || (size_t)from % size || bytes < 0 || bytes > size) std::abort();
  shim_own_copies().groups.back().push_back({to, from, size, bytes});
}
SHIM_CALL void commit_copies() { shim_own_copies().groups.emplace_back(); }
SHIM_CALL void shim_finish_copies(size_t pending) {
  auto& groups = shim_own_copies().groups;
  while (groups.size() - 1 > pending) {
    for (const shim_copy& copy : groups.front()) {
      std::memcpy(copy.to, copy.from, copy.bytes);
      std::memset((char*)copy.to + copy.bytes, 0, copy.size - copy.bytes);
    }
    groups.erase(groups.begin());
  }
}
#endif
inline void copy_async4(void* to, const void* from, int bytes = 4) { shim_start_copy(to, from, 4, bytes); }
inline void copy_async8(void* to, const void* from, int bytes = 8) { shim_start_copy(to, from, 8, bytes); }
inline void copy_async16(void* to, const void* from, int bytes = 16) { shim_start_copy(to, from, 16, bytes); }
inline void copy_async16_l1(void* to, const void* from, int bytes = 16) { shim_start_copy(to, from, 16, bytes); }
template <int n> void wait_copies() { shim_finish_copies(n); }

// ---- what the lanes of a warp do together, here and in `fragments.h`: whoever comes last does it for all ------------------------
struct shim_exchange {
  void (*all)(void**);
  void* lanes[32];
  unsigned arrived;
};
SHIM_CALL void shim_together(void (*all)(void**), void* own);
SHIM_CALL unsigned shim_lane();
SHIM_CALL void shim_never();  // waits for others in vain
SHIM_CALL void shim_wrong(const char* what);  // ends the kernel
SHIM_CALL bool shim_has_ended(unsigned rank);  // a block of the cluster
template <typename T> T* shim_in(T* place, unsigned rank) {
  if (rank >= shim_cluster_blocks()) return shim_wrong("the cluster has no such block"), place;
  if (shim_has_ended(rank)) return shim_wrong("a block of the cluster has ended before others are done with its memory"), place;
  for (const shim_region& region : shim_regions) {
    size_t size = __atomic_load_n(&region.size, __ATOMIC_RELAXED), at = (char*)place - region.first;
    if (size && (char*)place >= region.first && at < shim_most_blocks * size) return (T*)(region.first + rank * size + at % size);
  }
  std::abort();
}

// ---- what `warp_groups.h` does later: copies that go on by themselves, those that a thread waits for in groups, its products ------
using shim_work = std::function<void()>;
SHIM_CALL unsigned shim_thread_in_block();
SHIM_CALL void shim_wait(const std::function<bool()>& over);
inline void shim_reader_learns();  // readers.h, where there are products of warp groups
#ifndef SHIM_READERS
inline void shim_reader_learns() {}
#endif
SHIM_CALL void shim_meet_in_group();  // the 128 threads of a warp group
SHIM_CALL void shim_later(shim_work work);
SHIM_CALL std::vector<shim_work>& shim_products();
SHIM_CALL std::vector<std::vector<shim_work>>& shim_flying();  // groups of products, the first one first
SHIM_CALL std::vector<std::vector<shim_work>>& shim_stores();  // the last group is open
SHIM_CALL void shim_later_of_thread(shim_work work);
SHIM_CALL void shim_commit();
SHIM_CALL void shim_finish_but(size_t pending);
#ifndef SHIM_APART
SHIM_CALL void shim_later_of_thread(shim_work work) { shim_stores().back().push_back(std::move(work)); }
SHIM_CALL void shim_commit() { shim_stores().emplace_back(); }
SHIM_CALL void shim_finish_but(size_t pending) {
  auto& groups = shim_stores();
  while (groups.size() - 1 > pending) {
    for (shim_work& work : groups.front()) work();
    groups.erase(groups.begin());
  }
}
#endif

// Shuffles and barriers of all 32 lanes: a lane that the mask leaves out, or that does not come, is waited for.
template <typename T> struct shim_shuffled {
  T value;
  unsigned from;
};
template <typename T> T shim_shuffle(unsigned mask, T value, unsigned from) {
  if (mask != 0xffffffffu) shim_never();
  shim_shuffled<T> own{value, from};
  shim_together([](void** lanes) {
    T given[32];
    for (int lane = 0; lane < 32; ++lane) given[lane] = ((shim_shuffled<T>*)lanes[lane])->value;
    for (int lane = 0; lane < 32; ++lane) ((shim_shuffled<T>*)lanes[lane])->value = given[((shim_shuffled<T>*)lanes[lane])->from];
  }, &own);
  return own.value;
}
template <typename T> T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  return shim_shuffle(mask, value, (shim_lane() & -width) | (from & (width - 1)));
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  unsigned lane = shim_lane(), first = lane & -width;
  return shim_shuffle(mask, value, lane < first + by % 32 ? lane : lane - by % 32);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  unsigned lane = shim_lane(), last = lane | (width - 1);
  return shim_shuffle(mask, value, lane + by % 32 > last ? lane : lane + by % 32);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
  unsigned lane = shim_lane(), other = lane ^ (with & 31);
  return shim_shuffle(mask, value, other > (lane | (width - 1)) ? lane : other);
}

inline void __syncwarp(unsigned mask = 0xffffffffu) {
  if (mask != 0xffffffffu) shim_never();
  shim_together([](void**) {}, nullptr);
}

SHIM_STATE unsigned shim_at_numbers[shim_most_blocks][16];  // how often threads have come to barriers with numbers

inline unsigned shim_clusters(shim_dim3 grid) { return grid.x * grid.y * grid.z / shim_cluster_blocks(); }
inline shim_dim3 shim_block_of(unsigned cluster, unsigned rank, shim_dim3 grid) {
  shim_dim3 c = shim_place(cluster, {grid.x / shim_cluster.x, grid.y / shim_cluster.y, grid.z / shim_cluster.z});
  shim_dim3 in = shim_place(rank, shim_cluster);
  return {c.x * shim_cluster.x + in.x, c.y * shim_cluster.y + in.y, c.z * shim_cluster.z + in.z};
}

SHIM_CALL int shim_run(shim_dim3 grid, shim_dim3 block, void (*body)(void*), void* data);

// ---- threads ---------------------------------------------------------------------------------------------------------
#ifdef SHIM_THREADS
#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <chrono>
#include <mutex>
static thread_local shim_dim3 threadIdx, blockIdx;
static thread_local std::vector<shim_work> shim_own_products;
static thread_local std::vector<std::vector<shim_work>> shim_own_flying;
static thread_local std::vector<std::vector<shim_work>> shim_own_stores(1);
constexpr unsigned shim_most = shim_most_blocks * shim_most_threads;
static std::unique_ptr<std::barrier<>> shim_groups[shim_most / 128];
static std::mutex shim_agents_lock;
static std::vector<std::thread> shim_agents;
inline std::vector<shim_work>& shim_products() { return shim_own_products; }
inline std::vector<std::vector<shim_work>>& shim_flying() { return shim_own_flying; }
inline std::vector<std::vector<shim_work>>& shim_stores() { return shim_own_stores; }
inline void shim_later(shim_work work) {
  std::thread agent(std::move(work));
  std::lock_guard<std::mutex> lock(shim_agents_lock);
  shim_agents.push_back(std::move(agent));
}
inline void shim_wait(const std::function<bool()>& over) {
  auto start = std::chrono::steady_clock::now();
  while (!over()) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) shim_wrong("a thread waits at a memory barrier for ever");
    std::this_thread::yield();
  }
}
static thread_local shim_copies shim_thread_copies;
inline shim_copies& shim_own_copies() { return shim_thread_copies; }
static shim_dim3 blockDim, gridDim;
static std::unique_ptr<std::barrier<>> shim_barriers[shim_most_blocks], shim_of_cluster;
static std::atomic<unsigned> shim_at_work[shim_most_blocks];
static shim_exchange shim_warps[shim_most / 32];
struct shim_finish {
  shim_exchange* warp;
  void operator()() noexcept { warp->all(warp->lanes); }
};
static std::unique_ptr<std::barrier<shim_finish>> shim_meetings[shim_most / 32];
static thread_local unsigned shim_thread;
static thread_local std::vector<std::barrier<>::arrival_token> shim_arrivals;
inline unsigned shim_number() { return shim_thread; }
inline unsigned shim_lane() { return shim_thread % 32; }
inline unsigned shim_thread_in_block() { return shim_thread % shim_most_threads; }
inline void __syncthreads() { shim_barriers[shim_rank()]->arrive_and_wait(), shim_reader_learns(); }
inline bool shim_has_ended(unsigned rank) { return shim_at_work[rank] == 0; }
inline void shim_arrive_in_cluster() { shim_arrivals.push_back(shim_of_cluster->arrive()); }
inline void shim_wait_for_cluster() {
  if (shim_arrivals.empty()) return shim_wrong("a thread waits for a cluster at which it has not arrived");
  shim_of_cluster->wait(std::move(shim_arrivals.back()));
  shim_arrivals.pop_back();
}
inline void shim_meet_in_group() { shim_groups[shim_thread / 128]->arrive_and_wait(); }
inline void shim_never() { std::abort(); }
inline void shim_wrong(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(5);
}
inline void shim_together(void (*all)(void**), void* own) {
  shim_exchange& warp = shim_warps[shim_thread / 32];
  warp.lanes[shim_thread % 32] = own;
  if (shim_thread % 32 == 0) warp.all = all;
  shim_meetings[shim_thread / 32]->arrive_and_wait();
}

inline int shim_run(shim_dim3 grid, shim_dim3 block, void (*body)(void*), void* data) {
  gridDim = grid, blockDim = block;
  unsigned count = block.x * block.y * block.z, together = shim_cluster_blocks(), clusters = shim_clusters(grid);
  std::barrier<> all(count * together);
  shim_of_cluster = std::make_unique<std::barrier<>>(count * together);
  for (unsigned r = 0; r < together; ++r) {
    unsigned first = r * shim_most_threads;
    shim_barriers[r] = std::make_unique<std::barrier<>>(count), shim_at_work[r] = count;
    for (unsigned w = first / 32; w < (first + count) / 32; ++w)
      shim_meetings[w] = std::make_unique<std::barrier<shim_finish>>(32, shim_finish{&shim_warps[w]});
    for (unsigned g = first / 128; g < (first + count) / 128; ++g) shim_groups[g] = std::make_unique<std::barrier<>>(128);
  }
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < count * together; ++n)
    threads.emplace_back([=, &all] {
      unsigned t = n % count, r = n / count;
      threadIdx = shim_place(t, block), shim_thread = r * shim_most_threads + t;
      for (unsigned c = 0; c < clusters; ++c) {
        blockIdx = shim_block_of(c, r, grid);
        body(data);
        shim_thread_copies = {};
        shim_own_stores.assign(1, {});
        --shim_at_work[r];
        all.arrive_and_wait();
        if (n == 0) {
          for (auto& agent : shim_agents) agent.join();
          shim_agents.clear();
        }
        if (t == 0) shim_at_work[r] = count;
        all.arrive_and_wait();
      }
    });
  for (auto& thread : threads) thread.join();
  return 0;
}

// ---- fibers ----------------------------------------------------------------------------------------------------------
#else
SHIM_STATE shim_dim3 threadIdx, blockIdx, blockDim, gridDim;
SHIM_CALL void __syncthreads();
SHIM_CALL void shim_arrive_in_cluster();
SHIM_CALL void shim_wait_for_cluster();
SHIM_CALL void shim_is_outside();
#ifndef SHIM_APART
#include "fibers.h"
constexpr unsigned shim_most = shim_most_blocks * shim_most_threads;
static_assert(shim_most <= shim_most_fibers, "stacks");
static shim_fiber shim_main, shim_fibers[shim_most];
static enum { shim_runs, shim_done, shim_at_barrier, shim_in_warp, shim_waits } shim_states[shim_most];
static std::function<bool()> shim_conditions[shim_most];
static std::vector<shim_work> shim_fiber_products[shim_most];
static std::vector<std::vector<shim_work>> shim_fiber_flying[shim_most];
static std::vector<std::vector<shim_work>> shim_fiber_stores[shim_most];
static std::vector<shim_work> shim_agents;
static shim_copies shim_fiber_copies[shim_most];
static shim_exchange shim_warps[shim_most / 32];
static unsigned shim_current, shim_at_work[shim_most_blocks];
SHIM_CALL unsigned shim_number() { return shim_current; }
SHIM_CALL bool shim_has_ended(unsigned rank) { return shim_at_work[rank] == 0; }
static void (*shim_body)(void*);
static void* shim_data;
inline shim_copies& shim_own_copies() { return shim_fiber_copies[shim_current]; }
SHIM_CALL unsigned shim_lane() { return shim_current % 32; }
static bool shim_in_fiber, shim_fault;
SHIM_CALL void shim_wrong(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  shim_fault = true;
  if (shim_in_fiber) shim_switch(shim_fibers[shim_current], shim_main);  // and never back
}
SHIM_CALL void shim_never() {
  shim_states[shim_current] = shim_in_warp;
  shim_switch(shim_fibers[shim_current], shim_main);
}

SHIM_CALL unsigned shim_thread_in_block() { return shim_current % shim_most_threads; }
SHIM_CALL std::vector<shim_work>& shim_products() { return shim_fiber_products[shim_current]; }
SHIM_CALL std::vector<std::vector<shim_work>>& shim_flying() { return shim_fiber_flying[shim_current]; }
SHIM_CALL std::vector<std::vector<shim_work>>& shim_stores() { return shim_fiber_stores[shim_current]; }
SHIM_CALL void shim_later(shim_work work) { shim_agents.push_back(std::move(work)); }
SHIM_CALL void shim_wait(const std::function<bool()>& over) {
  shim_conditions[shim_current] = over;
  shim_states[shim_current] = shim_waits;
  shim_switch(shim_fibers[shim_current], shim_main);
}
static unsigned shim_met[shim_most / 128];  // how often threads of the group have come
SHIM_CALL void shim_meet_in_group() {
  unsigned& met = shim_met[shim_current / 128];
  unsigned all = (met++ / 128 + 1) * 128;
  shim_wait([&met, all] { return met >= all; });
}
static unsigned shim_met_in_cluster, shim_meetings, shim_of_cluster;  // threads that have come since the last meeting; meetings; threads of it
static unsigned shim_waits_for[shim_most];  // 0: has not arrived
SHIM_CALL void shim_arrive_in_cluster() {
  if (shim_waits_for[shim_current]) return shim_wrong("a thread arrives at a cluster again, and has not waited for it");
  shim_waits_for[shim_current] = shim_meetings + 1;
  if (++shim_met_in_cluster == shim_of_cluster) ++shim_meetings, shim_met_in_cluster = 0;
}
SHIM_CALL void shim_wait_for_cluster() {
  unsigned& meeting = shim_waits_for[shim_current];
  if (!meeting) return shim_wrong("a thread waits for a cluster at which it has not arrived");
  shim_wait([&meeting] { return shim_meetings >= meeting; });
  meeting = 0;
}
SHIM_CALL void __syncthreads() {
  shim_states[shim_current] = shim_at_barrier;
  shim_switch(shim_fibers[shim_current], shim_main);
}
SHIM_CALL void shim_together(void (*all)(void**), void* own) {
  unsigned first = shim_current / 32 * 32;
  shim_exchange& warp = shim_warps[shim_current / 32];
  shim_states[shim_current] = shim_in_warp;
  warp.lanes[shim_current % 32] = own;
  if (warp.arrived++ == 0) warp.all = all;
  if (warp.arrived < 32 || warp.all != all) return shim_switch(shim_fibers[shim_current], shim_main);
  all(warp.lanes);
  warp.arrived = 0;
  for (unsigned lane = 0; lane < 32; ++lane) shim_states[first + lane] = shim_runs;
}
static void shim_entry() {
  shim_body(shim_data);
  shim_states[shim_current] = shim_done;
  shim_switch(shim_fibers[shim_current], shim_main);
  std::abort();  // one that is done is never resumed
}
SHIM_CALL void shim_is_outside() {
  shim_outside = true;
  shim_switch(shim_fibers[shim_current], shim_main);  // and never back
}

// 0, or 1 if some threads of a block wait for others that have left the kernel or wait elsewhere, or 2 if an index was outside its array
// (SHIM_GUARDED), or 3 if `warp_groups.h` finds something wrong, which it prints. SHIM_REVERSE runs the threads of a block backwards: what depends on their order then shows.
SHIM_CALL int shim_run(shim_dim3 grid, shim_dim3 block, void (*body)(void*), void* data) {
  gridDim = grid, blockDim = block, shim_outside = shim_fault = false;
  std::memset(shim_at_numbers, 0, sizeof shim_at_numbers);
  shim_agents.clear();
  unsigned count = block.x * block.y * block.z, together = shim_cluster_blocks(), clusters = shim_clusters(grid), all = count * together;
  bool backwards = std::getenv("SHIM_REVERSE") != nullptr;
  char* stacks = shim_stacks();
  shim_body = body, shim_data = data;
  shim_of_cluster = all;
  for (unsigned c = 0; c < clusters; ++c) {
    shim_poison_shared();
    shim_met_in_cluster = shim_meetings = 0;
    for (unsigned& left : shim_at_work) left = count;
    for (unsigned n = 0; n < all; ++n) {
      unsigned t = n / count * shim_most_threads + n % count;
      shim_waits_for[t] = 0;
      shim_states[t] = shim_runs;
      shim_fiber_copies[t] = {};
      shim_fiber_products[t].clear();
      shim_fiber_flying[t].clear();
      shim_fiber_stores[t].assign(1, {});
      shim_start(shim_fibers[t], stacks + t * shim_stack_size, shim_entry);
    }
    for (shim_exchange& warp : shim_warps) warp.arrived = 0;
    for (unsigned& met : shim_met) met = 0;
    for (unsigned live = all; live;) {
      unsigned left = 0, waiting[shim_most_blocks] = {}, went = 0;
      for (unsigned n = 0; n < all; ++n) {
        unsigned place = backwards ? all - 1 - n : n, rank = place / count, t = rank * shim_most_threads + place % count;
        waiting[rank] += shim_states[t] == shim_at_barrier;
        if (shim_states[t] == shim_waits && shim_conditions[t]()) shim_states[t] = shim_runs;
        if (shim_states[t] != shim_runs) continue;
        ++went;
        shim_current = t;
        threadIdx = shim_place(place % count, block), blockIdx = shim_block_of(c, rank, grid);
        shim_in_fiber = true;
        shim_switch(shim_main, shim_fibers[t]);
        shim_in_fiber = false;
        if (shim_outside || shim_fault) return shim_outside ? 2 : 3;
        left += shim_states[t] == shim_done, shim_at_work[rank] -= shim_states[t] == shim_done;
      }
      live -= left;
      if (went) continue;
      bool goes_on = false;
      for (unsigned r = 0; r < together; ++r) {
        if (waiting[r] != count) continue;
        goes_on = true;
        for (unsigned t = 0; t < count; ++t) shim_states[r * shim_most_threads + t] = shim_runs;
      }
      if (goes_on) continue;
      if (!shim_agents.empty()) {  // the last that was started, or the first
        auto next = backwards ? shim_agents.end() - 1 : shim_agents.begin();
        shim_work work = *next;
        shim_agents.erase(next);
        work();
        if (shim_fault) return 3;
        continue;
      }
      return 1;
    }
    for (shim_work& work : shim_agents) work();
    shim_agents.clear();
    if (shim_fault) return 3;
  }
  return 0;
}
#endif
#ifdef SHIM_GUARDED
template <typename T, long long... sizes> struct shim_array;
template <typename T> struct shim_array<T> { using type = T; };
template <typename T, long long size, long long... sizes> struct shim_array<T, size, sizes...> {
  using type = shim_array;
  typename shim_array<T, sizes...>::type data[size];
  auto& operator[](long long i) {
    if (i < 0 || i >= size) shim_is_outside();
    return data[i];
  }
};
#endif
#endif

// ---- barriers with numbers: the block that comes next finds none waiting ----------------------------------------------------
SHIM_CALL void meet_at(int number, int threads);
#ifndef SHIM_APART
SHIM_CALL void meet_at(int number, int threads) {
  unsigned* there = &shim_at_numbers[shim_rank()][number];
  unsigned all = (__atomic_fetch_add(there, 1, __ATOMIC_ACQ_REL) / threads + 1) * threads;
  shim_wait([=] { return __atomic_load_n(there, __ATOMIC_ACQUIRE) >= all; });
  shim_reader_learns();
}
#endif

// ---- launching -------------------------------------------------------------------------------------------------------
// As cudaLaunchKernel: `args[i]` points at the value of parameter i.
template <typename... P, size_t... i>
int shim_launch(void (*kernel)(P...), const unsigned* grid, const unsigned* block, void** args, std::index_sequence<i...>) {
  auto body = [=] { kernel(*(P*)args[i]...); };
  auto call = [](void* data) { (*(decltype(body)*)data)(); };
  return shim_run({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, call, &body);
}
template <typename... P> int shim_launch(
    void (*kernel)(P...), shim_dim3 cluster, const unsigned* grid, const unsigned* block, void** args) {
  shim_cluster = cluster;
  return shim_launch(kernel, grid, block, args, std::index_sequence_for<P...>());
}
