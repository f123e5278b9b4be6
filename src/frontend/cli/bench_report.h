// How the figures of variants are shown: a table that grows while they are measured, JSON, bars. Variants without runs are left out.
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
  std::string figure;  // the published one that it answers; may be empty
};

class FigureTable {
 public:
  // The cases and variants that may come, which decide how wide their columns are.
  FigureTable(const std::vector<std::string>& titles, const std::vector<std::string>& variants);

  // One of these figures, which has been measured.
  void print(const std::vector<VariantFigures>& figures, size_t index);

 private:
  LiveTable table_;
};

nlohmann::ordered_json json_of(const BenchTitle& title, const Settings& settings, const std::vector<VariantFigures>& figures);
std::string bars_of(const std::string& title, const std::vector<VariantFigures>& figures);

// Name and value of the settings that are not at their default.
nlohmann::ordered_json json_of_settings(const Settings& settings);

}  // namespace pistachio
