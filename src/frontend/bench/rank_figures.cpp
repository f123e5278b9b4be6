#include "frontend/bench/rank_figures.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace pistachio {

namespace {

// Shorter runs are dominated by query startup and teardown. Cores cannot be slowed down, so a balance with them uses the query's own time.
constexpr double kShortestBalanced = 0.05;
constexpr double kShortestWithCores = 0.001;
constexpr double kBalanceFactor = 3;

}  // namespace

RunFigures figures_of(const QueryProfile& profile, int64_t threads) {
  RunFigures run{.seconds = profile.seconds, .bytes_read = profile.bytes_read()};
  for (const RankProfile& rank : profile.ranks) {
    int64_t nanoseconds = 0;
    for (const auto& [number, step] : rank.steps) nanoseconds += step.nanoseconds;
    run.bytes_received = std::max(run.bytes_received, rank.bytes_received());
    run.core_seconds = std::max(run.core_seconds, static_cast<double>(nanoseconds) / 1e9 / static_cast<double>(threads));
  }
  return run;
}

double Phases::sum() const {
  return storage.value_or(0) + link.value_or(0) + cores.value_or(0);
}

double Phases::longest() const {
  return std::max({storage.value_or(0), link.value_or(0), cores.value_or(0)});
}

Phases phases_of(const RunFigures& run, const Bandwidths& bandwidths, int ranks) {
  Phases phases;
  if (bandwidths.storage > 0) phases.storage = static_cast<double>(run.bytes_read) / (bandwidths.storage * ranks);
  if (bandwidths.link > 0) phases.link = static_cast<double>(run.bytes_received) / bandwidths.link;
  if (run.core_seconds > 0) phases.cores = run.core_seconds;
  return phases;
}

void VariantFigures::add(const QueryProfile& profile, int64_t threads) {
  RunFigures run = figures_of(profile, threads);
  seconds.push_back(run.seconds);
  bytes_read = run.bytes_read;
  bytes_received = run.bytes_received;
  bandwidths = profile.bandwidths;
  Phases measured = phases_of(run, bandwidths, ranks);
  // Other load on the machine inflates core time: the minimum over the runs is the best estimate.
  if (phases.cores && measured.cores) measured.cores = std::min(*phases.cores, *measured.cores);
  phases = measured;
  t_min = profile.shortest_seconds();
}

double VariantFigures::t() const {
  return median(seconds);
}

std::optional<double> VariantFigures::ratio() const {
  if (!t_min || *t_min <= 0) return std::nullopt;
  return t() / *t_min;
}

std::optional<double> VariantFigures::link_use() const {
  if (!phases.link) return std::nullopt;
  return *phases.link / t();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<std::optional<double>> gains(const std::vector<VariantFigures>& figures) {
  std::map<std::string, const VariantFigures*> first;
  std::vector<std::optional<double>> made;
  for (const VariantFigures& own : figures) {
    const VariantFigures& base = *first.emplace(own.title, &own).first->second;
    made.emplace_back();
    if (base.is_measured() && own.is_measured()) made.back() = own.t() > 0 ? base.t() / own.t() : 1;
  }
  return made;
}

BalancedLimits balance(Balance how, const RunFigures& free, int ranks) {
  if (free.bytes_read == 0) throw UserError("--balance: the query reads nothing, so there is no storage to balance");
  if (free.bytes_received == 0) throw UserError("--balance: the query moves no rows between ranks, so there is no link to balance");
  double seconds = how == Balance::All ? std::max(kShortestWithCores, free.core_seconds)
                                       : std::max(kShortestBalanced, free.core_seconds * kBalanceFactor);
  auto limit = [&](double bytes) { return std::max<int64_t>(1, static_cast<int64_t>(bytes / seconds)); };
  return {limit(static_cast<double>(free.bytes_read) / ranks), limit(static_cast<double>(free.bytes_received)), seconds};
}

}  // namespace pistachio
