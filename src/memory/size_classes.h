// The block sizes of the pooled allocator: 64 bytes apart up to 256 bytes, then four steps per doubling up to 4 KiB, then eight, up to
// 4 MiB: at most 25 % of a block is wasted below 4 KiB and 12.5 % above. Larger blocks are rounded up to 64 KiB and have no class. Pure
// functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pistachio {

inline constexpr size_t kPageBytes = 4096;
// Blocks up to this size share slabs; larger ones are runs of pages of their own.
inline constexpr size_t kLargestSlabBlock = size_t{32} << 10;
inline constexpr size_t kLargestClassBlock = size_t{4} << 20;
inline constexpr size_t kLargeBlockStep = size_t{64} << 10;
inline constexpr int kSizeClasses = 100;

// For 1 <= bytes <= kLargestClassBlock.
constexpr int size_class_of(size_t bytes) {
  if (bytes <= 256) return static_cast<int>((bytes - 1) / 64);
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes <= 2^(doubling + 1)
  const size_t above = bytes - 1 - (size_t{1} << doubling);
  if (doubling < 12) return 4 + (doubling - 8) * 4 + static_cast<int>(above >> (doubling - 2));
  return 20 + (doubling - 12) * 8 + static_cast<int>(above >> (doubling - 3));
}

constexpr size_t size_of_class(int size_class) {
  if (size_class < 4) return static_cast<size_t>(size_class + 1) * 64;
  const int doubling = size_class < 20 ? 8 + (size_class - 4) / 4 : 12 + (size_class - 20) / 8;
  const int step = size_class < 20 ? (size_class - 4) % 4 : (size_class - 20) % 8;
  const int step_shift = size_class < 20 ? doubling - 2 : doubling - 3;
  return (size_t{1} << doubling) + (static_cast<size_t>(step + 1) << step_shift);
}

inline constexpr int kSlabClasses = size_class_of(kLargestSlabBlock) + 1;

static_assert(size_of_class(kSizeClasses - 1) == kLargestClassBlock);
static_assert(size_of_class(kSlabClasses - 1) == kLargestSlabBlock && size_of_class(kSlabClasses) % kPageBytes == 0);

}  // namespace pistachio
