#include "exec/exchange/combiner_router.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "columns/device_copy.h"
#include "exec/adaptive/bucket_spread.h"
#include "exec/adaptive/combining_ranks.h"
#include "exec/adaptive/on_path_choice.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/tensor_functions.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

// Rows that each rank samples: enough for a good estimate.
constexpr int64_t kRowsOfSample = 1 << 17;
// The rate of rows is looked at again after so many.
constexpr int64_t kRowsToReport = 1 << 14;
// One bucket in this many is combined even while combining is off, to notice when it starts to pay.
constexpr size_t kObservedBuckets = 32;

at::Tensor tensor_of(const std::vector<int>& ranks, at::Device device) {
  at::Tensor made = at::empty({static_cast<int64_t>(ranks.size())}, at::kLong);
  std::copy(ranks.begin(), ranks.end(), made.mutable_data_ptr<int64_t>());
  return copied_to(made, device);
}

// Rows have the same destinations as with HashRouter; without keys all go to rank 0, and the hash of the group selects the combiner.
class CombinerRouter final : public RowRouter {
 public:
  CombinerRouter(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout)
      : exchange_(exchange),
        exchanges_(*context.exchanges),
        lanes_(context.lanes),
        notes_(context.exchanges->notes()),
        ranks_(context.exchanges->ranks()),
        own_(context.exchanges->rank()),
        choice_(*context.on_path->at(exchange.number)),
        keys_(exchange.keys.empty() ? exchange.combining.groups : exchange.keys, layout),
        groups_(exchange.combining.groups, layout) {
    const std::vector<int> combiners = combiners_of_buckets(exchange, own_, ranks_);
    std::vector<int> destinations = destinations_of_buckets(exchange, ranks_);
    for (size_t bucket = 0; bucket < destinations.size(); bucket += kObservedBuckets) destinations[bucket] = combiners[bucket];
    combiners_ = tensor_of(combiners, context.device);
    destinations_ = tensor_of(destinations, context.device);
    only_combiner_ = combiners[0];
  }

  bool must_settle() const override { return choice_.may_be_off(); }
  bool may_route_before() const override { return true; }

  bool inspect(const Chunk& chunk) override {
    if (exchange_.combining.groups.empty()) return true;
    sample_.add(routing_hashes(groups_.evaluate(chunk)));
    return sample_.rows() >= kRowsOfSample;
  }

  Task<void> settle() override {
    const std::vector<int64_t>& hosts = exchange_.combining.hosts;
    Task<std::vector<std::string>> sharing = notes_.share(static_cast<uint32_t>(exchange_.number), sample_.note());
    const std::vector<std::string> all = co_await sharing;
    std::vector<std::string> of_host;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (hosts[rank] == hosts[static_cast<size_t>(own_)]) of_host.push_back(all[rank]);
    }
    choice_.estimate(KeySample::mergeable_share(of_host), KeySample::arrival_share(all, hosts));
  }

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) override {
    if (choice_.may_be_off()) count(chunk.rows());
    const at::Tensor& targets = choice_.is_on() ? combiners_ : destinations_;
    const std::vector<Column> keys = keys_.evaluate(chunk, token);
    if (!keys.empty()) return parts_by_owner(chunk, routing_hashes(keys), targets, ranks_);
    // Neither keys nor groups: an aggregation with a single group.
    std::vector<Chunk> parts(static_cast<size_t>(ranks_));
    parts[static_cast<size_t>(only_combiner_)] = chunk;
    return parts;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void count(int64_t more) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep first = 0;
    if (first_.compare_exchange_strong(first, now)) first = now;
    const int64_t before = rows_.fetch_add(more);
    if (before / kRowsToReport == (before + more) / kRowsToReport) return;
    // All lanes wait for the link at once when it is slow.
    const Clock::duration stalled = exchanges_.figures(exchange_.number).senders_stalled / lanes_;
    // The chunk's own rows are not sent yet, but their time has passed.
    choice_.produce(before + more, std::chrono::duration<double>(Clock::duration(now - first) - stalled).count());
  }

  const PhysicalExchange& exchange_;
  const QueryExchanges& exchanges_;
  const int lanes_;
  std::atomic<Clock::rep> first_ = 0;  // when the first rows came
  std::atomic<int64_t> rows_ = 0;
  ControlExchange& notes_;
  const int ranks_;
  const int own_;
  OnPathChoice& choice_;
  ExpressionEvaluator keys_;
  ExpressionEvaluator groups_;
  KeySample sample_;
  at::Tensor combiners_;     // by bucket: targets while combining is on
  at::Tensor destinations_;  // by bucket: targets while it is off; the observed buckets still go to their combiners
  int only_combiner_ = 0;    // target of a single group
};

}  // namespace

std::unique_ptr<RowRouter> make_combiner_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout) {
  return std::make_unique<CombinerRouter>(context, exchange, layout);
}

}  // namespace pistachio
