#include "exec/exchange/hash_router.h"

#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "exec/adaptive/bucket_help.h"
#include "exec/adaptive/bucket_spread.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

// Rows that each rank counts by bucket to find frequent keys.
constexpr int64_t kSkewSampleRows = 1 << 17;

class HashRouter final : public RowRouter {
 public:
  HashRouter(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout)
      : context_(context),
        number_(static_cast<uint32_t>(exchange.number)),
        ranks_(context.exchanges->ranks()),
        shared_(exchange.spreads ? context.spreads->at(exchange.number).get() : nullptr),
        keys_(exchange.keys, layout),
        loads_(kBuckets) {
    at::Tensor owners = at::empty({kBuckets}, at::kLong);
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket) owners.mutable_data_ptr<int64_t>()[bucket] = owner_of(bucket, ranks_);
    owners_ = copied_to(owners, context_.device);
  }

  bool must_settle() const override { return shared_ != nullptr; }

  bool inspect(const Chunk& chunk) override {
    at::Tensor counts = copied_to(at::bincount(buckets_of(routing_hashes(keys_.evaluate(chunk))), {}, kBuckets), at::kCPU);
    const int64_t* count = counts.const_data_ptr<int64_t>();
    for (size_t bucket = 0; bucket < loads_.size(); ++bucket) loads_[bucket] += count[bucket];
    seen_ += chunk.rows();
    return seen_ >= kSkewSampleRows;
  }

  Task<void> settle() override {
    Task<std::vector<std::string>> sharing = context_.exchanges->notes().share(number_, BucketSpread::note_of(loads_));
    std::vector<std::string> all = co_await sharing;
    std::vector<bool> of_all = BucketSpread::choose(all, ranks_);
    shared_->help.begin(of_all);
    shared_->spread.decide(std::move(of_all));
  }

  void end_of_rows() override {
    if (shared_ != nullptr) shared_->help.end_of_rows();
  }

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) override {
    at::Tensor hashes = routing_hashes(keys_.evaluate(chunk, token));
    if (shared_ != nullptr) shared_->help.count(buckets_of(hashes));
    at::Tensor owners = shared_ == nullptr ? owners_ : copied_to(shared_->help.owners(), context_.device);
    return parts_by_owner(chunk, hashes, owners, ranks_);
  }

 private:
  RunContext& context_;
  const uint32_t number_;
  const int ranks_;
  SharedBuckets* shared_;  // null: every bucket belongs to one rank
  ExpressionEvaluator keys_;
  std::vector<int64_t> loads_;
  int64_t seen_ = 0;
  at::Tensor owners_;  // the rank of each bucket, if no bucket is ever spread
};

class SpreadBuildRouter final : public RowRouter {
 public:
  SpreadBuildRouter(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout)
      : context_(context), spread_(context.spreads->at(exchange.partner)->spread), keys_(exchange.keys, layout) {}

  bool must_settle() const override { return true; }

  Task<void> settle() override {
    Task<void> waiting = spread_.wait();
    co_await waiting;
    at::Tensor of_all = at::empty({kBuckets}, at::kBool);
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket)
      of_all.mutable_data_ptr<bool>()[bucket] = spread_.of_all()[static_cast<size_t>(bucket)];
    of_all_ = copied_to(of_all, context_.device);
  }

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) override {
    std::vector<Chunk> parts(static_cast<size_t>(context_.exchanges->ranks()));
    auto own = static_cast<size_t>(context_.exchanges->rank());
    if (spread_.is_needed()) {
      at::Tensor for_all = of_all_.index_select(0, buckets_of(routing_hashes(keys_.evaluate(chunk, token))));
      if (const int64_t selected = kernels::count_true(for_all); selected > 0) parts.assign(parts.size(), select_rows(chunk, for_all, selected));
    }
    parts[own] = chunk;
    return parts;
  }

 private:
  RunContext& context_;
  BucketSpread& spread_;
  ExpressionEvaluator keys_;
  at::Tensor of_all_;
};

}  // namespace

std::unique_ptr<RowRouter> make_hash_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout) {
  return std::make_unique<HashRouter>(context, exchange, layout);
}

std::unique_ptr<RowRouter> make_spread_build_router(RunContext& context, const PhysicalExchange& exchange,
                                                    const std::vector<ColumnId>& layout) {
  return std::make_unique<SpreadBuildRouter>(context, exchange, layout);
}

}  // namespace pistachio
