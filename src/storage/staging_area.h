// Host memory that pages are copied to a GPU from. Pages of consecutive columns and units lie end to end in slabs of some megabytes: one copy moves
// many of them, and pinned memory is allocated rarely (it costs milliseconds each time). One reading lane owns it; a slab lives as long as
// a tensor refers to it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio {

class StagingArea {
 public:
  // Pinned for a GPU, ordinary memory otherwise.
  explicit StagingArea(at::Device device) : device_(device) {}

  // uint8 [bytes], not initialised.
  at::Tensor allocate(int64_t bytes);

 private:
  const at::Device device_;
  at::Tensor slab_;
  int64_t used_ = 0;
};

}  // namespace pistachio
