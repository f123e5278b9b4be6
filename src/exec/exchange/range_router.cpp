#include "exec/exchange/range_router.h"

#include <algorithm>

#include "base/error.h"
#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/core/held_chunks.h"
#include "exec/core/row_order.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"
#include "network/exchange_hub.h"
#include "network/message_payload.h"

namespace pistachio {

namespace {

// Rows that a rank inspects before ranges are chosen, and about how many of them it shares as a sample.
constexpr int64_t kRangeInspectedRows = 1 << 18;
constexpr int64_t kRangeSampleRows = 2048;

class RangeRouter final : public RowRouter {
 public:
  RangeRouter(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout)
      : context_(context), number_(static_cast<uint32_t>(exchange.number)), order_(exchange.order, layout) {
    for (const SortKey& key : exchange.order) key_types_.push_back(key.expression->type());
  }

  bool must_settle() const override { return true; }

  bool inspect(const Chunk& chunk) override {
    Chunk keys = order_.key_values(chunk);
    const int64_t picked = std::clamp<int64_t>(keys.rows() * kRangeSampleRows / kRangeInspectedRows, 1, kRangeSampleRows);
    // Evenly spaced rows: the middle of each of `picked` equal parts.
    at::Tensor rows = at::arange(picked, at::TensorOptions(at::kLong).device(keys.device())).mul_(keys.rows()).add_(keys.rows() / 2);
    sample_.push_back(take_rows(keys, rows.div_(picked, "floor")));
    seen_ += chunk.rows();
    return seen_ >= kRangeInspectedRows;
  }

  Task<void> settle() override {
    std::string own;
    if (!sample_.empty()) own = text_of(pack_chunk(concatenate_chunks(sample_, key_types_, context_.device)));
    sample_.clear();
    Task<std::vector<std::string>> sharing = context_.exchanges->notes().share(number_, std::move(own));
    std::vector<std::string> all = co_await sharing;
    const TaskContext& task = co_await current_context();
    choose_bounds(all, task.token);
  }

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) override {
    int ranks = context_.exchanges->ranks();
    std::vector<Chunk> parts;
    if (bounds_.rows() == 0) return {chunk};
    at::Tensor range = ranges_of(chunk, token);
    at::Tensor order = kernels::sort_order({range});
    at::Tensor counts = copied_to(at::bincount(range, {}, ranks), at::kCPU);
    int64_t begin = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      int64_t count = counts[rank].item<int64_t>();
      parts.push_back(take_rows(chunk, order.slice(0, begin, begin + count)));
      begin += count;
    }
    return parts;
  }

 private:
  // Every rank has the same samples and so chooses the same bounds.
  void choose_bounds(const std::vector<std::string>& notes, const CancelToken& token) {
    std::vector<Chunk> samples;
    for (const std::string& note : notes) {
      if (note.empty()) continue;
      Chunk keys = to_device(unpack_chunk(payload_of(note)), context_.device);
      if (keys.columns().size() != key_types_.size()) throw PeerError("a rank sent a sample of different sort keys");
      samples.push_back(std::move(keys));
    }
    if (samples.empty()) return;
    Chunk all = concatenate_chunks(samples, key_types_, context_.device, token);
    at::Tensor order =
        call_stoppable(token, [&](const at::Tensor& stop) { return kernels::sort_order(order_.words_of(all, stop), stop); });
    int64_t ranks = context_.exchanges->ranks();
    at::Tensor places = at::arange(1, ranks, order.options()).mul_(all.rows()).div_(ranks, "floor");
    Chunk bounds = take_rows(all, order.index_select(0, places));
    std::vector<Column> own;
    for (const Column& column : bounds.columns()) own.push_back(own_column(column));
    bounds_ = Chunk(std::move(own), bounds.rows(), bounds.device());
  }

  // int64 [rows]: the range of each row, which is the number of bounds below it. Rows with equal keys get the same range.
  at::Tensor ranges_of(const Chunk& chunk, const CancelToken& token) const {
    Chunk together = concatenate_chunks({bounds_, order_.key_values(chunk, token)}, key_types_, context_.device, token);
    std::vector<at::Tensor> words =
        call_stoppable(token, [&](const at::Tensor& stop) { return order_.words_of(together, stop); });
    int64_t bounds = bounds_.rows();
    at::Tensor range = at::zeros({chunk.rows()}, context_.tensors_of(at::kLong));
    for (int64_t bound = 0; bound < bounds; ++bound) {
      token.throw_if_cancelled();
      // Lexicographic comparison, from the least significant word up: greater in this word, or equal and above in the later ones.
      at::Tensor above;
      for (size_t i = words.size(); i-- > 0;) {
        at::Tensor own = words[i].slice(0, bounds);
        at::Tensor limit = words[i][bound];
        above = above.defined() ? own.gt(limit).logical_or(own.eq(limit).logical_and(above)) : own.gt(limit);
      }
      range.add_(above);
    }
    return range;
  }

  RunContext& context_;
  const uint32_t number_;
  RowOrder order_;
  std::vector<LogicalType> key_types_;
  std::vector<Chunk> sample_;
  int64_t seen_ = 0;
  Chunk bounds_;  // the key values between the ranges; without rows if no rank has any
};

}  // namespace

std::unique_ptr<RowRouter> make_range_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout) {
  return std::make_unique<RangeRouter>(context, exchange, layout);
}

}  // namespace pistachio
