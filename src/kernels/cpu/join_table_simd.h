// The inner loops of join_probe, for raw memory; the table is described in ops/join_build.h.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct JoinTable {
  const int64_t* offsets;
  int bits;               // 2^bits buckets
  const int64_t* hashes;  // by bucket
  int64_t rows;

  // In two shifts: a single one by 64 bits, for one bucket, is undefined.
  int64_t bucket_of(int64_t hash) const { return static_cast<int64_t>(static_cast<uint64_t>(hash) >> 1 >> (63 - bits)); }
};

// So many places of the table are compared at once.
constexpr int64_t join_width = 4;

// A row to look up and the places where its partners may be: those of its bucket, but at least join_width, which all exist.
struct JoinSearch {
  int64_t row, hash, first, last;
};

// Fills one search for each valid row of [begin, end) and returns how many they are. The table has at least join_width rows.
int64_t start_searches(const JoinTable& table, const int64_t* probe_hashes, const bool* validity, int64_t begin, int64_t end,
                       JoinSearch* searches);

struct JoinProgress {
  int64_t searches;  // how many are done
  int64_t pairs;
};
// Adds the pairs (row, place) that the searches find to the `pairs` there are. Stops when there are most_pairs of them, and before a search
// of more than join_width places. There is room for join_width pairs a search, and one more.
JoinProgress find_pairs(const JoinTable& table, const JoinSearch* searches, int64_t count, int64_t pairs, int64_t most_pairs, int64_t* rows,
                        int64_t* places);

}  // namespace pistachio::kernels::cpu
