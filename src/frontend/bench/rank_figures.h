// Computes the figures that benchmarks over ranks report from the profiles of their runs: T, T_min, the time that storage, link and cores
// would take alone, and bandwidth limits that make these equal. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/query_profile.h"

namespace pistachio {

// Measurements of one run.
struct RunFigures {
  double seconds = 0;
  int64_t bytes_read = 0;      // total over all ranks
  int64_t bytes_received = 0;  // maximum over the ranks
  double core_seconds = 0;     // maximum over the ranks: work of all threads, divided by their number
};

RunFigures figures_of(const QueryProfile& profile, int64_t threads);

// Time of each resource if the others took none; nullopt if its bandwidth is unknown.
struct Phases {
  std::optional<double> storage;
  std::optional<double> link;
  std::optional<double> cores;

  double sum() const;
  double longest() const;
  // Gain of perfect overlap over running the phases one after the other.
  double possible_gain() const { return longest() > 0 ? sum() / longest() : 1; }
};

Phases phases_of(const RunFigures& run, const Bandwidths& bandwidths, int ranks);

// The runs of one variant of one case.
struct VariantFigures {
  std::string title;  // of the case
  std::string variant;
  int ranks = 1;
  std::vector<double> seconds;
  std::optional<double> t_min;
  Phases phases;
  Bandwidths bandwidths;
  int64_t bytes_read = 0;
  int64_t bytes_received = 0;
  int64_t storage_limit = 0;  // in effect; 0: none
  int64_t link_limit = 0;

  VariantFigures(std::string of_case, std::string name, int of_ranks)
      : title(std::move(of_case)), variant(std::move(name)), ranks(of_ranks) {}

  void add(const QueryProfile& profile, int64_t threads);
  bool is_measured() const { return !seconds.empty(); }
  double t() const;  // median
  std::optional<double> ratio() const;
  // Average utilization of the busiest link over the whole query.
  std::optional<double> link_use() const;
};

double median(std::vector<double> values);

// Speedup over the first variant of each case; nullopt if either has no runs.
std::vector<std::optional<double>> gains(const std::vector<VariantFigures>& figures);

enum class Balance {
  InputOutput,  // storage and link take equally long, and much longer than the cores
  All,          // all three take equally long
};

struct BalancedLimits {
  int64_t storage = 0;  // bytes per second and rank
  int64_t link = 0;
  double seconds = 0;  // that each of them takes
};

// `free` is a run without limits. Throws UserError: a query that reads or transfers nothing cannot be balanced.
BalancedLimits balance(Balance how, const RunFigures& free, int ranks);

}  // namespace pistachio
