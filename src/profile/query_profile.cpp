#include "profile/query_profile.h"

#include <algorithm>
#include <numeric>

namespace pistachio {

namespace {

// All counters of a step, listed once for adding and for both directions of serialization.
constexpr int64_t StepFigures::*kFigures[] = {&StepFigures::rows,
                                              &StepFigures::chunks,
                                              &StepFigures::nanoseconds,
                                              &StepFigures::bytes,
                                              &StepFigures::spilled,
                                              &StepFigures::skipped_records,
                                              &StepFigures::from_others,
                                              &StepFigures::rows_sent,
                                              &StepFigures::bytes_sent,
                                              &StepFigures::bytes_across_network,
                                              &StepFigures::messages_sent,
                                              &StepFigures::bytes_received,
                                              &StepFigures::messages_received,
                                              &StepFigures::senders_stalled,
                                              &StepFigures::credit_stalled,
                                              &StepFigures::receivers_stalled,
                                              &StepFigures::rows_to_merge,
                                              &StepFigures::rows_merged,
                                              &StepFigures::ranks_that_decide,
                                              &StepFigures::ranks_that_merge,
                                              &StepFigures::merging_changes,
                                              &StepFigures::expected_percent,
                                              &StepFigures::arrival_percent,
                                              &StepFigures::needed_percent,
                                              &StepFigures::picoseconds_to_produce,
                                              &StepFigures::picoseconds_to_merge,
                                              &StepFigures::picoseconds_on_link,
                                              &StepFigures::synchronizations,
                                              &StepFigures::pageable_copies,
                                              &StepFigures::device_waited};

void number_steps(const PhysicalNode& node, std::map<const PhysicalNode*, uint32_t>& numbers) {
  numbers.emplace(&node, static_cast<uint32_t>(numbers.size()));
  for (const PhysicalPtr& child : node.children) number_steps(*child, numbers);
}

void add_work(StepFigures& step, const OperatorMetrics& metrics) {
  step.chunks += metrics.chunks;
  step.nanoseconds += metrics.nanoseconds;
  step.synchronizations += metrics.device_waits.synchronizations;
  step.pageable_copies += metrics.device_waits.pageable_copies;
  step.device_waited += metrics.device_waits.nanoseconds;
}

void add_exchange(StepFigures& step, const ExchangeFigures& figures) {
  step.bytes_sent = figures.bytes_sent;
  step.bytes_across_network = figures.bytes_across_network;
  step.messages_sent = figures.messages_sent;
  step.bytes_received = figures.bytes_received;
  step.messages_received = figures.messages_received;
  step.senders_stalled = figures.senders_stalled.count();
  step.credit_stalled = figures.credit_stalled.count();
  step.receivers_stalled = figures.receivers_stalled.count();
}

void put_device(ByteWriter& writer, const DeviceFigures& device) {
  writer.put<uint8_t>(device.are_known ? 1 : 0);
  writer.put(device.synchronizations);
  writer.put(device.pageable_copies);
  writer.put(device.waited);
}

DeviceFigures get_device(ByteReader& reader) {
  DeviceFigures device;
  device.are_known = reader.get<uint8_t>() != 0;
  device.synchronizations = reader.get<int64_t>();
  device.pageable_copies = reader.get<int64_t>();
  device.waited = reader.get<int64_t>();
  return device;
}

}  // namespace

int64_t RankProfile::bytes_received() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0},
                         [](int64_t sum, const auto& one) { return sum + one.second.bytes_received; });
}

std::map<const PhysicalNode*, uint32_t> step_numbers(const PhysicalPlan& plan) {
  std::map<const PhysicalNode*, uint32_t> numbers;
  number_steps(*plan.root, numbers);
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) number_steps(*shared, numbers);
  }
  return numbers;
}

void record_spans(const PhysicalPlan& plan, const ExecutablePlan& executable, SpanRecorder& recorder) {
  const std::map<const PhysicalNode*, uint32_t> numbers = step_numbers(plan);
  for (const ExecutablePlan::Step& one : executable.steps) one.op->metrics().spans = {&recorder, numbers.at(one.node)};
  for (const ExecutablePlan::Stage& stage : executable.stages) stage.metrics->spans = {&recorder, numbers.at(stage.exchange)};
}

RankProfile profile_of(const PhysicalPlan& plan, const ExecutablePlan& executed, const QueryExchanges* exchanges, int64_t bytes_read) {
  RankProfile profile{.bytes_read = bytes_read, .steps = {}};
  std::map<const PhysicalNode*, uint32_t> numbers = step_numbers(plan);
  for (const ExecutablePlan::Step& one : executed.steps) {
    StepFigures& step = profile.steps[numbers.at(one.node)];
    const OperatorMetrics& metrics = one.op->metrics();
    step.gives_rows = true;
    step.rows = metrics.rows;
    step.bytes = metrics.bytes;
    step.spilled = metrics.spilled;
    step.skipped_records = metrics.skipped_records;
    step.from_others = metrics.from_others;
    step.rows_to_merge = metrics.rows_to_merge;
    step.rows_merged = metrics.rows_merged;
    step.ranks_that_decide = metrics.merging_is_on >= 0 ? 1 : 0;
    step.ranks_that_merge = metrics.merging_is_on > 0 ? 1 : 0;
    step.merging_changes = metrics.merging_changes;
    step.expected_percent = metrics.expected_percent;
    step.arrival_percent = metrics.arrival_percent;
    step.needed_percent = metrics.needed_percent;
    step.picoseconds_to_produce = metrics.picoseconds_to_produce;
    step.picoseconds_to_merge = metrics.picoseconds_to_merge;
    step.picoseconds_on_link = metrics.picoseconds_on_link;
    add_work(step, metrics);
  }
  for (const ExecutablePlan::Stage& stage : executed.stages) {
    StepFigures& step = profile.steps[numbers.at(stage.exchange)];
    step.rows_sent = stage.metrics->rows;
    add_work(step, *stage.metrics);
    if (exchanges != nullptr) add_exchange(step, exchanges->figures(stage.exchange->as<PhysicalExchange>()->number));
  }
  return profile;
}

