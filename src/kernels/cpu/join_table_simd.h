// The inner loops of join_probe, for raw memory; the table is described in ops/join_build.h.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct JoinTable {
  const int64_t* offsets;
  int bits;               // 2^bits buckets
  const int64_t* hashes;  // ordered by bucket
  int64_t rows;

  // Two shifts: a single one by 64 bits (one bucket) would be undefined.
  int64_t bucket_of(int64_t hash) const { return static_cast<int64_t>(static_cast<uint64_t>(hash) >> 1 >> (63 - bits)); }
};

// Table positions compared at once.
constexpr int64_t join_width = 4;

// A probe row and the positions of its possible matches, which form its bucket. At least join_width positions from `first` exist.
struct JoinSearch {
  int64_t row, hash, first, last;
};

// Prepares a search for each valid row in [begin, end) and returns their number. The table has at least join_width rows.
int64_t start_searches(const JoinTable& table, const int64_t* probe_hashes, const bool* validity, int64_t begin, int64_t end,
                       JoinSearch* searches);

struct JoinProgress {
  int64_t searches;  // completed
  int64_t pairs;
};
// Appends the pairs (row, position) found by the searches to the first `pairs` ones. Stops at most_pairs pairs, and before a search of more
// than join_width positions. Needs room for join_width pairs per search, plus one.
JoinProgress find_pairs(const JoinTable& table, const JoinSearch* searches, int64_t count, int64_t pairs, int64_t most_pairs, int64_t* rows,
                        int64_t* places);

}  // namespace pistachio::kernels::cpu
