// The arguments of a command: positional ones and options. Commands declare their options; anything else is a usage error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/settings.h"

namespace pistachio {

// Wrong command line; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct OptionDescription {
  std::string_view name;  // including its dashes
  bool takes_value = false;
};

class CommandArguments {
 public:
  // Every command accepts `-s name=value` and `--device NAME`, which go to `settings`. Throws UsageError.
  CommandArguments(int argc, char** argv, const std::vector<OptionDescription>& options, Settings& settings);

  const std::vector<std::string>& positional() const { return positional_; }
  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> value(std::string_view option) const;
  std::vector<std::string> values(std::string_view option) const;
  // An integer of at least 1. Throws UsageError.
  int64_t count(std::string_view option, int64_t otherwise) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// The argument of -s: `name=value`. Throws UsageError.
void assign_from_words(Settings& settings, const std::string& words);

// Splits "a,b,c" and drops empty parts.
std::vector<std::string> split_list(std::string_view text);

}  // namespace pistachio
