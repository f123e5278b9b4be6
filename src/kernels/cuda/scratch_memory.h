// Temporary device memory of one kernel call, from torch's caching allocator, for code that sees no torch header. Everything is released
// with the object; the allocator hands it out again to later work of the same stream only, so kernels still running are safe.
// Use by one thread, while the current stream and device stay the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pistachio::kernels::cuda {

class ScratchMemory {
 public:
  ScratchMemory();
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  // Uninitialised, aligned for every type; never null, even for zero bytes.
  void* take_bytes(size_t bytes);
  template <typename Element>
  Element* take(int64_t count) {
    return static_cast<Element*>(take_bytes(static_cast<size_t>(count) * sizeof(Element)));
  }

 private:
  struct Blocks;
  std::unique_ptr<Blocks> blocks_;
};

}  // namespace pistachio::kernels::cuda
