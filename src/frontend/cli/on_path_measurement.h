// Runs the cells of the on-path benchmark: starts the ranks as a sink and simulated source hosts, generates the files, and alternates
// between the variants of a cell. Used by one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/cli/bench_ranks.h"
#include "frontend/cli/on_path_figures.h"

namespace pistachio {

// Each rank reads its own file, and all keys meet at the sink.
void assign_for_on_path(Settings& settings);

class OnPathMeasurement {
 public:
  // `folder` caches the generated files; `settings` include those of assign_for_on_path. The sweep outlives it.
  OnPathMeasurement(const OnPathSweep& sweep, std::string folder, Settings settings, InterruptWatcher& interrupts);

  // Fills in the runs of all variants. If it throws, `cell` has the runs so far. Throws InternalError if the answers of variants differ.
  void measure(OnPathCellFigures& cell);

 private:
  BenchRanks& ranks_with(int64_t link_limit);
  // Names of the steps of the query's plan, by step number.
  std::vector<std::string> steps_of(BenchRanks& ranks, Session& session, const std::string& sql);

  const OnPathSweep& sweep_;
  const std::string folder_;
  Settings settings_;
  InterruptWatcher& interrupts_;
  std::unique_ptr<BenchRanks> ranks_;
  int64_t link_limit_ = 0;  // of ranks_
};

}  // namespace pistachio
