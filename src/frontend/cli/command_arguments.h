// The words behind a command: positional ones and options. Options are declared by the command; anything else is wrong usage.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/settings.h"

namespace pistachio {

// Wrong words on the command line; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct OptionDescription {
  std::string_view name;  // with its dashes
  bool takes_value = false;
};

class CommandArguments {
 public:
  // `-s name=value` is understood by every command and goes into `settings`. Throws UsageError.
  CommandArguments(int argc, char** argv, const std::vector<OptionDescription>& options, Settings& settings);

  const std::vector<std::string>& positional() const { return positional_; }
  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> value(std::string_view option) const;
  std::vector<std::string> values(std::string_view option) const;
  // A whole number of at least 1. Throws UsageError.
  int64_t count(std::string_view option, int64_t otherwise) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// What stands behind -s: `name=value`. Throws UsageError.
void assign_from_words(Settings& settings, const std::string& words);

// "a,b,c" without empty parts.
std::vector<std::string> split_list(std::string_view text);

}  // namespace pistachio
