// Hash table over the keys of a join's build side; finds pairs of rows with equal keys. Immutable once built and shared by all lanes.
// Reserves its memory before it is built.
#pragma once

#include "exec/operators/join_candidates.h"
#include "exec/operators/join_table.h"

namespace pistachio {

class KeyTable {
 public:
  // `build_keys`: values of the keys' right sides, one column per key, at least one. One of the build functions must follow.
  KeyTable(std::vector<JoinKey> keys, std::vector<Column> build_keys, const MemoryAccount& account);
  // Throws Cancelled soon after the token is cancelled.
  void build(const CancelToken& token);
  // The same, on all lanes if there are many rows.
  Task<void> build_on_lanes(RunContext& context, OperatorMetrics& metrics);

  // Finds the pairs of rows with these values of the keys' left sides. The table must outlive the search.
  std::unique_ptr<JoinCandidates::Search> search(std::vector<Column> left_keys) const;

  // Mean number of candidates when the table's own rows are looked up in it.
  double mean_candidates() const;

 private:
  class KeySearch;
  void take(JoinTable table);

  std::vector<JoinKey> keys_;
  Reservation memory_;
  Reservation key_memory_;  // for computed or decoded keys
  std::vector<Column> build_keys_;
  bool exact_ = false;
  JoinTable table_;
};

}  // namespace pistachio
