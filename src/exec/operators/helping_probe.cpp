#include "exec/operators/helping_probe.h"

#include <algorithm>

#include "columns/device_copy.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/adaptive/bucket_spread.h"
#include "exec/core/held_chunks.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// More build rows than this are not worth broadcasting.
constexpr int64_t kMaxSharedRows = 1 << 17;

}  // namespace

HelpingProbe::HelpingProbe(const JoinShape& shape, const SpreadKeys& spread, BuildSide& build, RunContext& context, OperatorMetrics& metrics,
                           ChunkSink& next)
    : shape_(shape),
      context_(context),
      metrics_(metrics),
      next_(next),
      build_(build),
      probe_keys_(spread.probe, shape.left_layout),
      build_keys_(spread.build, shape.right_layout),
      table_of_bucket_(at::zeros({kBuckets}, at::kLong)) {
  probes_.push_back(std::make_unique<JoinProbe>(shape, build, context, metrics, next));
}

Task<void> HelpingProbe::consume(int lane, Chunk chunk) {
  Tables tables = this->tables();
  if (tables.probes.size() == 1) {
    Task<void> probing = tables.probes[0]->consume(lane, std::move(chunk));
    co_await probing;
    co_return;
  }
  const TaskContext& task = co_await current_context();
  at::Tensor table = tables.of_bucket.index_select(0, buckets_of(routing_hashes(probe_keys_.evaluate(chunk, task.token))));
  for (size_t i = 0; i < tables.probes.size(); ++i) {
    at::Tensor mask = table.eq(static_cast<int64_t>(i));
    const int64_t selected = kernels::count_true(mask);
    if (selected == 0) continue;
    Task<void> probing = tables.probes[i]->consume(lane, select_rows(chunk, mask, selected));
    co_await probing;
  }
}

// Hashes the build rows in steps: the hashes of all of them at once would take memory that is not reserved.
std::optional<Chunk> HelpingProbe::build_rows(const BucketHelp::Buckets& buckets, int64_t most_bytes) {
  MemoryAccount account = context_.memory.make_child("help");
  Reservation memory = account.reserve_now(2 * most_bytes, ReservationKind::Held);
  at::Tensor wanted = at::zeros({kBuckets}, at::kBool);
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket) wanted.mutable_data_ptr<bool>()[bucket] = buckets[bucket];
  wanted = copied_to(wanted, context_.device);
  std::vector<Chunk> found;
  int64_t found_rows = 0;
  int64_t found_bytes = 0;
  int64_t step = context_.chunk_rows();
  for (int64_t begin = 0; begin < build_.rows().rows(); begin += step) {
    Chunk part = build_.rows().slice(begin, std::min(step, build_.rows().rows() - begin));
    at::Tensor mask = wanted.index_select(0, buckets_of(routing_hashes(build_keys_.evaluate(part))));
    int64_t rows = kernels::count_true(mask);
    if (rows == 0) continue;
    found_rows += rows;
    if (found_rows > kMaxSharedRows) return std::nullopt;
    Chunk selected = select_rows(part, mask, rows);
    std::vector<Column> columns;  // copies without the texts of unselected rows
    for (const Column& column : selected.columns()) columns.push_back(own_column(column));
    found.emplace_back(std::move(columns), rows, part.device());
    found_bytes += found.back().memory_bytes();
    if (found_bytes > most_bytes) return std::nullopt;
  }
  return concatenate_chunks(found, shape_.right_types, context_.device);
}

void HelpingProbe::take_over(const BucketHelp::Buckets& buckets, std::vector<Chunk> rows) {
  auto build = std::make_unique<BuildSide>(shape_, context_.memory.make_child("join"));
  build_from(*build, rows);
  auto probe = std::make_unique<JoinProbe>(shape_, *build, context_, metrics_, next_);
  std::lock_guard lock(mutex_);
  at::Tensor tables = table_of_bucket_.clone();
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    if (buckets[bucket]) tables.mutable_data_ptr<int64_t>()[bucket] = static_cast<int64_t>(probes_.size());
  }
  table_of_bucket_ = tables;
  builds_.push_back(std::move(build));
  probes_.push_back(std::move(probe));
  metrics_.from_others += std::count(buckets.begin(), buckets.end(), true);
}

void HelpingProbe::build_from(BuildSide& build, const std::vector<Chunk>& chunks) const {
  int64_t bytes = 0;
  for (const Chunk& chunk : chunks) {
    bytes += chunk.memory_bytes();
    for (const Column& column : chunk.columns()) bytes += column.is_dictionary() ? column.dictionary_column()->memory_bytes() : 0;
  }
  std::vector<Reservation> memory;
  memory.push_back(context_.memory.reserve_now(2 * bytes, ReservationKind::Held));
  std::vector<Chunk> here;
  for (const Chunk& chunk : chunks) here.push_back(to_device(chunk, context_.device));
  // No token: the rows of a few messages take too little time to need cancellation.
  build.build(context_, concatenate_chunks(here, shape_.right_types, context_.device), std::move(memory), {});
}

HelpingProbe::Tables HelpingProbe::tables() {
  std::lock_guard lock(mutex_);
  Tables made;
  for (const std::unique_ptr<JoinProbe>& probe : probes_) made.probes.push_back(probe.get());
  if (probes_.size() > 1) made.of_bucket = copied_to(table_of_bucket_, context_.device);
  return made;
}

}  // namespace pistachio
