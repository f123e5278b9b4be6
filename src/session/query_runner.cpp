#include "session/query_runner.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "cluster/rank_service.h"
#include "engine/query_pipeline.h"
#include "physical/device_choice.h"
#include "profile/explain.h"
#include "profile/query_profile.h"
#include "profile/trace_json.h"

namespace pistachio {

namespace {

// Records whether any rows were delivered: then the query cannot be retried.
class RowWitness final : public ResultReceiver {
 public:
  explicit RowWitness(ResultReceiver& receiver) : receiver_(receiver) {}
  void begin(const std::vector<ResultColumn>& columns) override { receiver_.begin(columns); }
  void add(const Chunk& chunk) override {
    saw_rows_ = saw_rows_ || chunk.rows() > 0;
    receiver_.add(chunk);
  }
  void end() override { receiver_.end(); }
  void break_off() override { receiver_.break_off(); }

  bool saw_rows() const { return saw_rows_; }

 private:
  ResultReceiver& receiver_;
  bool saw_rows_ = false;
};

}  // namespace

double QueryRunner::link_speed() const {
  if (settings_.link_bandwidth_limit > 0) return static_cast<double>(settings_.link_bandwidth_limit);
  return ranks_ == nullptr ? 0 : slowest_speed(ranks_->links().known());
}

std::vector<int64_t> QueryRunner::hosts() const {
  if (ranks_ == nullptr) return {};
  const std::vector<int>& hosts = ranks_->links().hosts();
  return {hosts.begin(), hosts.end()};
}

PlacementOptions QueryRunner::placement() const {
  return {.ranks = ranks_ == nullptr ? 1 : ranks_->ranks(),
          .spread_everything = settings_.spread_tables,
          .joins = settings_.join_distribution,
          .sorts = settings_.sort_distribution,
          .groups = settings_.group_distribution,
          .partial_aggregation = settings_.partial_aggregation,
          .spread_keys = settings_.spread_keys && !ExchangeSchedule::of(settings_).build_first,
          .local_files = settings_.local_files,
          .hosts = hosts(),
          .on_path = settings_.on_path,
          .on_path_arrival = settings_.on_path_arrival,
          .on_path_helpers = settings_.on_path_helpers,
          .threads = settings_.threads,
          .link_speed = link_speed()};
}

void QueryRunner::run(const PlannedQuery& planned, ResultReceiver& receiver, const Run& run) {
  if (planned.plan.exchanges == 0) return run_once(planned, receiver, run, {.watched = run.watched});
  RowWitness witness(receiver);
  Membership& membership = ranks_->membership();
  uint64_t losses = membership.losses();
  membership.wait_for_all(run.token);
  bool runs_again = false;
  try {
    run_once(planned, witness, run, {.watched = run.watched});
  } catch (const PeerError& error) {
    bool was_loss = membership.losses() != losses && membership.expects_returns();
    if (!was_loss || !settings_.retry_queries) throw;
    if (witness.saw_rows()) throw PeerError(error.message() + "; part of the result was already returned, so the query was not retried");
    runs_again = true;
  }
  if (runs_again) {
    membership.wait_for_all(run.token);
    run_once(planned, witness, run, {.watched = run.watched, .is_retry = true});
  }
  for (const std::string& news : membership.take_restored()) run.notes.push_back(runs_again ? news + "; the query was run again" : news);
}

at::Device QueryRunner::device_for(const PhysicalPlan& plan) const {
  const bool chooses = engine_.settings().device == DeviceChoice::Auto && plan.exchanges == 0;
  return chooses && !is_faster_on_gpu(scanned_bytes(plan), settings_.threads) ? at::Device(at::kCPU) : engine_.device();
}

void QueryRunner::run_once(const PlannedQuery& planned, ResultReceiver& receiver, const Run& run, const RankRunOptions& options) {
  // Not part of the query's time; usually done already, before planning.
  if (planned.plan.exchanges > 0) ranks_->prepare_links(settings_, run.token);
  auto begin = std::chrono::steady_clock::now();
  QueryProfile profile;
  profile.bandwidths.storage = static_cast<double>(settings_.storage_bandwidth_limit);
  if (planned.plan.exchanges == 0) {
    std::optional<EngineInstance::QueryScope> on_host;
    if (device_for(planned.plan) != engine_.device())
      on_host.emplace(engine_, settings_, EngineInstance::QueryScope::Use::Operators, at::kCPU);
    profile.ranks.push_back(PlanRun(planned.plan, run.token).run(engine_, on_host ? *on_host : run.scope, &receiver, run.token));
  } else {
    profile.ranks = ranks_->run(planned.plan, run.scope, receiver, run.token, options);
    profile.bandwidths.link = link_speed();
  }
  profile.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  profile_ = std::make_shared<const QueryProfile>(std::move(profile));
  note_skipped_records(run.notes);
  if (!settings_.trace.empty()) write_trace(planned, run.notes);
}

void QueryRunner::note_skipped_records(std::vector<std::string>& notes) const {
  int64_t skipped = 0;
  for (const RankProfile& rank : profile_->ranks) {
    for (const auto& [number, step] : rank.steps) skipped += step.skipped_records;
  }
  if (skipped > 0) notes.push_back(fmt::format("{} bad record{} skipped (ignore_errors)", skipped, skipped == 1 ? " was" : "s were"));
}

// The query has given its result: a trace that cannot be written is no error of it.
void QueryRunner::write_trace(const PlannedQuery& planned, std::vector<std::string>& notes) const {
  std::ofstream file(settings_.trace, std::ios::binary | std::ios::trunc);
  file << trace_json(step_names(planned.plan), *profile_);
  file.close();
  if (!file) notes.push_back(fmt::format("the trace could not be written to {}: {}", settings_.trace, std::strerror(errno)));
}

}  // namespace pistachio
