#include "base/fault_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "base/error.h"

namespace pistachio {

namespace {

struct PointName {
  std::string_view name;
  FaultPoint point;
};

constexpr PointName kPoints[] = {
    {"plan_sent", FaultPoint::PlanSent},
    {"plan_received", FaultPoint::PlanReceived},
    {"tables_opened", FaultPoint::TablesOpened},
    {"stage_begun", FaultPoint::StageBegun},
    {"scan_chunk", FaultPoint::ScanChunk},
    {"rows_partitioned", FaultPoint::RowsPartitioned},
    {"block_packed", FaultPoint::BlockPacked},
    {"credit_awaited", FaultPoint::CreditAwaited},
    {"rows_sent", FaultPoint::RowsSent},
    {"rows_received", FaultPoint::RowsReceived},
    {"rows_unpacked", FaultPoint::RowsUnpacked},
    {"credit_sent", FaultPoint::CreditSent},
    {"credit_received", FaultPoint::CreditReceived},
    {"end_sent", FaultPoint::EndSent},
    {"end_received", FaultPoint::EndReceived},
    {"enough_sent", FaultPoint::EnoughSent},
    {"enough_received", FaultPoint::EnoughReceived},
    {"build_collected", FaultPoint::BuildCollected},
    {"build_finished", FaultPoint::BuildFinished},
    {"probe_chunk", FaultPoint::ProbeChunk},
    {"aggregate_update", FaultPoint::AggregateUpdate},
    {"aggregate_merge", FaultPoint::AggregateMerge},
    {"sort_rows", FaultPoint::SortRows},
    {"stage_ended", FaultPoint::StageEnded},
    {"part_ended", FaultPoint::PartEnded},
    {"finished_sent", FaultPoint::FinishedSent},
    {"finished_received", FaultPoint::FinishedReceived},
    {"cancel_sent", FaultPoint::CancelSent},
    {"cancel_received", FaultPoint::CancelReceived},
};

struct ActionName {
  std::string_view name;
  FaultAction action;
};

constexpr ActionName kActions[] = {{"kill", FaultAction::Kill},         {"stop", FaultAction::Stop},
                                   {"cut", FaultAction::Cut},           {"nospace", FaultAction::NoSpace},
                                   {"nomemory", FaultAction::NoMemory}, {"delay", FaultAction::Delay}};

constexpr std::chrono::milliseconds kDelay{200};

struct Fault {
  FaultPoint point = FaultPoint::None;
  FaultAction action = FaultAction::Delay;
  std::optional<int64_t> rank;
  int64_t nth = 1;
};

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

template <const auto& Table>
auto find_word(std::string_view word, std::string_view what) {
  const auto* found = std::find_if(std::begin(Table), std::end(Table), [&](const auto& entry) { return entry.name == word; });
  if (found != std::end(Table)) return *found;
  std::vector<std::string_view> names;
  for (const auto& entry : Table) names.push_back(entry.name);
  throw UserError(fmt::format("'{}' is not a known {}; there are {}", word, what, fmt::join(names, ", ")));
}

Fault parse(std::string_view text) {
  Fault fault;
  if (text.empty()) return fault;
  std::vector<std::string_view> sides = split(text, '=');
  std::vector<std::string_view> place = split(sides[0], ':');
  if (sides.size() != 2 || place.size() > 3) throw UserError(fmt::format("'{}' is not of the form POINT[:RANK][:NTH]=ACTION", text));
  fault.point = find_word<kPoints>(place[0], "point").point;
  fault.action = find_word<kActions>(sides[1], "action").action;
  if (place.size() > 1) fault.rank = number_of(place[1]);
  if (place.size() > 2) fault.nth = number_of(place[2]).value_or(0);
  if ((place.size() > 1 && !fault.rank) || fault.nth < 1)
    throw UserError(fmt::format("'{}': RANK is a number from 0 on, NTH one from 1 on", text));
  return fault;
}

}  // namespace

FaultPlan::FaultPlan(std::string_view text, int rank, std::function<void()> cut) : cut_(std::move(cut)) {
  Fault fault = parse(text);
  if (fault.rank && *fault.rank != rank) return;
  point_ = fault.point;
  action_ = fault.action;
  nth_ = fault.nth;
}

void FaultPlan::check(std::string_view text) {
  parse(text);
}

std::vector<std::string_view> FaultPlan::point_names() {
  std::vector<std::string_view> names;
  for (const PointName& entry : kPoints) names.push_back(entry.name);
  return names;
}

void FaultPlan::count_and_act() {
  if (point_ == FaultPoint::None || ++passed_ != nth_) return;
  switch (action_) {
    // Sent to this thread: another thread might take a signal to the process, and this one would run on until then.
    case FaultAction::Kill: std::raise(SIGKILL); return;
    case FaultAction::Stop: std::raise(SIGSTOP); return;
    case FaultAction::Cut:
      if (cut_) cut_();
      return;
    // Class and wording of the real errors: memory/refusal_text.cpp, and files that cannot be written.
    case FaultAction::NoMemory: throw OutOfMemory("out of memory: fault_at asked for more than there is; raise memory_limit");
    case FaultAction::NoSpace: throw UserError(fmt::format("cannot write what fault_at asked for: {}", std::strerror(ENOSPC)));
    // Blocks the thread on purpose: other ranks must cope with a rank that is unresponsive for a while.
    case FaultAction::Delay: std::this_thread::sleep_for(kDelay); return;
  }
}

}  // namespace pistachio
