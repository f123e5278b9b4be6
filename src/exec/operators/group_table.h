// Assigns ids 0, 1, 2, ... to the distinct rows of key columns. NULL equals NULL. Lookup is by hash with verification; distinct keys with equal
// hashes are rehashed. If a batch can have only few different keys (small_domain.h), each is looked up once. Not thread-safe.
#pragma once

#include <vector>

#include "exec/core/growing_column.h"

namespace pistachio {

class GroupTable {
 public:
  GroupTable(const std::vector<LogicalType>& types, at::Device device);

  // int64 [rows]: the group of each row. Throws Cancelled soon after the token is cancelled; the table is unusable then.
  at::Tensor assign(const std::vector<Column>& keys, int64_t rows, const CancelToken& token = {});
  // The same without the groups of the rows; at least one key.
  void add(const std::vector<Column>& keys, int64_t rows, const CancelToken& token = {});
  // Grows the hash table for this many groups at once.
  void reserve(int64_t groups, const CancelToken& token = {});
  int64_t groups() const { return groups_; }
  size_t key_count() const { return keys_.size(); }
  // A row for each group; valid until the next assign.
  std::vector<Column> keys() const;
  int64_t memory_bytes() const;
  // Upper bound on memory_bytes() while `rows` rows are assigned that may all be new groups.
  int64_t most_bytes_with(int64_t rows) const;

 private:
  at::Tensor assign_all(const std::vector<Column>& keys, int64_t rows, const CancelToken& token);
  at::Tensor assign_strip(const std::vector<Column>& keys, const at::Tensor& hashes, int attempt, const CancelToken& token);
  // Sets `equal` (bool [rows]) to false where row and group have different keys; returns whether none have. Groups from `first_new` on were
  // made of these rows.
  bool compare_keys(const std::vector<Column>& keys, const at::Tensor& ids, int64_t first_new, at::Tensor& equal) const;
  void grow_slots(int64_t capacity, const CancelToken& token);
  at::Tensor find_or_add(const std::vector<Column>& keys, const at::Tensor& hashes, const CancelToken& token);

  bool exact_ = false;
  at::Tensor slots_;
  int64_t groups_ = 0;
  std::vector<GrowingColumn> keys_;
};

}  // namespace pistachio
