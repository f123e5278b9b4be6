// Combine tables for all types and aggregates: a group table with the states of its groups, emptied when full.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "columns/column_hash.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "exec/core/growing_reservation.h"
#include "exec/operators/aggregate_state.h"
#include "exec/operators/combine_tables.h"
#include "exec/operators/group_table.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

class CombinedGroups {
 public:
  CombinedGroups(const CombinedColumns& columns, const MemoryAccount& account, at::Device device)
      : columns_(columns), device_(device), groups_(columns.key_types, device), memory_(account) {
    for (const AggregateCall& call : columns.calls) states_.push_back(make_aggregate_state(call, device));
  }

  void add(const Chunk& chunk, const CancelToken& token) {
    std::vector<Column> keys;
    for (size_t place : columns_.keys) keys.push_back(chunk.column(place));
    const at::Tensor ids = groups_.assign(keys, chunk.rows(), token);
    for (size_t i = 0; i < states_.size(); ++i) {
      token.throw_if_cancelled();
      std::vector<Column> state;
      for (size_t place : columns_.states[i]) state.push_back(decode_dictionary(chunk.column(place)));
      states_[i]->set_groups(groups_.groups());
      states_[i]->add(ids, state);
    }
    memory_.cover(bytes());
  }

  int64_t bytes() const {
    int64_t bytes = groups_.memory_bytes();
    for (const auto& state : states_) bytes += state->memory_bytes();
    return bytes;
  }

  int64_t groups() const { return groups_.groups(); }

  Chunk rows() const {
    const int64_t groups = groups_.groups();
    std::vector<std::optional<Column>> placed(columns_.columns);
    const std::vector<Column> keys = groups_.keys();
    for (size_t i = 0; i < keys.size(); ++i) placed[columns_.keys[i]] = keys[i];
    const at::Tensor all = at::arange(groups, at::TensorOptions(at::kLong).device(device_));
    for (size_t i = 0; i < states_.size(); ++i) {
      const std::vector<Column> state = states_[i]->columns_of(all);
      for (size_t j = 0; j < state.size(); ++j) placed[columns_.states[i][j]] = state[j];
    }
    std::vector<Column> columns;
    for (std::optional<Column>& column : placed) columns.push_back(std::move(column.value()));
    return Chunk(std::move(columns), groups, device_);
  }

 private:
  const CombinedColumns& columns_;
  at::Device device_;
  GroupTable groups_;
  std::vector<std::unique_ptr<AggregateState>> states_;
  GrowingReservation memory_;
};

class GroupCombineTables final : public CombineTables {
 public:
  GroupCombineTables(const CombinedColumns& columns, const CombineLimits& limits, const MemoryAccount& account)
      : columns_(columns),
        account_(account),
        device_(limits.device),
        // One table if there are no keys, as there is only one group then, and on a GPU, where splitting chunks would cost kernel launches.
        bits_(columns.keys.empty() || !limits.device.is_cpu() ? 0 : combine_table_bits(limits.lanes)),
        most_bytes_(limits.bytes >> bits_),
        tables_(size_t{1} << bits_) {}

  std::vector<Chunk> add(const Chunk& chunk, const CancelToken& token, int) override {
    std::vector<Chunk> leaving;
    if (chunk.rows() == 0) return leaving;
    added_ += chunk.rows();
    if (bits_ == 0) {
      add_to(tables_[0], chunk, leaving, token);
      return leaving;
    }
    std::vector<Column> keys;
    for (size_t place : columns_.keys) keys.push_back(chunk.column(place));
    const auto [order, offsets] = kernels::partition_rows(hash_rows(keys, token), bits_);
    const int64_t* offset = offsets.const_data_ptr<int64_t>();
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (offset[i] < offset[i + 1]) add_to(tables_[i], take_rows(chunk, order.slice(0, offset[i], offset[i + 1])), leaving, token);
    }
    return leaving;
  }

  int64_t parts() const override { return static_cast<int64_t>(tables_.size()); }
  int64_t bytes() const override { return bytes_; }

 private:
  struct Table {
    std::mutex mutex;
    // Guarded by mutex.
    std::unique_ptr<CombinedGroups> groups;  // null: empty
    SteadyTime last_added;
  };

  std::vector<Chunk> take_part(int64_t part, SteadyTime since) override {
    Table& table = tables_[static_cast<size_t>(part)];
    std::unique_ptr<CombinedGroups> groups;
    {
      std::lock_guard lock(table.mutex);
      if (table.groups == nullptr || table.last_added >= since) return {};
      groups = std::move(table.groups);
    }
    bytes_ -= groups->bytes();
    return {groups->rows()};
  }

  void add_to(Table& table, const Chunk& rows, std::vector<Chunk>& leaving, const CancelToken& token) {
    std::lock_guard lock(table.mutex);
    const int64_t bytes = table.groups == nullptr ? 0 : table.groups->bytes();
    if (table.groups == nullptr) table.groups = std::make_unique<CombinedGroups>(columns_, account_, device_);
    const int64_t groups = table.groups->groups();
    table.groups->add(rows, token);
    table.last_added = std::chrono::steady_clock::now();
    merged_ += rows.rows() - (table.groups->groups() - groups);
    bytes_ += table.groups->bytes() - bytes;
    if (table.groups->bytes() < most_bytes_) return;
    leaving.push_back(table.groups->rows());
    evicted_ += leaving.back().rows();
    bytes_ -= table.groups->bytes();
    table.groups = nullptr;
  }

  const CombinedColumns& columns_;
  const MemoryAccount account_;
  const at::Device device_;
  const int64_t bits_;
  const int64_t most_bytes_;  // per table
  std::vector<Table> tables_;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace

std::unique_ptr<CombineTables> make_group_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                         const MemoryAccount& account) {
  return std::make_unique<GroupCombineTables>(columns, limits, account);
}

std::unique_ptr<CombineTables> make_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                   const MemoryAccount& account) {
  if (limits.device.is_cpu()) {
    if (std::unique_ptr<CombineTables> words = make_word_combine_tables(columns, limits, account)) return words;
  }
  return make_group_combine_tables(columns, limits, account);
}

std::vector<Chunk> CombineTables::flush_part(int64_t part, SteadyTime since) {
  std::vector<Chunk> leaving = take_part(part, since);
  for (const Chunk& rows : leaving) evicted_ += rows.rows();
  return leaving;
}

std::vector<Chunk> CombineTables::flush_idle(SteadyTime since) {
  std::vector<Chunk> leaving;
  for (int64_t part = 0; part < parts(); ++part) {
    for (Chunk& rows : flush_part(part, since)) leaving.push_back(std::move(rows));
  }
  return leaving;
}

int64_t combine_table_bits(int lanes) {
  constexpr int64_t kMaxBits = 6;
  int64_t bits = 0;
  while (lanes > 1 && bits < kMaxBits && (int64_t{1} << bits) < 2 * lanes) ++bits;
  return bits;
}

}  // namespace pistachio