void put_profile(ByteWriter& writer, const RankProfile& profile) {
  writer.put(profile.bytes_read);
  writer.put<uint64_t>(profile.steps.size());
  for (const auto& [number, step] : profile.steps) {
    writer.put(number);
    writer.put<uint8_t>(step.gives_rows ? 1 : 0);
    for (int64_t StepFigures::*figure : kFigures) writer.put(step.*figure);
  }
  writer.put<uint64_t>(profile.use.size());
  for (const UseSample& sample : profile.use) writer.put(sample);
  writer.put<uint64_t>(profile.spans.size());
  for (const Span& span : profile.spans) writer.put(span);
  writer.put<uint8_t>(profile.device ? 1 : 0);
  if (profile.device) put_device(writer, *profile.device);
}

RankProfile get_profile(ByteReader& reader) {
  RankProfile profile;
  profile.bytes_read = reader.get<int64_t>();
  size_t count = reader.get_count();
  for (size_t i = 0; i < count; ++i) {
    StepFigures& step = profile.steps[reader.get<uint32_t>()];
    step.gives_rows = reader.get<uint8_t>() != 0;
    for (int64_t StepFigures::*figure : kFigures) step.*figure = reader.get<int64_t>();
  }
  size_t samples = reader.get_count(sizeof(UseSample));
  for (size_t i = 0; i < samples; ++i) profile.use.push_back(reader.get<UseSample>());
  size_t spans = reader.get_count(sizeof(Span));
  for (size_t i = 0; i < spans; ++i) profile.spans.push_back(reader.get<Span>());
  if (reader.get<uint8_t>() != 0) profile.device = get_device(reader);
  return profile;
}

int64_t RankProfile::bytes_spilled() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0}, [](int64_t sum, const auto& one) { return sum + one.second.spilled; });
}

int64_t QueryProfile::bytes_spilled() const {
  return std::accumulate(ranks.begin(), ranks.end(), int64_t{0},
                         [](int64_t sum, const RankProfile& rank) { return sum + rank.bytes_spilled(); });
}

int64_t QueryProfile::bytes_read() const {
  return std::accumulate(ranks.begin(), ranks.end(), int64_t{0},
                         [](int64_t sum, const RankProfile& rank) { return sum + rank.bytes_read; });
}

std::optional<DeviceFigures> QueryProfile::device() const {
  std::optional<DeviceFigures> sum;
  for (const RankProfile& rank : ranks) {
    if (!rank.device) continue;
    if (!sum) sum = DeviceFigures{.are_known = true};
    sum->are_known = sum->are_known && rank.device->are_known;
    sum->synchronizations += rank.device->synchronizations;
    sum->pageable_copies += rank.device->pageable_copies;
    sum->waited += rank.device->waited;
  }
  return sum;
}

std::vector<std::optional<StepFigures>> QueryProfile::step(uint32_t number) const {
  std::vector<std::optional<StepFigures>> figures;
  for (const RankProfile& rank : ranks) {
    auto found = rank.steps.find(number);
    figures.push_back(found == rank.steps.end() ? std::nullopt : std::optional(found->second));
  }
  return figures;
}

std::optional<double> QueryProfile::shortest_seconds() const {
  if (bandwidths.storage <= 0 && bandwidths.link <= 0) return std::nullopt;
  double shortest = 0;
  // Spilled bytes are written and read.
  if (bandwidths.storage > 0)
    shortest = static_cast<double>(bytes_read() + 2 * bytes_spilled()) / (bandwidths.storage * static_cast<double>(ranks.size()));
  if (bandwidths.link > 0) {
    for (const RankProfile& rank : ranks) shortest = std::max(shortest, static_cast<double>(rank.bytes_received()) / bandwidths.link);
  }
  return shortest;
}

StepFigures total_of(const std::vector<std::optional<StepFigures>>& ranks) {
  StepFigures total;
  for (const std::optional<StepFigures>& rank : ranks) {
    if (!rank) continue;
    total.gives_rows = total.gives_rows || rank->gives_rows;
    for (int64_t StepFigures::*figure : kFigures) total.*figure += (*rank).*figure;
  }
  return total;
}

double imbalance(const std::vector<int64_t>& shares) {
  int64_t sum = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  if (sum == 0) return 1;
  int64_t largest = *std::max_element(shares.begin(), shares.end());
  return static_cast<double>(largest) * static_cast<double>(shares.size()) / static_cast<double>(sum);
}

}  // namespace pistachio
