#include "exec/exchange/combiner_router.h"

#include "exec/adaptive/bucket_spread.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/tensor_functions.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

// Destinations are those of HashRouter.
class CombinerRouter final : public RowRouter {
 public:
  CombinerRouter(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout)
      : ranks_(context.exchanges->ranks()), keys_(exchange.keys, layout) {
    const int own = context.exchanges->rank();
    if (exchange.keys.empty()) {
      only_combiner_ = combiner_of(0, own, exchange.hosts);
      return;
    }
    at::Tensor combiners = at::empty({kBuckets}, at::kLong);
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket)
      combiners.mutable_data_ptr<int64_t>()[bucket] = combiner_of(static_cast<int>(owner_of(bucket, ranks_)), own, exchange.hosts);
    combiners_ = combiners.to(context.device);
  }

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) override {
    if (combiners_.defined()) return parts_by_owner(chunk, routing_hashes(keys_.evaluate(chunk, token)), combiners_, ranks_);
    std::vector<Chunk> parts(static_cast<size_t>(ranks_));
    parts[static_cast<size_t>(only_combiner_)] = chunk;
    return parts;
  }

 private:
  const int ranks_;
  ExpressionEvaluator keys_;
  int only_combiner_ = 0;  // all rows go to rank 0
  at::Tensor combiners_;   // the combiner of each bucket
};

}  // namespace

int combiner_of(int destination, int sender, const std::vector<int64_t>& hosts) {
  std::vector<int> local;
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == hosts[static_cast<size_t>(sender)]) local.push_back(static_cast<int>(rank));
  }
  // What stays on the host goes to its destination at once.
  if (hosts[static_cast<size_t>(destination)] == hosts[static_cast<size_t>(sender)]) return destination;
  return local[static_cast<size_t>(destination) % local.size()];
}

std::unique_ptr<RowRouter> make_combiner_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout) {
  return std::make_unique<CombinerRouter>(context, exchange, layout);
}

}  // namespace pistachio
