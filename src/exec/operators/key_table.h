// Table over the keys of a join's build side; finds pairs of rows with equal keys, by rank (rank_table.h) if there is one integer key of a
// limited range, else by hash. Immutable once built and shared by all lanes. Reserves its memory before it is built.
#pragma once

#include "exec/operators/join_candidates.h"
#include "exec/operators/rank_table.h"

namespace pistachio {

class KeyTable {
 public:
  // `build_keys`: values of the keys' right sides, one column per key, at least one. One of the build functions must follow.
  KeyTable(std::vector<JoinKey> keys, std::vector<Column> build_keys, const MemoryAccount& account, KeyMatches matches = KeyMatches::All);
  // Throws Cancelled soon after the token is cancelled.
  void build(const CancelToken& token);
  // The same, on all lanes if there are many rows.
  Task<void> build_on_lanes(RunContext& context, OperatorMetrics& metrics);

  // Null: by hash, where KeyMatches::Any makes no difference.
  const RankTable* ranks() const { return ranks_.get(); }
  // Finds the pairs of rows with these values of the keys' left sides. The table must outlive the search.
  std::unique_ptr<JoinCandidates::Search> search(std::vector<Column> left_keys) const;

  // By hash: mean number of candidates when the table's own rows are looked up in it.
  double mean_candidates() const;

 private:
  class KeySearch;
  at::Tensor key_hashes(int64_t begin, int64_t rows, const CancelToken& token) const;
  void take(JoinTable table);

  std::vector<JoinKey> keys_;
  std::vector<Column> build_keys_;
  bool exact_ = false;
  std::unique_ptr<RankTable> ranks_;
  Reservation memory_;
  Reservation key_memory_;  // for computed or decoded keys
  JoinTable table_;
};

}  // namespace pistachio
