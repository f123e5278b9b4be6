#include "exec/operators/union_repeat.h"

#include <algorithm>

#include "base/check.h"
#include "columns/row_selection.h"
#include "exec/core/transform_sink.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

Task<void> UnionOperator::produce(RunContext& context, ChunkSink& sink) {
  TransformSink pass(context, metrics_, sink, [](Chunk chunk) { return chunk; });
  for (OperatorPtr& input : inputs_) {
    if (sink.is_full()) co_return;
    Task<void> producing = input->produce(context, pass);
    co_await producing;
  }
}

RepeatOperator::RepeatOperator(OperatorPtr input, ColumnId count) : Operator(input->layout()), input_(std::move(input)) {
  auto found = std::find(layout_.begin(), layout_.end(), count);
  ENSURE(found != layout_.end());
  count_ = static_cast<size_t>(found - layout_.begin());
  layout_.erase(found);
}

Task<void> RepeatOperator::produce(RunContext& context, ChunkSink& sink) {
  class Repeat final : public ChunkSink {
   public:
    Repeat(RepeatOperator& owner, RunContext& run, ChunkSink& next) : owner_(owner), run_(run), next_(next) {}
    Task<void> consume(int lane, Chunk chunk) override {
      std::vector<Column> columns = chunk.columns();
      at::Tensor counts = columns[owner_.count_].values();
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(owner_.count_));
      Chunk kept(std::move(columns), chunk.rows(), chunk.device());
      // A row may be repeated billions of times: the copies are numbered, and only those of one output chunk are materialized at a time.
      at::Tensor ends = counts.cumsum(0);
      int64_t copies = kept.rows() == 0 ? 0 : ends[kept.rows() - 1].item<int64_t>();
      int64_t step = run_.chunk_rows();
      for (int64_t begin = 0; begin < copies && !next_.is_full(); begin += step) {
        at::Tensor numbers = at::arange(begin, std::min(begin + step, copies), counts.options());
        at::Tensor rows = at::searchsorted(ends, numbers, /*out_int32=*/false, /*right=*/true);
        Task<void> passing = pass_on(owner_.metrics_, next_, lane, take_rows(kept, rows));
        co_await passing;
      }
    }
    bool is_full() const override { return next_.is_full(); }

   private:
    RepeatOperator& owner_;
    RunContext& run_;
    ChunkSink& next_;
  } repeat(*this, context, sink);
  Task<void> producing = input_->produce(context, repeat);
  co_await producing;
}

}  // namespace pistachio
