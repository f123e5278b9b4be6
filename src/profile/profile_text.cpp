#include "profile/profile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format_bytes.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

double milliseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e6;
}

// One entry per rank: show(figures), or `-` where has_part() is false.
template <typename HasPart, typename Show>
std::string each_rank(const std::vector<std::optional<StepFigures>>& ranks, HasPart has_part, Show show) {
  std::vector<std::string> parts;
  for (const std::optional<StepFigures>& rank : ranks) parts.push_back(rank && has_part(*rank) ? show(*rank) : std::string("-"));
  return fmt::format("{}", fmt::join(parts, "/"));
}

bool gives_rows(const StepFigures& step) {
  return step.gives_rows;
}

bool is_there(const StepFigures&) {
  return true;
}

// The total over the ranks that take part, and its imbalance.
template <typename HasPart>
std::vector<int64_t> shares_of(const std::vector<std::optional<StepFigures>>& ranks, HasPart has_part, int64_t StepFigures::*figure) {
  std::vector<int64_t> shares;
  for (const std::optional<StepFigures>& rank : ranks) {
    if (rank && has_part(*rank)) shares.push_back((*rank).*figure);
  }
  return shares;
}

std::string imbalance_text(const std::vector<int64_t>& shares) {
  return shares.size() < 2 ? "" : fmt::format(" (imbalance {:.1f})", imbalance(shares));
}

std::string count(int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string copies(int64_t number) {
  return number == 1 ? "1 pageable copy" : fmt::format("{} pageable copies", number);
}

std::string bandwidth_text(double bytes_per_second) {
  return fmt::format("{:.3g} GB/s", bytes_per_second / 1e9);
}

std::string device_text(const DeviceFigures& device) {
  if (!device.are_known) return "device: waits not counted, since CUPTI is missing or in use by a profiler or another query";
  return fmt::format("device: {} ({:.1f} ms waited), {}", count(device.synchronizations, "synchronization"), milliseconds(device.waited),
                     copies(device.pageable_copies));
}

Json device_json(const DeviceFigures& device) {
  if (!device.are_known) return Json();
  return {{"synchronizations", device.synchronizations},
          {"milliseconds_waited", milliseconds(device.waited)},
          {"pageable_copies", device.pageable_copies}};
}

// Slots of a timeline, in text and in JSON.
constexpr size_t kSlots = 48;

bool was_watched(const QueryProfile& profile) {
  return std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const RankProfile& rank) { return !rank.use.empty(); });
}

void add_timeline_json(const QueryProfile& profile, Json& made) {
  if (!was_watched(profile)) return;
  Json storage = Json::array();
  Json network = Json::array();
  Json cores = Json::array();
  for (const RankProfile& rank : profile.ranks) {
    UseTimeline timeline = timeline_of(rank.use, profile.seconds, kSlots);
    storage.push_back(std::move(timeline.storage));
    network.push_back(std::move(timeline.network));
    cores.push_back(std::move(timeline.cores));
  }
  made["timeline"] = {{"slot_milliseconds", profile.seconds * 1e3 / static_cast<double>(kSlots)},
                      {"storage_bytes_per_second", std::move(storage)},
                      {"network_bytes_per_second", std::move(network)},
                      {"busy_cores", std::move(cores)}};
}

}  // namespace

StepProfile::StepProfile(std::vector<std::optional<StepFigures>> ranks, Kind kind)
    : ranks_(std::move(ranks)), total_(total_of(ranks_)), kind_(kind) {}

bool StepProfile::is_on_several_ranks() const {
  return std::any_of(ranks_.begin() + (ranks_.empty() ? 0 : 1), ranks_.end(), [](const auto& rank) { return rank.has_value(); });
}

std::string StepProfile::total_text() const {
  if (!total_.gives_rows) return "";
  std::string text = fmt::format("; actual {}, {:.3f} ms", total_.rows, milliseconds(total_.nanoseconds));
  if (total_.bytes > 0) text += fmt::format(", {}", format_bytes(total_.bytes));
  if (total_.spilled > 0) text += fmt::format(", {} spilled", format_bytes(total_.spilled));
  if (total_.synchronizations > 0) text += fmt::format(", {}", count(total_.synchronizations, "synchronization"));
  if (total_.pageable_copies > 0) text += fmt::format(", {}", copies(total_.pageable_copies));
  return text;
}

