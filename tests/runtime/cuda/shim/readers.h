// Who reads for products of warp groups, under the thread sanitizer: one beside each thread. It knows what its thread has waited for at
// memory barriers, and what that knew when it met others or fenced; nothing else of what the thread did. An arrival that is relaxed tells
// what the reader has done: so an ordinary access that nothing else orders is a race, and a product that is over is none.
#pragma once
#if defined(SHIM_THREADS) && defined(__SANITIZE_THREAD__)
#define SHIM_UNSEEN __attribute__((no_sanitize("thread")))
constexpr bool shim_readers = true;
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned apart);  // 0: who goes on knows what the one before did
void __tsan_read_range(void* address, unsigned long size);
long long __tsan_atomic64_load(const volatile long long* a, int order);
long long __tsan_atomic64_fetch_add(volatile long long* a, long long v, int order);
}
struct shim_reader {
  void *own = __tsan_get_current_fiber(), *fiber = __tsan_create_fiber(0);
  ~shim_reader() { __tsan_destroy_fiber(fiber); }
};
static thread_local shim_reader shim_reads;
static shim_word shim_read[shim_most / 128];
SHIM_UNSEEN inline void shim_reader_learns() {
  shim_reader& r = shim_reads;
  __tsan_switch_to_fiber(r.fiber, 0);
  __tsan_switch_to_fiber(r.own, 1);
}
SHIM_UNSEEN inline void shim_reader_acquires(const shim_word* place) {
  shim_reader& r = shim_reads;
  __tsan_switch_to_fiber(r.fiber, 1);
  __tsan_atomic64_load((const volatile long long*)place, __ATOMIC_ACQUIRE);
  __tsan_switch_to_fiber(r.own, 1);
}
SHIM_UNSEEN inline void shim_reader_releases(shim_word* place) {
  shim_reader& r = shim_reads;
  __tsan_switch_to_fiber(r.fiber, 1);
  __tsan_atomic64_fetch_add((volatile long long*)place, 0, __ATOMIC_RELEASE);
  __tsan_switch_to_fiber(r.own, 1);
}
// Some pieces of 16 bytes, each at an address.
SHIM_UNSEEN inline void shim_reader_reads(const char* const* pieces, unsigned count) {
  shim_reader& r = shim_reads;
  __tsan_switch_to_fiber(r.fiber, 1);
  for (unsigned n = 0; n < count; ++n) __tsan_read_range((void*)pieces[n], 16);
  __tsan_switch_to_fiber(r.own, 1);
}
// All threads of a group, and their readers, know that those have read.
inline void shim_readers_meet() {
  shim_word* group = &shim_read[shim_number() / 128];
  shim_reader_releases(group);
  shim_meet_in_group();
  shim_reader_acquires(group);
  __atomic_load_n(group, __ATOMIC_ACQUIRE);
}
#else
#define SHIM_UNSEEN
constexpr bool shim_readers = false;
inline void shim_reader_learns() {}
inline void shim_reader_acquires(const shim_word*) {}
inline void shim_reader_releases(shim_word*) {}
inline void shim_reader_reads(const char* const*, unsigned) {}
inline void shim_readers_meet() { shim_meet_in_group(); }
#endif
