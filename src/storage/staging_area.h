// Host memory from which a GPU fetches pages. Reads of one scan are packed into slabs, so that one copy moves many pages and pinned memory,
// which takes milliseconds to allocate, is allocated rarely. A slab lives as long as a tensor refers to it. Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>

namespace pistachio {

class StagingArea {
 public:
  enum class Memory { Pinned, Pageable };
  // Pinned only for a GPU.
  explicit StagingArea(at::Device device, Memory memory = Memory::Pinned) : is_pinned_(device.is_cuda() && memory == Memory::Pinned) {}

  // uint8 [bytes], uninitialized.
  at::Tensor allocate(int64_t bytes);

 private:
  const bool is_pinned_;
  std::mutex mutex_;
  at::Tensor slab_;
  int64_t used_ = 0;
};

}  // namespace pistachio
