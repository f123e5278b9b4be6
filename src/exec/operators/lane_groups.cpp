#include "exec/operators/lane_groups.h"

#include <algorithm>

#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

std::unique_ptr<GroupTable> make_distinct_set(const AggregateCall& call, at::Device device) {
  if (!call.distinct) return nullptr;
  return std::make_unique<GroupTable>(std::vector<LogicalType>{TypeKind::BigInt, argument_type(call)}, device);
}

LaneGroups::LaneGroups(const std::vector<LogicalType>& key_types, const std::vector<AggregateCall>& calls, at::Device device)
    : device_(device), groups_(key_types, calls, device) {
  for (const AggregateCall& call : calls) {
    all_calls_.push_back(all_calls_.size());
    distinct_.push_back(make_distinct_set(call, device));
  }
}

void LaneGroups::add(const AggregateInputs& inputs, const std::vector<Column>& columns, int64_t rows, bool are_states,
                     const CancelToken& token) {
  const std::vector<Column> keys(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(groups_.key_count()));
  const at::Tensor ids = groups_.assign(keys, rows, token);
  if (are_states) {
    add_states(inputs, columns, ids, token);
  } else {
    update_states(inputs, columns, ids, token);
  }
}

void LaneGroups::merge(const Chunk& rows, const CancelToken& token) {
  groups_.merge(rows, all_calls_, token);
}

int64_t LaneGroups::memory_bytes() const {
  int64_t bytes = groups_.memory_bytes();
  for (const auto& set : distinct_) bytes += set ? set->memory_bytes() : 0;
  return bytes;
}

int64_t LaneGroups::most_bytes_with(int64_t rows) const {
  int64_t bytes = groups_.most_bytes_with(rows);
  for (const auto& set : distinct_) bytes += set ? set->most_bytes_with(rows) : 0;
  return bytes;
}

void LaneGroups::count_distinct(const CancelToken& token) {
  for (size_t call = 0; call < distinct_.size(); ++call) {
    if (distinct_[call] == nullptr) continue;
    const std::vector<Column> members = distinct_[call]->keys();
    AggregateState& state = *groups_.states()[call];
    state.set_groups(groups());
    for_each_strip(distinct_[call]->groups(), device_, token, [&](int64_t begin, int64_t rows) {
      const Column arguments = members[1].slice(begin, rows);
      state.update({.ids = members[0].slice(begin, rows).values(), .argument = &arguments});
    });
  }
}

void LaneGroups::add_states(const AggregateInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids,
                            const CancelToken& token) {
  for (size_t i = 0; i < groups_.states().size(); ++i) {
    token.throw_if_cancelled();
    groups_.states()[i]->add(ids, inputs.state_of_call(i, columns));
  }
}

void LaneGroups::update_states(const AggregateInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids,
                               const CancelToken& token) {
  const auto& states = groups_.states();
  // On a GPU the overflow checks of several calls share one synchronization. Not of all calls: there may be thousands, each with its own
  // rows.
  const size_t together = device_.is_cpu() ? 1 : 16;
  GroupSizes sizes(ids, groups_.groups());
  const bool shares_sizes = states.size() > 1 && groups_.groups() <= ids.numel() / 4;
  for (size_t begin = 0; begin < states.size(); begin += together) {
    const size_t end = std::min(begin + together, states.size());
    std::vector<AggregateInputs::CallRows> calls;
    for (size_t i = begin; i < end; ++i) {
      token.throw_if_cancelled();
      const bool decodes = distinct_[i] == nullptr && !states[i]->takes_codes();
      calls.push_back(inputs.rows_of_call(i, columns, ids, decodes));
    }
    const bool fit = !device_.is_cpu() && sums_fit(begin, calls);
    for (size_t i = begin; i < end; ++i) {
      token.throw_if_cancelled();
      const AggregateInputs::CallRows& call = calls[i - begin];
      if (distinct_[i] != nullptr) {
        distinct_[i]->add({Column::fixed(TypeKind::BigInt, call.ids), *call.argument}, call.ids.numel(), token);
      } else {
        GroupSizes* shared = shares_sizes && !call.mask.defined() ? &sizes : nullptr;
        states[i]->update({call.ids, call.argument ? &*call.argument : nullptr, shared, fit});
      }
    }
  }
}

bool LaneGroups::sums_fit(size_t first_call, const std::vector<AggregateInputs::CallRows>& calls) const {
  const kernels::DeferredChecks checks;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].argument && distinct_[first_call + i] == nullptr && !groups_.states()[first_call + i]->fits(*calls[i].argument)) return false;
  }
  return !checks.failed();
}

}  // namespace pistachio
