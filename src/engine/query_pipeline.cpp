#include "engine/query_pipeline.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/run_blocking.h"
#include "base/stop_if_cancelled.h"
#include "base/task_group.h"
#include "columns/device_copy.h"
#include "exec/pipeline/stage_run.h"
#include "kernels/ops/device_waits.h"
#include "memory/channel.h"
#include "optimizer/optimizer.h"
#include "parser/parse.h"
#include "physical/join_filters.h"
#include "physical/physical_planner.h"
#include "physical/top_filters.h"

namespace pistachio {

namespace {

// Result chunks queued for the receiver.
constexpr int64_t kResultBytes = 16 << 20;
// A scan of fewer rows starts at once instead of waiting for a join filter.
constexpr double kRowsWorthFiltering = 200'000;

class ChannelSink final : public ChunkSink {
 public:
  explicit ChannelSink(Channel<Chunk>& channel) : channel_(channel) {}
  Task<void> consume(int, Chunk chunk) override {
    int64_t bytes = std::max<int64_t>(1, chunk.memory_bytes());
    Task<void> sending = channel_.send(std::move(chunk), bytes);
    co_await sending;
  }

 private:
  Channel<Chunk>& channel_;
};

Task<void> deliver(Channel<Chunk>& channel, ResultReceiver& receiver) {
  while (true) {
    Task<std::optional<Chunk>> receiving = channel.receive();
    std::optional<Chunk> chunk = co_await receiving;
    if (!chunk) co_return;
    // A receiver may block: it writes to files and terminals.
    Chunk rows = to_device(*chunk, at::kCPU);  // here, since the device's current stream is that of the workers
    auto add = [&] { receiver.add(rows); };
    co_await run_blocking(add);
  }
}

Task<void> produce(ExecutablePlan& plan, RunContext& context, Channel<Chunk>& channel) {
  ChannelSink sink(channel);
  Task<void> producing = run_stages(plan, context, sink);
  co_await producing;
  channel.close();
}

Task<void> run_and_deliver(ExecutablePlan& plan, RunContext& context, ResultReceiver* receiver) {
  Channel<Chunk> channel(kResultBytes);
  std::vector<Task<void>> both;
  both.push_back(produce(plan, context, channel));
  if (receiver != nullptr) both.push_back(deliver(channel, *receiver));
  Task<void> all = when_all(std::move(both));
  co_await all;
}

}  // namespace

std::vector<ast::Statement> parse_sql(std::string_view text, const CancelToken& token) {
  return parse_statements(text, {}, token);
}

PlannedQuery plan_query(const ast::Query& query, TableResolver& tables, const Settings& settings, const BindOptions& options,
                        const PlacementOptions& placement) {
  auto begin = std::chrono::steady_clock::now();
  PlannedQuery planned;
  // Bind.
  LogicalPlan logical = bind_query(query, tables, options);
  for (const OutputColumn& column : logical.output) planned.columns.push_back({column.name, logical.columns.type(column.id)});
  planned.left_out = std::move(logical.left_out);
  // Optimize.
  optimize(logical, settings, options.token);
  // Plan.
  planned.plan = plan_physical(logical, options.token);
  stop_if_cancelled(options.token);
  // Place.
  if (placement.ranks > 1) place_exchanges(planned.plan, placement, options.token);
  if (settings.join_filters) place_join_filters(planned.plan, settings.spread_tables ? 0 : kRowsWorthFiltering, options.token);
  if (settings.top_filters) place_top_filters(planned.plan, options.token);
  planned.planning_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return planned;
}

// Build.
PlanRun::PlanRun(const PhysicalPlan& plan, const CancelToken& token, int rank)
    : plan_(plan), executable_(build_executable(plan, rank, token)) {}

RankProfile PlanRun::run(EngineInstance& engine, EngineInstance::QueryScope& scope, ResultReceiver* receiver, const CancelToken& token,
                         const RunPeers* peers) {
  const int workers = engine.scheduler().workers();
  const at::Device device = scope.device();
  const int lanes = device.is_cpu() ? workers : std::min(workers, static_cast<int>(scope.storage().settings.device_lanes));
  QueryExchanges* exchanges = peers == nullptr ? nullptr : &peers->exchanges;
  RunContext context{.storage = scope.storage(),
                     .memory = scope.operator_memory(),
                     .spill = scope.spill(),
                     .lanes = lanes,
                     .device = device,
                     .reads_both_inputs = exchanges == nullptr && device.is_cuda() &&
                                          engine.has_room_for_both_inputs(scope.storage().settings.device_chunk_bytes),
                     .decoders = workers,
                     .schedule = ExchangeSchedule::of(scope.storage().settings),
                     .exchanges = exchanges,
                     .message_bytes = peers == nullptr ? 0 : peers->message_bytes};
  std::optional<UseSampler> use;
  if (peers != nullptr && peers->samples_use) use.emplace(scope.read_pool(), peers->exchanges);
  std::optional<SpanRecorder> spans;
  if (!scope.storage().settings.trace.empty()) record_spans(plan_, executable_, spans.emplace());
  std::optional<kernels::DeviceWaitCounter> waits;
  if (scope.storage().settings.count_device_waits && device.is_cuda()) waits.emplace(device);
  engine.scheduler().run(run_and_deliver(executable_, context, receiver), token);
  RankProfile profile = profile_of(plan_, executable_, exchanges, scope.read_pool().statistics().bytes);
  if (use) profile.use = use->finish();
  if (spans) profile.spans = spans->take();
  if (waits) {
    const kernels::DeviceWaits& total = waits->total();
    profile.device = DeviceFigures{waits->is_counting(), total.synchronizations, total.pageable_copies, total.nanoseconds};
  }
  return profile;
}

}  // namespace pistachio
