// Contexts of one OS thread, and the switch between them: some instructions on x86-64 and aarch64. `swapcontext`, which other
// machines take (and all with SHIM_UCONTEXT), saves the signal mask as well: a system call each time.
#pragma once
#include <cstdint>
#include <sys/mman.h>

constexpr size_t shim_stack_size = 128 * 1024, shim_most_fibers = 8 * 1024;

inline char* shim_stacks() {
  static char* stacks = (char*)mmap(nullptr, shim_most_fibers * shim_stack_size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) std::abort();
  return stacks;
}

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__) && !defined(SHIM_UCONTEXT)
// A fiber at rest is its stack pointer; what a called function must keep lies on the stack above it.
using shim_fiber = void*;
extern "C" __attribute__((visibility("hidden"))) void shim_swap(void** from, void* to);

#ifdef __x86_64__
// System V: rbx, rbp, r12 … r15, and the control words of SSE and x87, which no kernel changes.
asm(R"(
.text
.p2align 4
.hidden shim_swap
.globl shim_swap
.type shim_swap, @function
shim_swap:
  endbr64
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size shim_swap, .-shim_swap
)");
constexpr int shim_return = 6, shim_frame = 8;  // words: the place of the return address, and all, with a null above it

#else
// AAPCS64: x19 … x30, d8 … d15.
asm(R"(
.text
.p2align 4
.hidden shim_swap
.globl shim_swap
.type shim_swap, %function
shim_swap:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size shim_swap, .-shim_swap
)");
constexpr int shim_return = 11, shim_frame = 20;
#endif

inline void shim_switch(shim_fiber& from, shim_fiber& to) { shim_swap(&from, to); }

// The first switch to the fiber "returns" into `entry`, with the stack as a call would have left it: aligned to 16 bytes, minus
// the return address where a call pushes one.
inline void shim_start(shim_fiber& fiber, char* stack, void (*entry)()) {
  void** top = (void**)(stack + shim_stack_size) - shim_frame;
  for (int n = 0; n < shim_frame; ++n) top[n] = nullptr;
  top[shim_return] = (void*)entry;
  fiber = top;
}

#else
#include <ucontext.h>
using shim_fiber = ucontext_t;

inline void shim_switch(shim_fiber& from, shim_fiber& to) { swapcontext(&from, &to); }

inline void shim_start(shim_fiber& fiber, char* stack, void (*entry)()) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = shim_stack_size;
  fiber.uc_link = nullptr;
  makecontext(&fiber, entry, 0);
}
#endif
