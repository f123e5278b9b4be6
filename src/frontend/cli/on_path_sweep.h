// What `pistachio bench onpath` measures: its options, checked, and the cells and variants that follow from them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "frontend/bench/on_path_model.h"
#include "frontend/cli/command_arguments.h"

namespace pistachio {

// Named after the values of the setting on_path; `none` does not even deduplicate on the sending rank.
struct OnPathVariant {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<DedupeAt> dedupes;  // nullopt: the engine decides
};

struct OnPathCell {
  OnPathData data;
  std::optional<double> gigabits;  // per second, on the published machine; nullopt: no limit
  int64_t link_limit = 0;          // the same scaled to this machine, in bytes per second; 0: none
};

// How much slower than a link of a published host a link is, so that both have the same bandwidth per core.
struct LinkScale {
  double factor = 1;
  std::string reason;
};

struct OnPathSweep {
  std::vector<OnPathCell> cells;  // those with the same link limit are adjacent
  std::vector<OnPathVariant> variants;
  std::vector<std::string> skipped;  // variants that this version's setting on_path does not have
  LinkScale scale;
  int source_hosts = 2;
  int ranks_per_host = 2;
  int64_t repeat = 5;

  int ranks() const { return 1 + source_hosts * ranks_per_host; }
  // For simulated_host(): the sink is alone on its host.
  std::string hosts() const;
};

std::vector<OptionDescription> on_path_options();

// `cores`: of this machine. Throws UsageError.
OnPathSweep on_path_sweep(const CommandArguments& arguments, const Settings& settings, int64_t cores);

}  // namespace pistachio
