// Output files of a benchmark: --json FILE, --plot FILE.svg or FILE.png. The constructor checks that they can be written, before anything
// is measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "frontend/cli/command_arguments.h"

namespace pistachio {

class BenchOutput {
 public:
  // Throws UserError naming what cannot be written.
  explicit BenchOutput(const CommandArguments& arguments);

  // `svg` is the chart. Throws UserError.
  void write(const nlohmann::ordered_json& json, const std::string& svg) const;

 private:
  std::optional<std::string> json_;
  std::optional<std::string> plot_;
  std::string converter_;  // SVG to PNG
};

}  // namespace pistachio
