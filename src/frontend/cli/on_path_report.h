// Reports the on-path benchmark: a table that grows cell by cell, the rules it was checked against, the published figures next to ours,
// JSON and charts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/settings.h"
#include "frontend/cli/live_table.h"
#include "frontend/cli/on_path_figures.h"

namespace pistachio {

// What is measured and how links are scaled, printed before the table.
std::string introduction_of(const OnPathSweep& sweep);

class OnPathTable {
 public:
  explicit OnPathTable(const std::string& introduction);

  // One row per measured variant.
  void print(const OnPathCellFigures& figures);

 private:
  LiveTable table_;
};

// How often each rule holds, and each cell in which it does not.
std::string text_of_checks(const std::vector<OnPathCellFigures>& cells);

// The published runs, with ours on the same keys where there are any.
std::string published_comparison(const std::vector<OnPathCellFigures>& cells);

nlohmann::ordered_json json_of_on_path(const OnPathSweep& sweep, const Settings& settings, const std::vector<OnPathCellFigures>& cells);

// Throughput of combiners and of the whole pipeline, and share of distinct keys, as in published figures 4 to 6.
std::string charts_of_on_path(const std::vector<OnPathCellFigures>& cells);

}  // namespace pistachio
