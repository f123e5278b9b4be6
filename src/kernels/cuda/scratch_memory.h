// Temporary device memory of one kernel call, from torch's caching allocator, for code without torch headers. All of it is freed with the
// object; the allocator reuses it only for later work on the same stream, so kernels that still run are safe.
// Used by one thread, while the current stream and device stay the same.
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

  // Uninitialized, aligned for every type; never null, even for zero bytes.
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
