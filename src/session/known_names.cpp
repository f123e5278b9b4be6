#include "session/known_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "expr/aggregate_function.h"
#include "expr/function_table.h"

namespace pistachio {

namespace {

// Operators are functions too, but nobody writes them as calls.
bool is_called_by_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

constexpr std::array<std::string_view, 4> kShownLists = {"all", "functions", "rules", "tables"};

}  // namespace

std::vector<std::string> function_names() {
  std::set<std::string> names;
  for (const Function* function : all_functions()) {
    if (is_called_by_name(function->name)) names.emplace(function->name);
  }
  for (const AggregateFunction& function : all_aggregates()) names.emplace(function.name);
  return {names.begin(), names.end()};
}

std::span<const std::string_view> shown_lists() {
  return kShownLists;
}

}  // namespace pistachio
