// Where the figures of a benchmark go beside the terminal: --json FILE, --plot FILE.svg or FILE.png. That they can be written is checked
// when this is made, before anything is measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "frontend/cli/command_arguments.h"

namespace pistachio {

class BenchOutput {
 public:
  // Throws UserError that says what cannot be written.
  explicit BenchOutput(const CommandArguments& arguments);

  // `svg` is the picture. Throws UserError.
  void write(const nlohmann::ordered_json& json, const std::string& svg) const;

 private:
  std::optional<std::string> json_;
  std::optional<std::string> plot_;
  std::string converter_;  // of SVG to PNG
};

}  // namespace pistachio
