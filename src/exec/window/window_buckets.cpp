#include "exec/window/window_buckets.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "columns/concatenate_columns.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/core/memory_relief.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Rows of a bucket: with more the words of a sort do not stay in the cache, with fewer the calls for each bucket cost more than its rows.
constexpr int64_t kMaxRowsPerBucket = 64 << 10;
constexpr int64_t kChunksPerBucket = 4;
constexpr int64_t kMaxBucketBits = 10;
// Buckets' worth of rows that are divided together.
constexpr int64_t kBucketsPerShard = 4;
// Other parts of the engine use the bits of the hashes as they are, or combined with other numbers.
constexpr int64_t kBucketSalt = 2'000;

// A slice of text shares the bytes or the dictionary of all rows, which concatenating would copy for each bucket again.
Chunk with_own_text(const Chunk& slice) {
  std::vector<Column> columns;
  for (const Column& column : slice.columns()) {
    const bool shares_much = column.type().is_text() && (!column.is_dictionary() || column.dictionary_column()->rows() > column.rows());
    columns.push_back(shares_much ? own_column(column) : column);
  }
  return Chunk(std::move(columns), slice.rows(), slice.device());
}

}  // namespace

Chunk join_pieces(std::vector<Chunk> pieces, const WindowPlan& plan, at::Device device, const CancelToken& token) {
  if (pieces.size() == 1) return pieces[0];
  int64_t rows = 0;
  std::vector<std::vector<Column>> parts(plan.types.size());
  for (const Chunk& piece : pieces) {
    rows += piece.rows();
    for (size_t i = 0; i < parts.size(); ++i) parts[i].push_back(piece.column(i));
  }
  pieces.clear();
  std::vector<Column> columns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<Column> own = std::exchange(parts[i], {});
    columns.push_back(own.empty()               ? empty_column(plan.types[i], device)
                      : plan.types[i].is_text() ? concatenate_coded(own)
                                                : concatenate_columns(own, token));
  }
  return Chunk(std::move(columns), rows, device);
}

int64_t WindowBuckets::Shard::begin(int64_t bucket) const {
  return offsets.const_data_ptr<int64_t>()[bucket];
}

Task<void> WindowBuckets::divide(WindowRows::Pieces pieces, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  memory_ = std::move(pieces.memory);
  const int64_t rows_per_bucket = std::min(kMaxRowsPerBucket, kChunksPerBucket * context_.settings().chunk_rows);
  const int64_t rows_per_shard = kBucketsPerShard * rows_per_bucket;
  int64_t rows = 0;
  std::vector<std::vector<Chunk>> groups;
  int64_t rows_of_group = rows_per_shard;
  for (Chunk& piece : pieces.chunks) {
    if (rows_of_group >= rows_per_shard) {
      groups.emplace_back();
      rows_of_group = 0;
    }
    rows += piece.rows();
    rows_of_group += piece.rows();
    groups.back().push_back(std::move(piece));
  }
  if (!plan_.partition.empty() && rows > rows_per_bucket)
    bits_ = std::min<int64_t>(kMaxBucketBits, std::bit_width(static_cast<uint64_t>(rows / rows_per_bucket)));
  shards_.resize(groups.size());
  auto divide_group = [&](int, int64_t group) -> Task<void> {
    std::vector<Chunk>& chunks = groups[static_cast<size_t>(group)];
    int64_t bytes = 0;
    for (const Chunk& chunk : chunks) bytes += chunk.memory_bytes();
    Task<void> preparing = prepare_memory(context_, bytes);
    co_await preparing;
    WorkTimer timer(metrics);
    shards_[static_cast<size_t>(group)] = make_shard(std::move(chunks), task.token);
  };
  Task<void> dividing = for_each_lane(context_, static_cast<int64_t>(groups.size()), divide_group);
  co_await dividing;
}

WindowBuckets::Shard WindowBuckets::make_shard(std::vector<Chunk> pieces, const CancelToken& token) const {
  Chunk rows = join_pieces(std::move(pieces), plan_, context_.device, token);
  if (bits_ == 0) {
    at::Tensor all = at::zeros({2}, at::kLong);
    all.mutable_data_ptr<int64_t>()[1] = rows.rows();
    return {std::move(rows), std::move(all)};
  }
  const at::Tensor hashes = plan_.partition_hashes(rows, token);
  const at::Tensor salted = kernels::hash64_combine(hashes, at::full({hashes.numel()}, kBucketSalt, hashes.options()));
  auto [order, offsets] = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::partition_rows(salted, bits_, stop); });
  return {take_rows(rows, order), offsets.to(at::kCPU)};
}

int64_t WindowBuckets::rows_of(int64_t bucket) const {
  int64_t rows = 0;
  for (const Shard& shard : shards_) rows += shard.begin(bucket + 1) - shard.begin(bucket);
  return rows;
}

int64_t WindowBuckets::bytes_of(int64_t bucket) const {
  int64_t bytes = 0;
  for (const Shard& shard : shards_) {
    const int64_t rows = shard.begin(bucket + 1) - shard.begin(bucket);
    if (rows > 0) bytes += shard.rows.memory_bytes() * rows / shard.rows.rows();
  }
  return bytes;
}

Chunk WindowBuckets::take(int64_t bucket, const CancelToken& token) {
  std::vector<Chunk> parts;
  if (bits_ == 0) {
    for (Shard& shard : shards_) parts.push_back(std::exchange(shard.rows, {}));
    return join_pieces(std::move(parts), plan_, context_.device, token);
  }
  for (const Shard& shard : shards_) {
    const int64_t begin = shard.begin(bucket);
    const int64_t rows = shard.begin(bucket + 1) - begin;
    if (rows > 0) parts.push_back(with_own_text(shard.rows.slice(begin, rows)));
  }
  return join_pieces(std::move(parts), plan_, context_.device, token);
}

}  // namespace pistachio