std::vector<std::string> StepProfile::rank_lines() const {
  if (!is_on_several_ranks()) return {};
  std::string rows = each_rank(ranks_, gives_rows, [](const StepFigures& step) { return fmt::format("{}", step.rows); });
  std::string times =
      each_rank(ranks_, is_there, [](const StepFigures& step) { return fmt::format("{:.1f}", milliseconds(step.nanoseconds)); });
  std::string line = fmt::format("ranks: rows {}{}, ms {}", rows, imbalance_text(shares_of(ranks_, gives_rows, &StepFigures::rows)), times);
  if (total_.bytes > 0)
    line += fmt::format(", bytes {}", each_rank(ranks_, gives_rows, [](const StepFigures& step) { return format_bytes(step.bytes); }));
  if (total_.spilled > 0)
    line += fmt::format(", spilled {}", each_rank(ranks_, is_there, [](const StepFigures& step) { return format_bytes(step.spilled); }));
  if (total_.from_others > 0)
    line += fmt::format(", {} {}", kind_ == Kind::Join ? "buckets taken over" : "read for others",
                        each_rank(ranks_, gives_rows, [](const StepFigures& step) { return fmt::format("{}", step.from_others); }));
  std::vector<std::string> lines = {line};
  if (total_.rows_to_merge > 0 || total_.ranks_that_decide > 0) lines.push_back(merging_line());
  if (kind_ == Kind::Exchange) lines.push_back(exchange_line());
  return lines;
}

std::string StepProfile::merging_line() const {
  const double rows = std::max(1.0, static_cast<double>(total_.rows_to_merge));
  std::string line = fmt::format("on path: {} of {} rows merged ({:.0f} %), {:.0f} ns a row", total_.rows_merged, total_.rows_to_merge,
                                 100 * static_cast<double>(total_.rows_merged) / rows, static_cast<double>(total_.nanoseconds) / rows);
  const int64_t ranks = total_.ranks_that_decide;
  if (ranks == 0) return line;
  line += fmt::format("; {} of {} ranks merge: {} % expected, ", total_.ranks_that_merge, ranks, total_.expected_percent / ranks);
  // Averages; ranks of different hosts may differ.
  auto nanoseconds = [&](int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e3 / static_cast<double>(ranks); };
  const int64_t needed = total_.needed_percent / ranks;
  line += needed < 100 ? fmt::format("{} % needed to pay", needed) : std::string("no share would pay");
  return line + fmt::format(" (a row: {:.1f} ns to produce, {:.1f} ns to merge, {:.1f} ns on the link), {} % more expected on arrival, {}",
                            nanoseconds(total_.picoseconds_to_produce), nanoseconds(total_.picoseconds_to_merge),
                            nanoseconds(total_.picoseconds_on_link), total_.arrival_percent / ranks,
                            count(total_.merging_changes, "change"));
}

std::string StepProfile::exchange_line() const {
  std::string rows = each_rank(ranks_, is_there, [](const StepFigures& step) { return fmt::format("{}", step.rows_sent); });
  return fmt::format(
      "moved: rows {}{}, sent {} in {}, received {} in {}, stalled {:.1f} ms sending, {:.1f} ms for credit, {:.1f} ms receiving", rows,
      imbalance_text(shares_of(ranks_, is_there, &StepFigures::rows_sent)), format_bytes(total_.bytes_sent),
      count(total_.messages_sent, "message"), format_bytes(total_.bytes_received), count(total_.messages_received, "message"),
      milliseconds(total_.senders_stalled), milliseconds(total_.credit_stalled), milliseconds(total_.receivers_stalled));
}

