// The order in which partial aggregation outputs its groups: one partition of their hashes (top bits) after the other, in the same order on
// every rank. Consecutive partitions are far apart, since the top bits of a hash choose the destination: in ascending order all ranks would
// first send to rank 0, then to rank 1, with the other links idle meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pistachio {

// Partitions that are ordered; smaller ones within them ascend.
inline constexpr int64_t kOrderedPartitionBits = 6;
inline constexpr int64_t kOrderedPartitions = int64_t{1} << kOrderedPartitionBits;
// Near 64 times the golden ratio: any few consecutive multiples are spread evenly. Odd, so that each partition comes once.
inline constexpr int64_t kPartitionStride = 39;
inline constexpr int64_t kInversePartitionStride = 23;
static_assert(kPartitionStride * kInversePartitionStride % kOrderedPartitions == 1);

// The partition, of 2^bits, that is output at this place.
constexpr int64_t partition_at(int64_t place, int64_t bits) {
  const int64_t ordered_bits = std::min(bits, kOrderedPartitionBits), finer_bits = bits - ordered_bits;
  const int64_t ordered = (place >> finer_bits) * kPartitionStride % (int64_t{1} << ordered_bits);
  return ordered << finer_bits | (place & ((int64_t{1} << finer_bits) - 1));
}

// The place of one of kOrderedPartitions.
constexpr int64_t place_of_partition(int64_t partition) {
  return partition * kInversePartitionStride % kOrderedPartitions;
}

}  // namespace pistachio
