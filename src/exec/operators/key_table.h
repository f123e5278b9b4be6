// Hash table over the keys of a join's build side; finds pairs of rows with equal keys. Immutable once built and shared by all lanes.
// Reserves its memory when it is built.
#pragma once

#include "exec/operators/join_candidates.h"

namespace pistachio {

class KeyTable {
 public:
  // `build_keys`: values of the keys' right sides, one column per key, at least one. Throws Cancelled soon after the token is cancelled.
  KeyTable(std::vector<JoinKey> keys, std::vector<Column> build_keys, const MemoryAccount& account, const CancelToken& token);

  // Finds the pairs of rows with these values of the keys' left sides. The table must outlive the search.
  std::unique_ptr<JoinCandidates::Search> search(std::vector<Column> left_keys) const;

  // Mean number of candidates when the table's own rows are looked up in it.
  double mean_candidates() const;

 private:
  class KeySearch;

  std::vector<JoinKey> keys_;
  Reservation memory_;
  Reservation key_memory_;  // for computed or decoded keys
  std::vector<Column> build_keys_;
  bool exact_ = false;
  at::Tensor offsets_;
  at::Tensor order_;
  at::Tensor hashes_;
};

}  // namespace pistachio
