// Tells AddressSanitizer which parts of pooled memory are in use, so that it finds uses after free and overruns in tensors although the
// memory never goes back to the operating system. Nothing in other builds. Any thread, for memory it owns at the moment.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace pistachio {

inline void poison([[maybe_unused]] const void* address, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(address, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* address, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(address, bytes);
#endif
}

}  // namespace pistachio
