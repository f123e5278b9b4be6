#include "storage/staging_area.h"

#include <algorithm>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Large enough for a copy to reach full PCIe bandwidth, and for several row groups.
constexpr int64_t kSlabBytes = int64_t{32} << 20;
constexpr int64_t kSlabAlignment = 16;

}  // namespace

at::Tensor StagingArea::allocate(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!slab_.defined() || slab_.numel() - used_ < bytes) {
    slab_ = at::empty({std::max(bytes, kSlabBytes)}, at::TensorOptions(at::kByte).pinned_memory(is_pinned_));
    used_ = 0;
  }
  at::Tensor part = slab_.narrow(0, used_, bytes);
  used_ = std::min((used_ + bytes + kSlabAlignment - 1) / kSlabAlignment * kSlabAlignment, slab_.numel());
  return part;
}

}  // namespace pistachio
