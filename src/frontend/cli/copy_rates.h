// How fast files get from the page cache to a GPU: the bandwidth behind T_min there. Used by `bench copy` and `bench scan`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "engine/engine_instance.h"

namespace pistachio {

// Bytes per second.
struct CopyRates {
  int64_t bytes = 0;                 // of the files
  double staged = 0;                 // read into pinned memory by all threads, copied from there
  std::optional<double> registered;  // copied from the page cache, which was registered before; nullopt: it could not be
  double pinned = 0;                 // from pinned memory: PCIe alone

  bool is_registered_better() const { return registered && *registered > staged; }
  double better() const { return is_registered_better() ? *registered : staged; }
  std::string_view better_name() const { return is_registered_better() ? "registered" : "staged"; }
};

// The best of `rounds` rounds for each way, after one that warms up. Throws UserError if the engine has no GPU, or a file is not local.
CopyRates measure_copy_rates(EngineInstance& engine, const std::vector<std::string>& paths, int64_t rounds, const CancelToken& token);

nlohmann::ordered_json json_of_copy_rates(const CopyRates& rates);
// One line per way.
std::string copy_rates_text(const CopyRates& rates, int64_t threads);

}  // namespace pistachio
