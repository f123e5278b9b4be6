// Figures of the on-path benchmark, and the rules that they are checked against. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/bench/on_path_stages.h"
#include "frontend/cli/on_path_sweep.h"

namespace pistachio {

// The runs of one variant of one cell.
struct OnPathVariantFigures {
  OnPathVariant variant;
  std::vector<OnPathRun> runs = {};

  bool is_measured() const { return !runs.empty(); }
  OnPathRun middle() const { return median_of(runs); }
};

struct OnPathCellFigures {
  OnPathCell cell;
  std::vector<OnPathVariantFigures> variants = {};
  std::optional<int64_t> distinct = {};  // keys, as the query counted them
  bool is_on_cpu = true;                 // else copies to and from GPUs are not measured separately

  bool is_measured() const;
  // Null if the cell has no runs of this variant.
  const OnPathVariantFigures* find(std::string_view variant) const;
  // Bytes that should reach the sink; nullopt if the engine decides where to deduplicate.
  std::optional<double> predicted_bytes(const OnPathVariant& variant) const;
  // Tuples of all source ranks over the time of the query.
  double tuples_per_second(const OnPathRun& run) const;
  // Seconds that the sink's link needs for the bytes of a run; nullopt without a link limit.
  std::optional<double> link_seconds(const OnPathRun& run) const;
  // Share of T in which the link is busy if each rank deduplicates for itself; nullopt without a link limit.
  std::optional<double> link_share() const;
};

// One rule in one cell.
struct OnPathCheck {
  std::string_view rule;
  const OnPathCellFigures* cell = nullptr;
  std::string variant;
  double value = 0;
  double bound = 0;
  bool holds = false;
};

constexpr std::string_view kAutoRule = "auto takes at most 1.05 times as long as the better of on and off";
constexpr std::string_view kGainRule =
    "on is at least 1.5 times as fast as off where it halves the bytes on a link that is busy for two thirds of T";
constexpr std::string_view kBytesRule = "bytes on the wire are within 10 % of the prediction";

// Every rule in every cell where it applies and whose variants were measured.
std::vector<OnPathCheck> on_path_checks(const std::vector<OnPathCellFigures>& cells);

// Published end-to-end times of the same pipeline on two source hosts with two V100 GPUs and 8 cores each, extracted from its logs.
struct PublishedRun {
  int64_t tuples = 0;  // per GPU, 32-bit keys
  double uniqueness = 0;
  double baseline_milliseconds = 0;  // as `none`
  double on_path_milliseconds = 0;   // as `on`, without local dedupe
  double baseline_sent = 0;          // tuples
  double on_path_sent = 0;
};

constexpr PublishedRun kPublishedRuns[] = {{16 << 20, 0.01, 104, 6'393, 67.1e6, 0.7e6},
                                           {16 << 20, 0.1, 105, 11'988, 67.1e6, 6.7e6},
                                           {16 << 20, 1.0, 82, 24'609, 67.1e6, 42.4e6},
                                           {128 << 20, 0.4, 640, 182'236, 537e6, 197e6}};

}  // namespace pistachio
