// From the profiles of runs to the figures that benchmarks over ranks show: T, T_min, how long storage, link and cores would need by
// themselves, and limits of bandwidth that make these equal. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/query_profile.h"

namespace pistachio {

// What one run needed.
struct RunFigures {
  double seconds = 0;
  int64_t bytes_read = 0;      // by all ranks
  int64_t bytes_received = 0;  // by the rank that received most
  double core_seconds = 0;     // of the rank that worked most: work of all its threads, spread evenly over them
};

RunFigures figures_of(const QueryProfile& profile, int64_t threads);

// How long each resource would need if the others took no time; nothing where its speed is not known.
struct Phases {
  std::optional<double> storage;
  std::optional<double> link;
  std::optional<double> cores;

  double sum() const;
  double longest() const;
  // One after the other against all at once: what perfect overlap would gain.
  double possible_gain() const { return longest() > 0 ? sum() / longest() : 1; }
};

Phases phases_of(const RunFigures& run, const Bandwidths& bandwidths, int ranks);

// One variant of one case, over its runs.
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
  int64_t storage_limit = 0;  // that were set; 0: none
  int64_t link_limit = 0;

  VariantFigures(std::string of_case, std::string name, int of_ranks)
      : title(std::move(of_case)), variant(std::move(name)), ranks(of_ranks) {}

  void add(const QueryProfile& profile, int64_t threads);
  bool is_measured() const { return !seconds.empty(); }
  double t() const;  // the median
  std::optional<double> ratio() const;
  // Share of its bandwidth that the busiest link was used at over the whole query.
  std::optional<double> link_use() const;
};

double median(std::vector<double> values);

// Each against the first variant of its case; nothing where one of the two has no runs.
std::vector<std::optional<double>> gains(const std::vector<VariantFigures>& figures);

enum class Balance {
  InputOutput,  // storage and link need the same time, so long that cores hardly count
  All,          // the cores need as long
};

struct BalancedLimits {
  int64_t storage = 0;  // bytes a second of each rank
  int64_t link = 0;
  double seconds = 0;  // that each of them needs
};

// `free` is a run without limits. Throws UserError: a query that reads or moves nothing cannot be balanced.
BalancedLimits balance(Balance how, const RunFigures& free, int ranks);

}  // namespace pistachio
