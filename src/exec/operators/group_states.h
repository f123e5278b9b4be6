// Groups and the running states of their aggregate calls. Not thread-safe. Memory is counted, not reserved.
#pragma once

#include <memory>
#include <vector>

#include "data/chunk.h"
#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_table.h"

namespace pistachio {

class GroupStates {
 public:
  GroupStates(const std::vector<LogicalType>& key_types, const std::vector<AggregateCall>& calls, at::Device device);

  // int64 [rows]: the group of each row. Throws Cancelled soon after the token is cancelled; unusable then.
  at::Tensor assign(const std::vector<Column>& keys, int64_t rows, const CancelToken& token);
  // Merges rows of keys followed by the states of `calls` (indexes), as rows_of() makes them.
  void merge(const Chunk& rows, const std::vector<size_t>& calls, const CancelToken& token);
  // Groups [begin, begin + count): the keys, then the columns of the states of `calls`.
  Chunk rows_of(int64_t begin, int64_t count, const std::vector<size_t>& calls) const;

  // Makes room in the hash table for this many groups.
  void reserve(int64_t groups) { table_.reserve(groups); }
  int64_t groups() const { return table_.groups(); }
  size_t key_count() const { return table_.key_count(); }
  std::vector<Column> keys() const { return table_.keys(); }
  const std::vector<std::unique_ptr<AggregateState>>& states() const { return states_; }
  int64_t memory_bytes() const;
  // Upper bound on memory_bytes() while `rows` rows are added that may all be new groups.
  int64_t most_bytes_with(int64_t rows) const;

 private:
  at::Device device_;
  std::vector<size_t> state_columns_;  // number of state columns of each call
  GroupTable table_;
  std::vector<std::unique_ptr<AggregateState>> states_;
};

}  // namespace pistachio
