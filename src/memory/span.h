// A span: adjacent pages of an arena in the same state; the pooled allocator's metadata for these addresses. Created and changed by the
// PageHeap under its lock; while a span is a Run or a Slab, all members but `slab` are constant and read without the lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/size_classes.h"

namespace pistachio {

class Arena;

enum class SpanState : uint8_t {
  // Address space only.
  Vacant,
  // Mapped, free, kept for reuse.
  Cached,
  // One block.
  Run,
  // Many small blocks of one size (SlabList).
  Slab,
};

inline constexpr int kNoSizeClass = -1;
inline constexpr size_t kMaxBlocksInSlab = 1024;

// Which blocks of a slab are free. Guarded by the lock of its SlabList.
struct SlabState {
  uint32_t blocks = 0;
  uint32_t free_blocks = 0;
  std::array<uint64_t, kMaxBlocksInSlab / 64> free_bits = {};
};

struct Span {
  Arena* arena = nullptr;
  uint32_t first_page = 0;
  uint32_t pages = 0;
  SpanState state = SpanState::Vacant;
  int16_t size_class = kNoSizeClass;
  SlabState slab;

  size_t bytes() const { return size_t{pages} * kPageBytes; }
};

}  // namespace pistachio
