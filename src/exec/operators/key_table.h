// Hash table over the keys of a join's build side; finds pairs of rows with equal keys. Immutable once built and shared by all lanes. Its memory is
// reserved when it is built.
#pragma once

#include "exec/operators/join_candidates.h"

namespace pistachio {

class KeyTable {
 public:
  // `build_keys` are the values of the keys' right sides, one column a key; there is at least one. Throws Cancelled soon after the token is
  // cancelled.
  KeyTable(std::vector<JoinKey> keys, std::vector<Column> build_keys, const MemoryAccount& account, const CancelToken& token);

  // The pairs for rows with these values of the keys' left sides. The table must outlive the search.
  std::unique_ptr<JoinCandidates::Search> search(std::vector<Column> left_keys) const;

  // How many rows a row finds on the average if it is one of the table's own.
  double mean_candidates() const;

 private:
  class KeySearch;

  std::vector<JoinKey> keys_;
  Reservation memory_;
  Reservation key_memory_;  // of keys that are computed or decoded
  std::vector<Column> build_keys_;
  bool exact_ = false;
  at::Tensor offsets_;
  at::Tensor order_;
  at::Tensor hashes_;
};

}  // namespace pistachio
