// A table of groups with the states of their calls, and for each DISTINCT call the set of (group, argument). Memory is counted, not
// reserved. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/cancel_token.h"
#include "exec/operators/aggregate_inputs.h"
#include "exec/operators/group_states.h"

namespace pistachio {

// The set of a DISTINCT call: distinct rows of (group id, argument). Null for other calls.
std::unique_ptr<GroupTable> make_distinct_set(const AggregateCall& call, at::Device device);

// Calls body(begin, count) for strips of the rows on a CPU, so that cancellation is noticed, and for all rows at once on a GPU.
template <typename Body>
void for_each_strip(int64_t rows, at::Device device, const CancelToken& token, const Body& body) {
  constexpr int64_t kRowsPerPoll = 1 << 20;
  const int64_t step = device.is_cpu() ? kRowsPerPoll : std::max<int64_t>(rows, 1);
  for (int64_t begin = 0; begin < rows; begin += step) {
    token.throw_if_cancelled();
    body(begin, std::min(step, rows - begin));
  }
}

class LaneGroups {
 public:
  LaneGroups(const std::vector<LogicalType>& key_types, const std::vector<AggregateCall>& calls, at::Device device);

  // `columns`: the values of inputs.expressions(). Throws Cancelled soon after the token is cancelled; unusable then.
  void add(const AggregateInputs& inputs, const std::vector<Column>& columns, int64_t rows, bool are_states, const CancelToken& token);
  // Merges rows of keys followed by the states of all calls, none of which is DISTINCT.
  void merge(const Chunk& rows, const CancelToken& token);

  // Makes room for this many groups.
  void reserve(int64_t groups) { groups_.reserve(groups); }
  int64_t groups() const { return groups_.groups(); }
  std::vector<Column> keys() const { return groups_.keys(); }
  const GroupStates& group_states() const { return groups_; }
  const AggregateState& state(size_t call) const { return *groups_.states()[call]; }
  const GroupTable* distinct(size_t call) const { return distinct_[call].get(); }
  int64_t memory_bytes() const;
  // Upper bound on memory_bytes() while `rows` rows are added that may all be new groups.
  int64_t most_bytes_with(int64_t rows) const;

  // Computes the states of DISTINCT calls from their sets. Only for a single lane: sets of several must be merged first.
  void count_distinct(const CancelToken& token);

 private:
  void add_states(const AggregateInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids, const CancelToken& token);
  void update_states(const AggregateInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids, const CancelToken& token);
  bool sums_fit(size_t first_call, const std::vector<AggregateInputs::CallRows>& calls) const;

  at::Device device_;
  std::vector<size_t> all_calls_;
  GroupStates groups_;
  std::vector<std::unique_ptr<GroupTable>> distinct_;
};

}  // namespace pistachio
