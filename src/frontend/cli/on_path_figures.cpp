#include "frontend/cli/on_path_figures.h"

#include <algorithm>
#include <cmath>

namespace pistachio {

namespace {

constexpr double kAutoBound = 1.05;
constexpr double kGainBound = 1.5;
constexpr double kBytesBound = 0.1;
// A rank sends when its last tuple is deduplicated, so link and computation follow each other: half of the bytes save half of the link's
// share of T. With less than this, no combiner could reach the bound.
constexpr double kBottleneckShare = 2.0 / 3;
// Two ranks that both have all keys of their range are halved; a few keys that a rank happens to lack do not matter.
constexpr double kHalf = 0.505;

double seconds_of(const OnPathVariantFigures& figures) {
  return figures.middle().seconds;
}

void check_auto(const OnPathCellFigures& cell, std::vector<OnPathCheck>& checks) {
  const OnPathVariantFigures* on = cell.find("on");
  const OnPathVariantFigures* off = cell.find("off");
  const OnPathVariantFigures* chosen = cell.find("auto");
  if (on == nullptr || off == nullptr || chosen == nullptr) return;
  const double ratio = seconds_of(*chosen) / std::min(seconds_of(*on), seconds_of(*off));
  checks.push_back({kAutoRule, &cell, "auto", ratio, kAutoBound, ratio <= kAutoBound});
}

void check_gain(const OnPathCellFigures& cell, std::vector<OnPathCheck>& checks) {
  const OnPathVariantFigures* on = cell.find("on");
  const OnPathVariantFigures* off = cell.find("off");
  if (on == nullptr || off == nullptr || cell.link_share().value_or(0) < kBottleneckShare) return;
  if (expected_bytes(cell.cell.data, DedupeAt::SenderHost) > kHalf * expected_bytes(cell.cell.data, DedupeAt::SenderRank)) return;
  const double gain = seconds_of(*off) / seconds_of(*on);
  checks.push_back({kGainRule, &cell, "on", gain, kGainBound, gain >= kGainBound});
}

void check_bytes(const OnPathCellFigures& cell, std::vector<OnPathCheck>& checks) {
  for (const OnPathVariantFigures& own : cell.variants) {
    const std::optional<double> predicted = cell.predicted_bytes(own.variant);
    if (!own.is_measured() || !predicted) continue;
    const double error = static_cast<double>(own.middle().wire_bytes) / *predicted - 1;
    checks.push_back({kBytesRule, &cell, own.variant.name, error, kBytesBound, std::abs(error) <= kBytesBound});
  }
}

}  // namespace

bool OnPathCellFigures::is_measured() const {
  return std::any_of(variants.begin(), variants.end(), [](const OnPathVariantFigures& own) { return own.is_measured(); });
}

const OnPathVariantFigures* OnPathCellFigures::find(std::string_view variant) const {
  for (const OnPathVariantFigures& own : variants) {
    if (own.variant.name == variant && own.is_measured()) return &own;
  }
  return nullptr;
}

std::optional<double> OnPathCellFigures::predicted_bytes(const OnPathVariant& variant) const {
  if (!variant.dedupes) return std::nullopt;
  return expected_bytes(cell.data, *variant.dedupes);
}

double OnPathCellFigures::tuples_per_second(const OnPathRun& run) const {
  return run.seconds > 0 ? static_cast<double>(cell.data.all_tuples()) / run.seconds : 0;
}

std::optional<double> OnPathCellFigures::link_seconds(const OnPathRun& run) const {
  if (cell.link_limit == 0) return std::nullopt;
  return static_cast<double>(run.wire_bytes) / static_cast<double>(cell.link_limit);
}

std::optional<double> OnPathCellFigures::link_share() const {
  const OnPathVariantFigures* off = find("off");
  if (cell.link_limit == 0 || off == nullptr) return std::nullopt;
  const OnPathRun run = off->middle();
  return *link_seconds(run) / run.seconds;
}

std::vector<OnPathCheck> on_path_checks(const std::vector<OnPathCellFigures>& cells) {
  std::vector<OnPathCheck> checks;
  for (const OnPathCellFigures& cell : cells) check_auto(cell, checks);
  for (const OnPathCellFigures& cell : cells) check_gain(cell, checks);
  for (const OnPathCellFigures& cell : cells) check_bytes(cell, checks);
  return checks;
}

}  // namespace pistachio
