// Reports the figures of variants: a table that grows while they are measured, JSON, a bar chart. Variants without runs are omitted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/settings.h"
#include "frontend/bench/rank_figures.h"
#include "frontend/cli/live_table.h"

namespace pistachio {

struct BenchTitle {
  std::string kind;
  std::string figure;  // the published figure that it reproduces; may be empty
};

class FigureTable {
 public:
  // All possible cases and variants, which determine the column widths.
  FigureTable(const std::vector<std::string>& titles, const std::vector<std::string>& variants);

  // Prints figures[index], whose measurement is complete.
  void print(const std::vector<VariantFigures>& figures, size_t index);

 private:
  LiveTable table_;
};

nlohmann::ordered_json json_of(const BenchTitle& title, const Settings& settings, const std::vector<VariantFigures>& figures);
std::string bars_of(const std::string& title, const std::vector<VariantFigures>& figures);

// Name and value of the settings that differ from their default.
nlohmann::ordered_json json_of_settings(const Settings& settings);

}  // namespace pistachio
