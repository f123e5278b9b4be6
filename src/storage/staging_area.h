// Host staging buffers for uploads to a GPU. Pages of consecutive columns and units are packed into slabs of 8 MiB: one copy moves many
// pages, and pinned memory, which takes milliseconds to allocate, is allocated rarely. Owned by one reader lane; a slab lives as long as a
// tensor refers to it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio {

class StagingArea {
 public:
  // Pinned for a GPU, ordinary memory otherwise.
  explicit StagingArea(at::Device device) : device_(device) {}

  // uint8 [bytes], uninitialized.
  at::Tensor allocate(int64_t bytes);

 private:
  const at::Device device_;
  at::Tensor slab_;
  int64_t used_ = 0;
};

}  // namespace pistachio
