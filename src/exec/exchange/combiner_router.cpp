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
// The first rows, whose bytes on the wire are found before any is routed.
constexpr int64_t kRowsToWeigh = 1 << 12;
constexpr int64_t kMinRowsToWeigh = 1 << 8;  // with fewer, most bytes are those of headers
// Rows after which the rate is checked again.
constexpr int64_t kRowsToReport = 1 << 14;
// One bucket in this many is combined even while combining is off, to notice when it starts to pay, if any share of merged rows would.
constexpr size_t kObservedBuckets = 32;

// Rows have the same destinations as with HashRouter; without keys all go to rank 0, and the hash of the group selects the combiner.
class CombinerRouter final : public RowRouter {
 public:
  CombinerRouter(RunContext& context, const std::vector<const PhysicalExchange*>& chain, const std::vector<ColumnId>& layout,
                 const std::atomic<int64_t>& waited_nanoseconds)
      : exchange_(*chain.front()),
        next_(context.exchanges->output(chain[1]->number)),
        waited_nanoseconds_(waited_nanoseconds),
        lanes_(context.lanes),
        notes_(context.exchanges->notes()),
        ranks_(context.exchanges->ranks()),
        parts_(ranks_ * static_cast<int>(chain.size())),
        own_(context.exchanges->rank()),
        choice_(*context.on_path->at(exchange_.number)),
        combined_fraction_(combined_fraction(exchange_, own_, ranks_)),
        keys_(exchange_.keys.empty() ? exchange_.combining.groups : exchange_.keys, layout),
        groups_(exchange_.combining.groups, layout) {
    const std::vector<NextHop> merging = next_hops(chain, own_, ranks_, true);
    std::vector<NextHop> passing = next_hops(chain, own_, ranks_, false);
    stops_when_on_ = places_of(merging, context.device);
    stops_when_off_ = places_of(passing, context.device);
    for (size_t bucket = 0; bucket < passing.size(); bucket += kObservedBuckets) passing[bucket] = merging[bucket];
    stops_to_observe_ = places_of(passing, context.device);
    only_stop_ = static_cast<size_t>(place_of(merging[0]));
  }

  bool must_settle() const override { return choice_.may_be_off(); }
  bool may_route_before() const override { return true; }

  bool inspect(const Chunk& chunk) override {
    if (!is_weighed_ && chunk.rows() >= kMinRowsToWeigh) weigh(chunk);
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
    const at::Tensor& stops = choice_.is_on() ? stops_when_on_ : choice_.may_begin() ? stops_to_observe_ : stops_when_off_;
    const std::vector<Column> keys = keys_.evaluate(chunk, token);
    if (!keys.empty()) return parts_by_owner(chunk, routing_hashes(keys), stops, parts_);
    // Neither keys nor groups: an aggregation with a single group.
    std::vector<Chunk> parts(static_cast<size_t>(parts_));
    parts[only_stop_] = chunk;
    return parts;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Rows may be compressed well, which the plan does not know.
  void weigh(const Chunk& chunk) {
    is_weighed_ = true;
    const Chunk some = chunk.slice(0, std::min(chunk.rows(), kRowsToWeigh));
    choice_.begin(link_seconds_of(static_cast<double>(next_.bytes_on_network(some)) / static_cast<double>(some.rows())));
  }

  double link_seconds_of(double row_bytes) const { return exchange_.combining.link_seconds * row_bytes / exchange_.combining.row_bytes; }

  // Index of the rows of a stop among the parts of a chunk.
  int64_t place_of(const NextHop& stop) const { return static_cast<int64_t>(stop.exchange) * ranks_ + stop.rank; }

  at::Tensor places_of(const std::vector<NextHop>& stops, at::Device device) const {
    at::Tensor made = at::empty({static_cast<int64_t>(stops.size())}, at::kLong);
    std::transform(stops.begin(), stops.end(), made.mutable_data_ptr<int64_t>(), [&](const NextHop& stop) { return place_of(stop); });
    return copied_to(made, device);
  }

  void count(int64_t more) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    // The first chunks of the lanes come all at once, after the time that each of them took.
    if (chunks_.fetch_add(1) < lanes_) {
      first_ = now;
      return;
    }
    const Clock::rep first = first_;
    const int64_t before = rows_.fetch_add(more);
    if (before / kRowsToReport == (before + more) / kRowsToReport) return;
    const auto leaving = static_cast<int64_t>(static_cast<double>(before + more) * combined_fraction_);
    if (const int64_t rows = next_.network_rows(); rows >= kRowsToReport) {
      choice_.set_link_seconds(link_seconds_of(static_cast<double>(next_.network_bytes()) / static_cast<double>(rows)));
    }
    // All lanes wait for the link at once when it is slow.
    const std::chrono::nanoseconds stalled(waited_nanoseconds_ / lanes_);
    // The chunk's own rows are not sent yet, but their time has passed.
    choice_.produce(leaving, std::chrono::duration<double>(Clock::duration(now - first) - stalled).count());
  }

  const PhysicalExchange& exchange_;
  const ExchangeOutput& next_;  // sends rows to other hosts
  const std::atomic<int64_t>& waited_nanoseconds_;
  const int lanes_;
  std::atomic<int64_t> chunks_ = 0;
  std::atomic<Clock::rep> first_ = 0;  // when the last of the first chunks came; later rows are counted
  std::atomic<int64_t> rows_ = 0;
  ControlExchange& notes_;
  const int ranks_;
  const int parts_;
  const int own_;
  OnPathChoice& choice_;
  const double combined_fraction_;
  ExpressionEvaluator keys_;
  ExpressionEvaluator groups_;
  KeySample sample_;
  bool is_weighed_ = false;
  // Places, by bucket, of the rows of a chunk among its parts.
  at::Tensor stops_when_on_;
  at::Tensor stops_to_observe_;  // while it is off: some buckets still go to their combiners
  at::Tensor stops_when_off_;    // while no share of merged rows would pay
  size_t only_stop_ = 0;         // of a single group
};

}  // namespace

std::unique_ptr<RowRouter> make_combiner_router(RunContext& context, const std::vector<const PhysicalExchange*>& chain,
                                                const std::vector<ColumnId>& layout, const std::atomic<int64_t>& waited_nanoseconds) {
  return std::make_unique<CombinerRouter>(context, chain, layout, waited_nanoseconds);
}

}  // namespace pistachio
