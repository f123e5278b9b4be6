// Tells AddressSanitizer which parts of pooled memory are in use, so that it detects use after free and overruns in tensors although the
// memory is never returned to the operating system. A no-op in other builds. Any thread, for memory it currently owns.
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
