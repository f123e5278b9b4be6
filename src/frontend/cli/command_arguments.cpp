#include "frontend/cli/command_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pistachio {

void assign_from_words(Settings& settings, const std::string& words) {
  size_t equals = words.find('=');
  if (equals == std::string::npos) throw UsageError(fmt::format("-s takes name=value, not '{}'", words));
  try {
    assign_setting(settings, words.substr(0, equals), words.substr(equals + 1));
  } catch (const UserError& error) {
    throw UsageError(error.message());
  }
}

CommandArguments::CommandArguments(int argc, char** argv, const std::vector<OptionDescription>& options, Settings& settings) {
  bool only_positional = false;
  for (int i = 0; i < argc; ++i) {
    std::string_view word = argv[i];
    if (only_positional || word.empty() || word[0] != '-' || word == "-") {
      positional_.emplace_back(word);
      continue;
    }
    if (word == "--") {
      only_positional = true;
      continue;
    }
    size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    std::string_view name = word.substr(0, equals);
    auto known = std::find_if(options.begin(), options.end(), [&](const OptionDescription& option) { return option.name == name; });
    bool is_setting = name == "-s" || name == "--device";
    if (known == options.end() && !is_setting) throw UsageError(fmt::format("unknown option {}", name));
    bool takes_value = is_setting || known->takes_value;
    std::string value;
    if (equals != std::string_view::npos) {
      if (!takes_value) throw UsageError(fmt::format("option {} takes no value", name));
      value = word.substr(equals + 1);
    } else if (takes_value) {
      if (++i >= argc) throw UsageError(fmt::format("option {} needs a value", name));
      value = argv[i];
    }
    if (is_setting) {
      assign_from_words(settings, name == "-s" ? value : "device=" + value);
      continue;
    }
    values_[std::string(name)].push_back(std::move(value));
  }
}

std::optional<std::string> CommandArguments::value(std::string_view option) const {
  auto found = values_.find(option);
  if (found == values_.end()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> CommandArguments::values(std::string_view option) const {
  auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

int64_t CommandArguments::count(std::string_view option, int64_t otherwise) const {
  std::optional<std::string> text = value(option);
  if (!text) return otherwise;
  int64_t number = 0;
  auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (status != std::errc() || end != text->data() + text->size() || number < 1)
    throw UsageError(fmt::format("option {} takes a whole number of at least 1, not '{}'", option, *text));
  return number;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace pistachio
