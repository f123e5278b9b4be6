#include "exec/operators/limit.h"

#include <algorithm>
#include <mutex>

namespace pistachio {

LimitOperator::LimitOperator(OperatorPtr input, std::optional<int64_t> limit, int64_t offset)
    : Operator(input->layout()), input_(std::move(input)), limit_(limit.value_or(INT64_MAX)), offset_(offset) {}

Task<void> LimitOperator::produce(RunContext& context, ChunkSink& sink) {
  class Limit final : public ChunkSink {
   public:
    Limit(LimitOperator& owner, ChunkSink& next) : owner_(owner), next_(next), skip_(owner.offset_), take_(owner.limit_) {}
    Task<void> consume(int lane, Chunk chunk) override {
      Chunk part = cut(chunk);
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(part));
      co_await passing;
    }
    bool is_full() const override {
      std::lock_guard lock(mutex_);
      return take_ == 0 || next_.is_full();
    }

   private:
    Chunk cut(const Chunk& chunk) {
      std::lock_guard lock(mutex_);
      int64_t begin = std::min(skip_, chunk.rows());
      skip_ -= begin;
      int64_t count = std::min(take_, chunk.rows() - begin);
      take_ -= count;
      return chunk.slice(begin, count);
    }

    LimitOperator& owner_;
    ChunkSink& next_;
    mutable std::mutex mutex_;
    int64_t skip_;  // guarded by mutex_
    int64_t take_;  // guarded by mutex_
  } limit(*this, sink);
  if (limit_ == 0) co_return;
  Task<void> producing = input_->produce(context, limit);
  co_await producing;
}

}  // namespace pistachio
