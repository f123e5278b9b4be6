// How the figures of variants are shown: a table, JSON, bars. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/settings.h"
#include "frontend/bench/rank_figures.h"

namespace pistachio {

struct BenchTitle {
  std::string kind;
  std::string figure;  // the published one that it answers; may be empty
};

std::string table_of(const std::vector<VariantFigures>& figures);
nlohmann::ordered_json json_of(const BenchTitle& title, const Settings& settings, const std::vector<VariantFigures>& figures);
std::string bars_of(const std::string& title, const std::vector<VariantFigures>& figures);

// Name and value of the settings that are not at their default.
nlohmann::ordered_json json_of_settings(const Settings& settings);

}  // namespace pistachio
