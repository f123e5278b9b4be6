#include "frontend/bench/on_path_stages.h"

#include <algorithm>

#include "base/check.h"
#include "frontend/bench/rank_figures.h"

namespace pistachio {

namespace {

// The figures of one step on all ranks; of a step that the plan does not have, nothing.
class StepOnRanks {
 public:
  StepOnRanks(const QueryProfile& profile, std::optional<uint32_t> number, int64_t threads) : threads_(static_cast<double>(threads)) {
    if (number) ranks_ = profile.step(*number);
  }

  size_t ranks() const { return ranks_.size(); }
  StepFigures on(size_t rank) const { return rank < ranks_.size() ? ranks_[rank].value_or(StepFigures()) : StepFigures(); }
  StepFigures total() const { return total_of(ranks_); }
  double work(size_t rank) const { return seconds(on(rank).nanoseconds); }
  double seconds(int64_t nanoseconds) const { return static_cast<double>(nanoseconds) / 1e9 / threads_; }

 private:
  std::vector<std::optional<StepFigures>> ranks_;
  double threads_;
};

// The first step with such a name, at or after `from`.
std::optional<uint32_t> find_step(const std::vector<std::string>& steps, std::string_view beginning, size_t from = 0) {
  for (size_t i = from; i < steps.size(); ++i) {
    if (steps[i].starts_with(beginning)) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

template <typename Figure>
double busiest(size_t ranks, const Figure& figure) {
  double most = 0;
  for (size_t rank = 0; rank < ranks; ++rank) most = std::max(most, figure(rank));
  return most;
}

}  // namespace

std::optional<double> OnPathRun::combiner_rate() const {
  if (combiner_rows == 0 || combiner_seconds <= 0) return std::nullopt;
  return static_cast<double>(combiner_rows) / combiner_seconds;
}

OnPathRun on_path_run(const std::vector<std::string>& steps, const QueryProfile& profile, int64_t threads) {
  const std::optional<uint32_t> gathering = find_step(steps, "gather");
  ENSURE(gathering && *gathering > 0, "the plan of the on-path benchmark must gather keys below a final aggregate");
  auto step = [&](std::optional<uint32_t> number) { return StepOnRanks(profile, number, threads); };
  const StepOnRanks final = step(*gathering - 1);  // its only input is the exchange
  const StepOnRanks gather = step(gathering);
  const StepOnRanks combine = step(find_step(steps, "combining aggregate", *gathering));
  const StepOnRanks hand_over = step(find_step(steps, "to combiner", *gathering));
  const StepOnRanks partial = step(find_step(steps, "partial aggregate", *gathering));
  const StepOnRanks scan = step(find_step(steps, "scan", *gathering));
  const size_t ranks = profile.ranks.size();

  OnPathRun run{.seconds = profile.seconds};
  run.stages.read = busiest(ranks, [&](size_t rank) { return scan.work(rank); });
  run.stages.local_dedupe = busiest(ranks, [&](size_t rank) { return partial.work(rank); });
  // The sink combines nothing: the exchange to the combiners brings it only rows that are not merged on their way (on_path = auto).
  run.stages.combine = busiest(ranks, [&](size_t rank) { return rank == 0 ? 0 : hand_over.work(rank) + combine.work(rank); });
  run.stages.send = busiest(ranks, [&](size_t rank) {
    if (rank == 0) return 0.0;
    const StepFigures own = gather.on(rank);
    // Both waits are for the same link: producers for room in the send queue, the queue for credit.
    return gather.work(rank) + gather.seconds(std::max(own.senders_stalled, own.credit_stalled));
  });
  run.stages.receive = gather.work(0) + hand_over.work(0) + combine.work(0);
  run.stages.final_dedupe = final.work(0);
  run.wire_rows = gather.on(0).rows;
  const int64_t direct_bytes = hand_over.on(0).bytes_received;
  run.wire_bytes = gather.on(0).bytes_received + direct_bytes;
  run.host_bytes = hand_over.total().bytes_received - direct_bytes;
  run.combiner_rows = combine.total().rows_to_merge;
  run.combiner_seconds = combine.seconds(combine.total().nanoseconds - combine.on(0).nanoseconds);
  return run;
}

OnPathRun median_of(const std::vector<OnPathRun>& runs) {
  auto middle = [&](const auto& figure) {
    std::vector<double> values;
    for (const OnPathRun& run : runs) values.push_back(static_cast<double>(figure(run)));
    return median(std::move(values));
  };
  auto middle_count = [&](int64_t OnPathRun::*count) {
    return static_cast<int64_t>(middle([&](const OnPathRun& run) { return run.*count; }));
  };
  OnPathRun made;
  made.seconds = middle([](const OnPathRun& run) { return run.seconds; });
  made.combiner_seconds = middle([](const OnPathRun& run) { return run.combiner_seconds; });
  for (const NamedStage& stage : kOnPathStages)
    made.stages.*stage.seconds = middle([&](const OnPathRun& run) { return run.stages.*stage.seconds; });
  for (int64_t OnPathRun::*count : {&OnPathRun::wire_rows, &OnPathRun::wire_bytes, &OnPathRun::host_bytes, &OnPathRun::combiner_rows})
    made.*count = middle_count(count);
  return made;
}

}  // namespace pistachio
