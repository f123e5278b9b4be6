// Formats the figures of a run for EXPLAIN ANALYZE: lines of text, members of JSON objects. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profile/query_profile.h"

namespace pistachio {

// One step of a plan on all ranks.
class StepProfile {
 public:
  enum class Kind { Exchange, Join, Other };
  StepProfile(std::vector<std::optional<StepFigures>> ranks, Kind kind);

  // `; actual 10, 1.234 ms, 5.0 KiB`: totals over all ranks. Empty if the step ran nowhere.
  std::string total_text() const;
  // Empty if there is only one rank, or only the first one takes part in the step.
  std::vector<std::string> rank_lines() const;
  // Adds totals, and arrays with one number per rank: null where it takes no part.
  void add_to(nlohmann::ordered_json& made) const;

 private:
  bool is_on_several_ranks() const;
  std::string exchange_line() const;
  // The line `on path`: merging of partial results in transit.
  std::string merging_line() const;
  nlohmann::ordered_json merging_json() const;

  std::vector<std::optional<StepFigures>> ranks_;
  StepFigures total_;
  Kind kind_;
};

// The whole query: time, bytes, T_min.
void add_query_text(const QueryProfile& profile, std::vector<std::string>& lines);
// One line per rank and resource; none if nothing was sampled.
void add_timeline_text(const QueryProfile& profile, std::vector<std::string>& lines);
void add_query_json(const QueryProfile& profile, nlohmann::ordered_json& made);

}  // namespace pistachio