Json StepProfile::merging_json() const {
  Json made = {{"rows", total_.rows_to_merge}, {"merged", total_.rows_merged}};
  if (total_.ranks_that_decide == 0) return made;
  made["ranks_that_decide"] = total_.ranks_that_decide;
  made["ranks_that_merge"] = total_.ranks_that_merge;
  made["expected_percent"] = total_.expected_percent / total_.ranks_that_decide;
  made["arrival_percent"] = total_.arrival_percent / total_.ranks_that_decide;
  made["needed_percent"] = total_.needed_percent / total_.ranks_that_decide;
  auto nanoseconds = [&](int64_t picoseconds) {
    return static_cast<double>(picoseconds) / 1e3 / static_cast<double>(total_.ranks_that_decide);
  };
  made["nanoseconds_to_produce"] = nanoseconds(total_.picoseconds_to_produce);
  made["nanoseconds_to_merge"] = nanoseconds(total_.picoseconds_to_merge);
  made["nanoseconds_on_link"] = nanoseconds(total_.picoseconds_on_link);
  made["changes"] = total_.merging_changes;
  return made;
}

void StepProfile::add_to(Json& made) const {
  if (total_.gives_rows) {
    made["rows"] = total_.rows;
    made["chunks"] = total_.chunks;
    made["milliseconds"] = milliseconds(total_.nanoseconds);
    made["bytes"] = total_.bytes;
  }
  if (total_.spilled > 0) made["bytes_spilled"] = total_.spilled;
  if (total_.rows_to_merge > 0 || total_.ranks_that_decide > 0) made["on_path"] = merging_json();
  if (total_.synchronizations > 0 || total_.pageable_copies > 0) {
    made["synchronizations"] = total_.synchronizations;
    made["pageable_copies"] = total_.pageable_copies;
    made["milliseconds_waited"] = milliseconds(total_.device_waited);
  }
  if (ranks_.size() < 2) return;
  auto arrays = [&](const auto& has_part, const auto& show) {
    Json array = Json::array();
    for (const std::optional<StepFigures>& rank : ranks_) array.push_back(rank && has_part(*rank) ? Json(show(*rank)) : Json());
    return array;
  };
  Json ranks;
  ranks["rows"] = arrays(gives_rows, [](const StepFigures& step) { return step.rows; });
  ranks["chunks"] = arrays(is_there, [](const StepFigures& step) { return step.chunks; });
  ranks["milliseconds"] = arrays(is_there, [](const StepFigures& step) { return milliseconds(step.nanoseconds); });
  ranks["bytes"] = arrays(gives_rows, [](const StepFigures& step) { return step.bytes; });
  ranks["imbalance"] = imbalance(shares_of(ranks_, gives_rows, &StepFigures::rows));
  if (total_.spilled > 0) ranks["bytes_spilled"] = arrays(is_there, [](const StepFigures& step) { return step.spilled; });
  if (total_.from_others > 0)
    ranks[kind_ == Kind::Join ? "buckets_taken_over" : "read_for_others"] = arrays(gives_rows, [](const StepFigures& step) { return step.from_others; });
  if (kind_ == Kind::Exchange) {
    ranks["rows_sent"] = arrays(is_there, [](const StepFigures& step) { return step.rows_sent; });
    ranks["imbalance_sent"] = imbalance(shares_of(ranks_, is_there, &StepFigures::rows_sent));
    ranks["bytes_sent"] = arrays(is_there, [](const StepFigures& step) { return step.bytes_sent; });
    ranks["bytes_across_network"] = arrays(is_there, [](const StepFigures& step) { return step.bytes_across_network; });
    ranks["messages_sent"] = arrays(is_there, [](const StepFigures& step) { return step.messages_sent; });
    ranks["bytes_received"] = arrays(is_there, [](const StepFigures& step) { return step.bytes_received; });
    ranks["messages_received"] = arrays(is_there, [](const StepFigures& step) { return step.messages_received; });
    ranks["milliseconds_stalled_sending"] = arrays(is_there, [](const StepFigures& step) { return milliseconds(step.senders_stalled); });
    ranks["milliseconds_stalled_for_credit"] = arrays(is_there, [](const StepFigures& step) { return milliseconds(step.credit_stalled); });
    ranks["milliseconds_stalled_receiving"] =
        arrays(is_there, [](const StepFigures& step) { return milliseconds(step.receivers_stalled); });
  }
  made["ranks"] = std::move(ranks);
}

