#include "exec/operators/group_states.h"

#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

GroupStates::GroupStates(const std::vector<LogicalType>& key_types, const std::vector<AggregateCall>& calls, at::Device device)
    : device_(device), table_(key_types, device) {
  for (const AggregateCall& call : calls) {
    state_columns_.push_back(state_types(call).size());
    states_.push_back(make_aggregate_state(call, device));
  }
}

at::Tensor GroupStates::assign(const std::vector<Column>& keys, int64_t rows, const CancelToken& token) {
  at::Tensor ids = table_.assign(keys, rows, token);
  for (const auto& state : states_) state->set_groups(table_.groups());
  return ids;
}

void GroupStates::merge(const Chunk& rows, const std::vector<size_t>& calls, const CancelToken& token) {
  size_t place = key_count();
  const std::vector<Column> keys(rows.columns().begin(), rows.columns().begin() + static_cast<std::ptrdiff_t>(place));
  const at::Tensor ids = assign(keys, rows.rows(), token);
  for (size_t call : calls) {
    token.throw_if_cancelled();
    std::vector<Column> state;
    for (size_t i = 0; i < state_columns_[call]; ++i) state.push_back(decode_dictionary(rows.column(place++)));
    states_[call]->add(ids, state);
  }
}

Chunk GroupStates::rows_of(int64_t begin, int64_t count, const std::vector<size_t>& calls) const {
  std::vector<Column> columns;
  for (const Column& key : table_.keys()) columns.push_back(key.slice(begin, count));
  const at::Tensor rows = at::arange(begin, begin + count, at::TensorOptions(at::kLong).device(device_));
  for (size_t call : calls) {
    for (Column& column : states_[call]->columns_of(rows)) columns.push_back(std::move(column));
  }
  return Chunk(std::move(columns), count, device_);
}

int64_t GroupStates::memory_bytes() const {
  int64_t bytes = table_.memory_bytes();
  for (const auto& state : states_) bytes += state->memory_bytes();
  return bytes;
}

int64_t GroupStates::most_bytes_with(int64_t rows) const {
  int64_t bytes = table_.most_bytes_with(rows);
  for (const auto& state : states_) bytes += state->most_bytes_with(rows);
  return bytes;
}

}  // namespace pistachio
