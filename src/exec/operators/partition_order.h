// The order in which partial aggregation outputs its groups: one partition of their hashes (top bits) after the other. The top bits of a
// hash also choose the destination. So in ascending order all ranks would first send to rank 0, then to rank 1, with the other links idle
// meanwhile; here, sections of the hashes alternate between destinations, and only within them partitions ascend. Ranks with partitions of
// different sizes thus output equal groups at about the same time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pistachio {

inline constexpr int64_t kSectionBits = 4;
inline constexpr int64_t kSections = int64_t{1} << kSectionBits;
// Near a third of kSections: any few successive multiples are spread evenly. Odd, so that each section comes once.
inline constexpr int64_t kSectionStride = 5;
inline constexpr int64_t kInverseStride = 13;
static_assert(kSectionStride * kInverseStride % kSections == 1);

// Multiplies the section of a partition of 2^bits; with fewer partitions than sections, the partition is the section.
constexpr int64_t with_section_times(int64_t factor, int64_t partition, int64_t bits) {
  const int64_t section_bits = std::min(bits, kSectionBits), finer_bits = bits - section_bits;
  const int64_t section = (partition >> finer_bits) * factor % (int64_t{1} << section_bits);
  return section << finer_bits | (partition & ((int64_t{1} << finer_bits) - 1));
}

// The partition, of 2^bits, that is output at this place, and the reverse.
constexpr int64_t partition_at(int64_t place, int64_t bits) {
  return with_section_times(kSectionStride, place, bits);
}
constexpr int64_t place_of_partition(int64_t partition, int64_t bits) {
  return with_section_times(kInverseStride, partition, bits);
}

}  // namespace pistachio