void add_query_text(const QueryProfile& profile, std::vector<std::string>& lines) {
  std::string line = fmt::format("time: {:.3f} ms, read {}", profile.seconds * 1e3, format_bytes(profile.bytes_read()));
  if (const int64_t spilled = profile.bytes_spilled(); spilled > 0) line += fmt::format(", spilled {}", format_bytes(spilled));
  lines.push_back(std::move(line));
  if (std::optional<DeviceFigures> device = profile.device()) lines.push_back(device_text(*device));
  if (profile.ranks.size() < 2) return;
  std::vector<std::string> received;
  for (const RankProfile& rank : profile.ranks) received.push_back(format_bytes(rank.bytes_received()));
  lines.push_back(fmt::format("received by ranks: {}", fmt::join(received, "/")));
  const Bandwidths& known = profile.bandwidths;
  std::string storage = known.storage > 0 ? fmt::format("storage at {} a rank", bandwidth_text(known.storage))
                                          : "storage not known (storage_bandwidth_limit)";
  std::string link = known.link > 0 ? fmt::format("link at {}", bandwidth_text(known.link)) : "link not known (SHOW links)";
  std::optional<double> shortest = profile.shortest_seconds();
  if (!shortest) {
    lines.push_back(fmt::format("T_min: {}, {}", storage, link));
  } else if (*shortest <= 0) {
    lines.push_back(fmt::format("T_min: 0.000 ms ({}, {})", storage, link));
  } else {
    lines.push_back(
        fmt::format("T_min: {:.3f} ms ({}, {}), T / T_min {:.2f}", *shortest * 1e3, storage, link, profile.seconds / *shortest));
  }
}

void add_timeline_text(const QueryProfile& profile, std::vector<std::string>& lines) {
  if (!was_watched(profile)) return;
  lines.push_back(fmt::format("use over time, {} slots of {:.3f} ms:", kSlots, profile.seconds * 1e3 / static_cast<double>(kSlots)));
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    UseTimeline timeline = timeline_of(profile.ranks[rank].use, profile.seconds, kSlots);
    auto add = [&](std::string_view resource, const std::vector<double>& values, const std::string& peak) {
      lines.push_back(fmt::format("    rank {} {:<7} |{}| peak {}", rank, resource, block_line(values), peak));
    };
    auto peak = [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); };
    add("storage", timeline.storage, bandwidth_text(peak(timeline.storage)));
    add("network", timeline.network, bandwidth_text(peak(timeline.network)));
    add("cores", timeline.cores, fmt::format("{:.2g} busy", peak(timeline.cores)));
  }
}

void add_query_json(const QueryProfile& profile, Json& made) {
  made["milliseconds"] = profile.seconds * 1e3;
  made["bytes_read"] = profile.bytes_read();
  made["bytes_spilled"] = profile.bytes_spilled();
  if (std::optional<DeviceFigures> device = profile.device()) made["device"] = device_json(*device);
  if (profile.ranks.size() < 2) return;
  Json read = Json::array();
  Json received = Json::array();
  for (const RankProfile& rank : profile.ranks) {
    read.push_back(rank.bytes_read);
    received.push_back(rank.bytes_received());
  }
  std::optional<double> shortest = profile.shortest_seconds();
  auto if_known = [](double number) { return number > 0 ? Json(number) : Json(); };
  made["ranks"] = {{"bytes_read", std::move(read)}, {"bytes_received", std::move(received)}};
  made["storage_bytes_per_second"] = if_known(profile.bandwidths.storage);
  made["link_bytes_per_second"] = if_known(profile.bandwidths.link);
  made["t_min_milliseconds"] = shortest ? Json(*shortest * 1e3) : Json();
  made["t_over_t_min"] = shortest && *shortest > 0 ? Json(profile.seconds / *shortest) : Json();
  add_timeline_json(profile, made);
}

}  // namespace pistachio
