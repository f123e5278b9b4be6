// Symmetric transfer by hand. A coroutine that transfers control to another one (parent to child, child back to parent) stores its
// successor here and returns to the worker's loop, which resumes it: the stack does not grow, however long the chain. C++'s own symmetric
// transfer (await_suspend returning a handle) needs a tail call, which GCC 12 only generates at -O2: debug and sanitizer builds overflow
// the stack after some ten thousand awaits. Cost: one thread-local store and load. Each thread has its own successor.
#pragma once

#include <coroutine>
#include <utility>

namespace pistachio {

inline constinit thread_local std::coroutine_handle<> resume_chain_successor{};

// For await_suspend: this thread resumes `next` after it returns. Never inlined into a coroutine: Clang 16 would compute the address of the
// variable once per coroutine, and the coroutine may continue on another thread.
[[gnu::noinline]] inline void resume_next(std::coroutine_handle<> next) noexcept {
  resume_chain_successor = next;
}

// Resumes `first`, then its successors, until one suspends without a successor.
inline void resume_chain(std::coroutine_handle<> first) {
  for (std::coroutine_handle<> handle = first; handle; handle = std::exchange(resume_chain_successor, {})) handle.resume();
}

}  // namespace pistachio
